"""A graph as lines of text, for terminals and for those who hear a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judgegraph.report.drawing.figure import END, Edge, Figure, figure_of, name_of
from judgegraph.report.drawing.lettering import shown
from judgegraph.report.drawing.rows import back_edges, in_order


def graph_text(graph: Any) -> str:
    """A line per node, each behind all that lead to it, with where it leads; subgraphs are indented.

    "a -> b, c" leads to both, "a -> b or c" to what a condition chooses, "[label]" being what it answers, and "b and/or
    c" to one or several of them. "; " stands between what is decided apart, "× n" is sent to any number of times at
    once, and "(back)" closes a loop.

    Raises:
        ConfigError: it is no graph.
    """
    figure = figure_of(graph)
    return "\n".join([shown(figure.name), *_lines(figure, "  ")]) + "\n"


def sentence(graph: Any) -> str:
    """The same in one line."""
    figure = figure_of(graph)
    return "; ".join(line.strip() for line in _lines(figure, ""))


def _lines(figure: Figure, indent: str) -> Iterator[str]:
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
            yield from _lines(node.inside, f"{indent}  " if indent else "")


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
