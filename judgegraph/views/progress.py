"""How far a run is: samples, pace, what is left, calls, money against its budget, the running mean, what failed."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judgegraph.views.amounts import counted, money, whole_seconds
from judgegraph.views.run import failures, unanswered

if TYPE_CHECKING:
    from judgegraph.runs.worker import Progress

WINDOW = 60.0  # seconds that the rate looks back
STEP = 0.5  # seconds between two points of it at least


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
    """Such as "120 of 1,000 samples, 8.3/s, 1 min 46 s left, 240 calls (12 saved), $0.31, failed: 2 timeout"."""
    of = f" of {total:,}" if total is not None else ""
    samples = f"{now.done:,}{of} {'sample' if (total or now.done) == 1 else 'samples'}"
    parts = [samples, whole_seconds(now.seconds)] if ended else [samples]
    return ", ".join([*parts, *details(now, total, pace, ended=ended)])


def details(now: Progress, total: int | None, pace: Pace, *, ended: bool = False) -> list[str]:
    """What stands behind the number of samples."""
    rate = (now.done - now.resumed) / now.seconds if ended and now.seconds else pace.rate(now.seconds, now.done)
    parts = [f"{rate:.1f}/s" if rate < 100 else f"{rate:,.0f}/s"] if rate else []
    if rate and total is not None and total > now.done and not ended:
        parts.append(f"{whole_seconds((total - now.done) / rate)} left")
    in_session = [f"{now.calls_now:,} now"] if now.resumed and now.calls_now != now.calls else []
    in_session += [f"{now.saved:,} saved"] if now.saved else []
    if now.outages and not ended:
        parts.append(paused(now.outages))
    if now.held_back and not ended:
        parts.append(f"held back by the server for {whole_seconds(max(1.0, now.held_back))} more")
    if now.waiting and not ended:
        parts.append(f"waiting for {counted(now.waiting, 'call')} of another run with this ledger")
    calls = f"{now.calls:,} of {counted(cap, 'call')}" if (cap := _cap(now, "calls")) else counted(now.calls, "call")
    parts.append(calls + (f" ({', '.join(in_session)})" if in_session else ""))
    if now.unanswered:
        parts.append(unanswered(now.unanswered))
    parts += _spent(now)
    if now.mean is not None and not ended:
        parts.append(
            f"mean {now.mean:.2f} on {now.scale}" if now.scale else f"mean {now.mean:.2f} of 1, on several scales"
        )
    failed = failures(now.by_status)
    return [*parts, f"failed: {failed}"] if failed else parts


def _cap(now: Progress, name: str) -> Any:
    return getattr(now.budget, name, None)


def _spent(now: Progress) -> list[str]:
    """Money, or tokens where nothing has a price; beside the caps of a budget."""
    tokens = now.prompt_tokens + now.completion_tokens
    if usd := _cap(now, "usd"):
        found = [f"{money(now.usd or 0.0)} of {money(usd)}"]
    else:
        found = [] if _cap(now, "tokens") and not now.usd else [money(now.usd) if now.usd else counted(tokens, "token")]
    if most := _cap(now, "tokens"):
        found.append(f"{tokens:,} of {most:,} tokens")
    return found


def paused(outages: Mapping[str, tuple[str, float]]) -> str:
    """ "paused: openai:m at http://localhost:8000/v1: no connection for 12 s"; the first of several, and how many."""
    (judge, (what, seconds)), more = next(iter(outages.items())), len(outages) - 1
    others = f" and {more:,} more" if more else ""
    return f"paused: {judge}: {what} for {whole_seconds(seconds)}{others}"
