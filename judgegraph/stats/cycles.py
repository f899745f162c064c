"""Cycles of majority preferences: where A mostly beats B, B beats C, and C beats A, no ranking is right."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from judgegraph.stats.arrays import Floats

if TYPE_CHECKING:
    import networkx as nx

MOST, LONGEST = 20, 5


@dataclass(frozen=True)
class Cycles:
    """Attributes:
    found: the shortest cycles, each from its first system in the order of names; at most `MOST` of them.
    more: whether there are others. knots: sets of systems of which each is, in some steps, preferred to each.
    """

    found: tuple[tuple[str, ...], ...]
    more: bool
    knots: tuple[tuple[str, ...], ...]


def majority_graph(wins: Floats, names: tuple[str, ...]) -> nx.DiGraph[str]:
    """An edge from each system to every one that it beat more often than it lost to it."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((names[i], names[j]) for i, j in zip(*np.nonzero(wins > wins.T), strict=True))
    return graph


def preference_cycles(wins: Floats, names: tuple[str, ...], *, most: int = MOST, longest: int = LONGEST) -> Cycles:
    """The shortest cycles of majority preferences, of up to `longest` systems; one of a knot that has none so short."""
    import networkx as nx

    graph = majority_graph(wins, names)
    places = {name: place for place, name in enumerate(names)}
    knots = [sorted(knot, key=places.__getitem__) for knot in nx.strongly_connected_components(graph) if len(knot) > 1]
    knots.sort(key=lambda knot: places[knot[0]])
    cycles: list[tuple[str, ...]] = []
    for length in range(3, longest + 1):
        room = most + 1 - len(cycles)
        exact = (cycle for cycle in nx.simple_cycles(graph, length_bound=length) if len(cycle) == length)
        cycles += islice((_from_first(cycle, places) for cycle in exact), max(0, room))
        if len(cycles) > most:
            break
    met = {name for cycle in cycles for name in cycle}
    far = [[a for a, *_ in nx.find_cycle(graph, knot[0])] for knot in knots if not met & set(knot)]
    cycles += [_from_first(cycle, places) for cycle in far]
    longer = any(len(knot) > longest for knot in knots)
    return Cycles(tuple(cycles[:most]), longer or len(cycles) > most, tuple(map(tuple, knots)))


def _from_first(cycle: list[str], places: dict[str, int]) -> tuple[str, ...]:
    at = min(range(len(cycle)), key=lambda k: places[cycle[k]])
    return tuple(cycle[at:] + cycle[:at])
