"""Which row of a drawing a node stands in: below all that lead to it, loops aside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import networkx as nx

from judgegraph.report.drawing.columns import APART
from judgegraph.report.drawing.figure import END, Figure

Pair: TypeAlias = tuple[str, str]


def back_edges(figure: Figure) -> frozenset[Pair]:
    """The edges that close a loop, as (source, target): met from START on, they lead to a node one came through."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(figure.nodes)
    graph.add_edges_from((edge.source, edge.target) for edge in figure.edges)
    on_the_way: set[str] = set()
    found: set[Pair] = set()
    for a, b, how in nx.dfs_labeled_edges(graph):
        if how == "forward":
            on_the_way.add(b)
        elif how == "reverse":
            on_the_way.discard(b)
        elif b in on_the_way:
            found.add((a, b))
    return frozenset(found)


def forward(figure: Figure) -> nx.DiGraph[str]:
    """The graph without the edges that close loops: it has none."""
    backs = back_edges(figure)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(figure.nodes)
    pairs = ((edge.source, edge.target) for edge in figure.edges)
    graph.add_edges_from(pair for pair in pairs if pair not in backs)
    return graph


def in_order(figure: Figure) -> list[str]:
    """Its nodes' names, each behind all that lead to it; else as they were added."""
    place = {name: i for i, name in enumerate(figure.nodes)}
    return list(nx.lexicographical_topological_sort(forward(figure), key=place.__getitem__))


def rows(figure: Figure, widths: Mapping[str, float], widest: float) -> dict[str, int]:
    """Node -> its row: the first below its predecessors that is not full yet; END stands below all."""
    graph = forward(figure)
    found: dict[str, int] = {}
    filled: dict[int, float] = {}
    for generation in nx.topological_generations(graph):
        for name in sorted(generation, key=list(figure.nodes).index):
            row = 1 + max((found[before] for before in graph.predecessors(name)), default=-1)
            while row in filled and filled[row] + widths[name] + APART > widest:
                row += 1
            filled[row] = filled.get(row, -APART) + widths[name] + APART
            found[name] = row
    if END in found:
        found[END] = 1 + max((row for name, row in found.items() if name != END), default=-1)
    return found
