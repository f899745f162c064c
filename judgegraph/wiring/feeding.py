"""What feeds a node: the nodes before it whose writing reaches it; and whether two nodes are fed alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import networkx as nx

from judgegraph.wiring.drawn import NOTHING, Drawn, Part
from judgegraph.wiring.signatures import Keys


def parted(drawn: Drawn, one: str, other: str) -> tuple[Drawn, list[str], list[str]] | None:
    """The graph in which the paths of two nodes part, and what is left of both; None where they do not."""
    graph, (first, second) = drawn, (path.removeprefix(drawn.path).split("/") for path in (one, other))
    while first[0] == second[0]:
        inner = graph.parts[first[0]].inside
        if inner is None:
            return None
        graph, first, second = inner, first[1:], second[1:]
    return graph, first, second


def fed_alike(drawn: Drawn, one: str, other: str) -> bool:
    """Whether nodes of two graphs within one are fed by the same inside them; what is outside feeds both."""
    if (found := parted(drawn, one, other)) is None or min(map(len, found[1:])) < 2:
        return True
    graph, first, second = found
    return _same_parts([*_feeding(graph, first)], [*_feeding(graph, second)])


def same(one: Mapping[str, Part], other: Mapping[str, Part]) -> bool:
    """Whether nodes are the same by name and settings, in subgraphs too; of functions by where they are written."""
    return one.keys() == other.keys() and all(same_part(one[name], other[name]) for name in one)


def same_part(one: Part, other: Part) -> bool:
    """Whether two nodes are the same by their settings."""
    if one.inside is not None and other.inside is not None:
        return same(one.inside.parts, other.inside.parts)
    codes = [getattr(part.runs, "__code__", None) for part in (one, other)]
    return bool(one.runs == other.runs) or (codes[0] is not None and codes[0] == codes[1])


def _same_parts(some: Sequence[Part], others: Sequence[Part]) -> bool:
    """Whatever their names and order."""
    both = ((some, others), (others, some))
    return len(some) == len(others) and all(any(same_part(a, b) for b in right) for left, right in both for a in left)


def _feeding(graph: Drawn, path: Sequence[str]) -> Iterator[Part]:
    """The nodes inside `path[0]` whose writing may reach the last of the path."""
    wanted = NOTHING
    around = []
    for name in path[:-1]:
        inside = graph.parts[name].inside
        if inside is None:
            return
        graph = inside
        around.append(graph)
    for level, name in zip(reversed(around), reversed(path), strict=False):
        before, wanted = _before(level, name, wanted)
        yield from before


def _before(graph: Drawn, name: str, wanted: Keys) -> tuple[list[Part], Keys]:
    """The nodes before one that write what it reads, or what these read; and all keys that they read."""
    part = graph.parts[name]
    wanted = wanted | part.reads | part.may_read
    for way in (way for ways in graph.ways.values() for way in ways if name in way.sent):
        wanted |= way.reads  # what it is sent is made of these
    left = [graph.parts[n] for n in sorted(nx.ancestors(graph.arrows, name)) if n in graph.parts and n != name]
    found: list[Part] = []
    while some := [p for p in left if p.writes is None or p.writes & wanted]:
        found += some
        left = [p for p in left if p not in some]
        wanted = wanted.union(*(p.reads | p.may_read for p in some))
    return found, wanted
