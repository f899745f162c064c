"""How many requests reach a server, and when: told by the server, never by us."""

import asyncio
import threading
import time

import pytest
from langchain_openai import ChatOpenAI

import judgegraph as jg
from judgegraph.calls import ask
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.limits import Limits, limiter_of
from judgegraph.errors import AuthError, JudgegraphError
from judgegraph.graphs import llm_score
from judgegraph.models.judges import resolve

pytestmark = pytest.mark.slow

MESSAGES = [("user", "Judge this.")]


async def asked(judge, run=None):
    token = context.set(run)
    try:
        return await ask(judge, MESSAGES)
    except JudgegraphError as error:
        return error
    finally:
        context.reset(token)


def times(site):
    return sorted(one["at"] for one in site.seen)


def at_most(count, seconds, at):
    """No window of so many seconds holds more; a tenth is left for the way to the server."""
    return all(later - earlier > 0.9 * seconds for earlier, later in zip(at, at[count:], strict=False))


@pytest.mark.parametrize("script", ["500", "429=0", "429", "reset", "truncated"])
@pytest.mark.parametrize("attempts", [1, 2, 4])
async def test_a_call_makes_as_many_requests_as_it_has_attempts(server, no_backoff, script, attempts):
    site = server(script)
    patience = {"patience": 0} if script == "429" else {}
    assert isinstance(await asked(site.judge(attempts=attempts, **patience)), JudgegraphError)
    assert site.count == attempts


async def test_a_server_that_asks_for_fewer_requests_is_asked_on_after_the_attempts(server, no_backoff):
    site = server(",".join(["429"] * 9 + ["ok"]))
    assert await asked(site.judge(attempts=3)) == "Final score: 4."
    assert site.count == 10


async def test_a_call_that_is_refused_for_as_long_as_it_is_waited_for_says_so_and_how_to_go_on(server):
    site = server("429")
    error = str(await asked(site.judge(attempts=2, patience=0.8)))
    assert f"; asked {site.count} times in " in error
    assert error.endswith("ask it less often (--rpm N), and again for what it left out (--retry-failed)")
    assert site.count >= 2
    before = site.count  # a server that answers nobody is not waited for anew
    await asked(site.judge(attempts=2, patience=0.8))
    assert site.count == before + 2


@pytest.mark.parametrize(("script", "fatal"), [("400", False), ("401", True), ("403", True)])
@pytest.mark.parametrize("given", [False, True], ids=["an endpoint", "a chat model"])
async def test_what_cannot_help_is_not_sent_again(server, script, fatal, given):
    site = server(script)
    judge = ChatOpenAI(model="stub", base_url=site.url, api_key="k", max_retries=2) if given else site.judge()
    error = await asked(judge)
    assert site.count == 1
    assert isinstance(error, AuthError) is fatal
    assert "\n" not in str(error)


@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "transport"),
    [("429=0.8,ok", "fast"), ("429-date=1,ok", "fast"), ("429-ahead=1,ok", "fast"), ("429-ahead=1,ok", "langchain")],
)
async def test_nobody_comes_earlier_than_the_server_asked_one_of_them(
    server, no_backoff, monkeypatch, script, transport
):
    monkeypatch.setattr("judgegraph.calls.limits.OPENING", 0.1)
    site, refused = server(script), asyncio.Event()
    judge = site.judge(transport=transport)
    limiter = limiter_of(resolve(judge))
    throttled = limiter.throttled
    monkeypatch.setattr(limiter, "throttled", lambda *told: (throttled(*told), refused.set()))
    first = asyncio.create_task(asked(judge))
    await refused.wait()
    others = [asyncio.create_task(asked(judge)) for _ in range(3)]  # calls of their own, that were never refused
    assert await asyncio.gather(first, *others) == ["Final score: 4."] * 4
    at = times(site)
    assert 0.8 <= at[1] - at[0] < 4
    assert len(at) == 5


async def test_a_wait_above_two_minutes_is_obeyed_to_the_second(server, no_backoff, monkeypatch):
    site, sleep = server("429=300,429-ahead=500,ok"), asyncio.sleep
    judge, slept = site.judge(), []
    monkeypatch.setattr(limiter_of(resolve(judge)), "_clock", lambda: sum(slept))

    async def fake(seconds, *_):
        slept.append(seconds)
        await sleep(0)

    monkeypatch.setattr("judgegraph.calls.call.asyncio.sleep", fake)
    async with asyncio.timeout(10):
        assert await asked(judge) == "Final score: 4."
    assert [s for s in slept if s > 1] == [300, 500]
    assert site.count == 3


async def test_a_clock_that_is_set_back_makes_no_wait_longer(server, no_backoff, monkeypatch):
    site, real = server("429-date=1,ok"), time.time
    monkeypatch.setattr("judgegraph.calls.send.classify.__defaults__", (lambda: real() - 3600,))
    start = time.monotonic()
    assert await asked(site.judge()) == "Final score: 4."
    assert time.monotonic() - start < 4


@pytest.mark.long
async def test_after_an_outage_the_first_second_holds_at_most_the_limit(server):
    site = server("busy=1.5")
    judge, run = site.judge(attempts=4), CallContext(width=16, limits=Limits(in_flight=8))
    replies = await asyncio.gather(*(asked(judge, run) for _ in range(40)))
    assert replies == ["Final score: 4."] * 40
    at = times(site)
    during = [t for t in at if t < at[0] + 1.5]
    assert len(during) <= 8
    assert len([t for t in at if at[0] + 1.5 <= t < at[0] + 2.5]) <= 8
    assert site.count == 40 + len(during)


@pytest.mark.parametrize("limits", [Limits(in_flight=2), None], ids=["of the run", "of the endpoint"])
async def test_requests_in_flight_stay_within_the_limit(server, limits):
    site = server("slow=0.1")
    judge = site.judge(in_flight=None if limits else 2)
    await asyncio.gather(*(asked(judge, CallContext(width=64, limits=limits)) for _ in range(6)))
    assert at_most(2, 0.1, times(site))


async def test_requests_per_window_stay_within_the_limit(server, monkeypatch):
    monkeypatch.setattr("judgegraph.calls.limits.WINDOW", 0.6)
    site = server("ok")
    await asyncio.gather(*(asked(site.judge(rpm=4)) for _ in range(10)))
    assert site.count == 10
    assert at_most(4, 0.6, times(site))


async def test_tokens_are_reserved_by_estimate_and_settled_by_what_the_reply_says(server):
    site = server("ok")  # every reply says 15 tokens; the estimate is over 100
    judge = site.judge(tpm=150, max_tokens=100)
    async with asyncio.timeout(5):
        for _ in range(3):
            assert await asked(judge) == "Final score: 4."
    together = [asyncio.create_task(asked(judge)) for _ in range(3)]
    await asyncio.wait(together, timeout=0.5)
    assert site.count == 3  # 45 tokens are used, and another estimate finds no room
    for task in together:
        task.cancel()


@pytest.mark.long
async def test_a_retry_that_waits_holds_neither_slot_nor_place(server, no_backoff):
    refused, judge = server("500=,ok"), None
    judge = refused.judge(in_flight=1)
    waits = asyncio.Event()
    run, sleep = CallContext(width=1), asyncio.sleep

    async def parked(seconds, *_):
        waits.set()
        await sleep(2)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("judgegraph.calls.call.asyncio.sleep", parked)
        first = asyncio.create_task(asked(judge, run))
        await waits.wait()
        start = time.monotonic()
        assert await asked(judge, run) == "Final score: 4."
        assert time.monotonic() - start < 1.5
        assert not first.done()
        assert await first == "Final score: 4."
    assert refused.count == 3


def test_two_runs_in_threads_of_their_own_share_a_limit(server):
    site = server("slow=0.1")

    async def run():
        calls = CallContext(width=64, limits=Limits(in_flight=2))
        await asyncio.gather(*(asked(site.judge(), calls) for _ in range(5)))

    threads = [threading.Thread(target=lambda: asyncio.run(run())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert site.count == 10
    assert at_most(2, 0.1, times(site))


@pytest.mark.long
def test_a_sample_that_waits_for_its_turn_does_not_run_out_of_time(server):
    site = server("slow=0.3")
    graph = llm_score(site.judge(), criteria=[jg.Criterion(name="Clarity")])
    samples = [jg.Sample(id=str(n), output=f"text {n}") for n in range(6)]
    run = jg.evaluate(graph, samples, timeout=1.0, limits=Limits(in_flight=1))
    assert [item.status for item in run.items] == ["ok"] * 6


def test_a_sample_whose_own_call_is_slow_runs_out_of_time(server):
    site = server("slow=3")
    graph = llm_score(site.judge(), criteria=[jg.Criterion(name="Clarity")])
    run = jg.evaluate(graph, [jg.Sample(id="a", output="text")], timeout=0.5, limits=Limits(in_flight=1))
    assert [item.status for item in run.items] == ["timeout"]


async def test_limits_of_a_run_end_with_it(server):
    judge, seen = server("ok").judge(), []
    limiter = limiter_of(resolve(judge))
    graph = llm_score(judge, criteria=[jg.Criterion(name="Clarity")])
    told = {"limits": Limits(rpm=50), "on_item": lambda _: seen.append(limiter.rpm)}
    await jg.aevaluate(graph, [jg.Sample(id="a", output="text")], **told)
    assert (seen, limiter.rpm) == ([50], None)
