"""A server that is out: who asks it waits, and one request at a time looks whether it is back; not for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgegraph.errors import ReplyError

if TYPE_CHECKING:
    from judgegraph.calls.limiter import Place

PATIENCE = 600.0  # seconds that an outage is waited out by default
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
    probe: Place | None = None

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
        why = "longer than it is waited for" if known else "and never an answer: check its address, and that it runs"
        told = f"{patience.judge}: {self.what} for {waited:.0f} s, {why} ({self.message})"
        return Unreachable(told, status="provider_error")
