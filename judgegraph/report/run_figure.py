"""The graph of a run, drawn from what its manifest says of it: the graph itself is not there any more."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judgegraph.report.drawing.figure import END, START, Edge, Figure, Node

_LINE = re.compile(r"(.+?) -> (.+?)(?: by (.+))?", re.S)
_END = re.compile(r"(.+?)(?: \((.+)\))?", re.S)
ENDS = {"START": START, "END": END}


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
    return _figure(str(manifest.get("method") or "graph"), "", places, list(_edges(lines)), waits)


def _figure(name: str, path: str, places: list[str], edges: list[Edge], waits: set[str]) -> Figure | None:
    """The nodes directly below a path, START first and END last; None where there are none."""
    parents = {place: _parent(place, places) for place in places}
    nodes: dict[str, Node] = {}
    for place in places:
        if parents[place] == path:
            own = place.removeprefix(path)
            nodes[own] = Node(
                own, "waits for all" if place in waits else "", _figure(own, f"{place}/", places, edges, waits)
            )
    if not nodes:
        return None
    every = {START: Node(START), **nodes, END: Node(END)}
    mine = [
        Edge(edge.source.removeprefix(path), edge.target.removeprefix(path), edge.conditional, edge.label)
        for edge in edges
        if edge.source.startswith(path) and edge.target.startswith(path)
    ]
    mine = [edge for edge in mine if edge.source in every and edge.target in every]
    ends = {end for edge in mine for end in (edge.source, edge.target)} | set(nodes)
    return Figure(name, path, {end: node for end, node in every.items() if end in ends}, tuple(mine))


def _parent(place: str, places: list[str]) -> str:
    """What stands before a node's own name: the longest other place with its "/", or "" of a node of the graph."""
    return max((f"{other}/" for other in places if place.startswith(f"{other}/")), key=len, default="")


def _edges(lines: Iterable[str]) -> Iterator[Edge]:
    """Of lines such as "a -> b", "a and b -> c", "a -> b or c (low) by any_low"."""
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            continue
        left, right, chooses = found.groups()
        sources = [left] if chooses else left.split(" and ")
        for one in right.split(" or ") if chooses else [right]:
            if (end := _END.fullmatch(one)) is None or one == "any":
                continue
            target, label = (end[1], end[2] or "") if chooses else (one, "")
            for source in sources:
                yield Edge(_named(source), _named(target), bool(chooses), label)


def _named(place: str) -> str:
    """As LangGraph calls where a graph starts and ends: "weigh/START" is "weigh/__start__"."""
    path, _, name = place.rpartition("/")
    known = ENDS.get(name, name)
    return f"{path}/{known}" if path else known
