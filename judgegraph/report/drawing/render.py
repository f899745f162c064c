"""`jg.show`: a graph as a picture, in notebooks, files and terminals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

from judgegraph.errors import ConfigError, one_line
from judgegraph.report.drawing.figure import (
    DRAWING_CSS,
    END,
    LEADING,
    NAME,
    SMALL,
    Edge,
    Figure,
    figure_of,
    graph_mermaid,
    look,
    name_of,
    shown,
)
from judgegraph.report.drawing.layout import LOOP, PAD, Box, Layout, Route, back_edges, in_order, label_size, layout
from judgegraph.shown import Shown

# A graph as lines of text, for terminals and for those who hear a page.


def graph_text(graph: Any) -> str:
    """A line per node, each behind all that lead to it, with where it leads; subgraphs are indented.

    "a -> b, c" leads to both, "a -> b or c" to what a condition chooses, "[label]" being what it answers, and "b and/or
    c" to one or several of them. "; " stands between what is decided apart, "× n" is sent to any number of times at
    once, and "(back)" closes a loop.

    Raises:
        ConfigError: it is no graph.
    """
    figure = figure_of(graph)
    return "\n".join([shown(figure.name), *_text_lines(figure, "  ")]) + "\n"


def sentence(graph: Any) -> str:
    """The same in one line."""
    figure = figure_of(graph)
    return "; ".join(line.strip() for line in _text_lines(figure, ""))


def _text_lines(figure: Figure, indent: str) -> Iterator[str]:
    backs = back_edges(figure)
    for name in in_order(figure):
        if name == END:
            continue
        node = figure.nodes[name]
        place = _name(figure.path + name if not indent and figure.path else name)
        note = f" ({node.note})" if node.note else ""
        to = _targets(figure, name, backs)
        yield f"{indent}{place}{note}{f' -> {to}' if to else ''}"
        if node.inside is not None:
            yield from _text_lines(node.inside, f"{indent}  " if indent else "")


def _targets(figure: Figure, name: str, backs: frozenset[tuple[str, str]]) -> str:
    edges = [edge for edge in figure.edges if edge.source == name]
    sure = ", ".join(_target(edge, backs) for edge in edges if not edge.conditional)
    chosen = [
        (" and/or " if choice.several else " or ").join(_target(edge, backs) for edge in choice.edges)
        for choice in figure.choices.get(name, ())
    ]
    return "; ".join(part for part in (sure, *chosen) if part)


def _target(edge: Edge, backs: frozenset[tuple[str, str]]) -> str:
    label = f" [{shown(edge.label, 80)}]" if edge.label else ""
    back = " (back)" if (edge.source, edge.target) in backs else ""
    return f"{_name(edge.target)}{' × n' if edge.sends else ''}{label}{back}"


def _name(name: str) -> str:
    return shown(name_of(name))


# A drawing as SVG text: no script, no reference out of itself, no style attribute; every name is escaped.


MARGIN = 12.0
DESCRIBED = 4000  # characters of the description


def graph_svg(
    graph: Any, badges: Mapping[str, Sequence[str]] | None = None, title: str = "", *, standalone: bool = True,
    prefix: str = "jg", marks: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    """A graph as SVG, from top to bottom; subgraphs are framed, conditional edges dashed.

    Args:
        graph: a compiled graph or a StateGraph.
        badges: node place ("weigh/judge", of a subgraph "weigh") -> short lines for its box.
        title: its accessible name. "": the graph's name.
        standalone: it brings its own CSS; else the page has `DRAWING_CSS`, and may set its custom properties.
        prefix: of its ids; two drawings in one page need two.
        marks: node place, or "source > target" of an edge by its places -> a word of ours, which the page's CSS knows.

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
        *_drawn(placed, f"{ids}-head", marks or {}),
    ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _opening(placed: Layout, ids: str) -> Iterator[str]:
    wide, high = round(placed.width + 2 * MARGIN), round(placed.height + 2 * MARGIN)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="jg-drawing" role="img" viewBox="0 0 {wide} {high}"'
    yield f' width="{wide}" height="{high}" font-family="sans-serif" text-anchor="middle"'
    yield f' aria-labelledby="{ids}-title" aria-describedby="{ids}-desc">'


def _text(text: object, limit: int = 200) -> str:
    return escape(shown(text, limit))


def _drawn(placed: Layout, head: str, marks: Mapping[str, str]) -> Iterator[str]:
    yield from (_frame(box, marks) for box in placed.boxes if box.kind == "frame")
    yield from (_route(route, head, marks) for route in placed.routes)
    yield from (_labelled(route) for route in placed.routes if route.label)
    yield from (_box(box, marks) for box in placed.boxes if box.kind != "frame")


def _frame(box: Box, marks: Mapping[str, str]) -> str:
    return _group(box, marks, f'<rect {_rect(box)} rx="10" {look("jg-frame")}/>{_lines(box)}')


def _box(box: Box, marks: Mapping[str, str]) -> str:
    if box.kind == "dot":
        middle = f'cx="{box.x + box.width / 2:.1f}" cy="{box.y + box.height / 2:.1f}"'
        return _group(box, marks, f'<circle {middle} r="{box.width / 2:.1f}" {look("jg-dot")}/>')
    if box.kind == "pill":
        name = _line(box.name[0], box.x + box.width / 2, box.y + box.height / 2, "jg-pill-name")
        return _group(box, marks, f'<rect {_rect(box)} rx="{box.height / 2:.1f}" {look("jg-pill")}/>{name}')
    return _group(box, marks, f'<rect {_rect(box)} rx="6" {look("jg-box")}/>{_lines(box)}')


def _group(box: Box, marks: Mapping[str, str], inner: str) -> str:
    place = _text(name_of(box.place))
    return (
        f'<g class="jg-{box.kind}-group" data-place="{place}"{_mark(marks.get(box.place))}><title>{place}</title>'
        f"{inner}</g>"
    )


def _mark(word: str | None) -> str:
    return f' data-mark="{escape(word)}"' if word else ""


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


def _route(route: Route, head: str, marks: Mapping[str, str]) -> str:
    edge = route.edge
    named = " > ".join(_text(name_of(route.path + end)) for end in (edge.source, edge.target))
    dashed = ' stroke-dasharray="5 4"' if edge.conditional else ""
    mark = _mark(marks.get(f"{route.path}{edge.source} > {route.path}{edge.target}"))
    return f'<path d="{_way(route)}" {look("jg-edge")}{dashed} marker-end="url(#{head})" data-edge="{named}"{mark}/>'


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


FORMS = {".svg": "svg", ".mmd": "mermaid", ".txt": "text"}  # suffix of a file -> what is written


@dataclass(frozen=True)
class Drawing(Shown):
    """A graph that can be looked at: `.svg`, `.text` and `.mermaid`; a notebook shows the SVG."""

    graph: Any = field(repr=False)

    @cached_property
    def figure(self) -> Figure:
        """What is drawn."""
        return figure_of(self.graph)

    @cached_property
    def svg(self) -> str:
        """A picture that stands by itself, light or dark as its viewer is."""
        return graph_svg(self.figure)

    @cached_property
    def text(self) -> str:
        """A line per node with where it leads."""
        return graph_text(self.figure)

    @cached_property
    def mermaid(self) -> str:
        """Mermaid's text, in LangGraph's form; a name or an answer is text there, whatever it says."""
        return graph_mermaid(self.graph)

    def save(self, path: str | Path) -> Path:
        """Written to a file, in the form of its suffix: .svg, .mmd or .txt.

        Raises:
            ConfigError: another suffix, or the file cannot be written.
        """
        path = Path(path)
        form = FORMS.get(path.suffix.lower())
        if form is None:
            raise ConfigError(f"{one_line(path)}: a drawing is kept as {', '.join(FORMS)}; name the file so")
        try:
            path.write_text(getattr(self, form), encoding="utf-8", newline="\n")
        except OSError as error:
            raise ConfigError(f"{one_line(path)} cannot be written: {error.strerror or error}") from None
        return path

    def _repr_html_(self) -> str:
        ids = f"jg{crc32(self.svg.encode()):x}"  # the same picture twice may share its ids
        svg = graph_svg(self.figure, prefix=ids)
        return f'<div class="jg-wide" tabindex="0" role="group" aria-label="drawing of a graph">{svg}</div>'

    def __str__(self) -> str:
        return self.text


def show(graph: Any) -> Drawing:
    """A graph to look at: `jg.show("sageval")` in a notebook, `print(jg.show(graph))`, `.save("graph.svg")`.

    Args:
        graph: a compiled graph, a StateGraph, or a method: its name, a graph file, or file.py:factory.

    Raises:
        ConfigError: it is none of these, or cannot be compiled.
    """
    from langgraph.graph import StateGraph

    made = graph
    if isinstance(graph, str):
        from judgegraph.compose.nodes import as_node

        made = as_node(f"method/{graph}")
    if isinstance(made, StateGraph):
        try:
            made = made.compile(name="graph")
        except (ValueError, TypeError) as error:
            raise ConfigError(f"show: the graph cannot be compiled: {one_line(error)}") from error
    return _shown(Drawing(made))


def _shown(drawing: Drawing) -> Drawing:
    _ = drawing.figure  # what is no graph is refused here, not where it is looked at
    return drawing
