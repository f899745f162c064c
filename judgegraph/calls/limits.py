"""How fast a judge may be asked: one limiter per provider and model, shared by all that the process runs."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import inf
from time import monotonic

from judgegraph.errors import ReplyError, bare, handing_on
from judgegraph.models.judges import Judge, refuse_below_one, refuse_below_zero

# What was sent in the last minute: a log that is exact for every window of 60 seconds, wherever it begins.


WINDOW = 60.0  # seconds


@dataclass(slots=True, eq=False)
class Entry:
    """A request that was sent, with its tokens: estimated, then what the reply says."""

    at: float
    tokens: int
    past: bool = False


class Minute:
    """Requests and tokens of the last 60 seconds."""

    __slots__ = ("_log", "_tokens")

    def __init__(self) -> None:
        self._log: deque[Entry] = deque()
        self._tokens = 0

    def wait(self, now: float, tokens: int, rpm: int | None, tpm: int | None) -> float:
        """Seconds until one more request may be possible, 0 if it is now; look again then.

        A request that alone is above `tpm` is possible when no other's tokens are left.
        """
        self._forget(now)
        if rpm is not None and len(self._log) >= rpm:
            return _left(self._log[len(self._log) - rpm], now)
        if tpm is not None and self._tokens and self._tokens + tokens > tpm:
            return _left(self._log[0], now)
        return 0.0

    def add(self, now: float, tokens: int) -> Entry:
        entry = Entry(now, tokens)
        self._log.append(entry)
        self._tokens += tokens
        return entry

    def settle(self, entry: Entry, tokens: int) -> None:
        """Its tokens were more or fewer than estimated."""
        if not entry.past:
            self._tokens += tokens - entry.tokens
            entry.tokens = tokens

    def _forget(self, now: float) -> None:
        while self._log and _left(self._log[0], now) <= 0:
            entry = self._log.popleft()
            entry.past = True
            self._tokens -= entry.tokens


def _left(entry: Entry, now: float) -> float:
    return WINDOW - (now - entry.at)


# How many requests may be in flight: fewer after a server's 429, more again with every answer.


OPENING = 1.0  # seconds after a pause, at most as long as it was, in which no more than one window of requests is sent


LONG = 20.0  # seconds: an answer that takes less says nothing of how busy a server is
WAITING = 2.5  # times the quickest answer: one that takes longer may have waited for its turn at the server
BESIDE = 4.0  # times as long as at the server's best rate a reply may take that is written beside others
TURN = 5.0  # seconds that requests may wait for their turn at a server
CROWDED = 60.0  # seconds that they may take in all, where nothing is known of how long their replies are
FEW = 4  # requests in flight: these crowd no server
SCOUTS = 1  # requests for several choices in flight, until one is answered: each takes as much of a server as many do
SAME = 1.5  # times the quickest: answers of several choices that take less did not wait for one another
MORE_SCOUTS = 3  # more in flight after such an answer; after one within LONG there is no such limit
ENOUGH = 20  # tokens of a reply by which a server's rate is known


@dataclass(slots=True)
class Pace:
    """Additive increase, multiplicative decrease, as TCP avoids congestion (RFC 5681, 3.1), and pauses.

    Attributes:
        cap: requests in flight that we were allowed; inf is no cap. window: those the server was seen to bear.
        room: the lesser of both. round: how often the window was decreased.
        paused: there was a pause of which something is left, be it the gentle opening after it.
    """

    cap: float = inf
    window: float = inf
    room: float = inf
    round: int = 0
    paused: bool = False
    _until: float = -inf
    _end: float = -inf  # of the gentle opening
    _opening: float = inf
    _opened: int = 0
    _aim: int = 0  # requests in flight up to which the window grows fast again, 0 where it does not
    _former: float = inf  # the window before that
    _quickest: float = inf  # seconds to an answer, the least so far
    _rate: float = 0.0  # tokens a second of one reply, the most so far

    def allow(self, in_flight: int | None) -> None:
        """Another cap; what was learnt of the server stands."""
        self.cap = inf if in_flight is None else in_flight
        self.room = min(self.cap, self.window)

    def answered(self, at_once: bool = True) -> None:
        """A request was answered: a whole window of answers makes room for one more; after an outage each does.

        Args:
            at_once: it was sent in this round, and did not wait for its turn at the server. Others make no room.
        """
        if self._aim:
            self.window += 1
            if self.window >= self._aim:
                self._aim, self.window = 0, max(self.window, self._former)
            self.room = min(self.cap, self.window)
            return
        if at_once and self.window < self.cap:
            self.window = min(self.cap, self.window + 1 / self.window)
            self.room = min(self.cap, self.window)

    def throttled(self, sent_in: int, in_flight: int, now: float, wait: float) -> None:
        """The server refused a request that was sent in round `sent_in`.

        All that were in flight at a decrease may be refused for one and the same reason, so only the first counts.

        Args:
            now: clock time. wait: seconds for which nothing may be sent, 0 where the server named none.
        """
        if sent_in == self.round:
            self.window, self._aim = max(1.0, in_flight / 2), 0
            self.room = min(self.cap, self.window)
            self.round += 1
        if wait > 0 and now + wait > self._until:
            self._until, self._end = now + wait, now + wait + min(OPENING, wait)
            self.paused, self._opening, self._opened = True, self.room, 0

    def late(self, sent_in: int, answered: int, in_flight: int) -> None:
        """A request of round `sent_in` got no answer in its time, in which others got `answered`.

        By Little's law a server answers a quarter as many in a quarter of that time; some replies take several times
        as long as others. Where no more than that is in flight, the fault was that request's own; else what is in
        flight is halved at most, as it may have been idle in between.
        """
        if sent_in == self.round and (bears := answered // 4) < in_flight:
            self.window, self._aim = max(1.0, bears, in_flight / 2), 0
            self.room = min(self.cap, self.window)
            self.round += 1

    def took(self, seconds: float, tokens: int, sent_in: int, answered: int, in_flight: int) -> bool:
        """A request of round `sent_in` was answered after so many seconds, in which the server answered `answered`.

        Where it took long, and several times as long as the quickest ever did, requests may wait their turn at the
        server, so that some will get no answer in time. By Little's law fewer in flight wait the shorter.

        Args:
            tokens: of the reply, which tell how long it took to write; 0 where that is not known.

        Returns:
            Whether it was sent in this round and waited for nothing.
        """
        self._quickest = min(self._quickest, seconds)
        if tokens >= ENOUGH and seconds >= 1:  # of a cache, or of a few words, it says nothing
            self._rate = max(self._rate, tokens / seconds)
        if seconds < LONG or seconds < WAITING * self._quickest or sent_in != self.round:
            return sent_in == self.round
        bears = answered * CROWDED / seconds
        if tokens and self._rate:
            bears = in_flight * (BESIDE * tokens / self._rate + TURN) / seconds
        if bears >= in_flight:
            return True
        if (bears := max(FEW, bears)) < in_flight:
            self.window, self._aim = bears, 0
            self.room = min(self.cap, self.window)
            self.round += 1
        return False

    def reopen(self, before: int) -> None:
        """A server is back: one request at first, one more with each answer, up to as many as were in flight before."""
        if not self._aim:
            self._former = self.window
        self._aim, self.window = max(self._aim, before), 1.0
        self.room = min(self.cap, self.window)

    def left(self, now: float) -> float:
        """Seconds that are left of a pause that the server asked for, 0 where there is none."""
        return max(0.0, self._until - now) if self.paused else 0.0

    def wait(self, now: float) -> float:
        """Seconds until the pause lets a request through, 0 if it does now."""
        if now < self._until:
            return self._until - now
        if now >= self._end:
            self.paused = False
            return 0.0
        return self._end - now if self._opened + 1 > self._opening else 0.0

    def admitted(self) -> None:
        """A request was let through."""
        if self.paused:
            self._opened += 1


# A server that is out: who asks it waits, and one request at a time looks whether it is back; not for ever.


PATIENCE = 600.0  # seconds that an outage is waited out by default
THROTTLED = 120.0  # the same for a server that asks for fewer requests (429): two windows of a minute
COLD = 10.0  # the same for a server that never answered this process: its address may be wrong
FIRST, LONGEST = 0.25, 5.0  # seconds from a failed look to the next: doubled each time, up to the longest


class Unreachable(ReplyError):
    """An outage lasted longer than we wait for its end; a run begins nothing new then."""

    final = True


@dataclass(slots=True)
class Patience:
    """How long one call waits for a server's return.

    Attributes:
        judge: as messages name it. seconds: told by the caller; None for the defaults. since: clock time from which an
            outage that had begun before counts: when its run began.
        met: how many answers the server had given when it first failed this call so; None where it did not.
    """

    judge: str
    seconds: float | None
    since: float
    met: int | None = None

    @property
    def throttled(self) -> float:
        """Seconds for which a server is asked on that says that it is asked too often."""
        return THROTTLED if self.seconds is None else self.seconds

    def most(self, known: bool) -> float:
        """Seconds; `known`: the server has answered this process before."""
        if self.seconds is not None:
            return self.seconds
        return PATIENCE if known else COLD


@dataclass(slots=True)
class Outage:
    """From the first request that found no server to the first answer.

    Attributes:
        what: such as "no connection". message: of the last request that failed so. began: clock time. due: when the
            next request may look. before: requests in flight when it began. probe: the one that looks now.
    """

    what: str
    message: str
    began: float
    due: float
    before: int
    delay: float = FIRST
    probe: Ticket | None = None

    def failed(self, now: float) -> None:
        """The look was in vain."""
        self.probe = None
        self.delay = min(2 * self.delay, LONGEST)
        self.due = now + self.delay

    def left(self, now: float, patience: Patience, known: bool) -> float:
        """Seconds that a call may still wait."""
        return patience.most(known) - (now - max(self.began, patience.since))

    def over(self, now: float, patience: Patience, known: bool) -> Unreachable:
        """What a call fails with that has waited long enough."""
        waited = max(0.0, now - max(self.began, patience.since))
        why = (
            "longer than it is waited for"
            if known
            else ("and never an answer: check its address, and that it runs, or wait longer (--patience)")
        )
        told = f"{patience.judge}: {self.what} for {waited:.0f} s, {why} ({self.message})"
        return Unreachable(told, status="provider_error")


# The queue before a judge, of all event loops and threads of the process: first come, first served, but that within a
# run earlier samples come first, so that they are finished before others are taken further.


STALL = 1.0  # seconds that a waiter whose turn has come may keep those of other event loops waiting
SOON = 0.001  # seconds: the shortest sleep, so that a rounding error does not make a busy loop


class Ticket:
    """One request: `async with place:` waits until it may be sent, and leaving ends its being in flight.

    Attributes:
        used: tokens its reply says it took; None until known, and the estimate stands. wrote: those of one reply.
        choices: asked for at once. beside: another of several choices was in flight when it was admitted.
        run, order: of one run's, those of lesser order are sent first; None belongs to no run.
    """

    __slots__ = (
        "_limiter", "_woken", "answers", "at", "beside", "called", "choices", "due", "entry", "loop", "order",
        "patience", "round", "run", "tokens", "used", "wrote",
    )  # fmt: skip

    def __init__(
        self,
        limiter: Limiter,
        tokens: int,
        patience: Patience | None = None,
        run: object = None,
        order: int = 0,
        choices: int = 1,
    ) -> None:
        self.patience, self.run, self.order, self.choices = patience, run, order, choices
        self.at = -inf  # clock time at which it was admitted
        self.used: int | None = None
        self.wrote = 0
        self.tokens = tokens
        self.entry: Entry | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._limiter = limiter
        self._woken: asyncio.Future[None] | None = None
        self.round = 0  # of the pace when it was admitted
        self.answers = 0  # that the server had given by then
        self.beside = False
        self.called = False  # woken, and did not look yet
        self.due = inf  # clock time at which it should have looked

    def overtakes(self, other: Ticket) -> bool:
        """Whether it goes before one that waits: of the same run and event loop, for an earlier sample."""
        same = self.run is not None and self.run is other.run and self.loop is other.loop
        return same and self.order < other.order and not other.called

    async def __aenter__(self) -> Ticket:
        if not self.enter():
            await self.wait_in_queue()
        return self

    def enter(self) -> bool:
        """Take it at once, where nothing holds it back; else wait for the `wait_in_queue`."""
        return self._limiter.enter(self)

    async def __aexit__(self, kind: object, *_: object) -> None:
        self._limiter.leave(self, answered=kind is None)

    def throttled(self, wait: float | None) -> None:
        """The server said 429 (or 503 with a time) to it: send less at once, and nothing for `wait` seconds."""
        self._limiter.throttled(self, wait)

    def late(self) -> bool:
        """It was given no answer in its time: a server that answered others in it may have too much to do at once.

        Returns:
            Whether others were in flight that fewer will be now.
        """
        return self._limiter.late(self)

    def out(self, what: str, message: str, *, strict: bool) -> bool | Unreachable:
        """It found no server; gives whether it is to wait for the server's return, which takes none of its attempts.

        Args:
            strict: it was not received. Else the fault may be its own, which shows where others are answered.

        Returns:
            Unreachable, not raised, where it has waited long enough.
        """
        return self._limiter.out(self, what, message, strict)

    def answered(self) -> None:
        """It was refused, by a server that is there."""
        self._limiter.answered(self)

    def asked_to_wait(self) -> float:
        """Seconds that the server named when it last asked for a pause."""
        return self._limiter.asked

    def watch(self, wake: Callable[[], object]) -> float:
        """Have `wake` called, in any thread, when the server asks for a pause; gives the seconds left of one."""
        self._limiter.watching.add(wake)
        return self._limiter.pausing()

    def watch_no_more(self, wake: Callable[[], object]) -> None:
        self._limiter.watching.discard(wake)

    async def wait_in_queue(self) -> None:
        """Wait in the queue."""
        try:
            while delay := self._limiter.look(self):
                await self._sleep(delay)
        except BaseException:
            self._limiter.give_up(self)
            raise

    async def _sleep(self, delay: float) -> None:
        loop = asyncio.get_running_loop()
        self._woken = loop.create_future()
        timer = None if delay == inf else loop.call_later(max(delay, SOON), self.wake)
        try:
            await self._woken
        finally:
            if timer:
                timer.cancel()

    def wake(self) -> None:
        if self._woken and not self._woken.done():
            self._woken.set_result(None)


class Limiter:
    """Requests and tokens per minute, and requests in flight, of one provider and model.

    The head of the queue admits itself at the moment it runs, so what was learnt since it was woken counts; then it
    calls the next. Nobody overtakes but a run's earlier samples, which come to an end, so nobody starves: a request
    above all limits is sent once the minute is empty.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self.given: object = None  # what `limits` was told of it last, but for
        self.runs: dict[int, object] = {}  # what it was told for runs that are open
        self.watching: set[Callable[[], object]] = set()  # called when the server asks for a pause
        self.asked = 0.0  # seconds, when it last did
        self._throttled_since: float | None = None  # clock time of the first 429 since the last answer
        self.answers = 0
        self._outage: Outage | None = None
        self.rpm: int | None = None
        self.tpm: int | None = None
        self._clock = clock or monotonic
        self._lock = threading.RLock()  # reentrant: a coroutine may be closed by the collector of garbage, anywhere
        self._queue: deque[Ticket] = deque()
        self._in_flight = 0
        self._several = 0  # of these, requests for several choices
        self._scouts: float = SCOUTS  # of those at most
        self._in_turn = False  # one was seen to wait for another
        self._soonest = inf  # seconds to an answer of several choices, the least so far
        self._pace = Pace()
        self._minute = Minute()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._mixed = False  # waiters of several event loops are in the queue

    def change(self, rpm: int | None, tpm: int | None, in_flight: int | None) -> None:
        """Other limits; None is no limit."""
        with self._lock:
            self.rpm, self.tpm = rpm, tpm
            self._pace.allow(in_flight)
            self._call_head()

    def ticket(
        self, tokens: int, patience: Patience | None = None, run: object = None, order: int = 0, choices: int = 1
    ) -> Ticket:
        """For a request of about so many tokens.

        Args:
            patience: how long it waits for a server that is out; None: for ever. run, order, choices: see `Ticket`.
        """
        return Ticket(self, tokens, patience, run, order, choices)

    def enter(self, place: Ticket) -> bool:
        """Admit it where nothing holds it back; else it is in the queue."""
        with self._lock:
            if not self._queue and not self._wait(place):
                self._admit(place)
                return True
            place.loop = asyncio.get_running_loop()
            if not self._queue:
                self._loop, self._mixed = place.loop, False
            self._mixed = self._mixed or place.loop is not self._loop
            before = len(self._queue)
            while before and place.overtakes(self._queue[before - 1]):
                before -= 1
            self._queue.insert(before, place)
            return False

    def look(self, place: Ticket) -> float:
        """Admit it if its turn has come: 0; else seconds after which to look again, inf where it will be woken."""
        with self._lock:
            place.called = False
            if self._mixed:
                self._pass_stalled(place)
            if self._queue[0] is not place:
                place.due = inf
                return min(STALL if self._mixed else inf, self._patience(place))
            if delay := self._wait(place):
                place.due = self._clock() + delay
                return min(delay, self._patience(place))
            self._queue.popleft()
            self._admit(place)
            self._call_head()
            return 0.0

    def leave(self, place: Ticket, answered: bool) -> None:
        """A request that was sent stays one; its tokens are given back where no reply came."""
        with self._lock:
            at_once = True
            if answered:
                seconds = self._clock() - place.at
                at_once = self._pace.took(
                    seconds, place.wrote, place.round, self.answers + 1 - place.answers, self._in_flight
                )
            self._in_flight -= 1
            if place.choices > 1:
                self._several -= 1
                if answered:
                    self._learn_scouts(self._clock() - place.at, place.beside)
                else:  # it tells nothing, and those behind it must not come to nothing one by one
                    self._scouts += 1
            used = place.used if answered else 0
            if place.entry is not None and used is not None:
                self._minute.settle(place.entry, used)
            if self._outage is not None and self._outage.probe is place:
                self._outage.failed(self._clock())
            if answered:
                self._throttled_since = None
                self._pace.answered(at_once)
                self.answered(place)
            if self._queue:
                self._call_head()

    def answered(self, place: Ticket) -> None:
        """The server is there; an outage is over where it began before this request was sent."""
        with self._lock:
            self.answers += 1
            if self._outage is not None and place.at >= self._outage.began:
                self._pace.reopen(self._outage.before)
                self._outage = None
                self._call_head()

    def out(self, place: Ticket, what: str, message: str, strict: bool) -> bool | Unreachable:
        with self._lock:
            patience, now = place.patience, self._clock()
            if patience is None or patience.most(self.answers > 0) <= 0:
                return False
            if patience.met is None:
                patience.met = self.answers
            if self._outage is None:
                self._outage = Outage(what, message, now, now + FIRST, self._in_flight + 1)
                for waiting in self._queue:  # each looks how long it will wait
                    self._call(waiting)
            self._outage.what, self._outage.message = what, message
            if self._outage.left(now, patience, self.answers > 0) <= 0:
                return self._outage.over(now, patience, self.answers > 0)
            return strict or self.answers == patience.met

    @property
    def in_flight(self) -> int:
        """Requests that are sent and not answered."""
        return self._in_flight

    def outage(self) -> tuple[str, float] | None:
        """(what is missing, seconds since when), where somebody waits for its end."""
        with self._lock:
            if self._outage is None or not (self._queue or self._outage.probe):
                return None
            return self._outage.what, self._clock() - self._outage.began

    def now(self) -> float:
        """Its clock."""
        return self._clock()

    def _patience(self, place: Ticket) -> float:
        """Seconds for which it goes on waiting for a server that is out; inf where it is not out.

        Raises:
            Unreachable: none are left.
        """
        if self._outage is None or place.patience is None:
            return inf
        left = self._outage.left(self._clock(), place.patience, self.answers > 0)
        if left <= 0:
            raise self._outage.over(self._clock(), place.patience, self.answers > 0)
        return left

    def give_up(self, place: Ticket) -> None:
        """It waits no longer."""
        with self._lock:
            if place in self._queue:
                self._queue.remove(place)
            self._call_head()

    def throttling(self) -> float:
        """Seconds since the server first said 429 to anybody, and answered nobody; 0 where it did answer since."""
        since = self._throttled_since
        return 0.0 if since is None else self._clock() - since

    def throttled(self, place: Ticket, wait: float | None) -> None:
        with self._lock:
            if self._throttled_since is None:
                self._throttled_since = self._clock()
            before, self.asked = self.pausing(), wait or self.asked
            self._pace.throttled(place.round, self._in_flight, self._clock(), wait or 0.0)
            begun = not before and self.pausing() > 0
        for wake in list(self.watching) if begun else ():
            with suppress(RuntimeError):  # its loop was closed without an end for its tasks
                wake()

    def late(self, place: Ticket) -> bool:
        with self._lock:
            if answered := self.answers - place.answers:
                self._pace.late(place.round, answered, self._in_flight + 1)  # it has left
            return self._pace.round > place.round

    def pausing(self) -> float:
        """Seconds that are left of a pause that the server asked for, 0 where there is none."""
        return self._pace.left(self._clock()) if self._pace.paused else 0.0

    def after_fork(self) -> None:
        """In a forked child: whoever waits or is in flight does so in the parent."""
        self._lock = threading.RLock()
        self._queue, self._in_flight, self._several, self._outage = deque(), 0, 0, None
        self.watching.clear()

    def _learn_scouts(self, seconds: float, beside: bool) -> None:
        """A request for several choices was answered: how many of its kind may be in flight from now on.

        Where one takes long, a second is sent beside the next: it takes as long only where it does not wait for it.
        """
        if seconds < LONG:
            self._scouts = inf
        elif not beside:
            self._scouts = max(self._scouts, 1 if self._in_turn else 2)
        elif seconds <= SAME * self._soonest:
            self._scouts += MORE_SCOUTS
        elif self._scouts <= 2:
            self._scouts, self._in_turn = 1, True
        self._soonest = min(self._soonest, seconds)

    def _wait(self, place: Ticket) -> float:
        """Seconds until a request may go, 0 if now; inf until another leaves."""
        if self._in_flight + 1 > self._pace.room:
            return inf
        if place.choices > 1 and self._several + 1 > self._scouts:
            return inf
        if self.rpm is None and self.tpm is None and not self._pace.paused and self._outage is None:
            return 0.0
        now, out = self._clock(), self._outage
        if out is not None and (out.probe is not None or now < out.due):
            return inf if out.probe is not None else out.due - now
        return max(self._pace.wait(now), self._minute.wait(now, place.tokens, self.rpm, self.tpm))

    def _admit(self, place: Ticket) -> None:
        self._in_flight += 1
        self._several += place.choices > 1
        place.beside = self._several > 1
        self._pace.admitted()
        place.round, place.answers = self._pace.round, self.answers
        place.at = self._clock()
        if self._outage is not None:
            self._outage.probe = place
        if self.rpm is not None or self.tpm is not None:
            place.entry = self._minute.add(self._clock(), place.tokens)

    def _call_head(self) -> None:
        while self._queue and not self._queue[0].called:
            head = self._queue[0]
            head.called, head.due = True, self._clock()
            if not self._call(head):
                self._queue.popleft()

    def _call(self, place: Ticket) -> bool:
        """Have it look again; False where its loop was closed without an end for its tasks."""
        assert place.loop is not None
        try:
            place.loop.call_soon_threadsafe(place.wake)
        except RuntimeError:
            return False
        return True

    def _pass_stalled(self, place: Ticket) -> None:
        """A head whose event loop is blocked goes to the end, with all that wait there; its turn comes again.

        A notebook's loop is blocked while `evaluate` runs beside it: they must not wait for one another.
        """
        head = self._queue[0]
        if head.loop is not place.loop and self._clock() > head.due + STALL:
            while self._queue[0].loop is head.loop:
                self._queue.rotate(-1)
            self._call_head()


MOST_PROMPT = 400_000  # characters: most models' windows hold no more; a mistaken column often does


@handing_on(kinds=())
@dataclass(frozen=True, kw_only=True)
class Limits:
    """How fast a judge may be asked, by the whole process, and for how much at once; None is no limit.

    Limits of requests and tokens hold for every window of 60 seconds, wherever it begins, from when they were set.

    Attributes:
        rpm: requests per minute at most, retries and failed ones included.
        tpm: tokens per minute at most, of prompts and replies together: estimated before a request is sent, set
            right by what its reply says. A request that alone is estimated above it is sent by itself.
        in_flight: requests sent and not yet answered at most.
        prompt: characters of one prompt at most, of all its messages together. A longer one is not sent: what it was
            for has the status "too_large". 400,000 characters are about 100,000 tokens of English.
        patience: seconds that an outage (no connection, HTTP 502, 503 and 504 without a Retry-After) is waited out,
            while nothing else is sent and samples' clocks stand; 0 takes it for a fault like any other. None is 600,
            and 10 for a server that never answered. A server that asks for fewer requests (429) is asked on for as
            long, with growing pauses, after its attempts were taken; None is 120 there. An endpoint's own comes first.

    Raises:
        ConfigError: one is no whole number of 1 or more; patience is no number of 0 or more.
    """

    rpm: int | None = None
    tpm: int | None = None
    in_flight: int | None = None
    prompt: int | None = MOST_PROMPT
    patience: float | None = None

    def __post_init__(self) -> None:
        refuse_below_one("limits", rpm=self.rpm, tpm=self.tpm, in_flight=self.in_flight, prompt=self.prompt)
        refuse_below_zero("limits", patience=self.patience)


class _OfRun(Limits):
    """Those of one run, told from another run's by identity."""


_limiters: dict[tuple[str, str], Limiter] = {}
_found: dict[tuple[str, str], Limiter] = {}  # the same by the address as it was given, so that none is parsed twice
_open: set[int] = set()  # the limits of runs, while they are open
_lock = threading.RLock()  # around what limiters are told; not around what is asked of them at every call


def limiter_of(judge: Judge, limits: Limits | None = None) -> Limiter:
    """The one of this judge's provider and model.

    Limits of a run (`limits_of_run`) hold from its first call there to its end; of several open runs, and of other
    limits given since the first of them began there, the strictest hold. Limits of an endpoint, or given without a
    run, take the place of such others as a whole, and stand until the next are given.

    Args:
        limits: for a judge whose endpoint names none of its own; None leaves what is there.
    """
    endpoint = judge.endpoint
    address = endpoint.base_url or vars(judge.model).get("openai_api_base") or ""
    limiter = _found.get((address, judge.name))
    if limiter is None:
        limiter = _limiters.setdefault((bare(address).rstrip("/") if address else "", judge.name), Limiter())
        _found[address, judge.name] = limiter
    if endpoint.rpm is not None or endpoint.tpm is not None or endpoint.in_flight is not None:
        limits = _own(endpoint.rpm, endpoint.tpm, endpoint.in_flight)
    if limits is not None and limits is not limiter.given and id(limits) not in limiter.runs:
        _tell(limiter, limits)
    return limiter


def patience_of(judge: Judge, limits: Limits | None, since: float | None) -> Patience:
    """How long one of its calls waits out an outage; `since`: clock time of its run's beginning, None without one."""
    seconds = judge.endpoint.patience
    if seconds is None and limits is not None:
        seconds = limits.patience
    return Patience(judge.name, seconds, monotonic() if since is None else since)


def outages() -> dict[str, tuple[str, float]]:
    """Judge and address -> what is missing and for how many seconds, of the servers whose return is waited for."""
    found = {key: limiter.outage() for key, limiter in list(_limiters.items())}
    return {f"{name} at {where}" if where else name: out for (where, name), out in found.items() if out is not None}


def in_flight() -> dict[str, int]:
    """Judge and address -> requests that are sent and not answered; takes no lock, so that a signal may ask."""
    found = {key: limiter.in_flight for key, limiter in list(_limiters.items())}
    return {f"{name} at {where}" if where else name: count for (where, name), count in found.items() if count}


@contextmanager
def limits_of_run(limits: Limits | None) -> Generator[Limits | None]:
    """A run is open: what to give `limiter_of` for its calls, until it ends."""
    if limits is None:
        yield None
        return
    own = _OfRun(**asdict(limits))
    _open.add(id(own))
    try:
        yield own
    finally:
        with _lock:
            _open.discard(id(own))
            for limiter in list(_limiters.values()):
                if limiter.runs.pop(id(own), None) is not None:
                    _change(limiter)


def _tell(limiter: Limiter, limits: Limits) -> None:
    with _lock:
        if not isinstance(limits, _OfRun):
            limiter.given = limits
        elif id(limits) in _open:  # else a call that outlives its run
            if not limiter.runs:
                limiter.given = None
            limiter.runs[id(limits)] = limits
        _change(limiter)


def _change(limiter: Limiter) -> None:
    hold = [limits for limits in (limiter.given, *limiter.runs.values()) if isinstance(limits, Limits)]
    limiter.change(
        _least(limits.rpm for limits in hold),
        _least(limits.tpm for limits in hold),
        _least(limits.in_flight for limits in hold),
    )


def _least(numbers: Iterable[int | None]) -> int | None:
    return min((number for number in numbers if number is not None), default=None)


def held_back() -> float:
    """Seconds for which a server that this process asks wants to be left alone; the longest of several, 0 for none."""
    return max((limiter.pausing() for limiter in list(_limiters.values())), default=0.0)


def _after_fork() -> None:
    """A forked child has nothing in flight, no open run, and maybe locks that nobody will release."""
    global _lock
    _lock = threading.RLock()
    _open.clear()
    for limiter in _limiters.values():
        limiter.after_fork()
        if limiter.runs:
            limiter.runs.clear()
            _change(limiter)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@lru_cache(maxsize=1024)
def _own(rpm: int | None, tpm: int | None, in_flight: int | None) -> Limits:
    return Limits(rpm=rpm, tpm=tpm, in_flight=in_flight)
