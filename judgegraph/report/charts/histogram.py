"""How many scores lie at each point of a scale, drafts beside finals (SAGEval, arXiv:2411.16077, Figure 3a)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from judgegraph.report.blocks import Picture
from judgegraph.report.charts.canvas import WIDE, bar, line, number, percent, picture, swatch, text
from judgegraph.report.drawing.lettering import shown

NAMES, BARS = 82.0, 150.0  # pixels for the points' names; of a bar
HIGH, GAP, HEAD = 15.0, 7.0, 22.0


@dataclass(frozen=True)
class Series:
    """One stage's scores.

    Attributes:
        counts: point -> how many; mean: None of labels.
    """

    name: str
    counts: Mapping[str, int]
    mean: float | None = None

    @property
    def n(self) -> int:
        """All of them."""
        return sum(self.counts.values())


def histogram(title: str, points: Sequence[str], series: Sequence[Series]) -> Picture:
    """A row for each point, a bar in it for each series; bars are shares of their own series.

    The first of several series is hollow, the second filled: they are told apart by place, filling and name.

    Args:
        points: names, in the order of the scale; all that the series count.
    """
    high = HEAD + HIGH * len(series) + GAP + len(points) * (len(series) * HIGH + GAP)
    parts = [text(0, 13, title, look="jg-title"), *_legend(series), *_rows(points, series)]
    return picture(title, about(points, series), parts, high)


def about(points: Sequence[str], series: Sequence[Series]) -> str:
    """The same in words."""
    said = [
        f"{shown(one.name, 40)} (n {one.n:,}): "
        + ", ".join(f"{shown(point, 40)} {one.counts.get(point, 0):,}" for point in points if one.counts.get(point))
        for one in series
    ]
    return "; ".join(said)


def _legend(series: Sequence[Series]) -> Iterator[str]:
    for at, one in enumerate(series):
        y = HEAD + 11 + at * HIGH
        mean = "" if one.mean is None else f", mean {number(one.mean)}"
        yield swatch(0.5, y, *_fill(at, series))
        yield text(16, y, f"{one.name}: n {one.n:,}{mean}", WIDE - 16)


def _rows(points: Sequence[str], series: Sequence[Series]) -> Iterator[str]:
    most = max((one.counts.get(p, 0) / one.n for one in series if one.n for p in points), default=0) or 1.0
    top, step = HEAD + HIGH * len(series) + GAP, len(series) * HIGH + GAP
    for row, point in enumerate(points):
        y = top + row * step
        yield text(NAMES - 8, y + HIGH * len(series) / 2 + 4, point, NAMES - 8, end=True)
        for at, one in enumerate(series):
            count = one.counts.get(point, 0)
            wide = BARS * count / one.n / most if one.n else 0.0
            if count:
                yield bar(NAMES, y + at * HIGH + 1, wide, HIGH - 3, *_fill(at, series))
            said = f"{count:,} ({percent(count, one.n)})" if count else "0"
            yield text(NAMES + wide + 5, y + at * HIGH + 11, said, look="jg-muted")
    yield line(NAMES, top - 2, NAMES, top + len(points) * step - GAP + 2)


def _fill(at: int, series: Sequence[Series]) -> tuple[int, bool]:
    """The colour and whether it is hollow; a series alone is filled, in the finals' colour."""
    return (2, False) if len(series) == 1 or at == 1 else (1, True) if at == 0 else (at + 1, False)
