"""The graph of a run, drawn from what its manifest says of it: the graph itself is not there any more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from judgegraph.report.drawing.figure import END, START, Choice, Edge, Figure, Node

_LINE = re.compile(r"(.+?) -> (.+?)(?: by (.+))?", re.S)
_END = re.compile(r"(.+?)(?: \((.+)\))?", re.S)
ENDS = {"START": START, "END": END}
COMMAND = "its command"  # what a line names where a node itself chooses; each of its ends has a line of its own
Way = tuple[str, tuple[Edge, ...]]  # what chooses, "" where nothing does, and the edges of one line


def run_figure(manifest: Mapping[str, Any]) -> Figure | None:
    """Nodes, edges and subgraphs; None where the manifest does not tell them.

    A name may hold what stands between names in those lines, such as " -> ": what cannot be read so is left out.
    """
    told = manifest.get("configuration")
    lines = told.get("edges") if isinstance(told, Mapping) else None
    if not isinstance(told, Mapping) or not isinstance(lines, list):
        return None
    keys = [key.removeprefix("nodes.") for key in told if key.startswith("nodes.")]
    known = set(keys)
    places = [place for place in keys if not any(place[:at] in known for at, c in enumerate(place) if c == ".")]
    lines = [str(line) for line in lines]
    waits = {line.removesuffix(" awaits all") for line in lines if line.endswith(" awaits all")}
    ways = list(_ways(lines, frozenset(map(str, manifest.get("fan_outs") or ()))))  # older manifests do not tell them
    return _figure(str(manifest.get("method") or "graph"), "", places, ways, waits)


def _figure(name: str, path: str, places: list[str], ways: list[Way], waits: set[str]) -> Figure | None:
    """The nodes directly below a path, START first and END last; None where there are none."""
    parents = {place: _parent(place, places) for place in places}
    nodes: dict[str, Node] = {}
    for place in places:
        if parents[place] == path:
            own = place.removeprefix(path)
            nodes[own] = Node(
                own, "waits for all" if place in waits else "", _figure(own, f"{place}/", places, ways, waits)
            )
    if not nodes:
        return None
    every = {START: Node(START), **nodes, END: Node(END)}
    mine = [(by, tuple(_within(edges, path, every))) for by, edges in ways]
    edges = tuple(edge for _, some in mine for edge in some)
    ends = {end for edge in edges for end in (edge.source, edge.target)} | set(nodes)
    shown = {end: node for end, node in every.items() if end in ends}
    return Figure(name, path, shown, edges, _choices(mine, list(shown)))


def _within(edges: Iterable[Edge], path: str, known: Mapping[str, Node]) -> Iterator[Edge]:
    """Those between nodes directly below a path, by the nodes' own names."""
    for edge in edges:
        if edge.source.startswith(path) and edge.target.startswith(path):
            own = replace(edge, source=edge.source.removeprefix(path), target=edge.target.removeprefix(path))
            if own.source in known and own.target in known:
                yield own


def _choices(ways: Iterable[Way], order: list[str]) -> dict[str, tuple[Choice, ...]]:
    """Of each node its conditions, then its command; whether one may take several edges a manifest does not tell."""
    found: dict[str, list[list[Edge]]] = {}
    commands: dict[str, list[Edge]] = {}
    for by, edges in ways:
        if by == COMMAND and edges:
            commands.setdefault(edges[0].source, []).extend(edges)
        elif by and edges:
            found.setdefault(edges[0].source, []).append(list(edges))
    for source, all_ends in commands.items():
        found.setdefault(source, []).append(all_ends)
    return {source: tuple(_choice(edges, order) for edges in some) for source, some in found.items()}


def _choice(edges: Iterable[Edge], order: list[str]) -> Choice:
    """Its targets in the order of the nodes, each once."""
    labels: dict[str, Edge] = {}
    for edge in edges:
        before = labels.get(edge.target)
        told = [one.label for one in (before, edge) if one is not None and one.label]
        labels[edge.target] = replace(edge, label=" / ".join(dict.fromkeys(told)))
    return Choice(tuple(sorted(labels.values(), key=lambda edge: order.index(edge.target))))


def _parent(place: str, places: list[str]) -> str:
    """What stands before a node's own name: the longest other place with its "/", or "" of a node of the graph."""
    return max((f"{other}/" for other in places if place.startswith(f"{other}/")), key=len, default="")


def _ways(lines: Iterable[str], fan_outs: frozenset[str]) -> Iterator[Way]:
    """Of lines such as "a -> b", "a and b -> c", "a -> b or c (low) by any_low"; fan_outs: as `topology` has them."""
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        left, right, chooses = found.groups()
        sources = [left] if chooses else left.split(" and ")
        edges: list[Edge] = []
        for one in right.split(" or ") if chooses else [right]:
            if (end := _END.fullmatch(one)) is None or one == "any":
                continue
            target, label = (end[1], end[2] or "") if chooses else (one, "")
            edges += [
                Edge(_named(a), _named(target), bool(chooses), label, bool(chooses) and f"{a} -> {target}" in fan_outs)
                for a in sources
            ]
        yield chooses or "", tuple(edges)


def _named(place: str) -> str:
    """As LangGraph calls where a graph starts and ends: "weigh/START" is "weigh/__start__"."""
    path, _, name = place.rpartition("/")
    known = ENDS.get(name, name)
    return f"{path}/{known}" if path else known
