"""Which nodes are reached at different times within one run, so that they must wait: whatever its choices are."""

from __future__ import annotations

from itertools import product

import networkx as nx

from judgegraph.graph_files.arrows import END, START, Arrows

MOST = 500  # ways through a file's choices that are looked at
Time = tuple[str, int]  # steps since a node that waited, or since the start


def waiting(graph: nx.DiGraph[str], found: Arrows) -> set[str]:
    """Nodes that some way through the choices reaches at two times.

    Where there are too many ways, all that several edges lead to.
    """
    ways = _ways(found)
    if ways is None:
        return {node for node in graph if node != END and graph.in_degree(node) > 1}
    late: set[str] = set()
    times: list[dict[str, Time]] = [{START: ("", 0)} for _ in ways]
    for node in nx.topological_sort(graph):
        if node in (START, END):
            continue
        reached = [_reached(graph, found, node, way, when) for way, when in zip(ways, times, strict=True)]
        if any(len(arrivals) > 1 for arrivals in reached):
            late.add(node)
        for when, arrivals in zip(times, reached, strict=True):
            if arrivals:
                when[node] = (node, 0) if node in late else next(iter(arrivals))
    return late


def _ways(found: Arrows) -> list[dict[str, tuple[str, ...]]] | None:
    """Source of a choice -> where it goes, of every way through all of them; None for too many."""
    outcomes, count = [], 1
    for branches in found.choices.values():
        outcomes.append([*(branch.to for branch in branches), branches[-1].otherwise or (END,)])
        count *= len(outcomes[-1])
    if count > MOST:
        return None
    return [dict(zip(found.choices, chosen, strict=True)) for chosen in product(*outcomes)]


def _reached(
    graph: nx.DiGraph[str], found: Arrows, node: str, way: dict[str, tuple[str, ...]], when: dict[str, Time]
) -> set[Time]:
    """The times at which a way leads to a node; none where it does not."""
    before = [
        one
        for one in graph.predecessors(node)
        if one in when and ((one, node) in found.plain or node in way.get(one, ()))
    ]
    return {(anchor, steps + 1) for anchor, steps in (when[one] for one in before)}
