"""How many requests may be in flight: fewer after a server's 429, more again with every answer."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

OPENING = 1.0  # seconds after a pause, at most as long as it was, in which no more than one window of requests is sent


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

    def allow(self, in_flight: int | None) -> None:
        """Another cap; what was learnt of the server stands."""
        self.cap = inf if in_flight is None else in_flight
        self.room = min(self.cap, self.window)

    def answered(self) -> None:
        """A request was answered: a whole window of answers makes room for one more; after an outage each does."""
        if self._aim:
            self.window += 1
            if self.window >= self._aim:
                self._aim, self.window = 0, max(self.window, self._former)
            self.room = min(self.cap, self.window)
            return
        if self.window < self.cap:
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
