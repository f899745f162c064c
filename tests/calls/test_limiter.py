"""Never above a limit in any window, nobody starves: in virtual time, where minutes pass in no time."""

import asyncio
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from virtual_time import virtually

from judgegraph.calls.limits import Limiter


@dataclass(frozen=True)
class Lost:
    """No reply came; by a 429 if it has a `wait`, which may be None."""

    wait: float | str | None = "none asked"


@dataclass(eq=False)
class Request:
    """After a gap it comes, waits as long as it has patience, is sent, takes a while, and ends in a loss or in usage.

    at: when it was sent, None if never. held: tokens it counts for. choices: asked for at once.
    """

    gap: float = 0.0
    tokens: int = 1
    takes: float = 0.0
    end: int | Lost | None = None
    patience: float | None = None
    at: float | None = None
    held: int = 0
    choices: int = 1


@dataclass
class Site:
    """Sends requests through a limiter, and reckons by itself what is allowed."""

    rpm: int | None = None
    tpm: int | None = None
    in_flight: int | None = None
    sent: list = field(default_factory=list)
    inside: int = 0
    quiet_until: float = 0.0

    async def send_all(self, requests):
        """Seconds from the first to the last."""
        self.now = asyncio.get_running_loop().time
        self.limiter = Limiter(self.now)
        self.limiter.change(self.rpm, self.tpm, self.in_flight)
        start = self.now()
        async with asyncio.TaskGroup() as group:
            for request in requests:
                await asyncio.sleep(request.gap)
                group.create_task(self.send(request))
        return self.now() - start

    async def send(self, request):
        place = self.limiter.ticket(request.tokens, choices=request.choices)
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(request.patience) as limit, place:
                limit.reschedule(None)
                self.check(request)
                self.inside += 1
                await asyncio.sleep(request.takes)
                self.inside -= 1
                if isinstance(request.end, Lost):
                    request.held = 0
                    raise ConnectionError
                place.used = request.end
                request.held = request.held if request.end is None else request.end
        if request.at is not None and isinstance(request.end, Lost) and request.end.wait != "none asked":
            place.throttled(request.end.wait)
            self.quiet_until = max(self.quiet_until, self.now() + (request.end.wait or 0))

    def check(self, request):
        now = self.now()
        last = [one for one in self.sent if now - one.at < 60]
        held = sum(one.held for one in last)
        assert self.rpm is None or len(last) < self.rpm
        assert self.tpm is None or held == 0 or held + request.tokens <= self.tpm
        assert self.in_flight is None or self.inside < self.in_flight
        assert now >= self.quiet_until
        request.at, request.held = now, request.tokens
        self.sent.append(request)


seconds = st.one_of(st.just(0.0), st.floats(0, 2), st.floats(0, 90), st.integers(0, 60).map(float))
replies = st.one_of(st.none(), st.integers(1, 60))
losses = st.builds(Lost, st.one_of(st.just("none asked"), st.none(), st.floats(0.5, 200)))
tokens = st.integers(1, 60)
limits = st.builds(
    Site, *[st.one_of(st.none(), st.integers(1, most)) for most in (6, 80, 4)]
)  # fmt: skip
steady = st.lists(st.builds(Request, seconds, tokens, seconds, replies), min_size=1, max_size=25)
troubled = st.lists(
    st.builds(Request, seconds, tokens, seconds, replies | losses, st.none() | seconds), min_size=1, max_size=25
)


@pytest.mark.slow
@settings(max_examples=300)
@given(limits, steady)
@example(Site(rpm=2), [Request(gap) for gap in (0.0, 59.0, 0.0, 1.0, 0.0)])  # across the border of two minutes
@example(Site(tpm=10), [Request(tokens=8, end=1), Request(tokens=9), Request(tokens=5)])  # less than estimated
@example(Site(tpm=10), [Request(tokens=2, end=60), Request(tokens=9)])  # more than estimated
def test_no_window_is_above_a_limit_and_everybody_is_sent_in_turn(site, requests):
    took = virtually(site.send_all(requests))
    assert site.sent == requests  # first come, first served: no small one overtakes a large one
    assert took <= sum(r.gap + r.takes for r in requests) + 60.1 * len(requests)


@pytest.mark.long
@settings(max_examples=300)
@given(limits, troubled)
def test_losses_refusals_and_cancelled_waiters_change_nothing_of_it(site, requests):
    virtually(site.send_all(requests))  # a pause, a limit or a lost wake-up fails inside
    assert [r for r in requests if r.at is None and r.patience is None] == []
    assert site.sent == [r for r in requests if r.at is not None]


@pytest.mark.parametrize(
    ("site", "requests", "times"),
    [
        (Site(rpm=2), [Request()] * 5, [0, 0, 60, 60, 120]),
        (Site(rpm=2), [Request(gap) for gap in (0, 50, 0, 0)], [0, 50, 60, 110]),
        (Site(tpm=100), [Request(tokens=40)] * 3, [0, 0, 60]),
        (Site(tpm=100), [Request(tokens=90, takes=5, end=20), Request(1, tokens=70)], [0, 5]),
        (Site(tpm=100), [Request(tokens=10, takes=5, end=95), Request(6, tokens=10)], [0, 60]),
        (Site(tpm=100), [Request(tokens=90, takes=5, end=Lost()), Request(1, tokens=90)], [0, 5]),
        (Site(tpm=100), [Request(tokens=5), Request(tokens=999), Request(tokens=5)], [0, 60, 120]),
        (Site(rpm=1), [Request(end=Lost()), Request()], [0, 60]),
        (Site(in_flight=2), [Request(takes=3)] * 5, [0, 0, 3, 3, 6]),
        (Site(), [Request(takes=3)] * 5, [0] * 5),
    ],
    ids=[
        "requests", "the window slides", "tokens", "a short reply makes room", "a long reply takes it",
        "a lost reply gives its tokens back", "a call above the limit goes alone", "a lost reply was a request",
        "in flight", "no limit",
    ],
)  # fmt: skip
def test_a_request_goes_as_soon_as_it_may(site, requests, times):
    given_requests = [Request(r.gap, r.tokens, r.takes, r.end) for r in requests]
    virtually(site.send_all(given_requests))
    assert [round(r.at - 1000, 1) for r in given_requests] == times


def test_a_small_late_call_does_not_overtake_a_large_one():
    large, small = Request(1.0, tokens=90), [Request(1.0, tokens=1) for _ in range(30)]
    virtually(Site(tpm=100).send_all([Request(tokens=50), large, *small]))
    assert large.at == pytest.approx(1060, abs=0.1)
    assert min(r.at for r in small) >= large.at


def test_what_belongs_to_an_earlier_sample_goes_first_and_of_one_sample_who_came_first():
    sent = []

    async def work():
        limiter = Limiter(asyncio.get_running_loop().time)
        limiter.change(None, None, 1)

        async def one(order, name):
            async with limiter.ticket(1, run=limiter, order=order):
                sent.append(name)
                await asyncio.sleep(1)

        async with asyncio.TaskGroup() as group:
            for order, name in [(0, "first"), (2, "2a"), (1, "1a"), (2, "2b"), (0, "0a"), (1, "1b")]:
                group.create_task(one(order, name))

    virtually(work())
    assert sent == ["first", "0a", "1a", "1b", "2a", "2b"]


def test_a_cancelled_waiter_leaves_its_turn_to_the_next():
    requests = [Request(), Request(patience=5.0), Request(patience=7.0), Request()]
    virtually(Site(rpm=1).send_all(requests))
    assert [r.at and round(r.at, 1) for r in requests] == [1000.0, None, None, 1060.0]


def test_other_limits_hold_at_once_also_for_those_who_wait():
    site, requests = Site(rpm=1), [Request() for _ in range(6)]

    async def work():
        sending = asyncio.create_task(site.send_all(requests))
        await asyncio.sleep(10)
        site.rpm = 4
        site.limiter.change(4, None, None)
        await sending

    virtually(work())
    assert [round(r.at - 1000) for r in requests] == [0, 10, 10, 10, 60, 70]


def test_who_is_not_limited_does_not_wait_for_the_event_loop():
    with pytest.raises(StopIteration):  # it has ended without a pause
        Limiter().ticket(10).__aenter__().send(None)


@pytest.mark.parametrize("wait", [0.7, 5.0, 300.0])
def test_a_pause_is_for_all_and_after_it_the_queue_opens_gently(wait):
    site = Site()
    refused = [Request(takes=1.0, end=Lost(wait)) for _ in range(16)]
    waiting = [Request(2.0 if n == 0 else 0.0, takes=0.01) for n in range(40)]
    virtually(site.send_all(refused + waiting))
    opened = 1001 + wait
    times = [r.at for r in waiting]
    if wait > 1:
        assert min(times) == pytest.approx(opened, abs=0.01)
        assert sum(t < opened + 1 for t in times) == 7  # half of the 15 that were in flight beside the first refused
    assert max(times) < opened + 3


def test_one_round_of_refusals_halves_once_and_answers_win_it_back():
    site = Site(in_flight=8)
    refused = [Request(takes=1.0, end=Lost(None)) for _ in range(8)]
    rest = [Request(takes=1.0) for _ in range(60)]
    virtually(site.send_all(refused + rest))
    inside = [sum(1 for r in rest if round(r.at - 1000) == second) for second in range(1, 15)]
    assert inside[0] == 3  # half of 7
    assert inside[:6] == sorted(inside[:6])
    assert max(inside) == 8
    assert sum(inside) == 60


@pytest.mark.parametrize(
    ("takes", "sent"),
    [
        (2.0, [1, 29]),  # quick: no more is made of it
        (40.0, [1, 2, 5, 17, 5]),  # each takes long, and none waits for another
    ],
)
def test_requests_for_several_choices_begin_with_one_and_open_as_these_are_answered(takes, sent):
    requests = [Request(takes=takes, choices=8) for _ in range(30)]
    site = Site()
    virtually(site.send_all(requests))
    began = [round((request.at - 1000) / takes) for request in requests]
    assert [began.count(turn) for turn in range(max(began) + 1)] == sent


def test_requests_for_several_choices_that_come_to_nothing_do_not_keep_the_others_one_by_one():
    requests = [Request(takes=100.0, end=Lost(), choices=8) for _ in range(15)]
    site = Site()
    virtually(site.send_all(requests))
    began = [round((request.at - 1000) / 100) for request in requests]
    assert [began.count(turn) for turn in range(max(began) + 1)] == [1, 2, 4, 8]


def test_a_server_that_works_off_one_request_for_several_choices_after_the_other_is_sent_one_at_a_time():
    turn = asyncio.Lock()
    sent = []

    async def one(limiter):
        async with limiter.ticket(1, choices=8):
            began = asyncio.get_running_loop().time()
            async with turn:
                await asyncio.sleep(30)
            sent.append(asyncio.get_running_loop().time() - began)

    async def work():
        limiter = Limiter(asyncio.get_running_loop().time)
        await asyncio.gather(*(one(limiter) for _ in range(12)))

    virtually(work())
    assert sent == pytest.approx([30, 30, 60, 60, *[30] * 8]), (
        "after a trial none waits there, where it may be given up"
    )


def work_in_threads(count, work):
    threads = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("limited", [(None, None, 2), (None, 10_000, 2), (30, None, None)])
def test_event_loops_of_several_threads_share_a_limit(limited):
    limiter, lock, inside, most, times = Limiter(), threading.Lock(), 0, 0, []
    limiter.change(*limited)

    async def one():
        nonlocal inside, most
        async with limiter.ticket(3):
            with lock:
                inside += 1
                most = max(inside, most)
                times.append(time.monotonic())
            await asyncio.sleep(0.001)
            with lock:
                inside -= 1

    async def work():
        with suppress(TimeoutError):
            async with asyncio.timeout(0.5 if limited[0] else 15):
                await asyncio.gather(*(one() for _ in range(40)))

    work_in_threads(4, work)
    assert len(times) == (limited[0] or 160)
    assert limited[2] is None or most <= limited[2]


def test_a_blocked_event_loop_does_not_block_the_others(monkeypatch):
    monkeypatch.setattr("judgegraph.calls.limits.STALL", 0.05)
    limiter, order = Limiter(), []
    limiter.change(None, None, 1)
    queued, freed = threading.Event(), threading.Event()

    async def one(name):
        async with limiter.ticket(1):
            order.append(name)

    async def blocked():
        async with limiter.ticket(1):
            tasks = [asyncio.create_task(one("blocked")) for _ in range(3)]
            await asyncio.sleep(0.01)
            queued.set()
            await asyncio.sleep(0.1)
        freed.wait(10)  # as a notebook's loop is while `evaluate` runs
        await asyncio.gather(*tasks)

    async def free():
        queued.wait(10)
        await asyncio.gather(*(one("free") for _ in range(3)))
        freed.set()

    jobs = iter([blocked, free])
    work_in_threads(2, lambda: next(jobs)())
    assert order == ["free"] * 3 + ["blocked"] * 3


def test_a_waiter_whose_event_loop_was_closed_is_passed_over():
    limiter = Limiter()
    limiter.change(None, None, 1)
    gone = asyncio.new_event_loop()

    async def wait():
        async with limiter.ticket(1):
            pytest.fail("nobody runs it")

    async def work():
        async with asyncio.timeout(5):
            async with limiter.ticket(1):
                last = asyncio.create_task(limiter.ticket(1).__aenter__())
                await asyncio.to_thread(leave_one_behind)
                await asyncio.sleep(0.01)
            await last

    def leave_one_behind():
        left.append(gone.create_task(wait()))
        gone.call_later(0.02, gone.stop)
        gone.run_forever()
        gone.close()

    left = []
    asyncio.run(work())
    left[0]._log_destroy_pending = False
