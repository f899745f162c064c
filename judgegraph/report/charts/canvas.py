"""The parts of a chart as SVG text: no script, no reference, no style attribute, no id; every text is escaped and cut.

A chart is at most 340 wide, so that its smallest letters are still 11 pixels high on a page that is 390 wide.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from judgegraph.report.blocks import Picture
from judgegraph.report.charts.look import ATTRIBUTES
from judgegraph.report.drawing.lettering import shown, width

WIDE = 340.0
SIZE, SMALL = 12.0, 11.0  # of type
SAID = 600  # characters of a description


def picture(title: str, about: str, parts: Iterable[str], high: float, wide: float = WIDE, look: str = "") -> Picture:
    """A chart with its accessible name and description; `look`: more classes."""
    name, said = shown(title, 160), shown(about, SAID)
    size = f'viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" height="{high:g}"'
    look = f"jg-chart {look}".strip()
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{look}" role="img" {size} font-size="{SIZE:g}">'
        f"<title>{escape(name)}</title><desc>{escape(said)}</desc>{''.join(parts)}</svg>"
    )
    return Picture(svg, f"{name}: {said}")


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


def line(x1: float, y1: float, x2: float, y2: float, look: str = "jg-line", width: float = 1) -> str:
    """A straight line."""
    ends = f'x1="{x1:.4g}" y1="{y1:.4g}" x2="{x2:.4g}" y2="{y2:.4g}"'
    return f'<line {ends} stroke-width="{width:.3g}" {seen(look)}/>'


def swatch(x: float, y: float, colour: int, hollow: bool = False) -> str:
    """A small square beside a line of text on the baseline y."""
    return bar(x, y - 9, 9, 9, colour, hollow)


def seen(look: str) -> str:
    """A class, and what it means where no CSS is."""
    return f'class="{look}" {ATTRIBUTES[look]}'


def percent(part: float, whole: float) -> str:
    """40 %, <1 %, >99 %; "" of nothing."""
    if not whole:
        return ""
    share = 100 * part / whole
    return "<1 %" if 0 < share <= 0.5 else ">99 %" if 99.5 <= share < 100 else f"{share:.0f} %"


def number(value: float | None, digits: int = 2) -> str:
    """ "-" where there is none, and never "-0.00"."""
    if value is None or value != value:
        return "-"
    return f"{round(value, digits) + 0.0:.{digits}f}"
