"""Numbers as the sections print them, each with what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from judgegraph.report.blocks import Grid
from judgegraph.report.charts.canvas import number, percent
from judgegraph.stats.intervals import Interval
from judgegraph.stats.shares import share_interval

__all__ = ["counts", "filled", "number", "percent", "share", "signed", "valued", "within"]


def signed(value: float | None) -> str:
    """+0.25, -1.00, 0.00; "-" where there is none."""
    text = number(value)
    return f"+{text}" if text[:1] not in "-0" or (text[:1] == "0" and float(text)) else text


def within(low: float, high: float, digits: int = 2) -> str:
    """[0.10, 0.32]; "" where there is no interval."""
    return "" if low != low or high != high else f"[{number(low, digits)}, {number(high, digits)}]"


def valued(value: float, low: float, high: float, digits: int = 2) -> str:
    """A number with its interval."""
    return f"{number(value, digits)} {within(low, high, digits)}".strip()


def filled(caption: str, head: Sequence[str], rows: Sequence[tuple[str, ...]], numeric: frozenset[int]) -> Grid:
    """A table without the columns in which no row says anything."""
    kept = [at for at in range(len(head)) if any(row[at] for row in rows)]
    body = tuple(tuple(row[at] for at in kept) for row in rows)
    right = frozenset(new for new, at in enumerate(kept) if at in numeric)
    return Grid(caption, tuple(head[at] for at in kept), body, right)


def counts(found: Mapping[str, int]) -> str:
    """ok 94, refused 2: the greatest first."""
    return ", ".join(f"{name} {n:,}" for name, n in sorted(found.items(), key=lambda pair: -pair[1]) if n)


def share(found: Mapping[float, int]) -> tuple[float, Interval, int]:
    """The mean of values from 0 to 1, given how often each was met, with Wilson's 95 % interval, and their number."""
    values = np.repeat(np.array([*found], dtype=np.float64), [*found.values()])
    return (float(values.mean()) if len(values) else float("nan")), share_interval(values), len(values)
