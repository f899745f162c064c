"""One score with the probabilities behind it, small enough to stand in a line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from judgegraph.report.blocks import Picture
from judgegraph.report.charts.canvas import bar, centred, line, percent, picture, seen, text
from judgegraph.report.drawing.lettering import shown
from judgegraph.types import Scale

WIDE, TALL, BASE, EDGE = 140.0, 36.0, 22.0, 8.0
MOST = 40  # columns; the likeliest of more are shown


def score_bar(distribution: Mapping[str, float] | None, scale: Scale | None, value: float | str | None) -> Picture:
    """A column for each value that was seen, as high as it is likely; a mark below the score.

    Args:
        distribution: scale point, number or label -> probability; None: the mark alone.
        scale: None: from the values that are there. value: the score, a number or a label; None: there is none.
    """
    seen_ = sorted(((str(k), p) for k, p in (distribution or {}).items() if p > 0), key=lambda pair: -pair[1])[:MOST]
    labels = list(scale.labels) if scale is not None and scale.labels else _named(seen_, value)
    parts = _of_labels(seen_, labels, value) if labels else _of_numbers(seen_, scale, value)
    on = f" on {scale}" if scale is not None else ""
    said = "no score" if value is None else f"score {value:g}" if isinstance(value, float | int) else f"score {value}"
    about = ", ".join(f"{shown(point, 40)} {percent(p, 1)}" for point, p in seen_[:8]) or "no distribution"
    return picture(f"{said}{on}", about, [line(2, BASE + 0.5, WIDE - 2, BASE + 0.5), *parts], TALL, WIDE, "jg-mini")


def _named(given: list[tuple[str, float]], value: float | str | None) -> list[str]:
    """The labels, where what was given are no numbers."""
    if not isinstance(value, str) and all(not math.isnan(_float(point)) for point, _ in given):
        return []
    named = [point for point, _ in given]
    return sorted({*named, *([value] if isinstance(value, str) else [])})


def _of_numbers(given: list[tuple[str, float]], scale: Scale | None, value: float | str | None) -> Iterator[str]:
    places = [(_float(point), p) for point, p in given]
    met = [x for x, _ in places if math.isfinite(x)] + ([value] if isinstance(value, float | int) else [])
    low = scale.low if scale is not None and scale.low is not None else min(met, default=0.0)
    high = scale.high if scale is not None and scale.high is not None else max(met, default=1.0)
    wide = max(2.0, min(14.0, (WIDE - 2 * EDGE) / max(high - low, 1) - 2)) if len(places) < 12 else 2.0
    for point, p in places:
        if math.isfinite(point):
            yield _column(_x(point, low, high), wide, p)
    if isinstance(value, float | int) and math.isfinite(value):
        yield _mark(_x(value, low, high))
    yield text(2, TALL - 2, f"{low:g}", 50, "jg-muted")
    yield text(WIDE - 2, TALL - 2, f"{high:g}", 50, "jg-muted", end=True)


def _of_labels(given: list[tuple[str, float]], labels: list[str], value: float | str | None) -> Iterator[str]:
    shares = dict(given)
    for at, label in enumerate(labels[:MOST]):
        x = EDGE + (WIDE - 2 * EDGE) * (at + 0.5) / min(MOST, len(labels))
        if label in shares:
            yield _column(x, min(14.0, 100 / len(labels)), shares[label], hollow=label != value)
        if label == value:
            yield _mark(x)
    if isinstance(value, str):
        yield centred(WIDE / 2, TALL - 1, value, WIDE - 4, "jg-muted")


def _column(x: float, wide: float, share: float, hollow: bool = False) -> str:
    high = (BASE - 3) * min(1.0, max(0.0, share))
    return bar(x - wide / 2, BASE - high, wide, high, 2, hollow)


def _mark(x: float) -> str:
    return f'<path d="M{x:.4g} {BASE - 1:g}l4 6h-8z" {seen("jg-mark")}/>'


def _x(value: float, low: float, high: float) -> float:
    share = (min(max(value, low), high) - low) / (high - low) if high > low else 0.5
    return EDGE + 2 + (WIDE - 2 * EDGE - 4) * share


def _float(text_: str) -> float:
    try:
        return float(text_)
    except ValueError:
        return math.nan
