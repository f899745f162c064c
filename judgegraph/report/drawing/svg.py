"""A drawing as SVG text: no script, no reference out of itself, no style attribute; every name is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

from judgegraph.report.drawing.box import PAD, Box, Route, label_size
from judgegraph.report.drawing.figure import figure_of, name_of
from judgegraph.report.drawing.layout import Layout, layout
from judgegraph.report.drawing.lettering import LEADING, NAME, SMALL, shown
from judgegraph.report.drawing.look import DRAWING_CSS, look
from judgegraph.report.drawing.routes import LOOP
from judgegraph.report.drawing.text import sentence

MARGIN = 12.0
DESCRIBED = 4000  # characters of the description


def graph_svg(
    graph: Any, badges: Mapping[str, Sequence[str]] | None = None, title: str = "", *, standalone: bool = True,
    prefix: str = "jg",
) -> str:  # fmt: skip
    """A graph as SVG, from top to bottom; subgraphs are framed, conditional edges dashed.

    Args:
        graph: a compiled graph or a StateGraph.
        badges: node place ("weigh/judge", of a subgraph "weigh") -> short lines for its box.
        title: its accessible name. "": the graph's name.
        standalone: it brings its own CSS; else the page has `DRAWING_CSS`, and may set its custom properties.
        prefix: of its ids; two drawings in one page need two.

    Raises:
        ConfigError: it is no graph.
    """
    figure = figure_of(graph)
    placed = layout(figure, badges or {}).moved(MARGIN, MARGIN)
    ids = re.sub(r"[^A-Za-z0-9_-]", "-", prefix if re.match(r"[A-Za-z]", prefix) else f"jg-{prefix}")
    lines = [
        *_opening(placed, ids),
        f'<title id="{ids}-title">{_text(title or figure.name)}</title>',
        f'<desc id="{ids}-desc">{_text(sentence(figure), DESCRIBED)}</desc>',
        *([f"<style>{DRAWING_CSS}</style>"] if standalone else []),
        f'<defs><marker id="{ids}-head" viewBox="0 0 10 8" refX="9" refY="4" markerWidth="10" markerHeight="8"'
        f' markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 10 4 0 8z" {look("jg-head")}/></marker></defs>',
        f'<rect width="100%" height="100%" rx="6" {look("jg-ground")}/>',
        *_drawn(placed, f"{ids}-head"),
    ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _opening(placed: Layout, ids: str) -> Iterator[str]:
    wide, high = round(placed.width + 2 * MARGIN), round(placed.height + 2 * MARGIN)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="jg-drawing" role="img" viewBox="0 0 {wide} {high}"'
    yield f' width="{wide}" height="{high}" font-family="sans-serif" text-anchor="middle"'
    yield f' aria-labelledby="{ids}-title" aria-describedby="{ids}-desc">'


def _text(text: object, limit: int = 200) -> str:
    return escape(shown(text, limit))


def _drawn(placed: Layout, head: str) -> Iterator[str]:
    yield from (_frame(box) for box in placed.boxes if box.kind == "frame")
    yield from (_route(route, head) for route in placed.routes)
    yield from (_labelled(route) for route in placed.routes if route.label)
    yield from (_box(box) for box in placed.boxes if box.kind != "frame")


def _frame(box: Box) -> str:
    return _group(box, f'<rect {_rect(box)} rx="10" {look("jg-frame")}/>{_lines(box)}')


def _box(box: Box) -> str:
    if box.kind == "dot":
        middle = f'cx="{box.x + box.width / 2:.1f}" cy="{box.y + box.height / 2:.1f}"'
        return _group(box, f'<circle {middle} r="{box.width / 2:.1f}" {look("jg-dot")}/>')
    if box.kind == "pill":
        name = _line(box.name[0], box.x + box.width / 2, box.y + box.height / 2, "jg-pill-name")
        return _group(box, f'<rect {_rect(box)} rx="{box.height / 2:.1f}" {look("jg-pill")}/>{name}')
    return _group(box, f'<rect {_rect(box)} rx="6" {look("jg-box")}/>{_lines(box)}')


def _group(box: Box, inner: str) -> str:
    place = _text(name_of(box.place))
    return f'<g class="jg-{box.kind}-group" data-place="{place}"><title>{place}</title>{inner}</g>'


def _rect(box: Box) -> str:
    return f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'


def _lines(box: Box) -> str:
    """Its name, its note and its badges, one under the other."""
    listed = [(line, "jg-name", NAME) for line in box.name]
    listed += [(box.note, "jg-note", SMALL)] if box.note else []
    listed += [(line, "jg-badge", SMALL) for line in box.badges]
    y = box.y + PAD - 2
    found = []
    for line, look_of, size in listed:
        found.append(_line(line, box.x + box.width / 2, y + size * LEADING / 2, look_of))
        y += size * LEADING
    return "".join(found)


def _line(text: str, x: float, y: float, look_of: str) -> str:
    """A line whose middle is at x, y; the baseline is set by hand, as not every viewer knows `dominant-baseline`."""
    return f'<text x="{x:.1f}" y="{y + 4.5:.1f}" {look(look_of)}>{escape(text)}</text>'


def _route(route: Route, head: str) -> str:
    edge = route.edge
    named = " > ".join(_text(name_of(route.path + end)) for end in (edge.source, edge.target))
    dashed = ' stroke-dasharray="5 4"' if edge.conditional else ""
    return f'<path d="{_way(route)}" {look("jg-edge")}{dashed} marker-end="url(#{head})" data-edge="{named}"/>'


def _way(route: Route) -> str:
    (x, y), points = route.points[0], route.points
    d = [f"M{x:.1f} {y:.1f}"]
    if route.edge.source == route.edge.target:
        (_, y1), out = points[1], x + LOOP * 4 / 3 - 4
        return f"{d[0]}C{out:.1f} {y - 6:.1f} {out:.1f} {y1 + 6:.1f} {x:.1f} {y1:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (y0 + y1) / 2
        curve = f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
        d.append(f"V{y1:.1f}" if abs(x0 - x1) < 0.05 else curve)
    return "".join(d)


def _labelled(route: Route) -> str:
    x, y = route.at
    high = SMALL * LEADING
    first = y - high * (len(route.label) - 1) / 2
    wide, tall = label_size(route.label)
    chip = f'<rect x="{x - wide / 2:.1f}" y="{y - tall / 2:.1f}" width="{wide:.1f}" height="{tall:.1f}" rx="4"'
    lines = (_line(line, x, first + i * high, "jg-label") for i, line in enumerate(route.label))
    return f"{chip} {look('jg-chip')}/>{''.join(lines)}"
