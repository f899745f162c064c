"""Numbers with their intervals, a row for each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgegraph.report.blocks import Picture
from judgegraph.report.charts.canvas import WIDE, centred, line, number, percent, picture, seen, text
from judgegraph.report.drawing.lettering import shown

ROW, HEAD, EDGE = 36.0, 24.0, 8.0


@dataclass(frozen=True)
class Measure:
    """A number.

    Attributes:
        value, low, high: nan where there is none. n: what it rests on.
        hollow: drawn so, for a first of two that belong together.
    """

    name: str
    value: float
    low: float
    high: float
    n: int
    hollow: bool = False


def interval_plot(
    title: str, rows: Sequence[Measure], low: float = -1.0, high: float = 1.0, middle: float = 0.0, *,
    shares: bool = False,
) -> Picture:  # fmt: skip
    """Each name with its number in words, below it the interval as a line with a point.

    Args:
        low, high: of the axis. middle: where a dashed line stands, for "none" or "even".
        shares: numbers are printed as percent.
    """
    tall = HEAD + ROW * len(rows) + 16
    parts = [text(0, 13, title, look="jg-title"), *_axis(len(rows), low, high, middle, shares)]
    for at, row in enumerate(rows):
        parts += _row(row, HEAD + at * ROW, low, high, shares)
    return picture(title, "; ".join(f"{shown(row.name, 60)} {_said(row, shares)}" for row in rows), parts, tall)


def _axis(rows: int, low: float, high: float, middle: float, shares: bool) -> Iterator[str]:
    bottom = HEAD + ROW * rows
    x = _x(middle, low, high)
    yield (
        f'<line x1="{x:.4g}" y1="{HEAD + 16:g}" x2="{x:.4g}" y2="{bottom:g}" stroke-width="1"'
        f' stroke-dasharray="2 3" {seen("jg-line")}/>'
    )
    yield text(EDGE, bottom + 12, _number(low, shares, 1), look="jg-muted")
    yield text(WIDE - EDGE, bottom + 12, _number(high, shares, 1), look="jg-muted", end=True)
    if low < middle < high:
        yield centred(x, bottom + 12, _number(middle, shares, 1), look="jg-muted")


def _row(row: Measure, y: float, low: float, high: float, shares: bool) -> Iterator[str]:
    said = _said(row, shares)
    yield text(0, y + 12, row.name, WIDE - 8 - 6.9 * len(said))
    yield text(WIDE, y + 12, said, look="jg-muted", end=True)
    yield line(EDGE, y + 25, WIDE - EDGE, y + 25, width=0.5)
    if not math.isnan(row.low):
        left, right = (_x(end, low, high) for end in (row.low, row.high))
        yield line(left, y + 25, right, y + 25, "jg-whisker", 3)
        yield from (line(x, y + 20, x, y + 30, "jg-whisker", 1.5) for x in (left, right))
    if not math.isnan(row.value):
        look = "jg-node" if row.hollow else "jg-c1"
        yield f'<circle cx="{_x(row.value, low, high):.4g}" cy="{y + 25:.4g}" r="4.5" {seen(look)}/>'


def _x(value: float, low: float, high: float) -> float:
    return EDGE + (WIDE - 2 * EDGE) * (min(max(value, low), high) - low) / (high - low)


def _said(row: Measure, shares: bool) -> str:
    within = "" if math.isnan(row.low) else f" [{_number(row.low, shares)}, {_number(row.high, shares)}]"
    return f"{_number(row.value, shares)}{within}, n {row.n:,}"


def _number(value: float, shares: bool, digits: int = 2) -> str:
    if shares:
        return "-" if math.isnan(value) else percent(value, 1)
    return number(value, digits)
