"""Charts of a report: text in, SVG out, each a `Picture`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final

from judgegraph.report.drawing.figure import shown, width
from judgegraph.types import Scale
from judgegraph.views.blocks import Picture, number_text, percent

# The look of charts, as CSS for the page they stand in. Colours are of Okabe and Ito's palette, which colour-blind
# readers tell apart; series differ in place, filling and name too.


LIGHT: Final = {
    "ink": "#1f2328", "muted": "#57606a", "line": "#6e7781", "ground": "#ffffff", "c1": "#0072b2", "c2": "#d55e00",
    "c3": "#009e73", "c4": "#cc79a7", "c5": "#e69f00", "c6": "#56b4e9",
}  # fmt: skip
DARK: Final = {
    "ink": "#e6edf3", "muted": "#9aa4af", "line": "#8b949e", "ground": "#0d1117", "c1": "#56b4e9", "c2": "#e69f00",
    "c3": "#009e73", "c4": "#cc79a7", "c5": "#f0e442", "c6": "#0072b2",
}  # fmt: skip


def _variables(colours: dict[str, str]) -> str:
    return ";".join(f"--jg-{name}:{colour}" for name, colour in colours.items())


COLOURS: Final = range(1, 7)
CHART_CSS: Final = f"""\
.jg-chart{{{_variables(LIGHT)};display:block;max-width:100%;height:auto;\
font-family:system-ui,-apple-system,"Segoe UI",sans-serif;overflow:visible}}
@media screen and (prefers-color-scheme:dark){{.jg-chart{{{_variables(DARK)}}}}}
@media (forced-colors:active){{.jg-chart{{--jg-ink:CanvasText;--jg-muted:CanvasText;--jg-line:CanvasText;\
--jg-ground:Canvas;forced-color-adjust:none}}}}
.picture:has(>.jg-chart){{display:inline-block;vertical-align:top;max-width:100%;margin:.6rem 1rem .6rem 0}}
.jg-chart.jg-mini{{display:inline-block;vertical-align:middle}}
.jg-chart .jg-ink,.jg-chart .jg-title{{fill:var(--jg-ink)}}
.jg-chart .jg-title{{font-weight:600}}
.jg-chart .jg-muted{{fill:var(--jg-muted)}}
.jg-chart .jg-line{{stroke:var(--jg-line)}}
.jg-chart .jg-edge{{fill:var(--jg-line);stroke:var(--jg-line)}}
.jg-chart .jg-mark{{fill:var(--jg-ink)}}
.jg-chart .jg-chip{{fill:var(--jg-ground)}}
.jg-chart .jg-node{{fill:var(--jg-ground);stroke:var(--jg-c1)}}
{"".join(f".jg-chart .jg-c{n}{{fill:var(--jg-c{n});stroke:var(--jg-{'ink' if n > 4 else f'c{n}'})}}" for n in COLOURS)}
.jg-chart .jg-whisker{{stroke:var(--jg-c1)}}
@media print{{.jg-chart{{break-inside:avoid;print-color-adjust:exact}}}}
"""

ATTRIBUTES: Final = {  # without CSS it is as on a light page
    "jg-ink": f'fill="{LIGHT["ink"]}"',
    "jg-title": f'fill="{LIGHT["ink"]}" font-weight="600"',
    "jg-muted": f'fill="{LIGHT["muted"]}" font-size="11"',
    "jg-line": f'stroke="{LIGHT["line"]}"',
    "jg-edge": f'fill="{LIGHT["line"]}" stroke="{LIGHT["line"]}"',
    "jg-mark": f'fill="{LIGHT["ink"]}"',
    "jg-chip": f'fill="{LIGHT["ground"]}"',
    "jg-node": f'fill="{LIGHT["ground"]}" stroke="{LIGHT["c1"]}" stroke-width="2"',
    "jg-whisker": f'stroke="{LIGHT["c1"]}"',
    **{f"jg-c{n}": f'fill="{LIGHT[f"c{n}"]}" stroke="{LIGHT["ink" if n > 4 else f"c{n}"]}"' for n in COLOURS},
}


# The parts of a chart as SVG text: no script, no reference, no style attribute, no id; every text is escaped and cut.
#
# A chart is at most 340 wide, so that its smallest letters are still 11 pixels high on a page that is 390 wide.


WIDE = 340.0
SIZE, SMALL = 12.0, 11.0  # of type
DESCRIPTION_CHARS = 600  # characters of a description


def picture(title: str, about: str, parts: Iterable[str], high: float, wide: float = WIDE, look: str = "") -> Picture:
    """A chart with its accessible name and description; `look`: more classes."""
    name, description = shown(title, 160), shown(about, DESCRIPTION_CHARS)
    size = f'viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" height="{high:g}"'
    look = f"jg-chart {look}".strip()
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{look}" role="img" {size} font-size="{SIZE:g}">'
        f"<title>{escape(name)}</title><desc>{escape(description)}</desc>{''.join(parts)}</svg>"
    )
    return Picture(svg, f"{name}: {description}")


def text(x: float, y: float, words: object, room: float = WIDE, look: str = "jg-ink", end: bool = False) -> str:
    """A line on the baseline y that starts, or ends, at x, cut to the pixels of `room`."""
    anchor = ' text-anchor="end"' if end else ""
    return f'<text x="{x:.4g}" y="{y:.4g}"{anchor} {seen(look)}>{escape(fit(words, room))}</text>'


def centred(x: float, y: float, words: object, room: float = WIDE, look: str = "jg-ink") -> str:
    """A line on the baseline y whose middle is at x."""
    return f'<text x="{x:.4g}" y="{y:.4g}" text-anchor="middle" {seen(look)}>{escape(fit(words, room))}</text>'


def fit(words: object, room: float) -> str:
    """One line of at most so many pixels, ending in "…" where it was longer."""
    line = shown(words, 160)
    if width(line, SIZE) <= room:
        return line
    while line and width(line + "…", SIZE) > room:
        line = line[:-1]
    return line.rstrip() + "…"


def bar(x: float, y: float, wide: float, high: float, colour: int, hollow: bool = False) -> str:
    """A filled, or a hollow, rectangle in colour 1 to 6; one that is not empty can be seen."""
    wide = max(wide, 0.0)
    inside = ' fill-opacity=".12"' if hollow else ""
    return f'<rect x="{x:.4g}" y="{y:.4g}" width="{wide:.4g}" height="{high:.4g}" {seen(f"jg-c{colour}")}{inside}/>'


def straight(x1: float, y1: float, x2: float, y2: float, look: str = "jg-line", width: float = 1) -> str:
    """A straight line."""
    ends = f'x1="{x1:.4g}" y1="{y1:.4g}" x2="{x2:.4g}" y2="{y2:.4g}"'
    return f'<line {ends} stroke-width="{width:.3g}" {seen(look)}/>'


def swatch(x: float, y: float, colour: int, hollow: bool = False) -> str:
    """A small square beside a line of text on the baseline y."""
    return bar(x, y - 9, 9, 9, colour, hollow)


def seen(look: str) -> str:
    """A class, and what it means where no CSS is."""
    return f'class="{look}" {ATTRIBUTES[look]}'


# A number between -1 and 1 for each two of some names, as squares: the darker, the nearer to 1 or to -1.


CELL, WIDEST, MATRIX_NAME = 26.0, 40.0, 118.0  # pixels of a square's height, and width at most; for the names


def matrix(title: str, names: Sequence[str], values: Mapping[tuple[str, str], float]) -> Picture:
    """The lower half of a symmetric matrix; below 0 a square is hollow. A pair without a number is left empty.

    Args:
        names: twelve at most, in their order. values: (one, other) -> number, for either order.
    """
    side = min(WIDEST, (WIDE - MATRIX_NAME) / max(1, len(names)))
    parts = [text(0, 13, title, look="jg-title")]
    about: list[str] = []
    for row, one in enumerate(names):
        y = HEAD + row * CELL
        parts.append(text(0, y + 17, f"{row + 1} {one}", MATRIX_NAME - 8))
        for column, other in enumerate(names[:row]):
            value = values.get((one, other), values.get((other, one), math.nan))
            if not math.isnan(value):
                parts += _square(MATRIX_NAME + column * side, y, side, value)
                about.append(f"{shown(other, 40)} and {shown(one, 40)} {number_text(value)}")
    bottom = HEAD + len(names) * CELL
    for column in range(len(names) - 1):
        parts.append(centred(MATRIX_NAME + (column + 0.5) * side, bottom + 10, column + 1, look="jg-muted"))
    return picture(title, "; ".join(about) or "no two have enough samples", parts, bottom + 16)


def _square(x: float, y: float, side: float, value: float) -> Iterator[str]:
    inside = f' fill-opacity="{0.08 + 0.5 * max(0.0, value):.2f}" stroke-opacity=".5"'
    yield f'<rect x="{x:.4g}" y="{y:.4g}" width="{side - 1:.4g}" height="{CELL - 1:.4g}" {seen("jg-c1")}{inside}/>'
    yield centred(x + side / 2, y + 17, number_text(value, 1 if side < 30 else 2), look="jg-ink")


# Counts by name, the greatest first, as SAGEval's Figure 4 shows what its critic suggests; and shares of a whole.


ROW, HEAD = 31.0, 24.0


def bars(title: str, rows: Sequence[tuple[str, int]], of: int, colour: int = 1) -> Picture:
    """A name and its count in words, below it its bar; the axis is `of`, what the counts are shares of.

    Args:
        of: what all of it would be, such as the samples; its share is printed beside each count.
    """
    most = max([of, *(count for _, count in rows)]) or 1
    parts = [text(0, 13, title, look="jg-title")]
    for at, (name, count) in enumerate(rows):
        y, amount = HEAD + at * ROW, f"{count:,} of {of:,} ({percent(count, of)})"
        parts.append(text(0, y + 12, name, WIDE - 8 - 6.9 * len(amount)))
        parts.append(text(WIDE, y + 12, amount, look="jg-muted", end=True))
        parts.append(bar(0.5, y + 17, (WIDE - 1) * count / most, 8, colour))
    about = "; ".join(f"{shown(name, 60)} {count:,} of {of:,}" for name, count in rows)
    return picture(title, about, parts, HEAD + ROW * len(rows))


def split_bar(title: str, parts: Sequence[tuple[str, int]]) -> Picture:
    """One bar, cut by counts; below it each part's name, count and share. The middle one of three is hollow."""
    whole = sum(count for _, count in parts)
    drawn = [text(0, 13, title, look="jg-title"), *_cut(parts, whole)]
    for at, (name, count) in enumerate(parts):
        y = HEAD + 38 + at * 17
        drawn.append(swatch(0.5, y, *_fill(at)))
        drawn.append(text(16, y, f"{name}: {count:,} ({percent(count, whole)})", WIDE - 16))
    about = ", ".join(f"{shown(name, 60)} {count:,}" for name, count in parts) + f"; n {whole:,}"
    return picture(title, about, drawn, HEAD + 30 + 17 * len(parts))


def _cut(parts: Sequence[tuple[str, int]], whole: int) -> Iterator[str]:
    x = 0.5
    for at, (_, count) in enumerate(parts):
        wide = (WIDE - 1) * count / whole if whole else 0.0
        if count:
            yield bar(x, HEAD, wide, 16, *_fill(at))
        x += wide


def _fill(at: int) -> tuple[int, bool]:
    return ((1, False), (3, True), (2, False), (4, True))[at % 4]


# How many scores lie at each point of a scale, drafts beside finals (SAGEval, arXiv:2411.16077, Figure 3a).


NAMES, BARS = 82.0, 150.0  # pixels for the points' names; of a bar
HIGH, GAP, HISTOGRAM_HEAD = 15.0, 7.0, 22.0


@dataclass(frozen=True)
class Series:
    """One stage's scores.

    Attributes:
        counts: point -> how many; mean: None of labels. people: whether people said it, which has one look everywhere.
    """

    name: str
    counts: Mapping[str, int]
    mean: float | None = None
    people: bool = False

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
    high = HISTOGRAM_HEAD + HIGH * len(series) + GAP + len(points) * (len(series) * HIGH + GAP)
    parts = [text(0, 13, title, look="jg-title"), *_legend(series), *_rows(points, series)]
    return picture(title, about(points, series), parts, high)


def about(points: Sequence[str], series: Sequence[Series]) -> str:
    """The same in words."""
    sentences = [
        f"{shown(one.name, 40)} (n {one.n:,}): "
        + ", ".join(f"{shown(point, 40)} {one.counts.get(point, 0):,}" for point in points if one.counts.get(point))
        for one in series
    ]
    return "; ".join(sentences)


def _legend(series: Sequence[Series]) -> Iterator[str]:
    for at, one in enumerate(series):
        y = HISTOGRAM_HEAD + 11 + at * HIGH
        mean = "" if one.mean is None else f", mean {number_text(one.mean)}"
        yield swatch(0.5, y, *_bar_fill(at, series))
        yield text(16, y, f"{one.name}: n {one.n:,}{mean}", WIDE - 16)


def _rows(points: Sequence[str], series: Sequence[Series]) -> Iterator[str]:
    most = max((one.counts.get(p, 0) / one.n for one in series if one.n for p in points), default=0) or 1.0
    top, step = HISTOGRAM_HEAD + HIGH * len(series) + GAP, len(series) * HIGH + GAP
    for row, point in enumerate(points):
        y = top + row * step
        yield text(NAMES - 8, y + HIGH * len(series) / 2 + 4, point, NAMES - 8, end=True)
        for at, one in enumerate(series):
            count = one.counts.get(point, 0)
            wide = BARS * count / one.n / most if one.n else 0.0
            if count:
                yield bar(NAMES, y + at * HIGH + 1, wide, HIGH - 3, *_bar_fill(at, series))
            amount = f"{count:,} ({percent(count, one.n)})" if count else "0"
            yield text(NAMES + wide + 5, y + at * HIGH + 11, amount, look="jg-muted")
    yield straight(NAMES, top - 2, NAMES, top + len(points) * step - GAP + 2)


def _bar_fill(at: int, series: Sequence[Series]) -> tuple[int, bool]:
    """The colour and whether it is hollow: people, drafts and finals look alike in every chart.

    A series without another beside it, but people's, is filled in the finals' colour.
    """
    if series[at].people:
        return 3, True
    others = [place for place, one in enumerate(series) if not one.people]
    place = others.index(at)
    return (2, False) if len(others) == 1 or place == 1 else (1, True) if place == 0 else (place + 2, False)


# Numbers with their intervals, a row for each.


INTERVAL_PLOT_ROW, INTERVAL_PLOT_HEAD, EDGE = 36.0, 24.0, 8.0


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
    tall = INTERVAL_PLOT_HEAD + INTERVAL_PLOT_ROW * len(rows) + 16
    parts = [text(0, 13, title, look="jg-title"), *_axis(len(rows), low, high, middle, shares)]
    for at, row in enumerate(rows):
        parts += _row(row, INTERVAL_PLOT_HEAD + at * INTERVAL_PLOT_ROW, low, high, shares)
    return picture(title, "; ".join(f"{shown(row.name, 60)} {_label_of(row, shares)}" for row in rows), parts, tall)


def _axis(rows: int, low: float, high: float, middle: float, shares: bool) -> Iterator[str]:
    bottom = INTERVAL_PLOT_HEAD + INTERVAL_PLOT_ROW * rows
    x = _x(middle, low, high)
    yield (
        f'<line x1="{x:.4g}" y1="{INTERVAL_PLOT_HEAD + 16:g}" x2="{x:.4g}" y2="{bottom:g}" stroke-width="1"'
        f' stroke-dasharray="2 3" {seen("jg-line")}/>'
    )
    yield text(EDGE, bottom + 12, _number(low, shares, 1), look="jg-muted")
    yield text(WIDE - EDGE, bottom + 12, _number(high, shares, 1), look="jg-muted", end=True)
    if low < middle < high:
        yield centred(x, bottom + 12, _number(middle, shares, 1), look="jg-muted")


def _row(row: Measure, y: float, low: float, high: float, shares: bool) -> Iterator[str]:
    label = _label_of(row, shares)
    yield text(0, y + 12, row.name, WIDE - 8 - 6.9 * len(label))
    yield text(WIDE, y + 12, label, look="jg-muted", end=True)
    yield straight(EDGE, y + 25, WIDE - EDGE, y + 25, width=0.5)
    if not math.isnan(row.low):
        left, right = (_x(end, low, high) for end in (row.low, row.high))
        yield straight(left, y + 25, right, y + 25, "jg-whisker", 3)
        yield from (straight(x, y + 20, x, y + 30, "jg-whisker", 1.5) for x in (left, right))
    if not math.isnan(row.value):
        look = "jg-node" if row.hollow else "jg-c1"
        yield f'<circle cx="{_x(row.value, low, high):.4g}" cy="{y + 25:.4g}" r="4.5" {seen(look)}/>'


def _x(value: float, low: float, high: float) -> float:
    return EDGE + (WIDE - 2 * EDGE) * (min(max(value, low), high) - low) / (high - low)


def _label_of(row: Measure, shares: bool) -> str:
    within = "" if math.isnan(row.low) else f" [{_number(row.low, shares)}, {_number(row.high, shares)}]"
    return f"{_number(row.value, shares)}{within}, n {row.n:,}"


def _number(value: float, shares: bool, digits: int = 2) -> str:
    if shares:
        return "-" if math.isnan(value) else percent(value, 1)
    return number_text(value, digits)


# One score with the probabilities behind it, small enough to stand in a line.


SCORE_BAR_WIDE, TALL, BASE, SCORE_BAR_EDGE = 140.0, 36.0, 22.0, 8.0
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
    label = "no score" if value is None else f"score {value:g}" if isinstance(value, float | int) else f"score {value}"
    about = ", ".join(f"{shown(point, 40)} {percent(p, 1)}" for point, p in seen_[:8]) or "no distribution"
    return picture(
        f"{label}{on}",
        about,
        [straight(2, BASE + 0.5, SCORE_BAR_WIDE - 2, BASE + 0.5), *parts],
        TALL,
        SCORE_BAR_WIDE,
        "jg-mini",
    )


_SPARE = re.compile(r' xmlns="[^"]*"| (?:fill|stroke)="#[0-9a-f]{6}"|<(title|desc)>.*?</\1>', re.S)
"""What a drawing in a page with our CSS, beside the same in words, can do without: half of its bytes."""


def small_bar(distribution: Mapping[str, float], scale: Scale | None, value: float | str | None) -> str:
    """The same for a page that says it in words beside it."""
    drawn = score_bar(distribution, scale, value).svg
    return _SPARE.sub("", drawn).replace('role="img"', 'aria-hidden="true"', 1)


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
    wide = (
        max(2.0, min(14.0, (SCORE_BAR_WIDE - 2 * SCORE_BAR_EDGE) / max(high - low, 1) - 2)) if len(places) < 12 else 2.0
    )
    for point, p in places:
        if math.isfinite(point):
            yield _column(_bar_x(point, low, high), wide, p)
    if isinstance(value, float | int) and math.isfinite(value):
        yield _mark(_bar_x(value, low, high))
    yield text(2, TALL - 2, f"{low:g}", 50, "jg-muted")
    yield text(SCORE_BAR_WIDE - 2, TALL - 2, f"{high:g}", 50, "jg-muted", end=True)


def _of_labels(given: list[tuple[str, float]], labels: list[str], value: float | str | None) -> Iterator[str]:
    shares = dict(given)
    for at, label in enumerate(labels[:MOST]):
        x = SCORE_BAR_EDGE + (SCORE_BAR_WIDE - 2 * SCORE_BAR_EDGE) * (at + 0.5) / min(MOST, len(labels))
        if label in shares:
            yield _column(x, min(14.0, 100 / len(labels)), shares[label], hollow=label != value)
        if label == value:
            yield _mark(x)
    if isinstance(value, str):
        yield centred(SCORE_BAR_WIDE / 2, TALL - 1, value, SCORE_BAR_WIDE - 4, "jg-muted")


def _column(x: float, wide: float, share: float, hollow: bool = False) -> str:
    high = (BASE - 3) * min(1.0, max(0.0, share))
    return bar(x - wide / 2, BASE - high, wide, high, 2, hollow)


def _mark(x: float) -> str:
    return f'<path d="M{x:.4g} {BASE - 1:g}l4 6h-8z" {seen("jg-mark")}/>'


def _bar_x(value: float, low: float, high: float) -> float:
    share = (min(max(value, low), high) - low) / (high - low) if high > low else 0.5
    return SCORE_BAR_EDGE + 2 + (SCORE_BAR_WIDE - 2 * SCORE_BAR_EDGE - 4) * share


def _float(text_: str) -> float:
    try:
        return float(text_)
    except ValueError:
        return math.nan


# Which systems win against which: an arrow from each winner to the loser, with its share of wins.


WIN_GRAPH_MOST, LABELLED = 8, 4  # systems that are drawn; so many of them whose arrows are labelled too
WIN_GRAPH_HEAD, BALL = 24.0, 13.0
Met = Mapping[tuple[str, str], tuple[float, int]]  # two systems -> the first one's share, ties half, and of how many


def win_graph(title: str, systems: Sequence[str], met: Met) -> Picture:
    """Systems in a ring, numbered as they are listed below it; the thicker an arrow, the surer the wins.

    An even pair has a line without a head. The share on an arrow is the winner's, ties counted half.

    Args:
        systems: the best first; the first eight are drawn.
    """
    systems = systems[:WIN_GRAPH_MOST]
    radius = 105.0 if len(systems) <= LABELLED else 135.0
    rise = radius if len(systems) > 2 else 0.0
    middle = WIDE / 2, WIN_GRAPH_HEAD + rise + BALL + 4
    spots = [_spot(at, len(systems), middle, radius) for at in range(len(systems))]
    parts = [text(0, 13, title, look="jg-title")]
    labels: list[str] = []
    for i, one in enumerate(systems):
        for j in range(i + 1, len(systems)):
            if (found := _between(one, systems[j], met)) is not None:
                share, n = found
                ends = (spots[i], spots[j]) if share >= 0.5 else (spots[j], spots[i])
                parts += _arrow(*ends, max(share, 1 - share))
                labels += _label(*ends, max(share, 1 - share), n) if len(systems) <= LABELLED else ()
    bottom = middle[1] + rise + BALL + 8
    parts += [*labels, *_nodes(spots), *_names(systems, bottom)]
    return picture(title, _about(systems, met), parts, bottom + 17 * len(systems) + 4)


def _spot(at: int, of: int, middle: tuple[float, float], radius: float) -> tuple[float, float]:
    angle = 2 * math.pi * at / of - (math.pi if of == 2 else math.pi / 2)
    return middle[0] + radius * math.cos(angle), middle[1] + radius * math.sin(angle)


def _between(one: str, other: str, met: Met) -> tuple[float, int] | None:
    if (one, other) in met:
        return met[one, other]
    if (other, one) in met:
        share, n = met[other, one]
        return 1 - share, n
    return None


def _arrow(start: tuple[float, float], end: tuple[float, float], share: float) -> Iterator[str]:
    (x1, y1), (x2, y2) = start, end
    long = math.dist(start, end)
    dx, dy = (x2 - x1) / long, (y2 - y1) / long
    stop = long - BALL - 3
    tip, back = (x1 + dx * stop, y1 + dy * stop), (x1 + dx * (stop - 9), y1 + dy * (stop - 9))
    width = 1 + 5 * (share - 0.5)
    yield f'<path d="M{x1:.4g} {y1:.4g}L{back[0]:.4g} {back[1]:.4g}" stroke-width="{width:.3g}" {seen("jg-edge")}/>'
    if share > 0.5:
        left, right = ((back[0] - s * dy * 5, back[1] + s * dx * 5) for s in (1, -1))
        points = " ".join(f"{x:.4g},{y:.4g}" for x, y in (tip, left, right))
        yield f'<polygon points="{points}" {seen("jg-edge")}/>'


def _label(start: tuple[float, float], end: tuple[float, float], share: float, n: int) -> Iterator[str]:
    """In the middle of short arrows; of long ones nearer to the winner, so that labels of crossing ones do not meet."""
    at = 0.5 if math.dist(start, end) < 190 else 0.36
    x, y = (a + (b - a) * at for a, b in zip(start, end, strict=True))
    label = f"{100 * share:.0f} % of {n:,}"
    wide = 6.4 * len(label)
    yield f'<rect x="{x - wide / 2:.4g}" y="{y - 8:.4g}" width="{wide:.4g}" height="15" rx="3" {seen("jg-chip")}/>'
    yield centred(x, y + 4, label, look="jg-muted")


def _nodes(spots: Sequence[tuple[float, float]]) -> Iterator[str]:
    for at, (x, y) in enumerate(spots):
        yield f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{BALL:g}" {seen("jg-node")}/>'
        yield centred(x, y + 4, at + 1)


def _names(systems: Sequence[str], top: float) -> Iterator[str]:
    for at, name in enumerate(systems):
        yield text(0, top + 12 + 17 * at, f"{at + 1}: {shown(name)}", WIDE)


def _about(systems: Sequence[str], met: Met) -> str:
    names = {name: shown(name, 40) for name in systems}
    sentences = [
        f"{names[a]} wins {100 * share:.0f} % of {n:,} against {names[b]}"
        for (a, b), (share, n) in met.items()
        if a in names and b in names
    ]
    return "; ".join(sentences) or "no two of these systems were compared"


# Judged and generated texts as a page may show them: what cannot be seen is made visible, what is long is cut.


_JOINERS = frozenset("\u200c\u200d")  # letters of some scripts and composed emoji need them
_ASKED = re.compile(r"[^\x20-\x7e\n\t\w]")


def visible(text: str) -> str:
    """Control characters as their pictures; direction marks, tag characters, halves of pairs and the like as U+FFFD."""
    return _ASKED.sub(_shown, text.replace("\r\n", "\n"))


def _shown(found: re.Match[str]) -> str:
    c = found[0]
    if c.isprintable() or (c.isspace() and ord(c) > 0x9F and c not in "\u2028\u2029") or c in _JOINERS:
        return c
    return chr(0x2400 + ord(c)) if ord(c) < 0x20 else "\u2421" if c == "\x7f" else "\ufffd"


def finalize(value: Any) -> Any:
    """What every expression of a template goes through before it is escaped."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return value if value.isascii() and value.isprintable() else visible(value)
    return value
