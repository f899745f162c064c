"""How far a run is, in words."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

from judgegraph.cli.table import counted

if TYPE_CHECKING:
    from judgegraph.runtime.progress import Progress

WINDOW = 60.0  # seconds that the rate looks back
STEP = 0.5  # seconds between two points of it at least
UNITS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))


class Pace:
    """Samples per second of the last minute: what a ledger answered at the start says nothing of what is left."""

    def __init__(self) -> None:
        self._points: deque[tuple[float, int]] = deque()

    def add(self, seconds: float, done: int) -> None:
        """So many are done at so many seconds after the start; those of an earlier process are in the first."""
        if not self._points or seconds - self._points[-1][0] >= STEP:
            self._points.append((seconds, done))
        while seconds - self._points[0][0] > WINDOW and len(self._points) > 2:
            self._points.popleft()

    def rate(self, seconds: float, done: int) -> float | None:
        """Samples per second up to now, None where nothing can be said."""
        if not self._points:
            return None
        since, before = self._points[0]
        return (done - before) / (seconds - since) if seconds > since and done > before else None


def state_line(now: Progress, total: int | None, pace: Pace, *, ended: bool = False) -> str:
    """Such as "120 of 1,000 samples, 8.3/s, 1 min 46 s left, 240 calls (12 saved), 0.31 USD, failed: 2 timeout"."""
    of = f" of {total:,}" if total is not None else ""
    samples = f"{now.done:,}{of} {'sample' if (total or now.done) == 1 else 'samples'}"
    parts = [samples, time_taken(now.seconds)] if ended else [samples]
    return ", ".join([*parts, *details(now, total, pace, ended=ended)])


def details(now: Progress, total: int | None, pace: Pace, *, ended: bool = False) -> list[str]:
    """What stands behind the number of samples."""
    rate = (now.done - now.resumed) / now.seconds if ended and now.seconds else pace.rate(now.seconds, now.done)
    parts = [f"{rate:.1f}/s" if rate < 100 else f"{rate:,.0f}/s"] if rate else []
    if rate and total is not None and total > now.done and not ended:
        parts.append(f"{time_taken((total - now.done) / rate)} left")
    saved = f" ({now.saved:,} saved)" if now.saved else ""
    if now.outages and not ended:
        parts.append(paused(now.outages))
    if now.held_back and not ended:
        parts.append(f"held back by the server for {time_taken(max(1.0, now.held_back))} more")
    if now.waiting and not ended:
        parts.append(f"waiting for {counted(now.waiting, 'call')} of another run with this ledger")
    parts.append(f"{counted(now.calls, 'call')}{saved}")
    if now.unanswered:
        parts.append(unanswered(now.unanswered))
    parts.append(cost(now.usd, now.prompt_tokens + now.completion_tokens))
    failed = failures(now.by_status)
    return [*parts, f"failed: {failed}"] if failed else parts


def unanswered(requests: int) -> str:
    """ "3 requests without a reply of use", beside the calls that were answered."""
    return f"{counted(requests, 'request')} without a reply of use"


def paused(outages: Mapping[str, tuple[str, float]]) -> str:
    """ "paused: openai:m at http://localhost:8000/v1: no connection for 12 s"; the first of several, and how many."""
    (judge, (what, seconds)), more = next(iter(outages.items())), len(outages) - 1
    others = f" and {more:,} more" if more else ""
    return f"paused: {judge}: {what} for {time_taken(seconds)}{others}"


def failures(by_status: Mapping[str, int]) -> str:
    """ "2 timeout, 1 refused", the most frequent first; "" where every sample is ok."""
    bad = sorted(((s, n) for s, n in by_status.items() if s != "ok" and n), key=lambda one: -one[1])
    return ", ".join(f"{n:,} {status}" for status, n in bad)


def cost(usd: float | None, tokens: int) -> str:
    """ "0.31 USD"; tokens where no price is known, or nothing costs anything."""
    return f"{money(usd)} USD" if usd else counted(tokens, "token")


def money(usd: float) -> str:
    """With two digits behind the point, four for a small sum."""
    return f"{usd:,.2f}" if usd >= 1 or not usd else f"{usd:.2f}" if usd >= 0.1 else f"{usd:.4f}"


def time_taken(seconds: float) -> str:
    """ "46 s", "1 min 46 s", "2 h 3 min", "3 d 4 h"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    place = next(place for place, (_, size) in enumerate(UNITS) if whole >= size)
    (large, size), (small, part) = UNITS[place : place + 2]
    rest = whole % size // part
    return f"{whole // size} {large}" + (f" {rest} {small}" if rest else "")
