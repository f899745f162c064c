"""A score's distribution, drawn and in words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judgegraph.report.blocks import Picture
from judgegraph.report.charts.score_bar import score_bar
from judgegraph.report.visible import line
from judgegraph.types import Score

POINTS = 12  # in words


@dataclass(frozen=True)
class Spread:
    """A distribution, drawn and in words."""

    stage: str
    chart: Picture
    words: str


def spread_of(score: Score) -> Spread:
    """The likeliest points in words, in the order of the scale."""
    shares = score.distribution or {}
    kept = set(sorted(shares, key=lambda point: -shares[point])[:POINTS])
    labels = score.scale.labels if score.scale is not None else ()
    order = [p for p in labels if p in kept] or sorted(kept, key=_number)
    words = ", ".join(f"{line(p, 40)}: {100 * shares[p]:.0f} %" for p in order if shares[p] >= 0.005)
    drawn = score_bar(shares, score.scale, score.answer)
    small = _SPARE.sub("", drawn.svg).replace('role="img"', 'aria-hidden="true"', 1)
    return Spread(score.stage, Picture(small, words), words)


_SPARE = re.compile(r' xmlns="[^"]*"| (?:fill|stroke)="#[0-9a-f]{6}"|<(title|desc)>.*?</\1>', re.S)
"""What a drawing in a page with our CSS, beside the same in words, can do without: half of its bytes."""


def _number(point: str) -> tuple[float, str]:
    try:
        return float(point), point
    except ValueError:
        return float("inf"), point
