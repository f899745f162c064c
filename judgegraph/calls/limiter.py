"""The queue before a judge: first come, first served, among all event loops and threads of the process."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from math import inf
from time import monotonic

from judgegraph.calls.minute import Entry, Minute
from judgegraph.calls.outage import FIRST, Outage, Patience, Unreachable
from judgegraph.calls.pace import Pace

__all__ = ["Limiter", "Place", "Unreachable"]

STALL = 1.0  # seconds that a waiter whose turn has come may keep those of other event loops waiting
SOON = 0.001  # seconds: the shortest sleep, so that a rounding error does not make a busy loop


class Place:
    """One request: `async with place:` waits until it may be sent, and leaving ends its being in flight.

    Attributes:
        used: tokens its reply says it took; None until known, and the estimate stands.
    """

    __slots__ = ("_limiter", "_woken", "at", "called", "due", "entry", "loop", "patience", "round", "tokens", "used")

    def __init__(self, limiter: Limiter, tokens: int, patience: Patience | None = None) -> None:
        self.patience = patience
        self.at = -inf  # clock time at which it was admitted, as far as an outage wants to know
        self.used: int | None = None
        self.tokens = tokens
        self.entry: Entry | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._limiter = limiter
        self._woken: asyncio.Future[None] | None = None
        self.round = 0  # of the pace when it was admitted
        self.called = False  # woken, and did not look yet
        self.due = inf  # clock time at which it should have looked

    async def __aenter__(self) -> Place:
        if not self.enter():
            await self.turn()
        return self

    def enter(self) -> bool:
        """Take it at once, where nothing holds it back; else wait for the `turn`."""
        return self._limiter.enter(self)

    async def __aexit__(self, kind: object, *_: object) -> None:
        self._limiter.leave(self, answered=kind is None)

    def throttled(self, wait: float | None) -> None:
        """The server said 429 (or 503 with a time) to it: send less at once, and nothing for `wait` seconds."""
        self._limiter.throttled(self, wait)

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

    async def turn(self) -> None:
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
    calls the next. Nobody overtakes, so nobody starves: a request above all limits is sent once the minute is empty.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self.given: object = None  # what `limits` was told of it last, but for
        self.runs: dict[int, object] = {}  # what it was told for runs that are open
        self.watching: set[Callable[[], object]] = set()  # called when the server asks for a pause
        self.asked = 0.0  # seconds, when it last did
        self.answers = 0
        self._outage: Outage | None = None
        self.rpm: int | None = None
        self.tpm: int | None = None
        self._clock = clock or monotonic
        self._lock = threading.RLock()  # reentrant: a coroutine may be closed by the collector of garbage, anywhere
        self._queue: deque[Place] = deque()
        self._in_flight = 0
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

    def place(self, tokens: int, patience: Patience | None = None) -> Place:
        """For a request of about so many tokens, with how long it waits for a server that is out; None: for ever."""
        return Place(self, tokens, patience)

    def enter(self, place: Place) -> bool:
        """Admit it where nothing holds it back; else it is in the queue."""
        with self._lock:
            if not self._queue and not self._wait(place.tokens):
                self._admit(place)
                return True
            place.loop = asyncio.get_running_loop()
            if not self._queue:
                self._loop, self._mixed = place.loop, False
            self._mixed = self._mixed or place.loop is not self._loop
            self._queue.append(place)
            return False

    def look(self, place: Place) -> float:
        """Admit it if its turn has come: 0; else seconds after which to look again, inf where it will be woken."""
        with self._lock:
            place.called = False
            if self._mixed:
                self._pass_stalled(place)
            if self._queue[0] is not place:
                place.due = inf
                return min(STALL if self._mixed else inf, self._patience(place))
            if delay := self._wait(place.tokens):
                place.due = self._clock() + delay
                return min(delay, self._patience(place))
            self._queue.popleft()
            self._admit(place)
            self._call_head()
            return 0.0

    def leave(self, place: Place, answered: bool) -> None:
        """A request that was sent stays one; its tokens are given back where no reply came."""
        with self._lock:
            self._in_flight -= 1
            used = place.used if answered else 0
            if place.entry is not None and used is not None:
                self._minute.settle(place.entry, used)
            if self._outage is not None and self._outage.probe is place:
                self._outage.failed(self._clock())
            if answered:
                self._pace.answered()
                self.answered(place)
            if self._queue:
                self._call_head()

    def answered(self, place: Place) -> None:
        """The server is there; an outage is over where it began before this request was sent."""
        with self._lock:
            self.answers += 1
            if self._outage is not None and place.at >= self._outage.began:
                self._pace.reopen(self._outage.before)
                self._outage = None
                self._call_head()

    def out(self, place: Place, what: str, message: str, strict: bool) -> bool | Unreachable:
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

    def outage(self) -> tuple[str, float] | None:
        """(what is missing, seconds since when), where somebody waits for its end."""
        with self._lock:
            if self._outage is None or not (self._queue or self._outage.probe):
                return None
            return self._outage.what, self._clock() - self._outage.began

    def now(self) -> float:
        """Its clock."""
        return self._clock()

    def _patience(self, place: Place) -> float:
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

    def give_up(self, place: Place) -> None:
        """It waits no longer."""
        with self._lock:
            if place in self._queue:
                self._queue.remove(place)
            self._call_head()

    def throttled(self, place: Place, wait: float | None) -> None:
        with self._lock:
            before, self.asked = self.pausing(), wait or self.asked
            self._pace.throttled(place.round, self._in_flight, self._clock(), wait or 0.0)
            begun = not before and self.pausing() > 0
        for wake in list(self.watching) if begun else ():
            with suppress(RuntimeError):  # its loop was closed without an end for its tasks
                wake()

    def pausing(self) -> float:
        """Seconds that are left of a pause that the server asked for, 0 where there is none."""
        return self._pace.left(self._clock()) if self._pace.paused else 0.0

    def after_fork(self) -> None:
        """In a forked child: whoever waits or is in flight does so in the parent."""
        self._lock = threading.RLock()
        self._queue, self._in_flight, self._outage = deque(), 0, None
        self.watching.clear()

    def _wait(self, tokens: int) -> float:
        """Seconds until a request of so many tokens may go, 0 if now; inf until another leaves."""
        if self._in_flight + 1 > self._pace.room:
            return inf
        if self.rpm is None and self.tpm is None and not self._pace.paused and self._outage is None:
            return 0.0
        now, out = self._clock(), self._outage
        if out is not None and (out.probe is not None or now < out.due):
            return inf if out.probe is not None else out.due - now
        return max(self._pace.wait(now), self._minute.wait(now, tokens, self.rpm, self.tpm))

    def _admit(self, place: Place) -> None:
        self._in_flight += 1
        self._pace.admitted()
        place.round = self._pace.round
        if self._outage is not None:
            self._outage.probe, place.at = place, self._clock()
        if self.rpm is not None or self.tpm is not None:
            place.entry = self._minute.add(self._clock(), place.tokens)

    def _call_head(self) -> None:
        while self._queue and not self._queue[0].called:
            head = self._queue[0]
            head.called, head.due = True, self._clock()
            if not self._call(head):
                self._queue.popleft()

    def _call(self, place: Place) -> bool:
        """Have it look again; False where its loop was closed without an end for its tasks."""
        assert place.loop is not None
        try:
            place.loop.call_soon_threadsafe(place.wake)
        except RuntimeError:
            return False
        return True

    def _pass_stalled(self, place: Place) -> None:
        """A head whose event loop is blocked goes to the end, with all that wait there; its turn comes again.

        A notebook's loop is blocked while `evaluate` runs beside it: they must not wait for one another.
        """
        head = self._queue[0]
        if head.loop is not place.loop and self._clock() > head.due + STALL:
            while self._queue[0].loop is head.loop:
                self._queue.rotate(-1)
            self._call_head()
