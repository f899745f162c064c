"""Where branches meet: each node runs once, whichever of the edges to it are taken.

A node that several edges lead to becomes, in LangGraph:

    all its sources run in every run   add_edge([a, b], node): it waits for all of them
    some are run by choice             defer=True: it waits until nothing else is left to do; not where no run reaches
                                       it at two times, as where its sources are the two ways of one choice

Whether that is sound (a deferred join before another may run it twice) is for `judgegraph.wiring` to say.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import networkx as nx

from judgegraph.graph_files.arrows import END, START, Arrows, Names, ends
from judgegraph.graph_files.meeting import waiting
from judgegraph.graph_files.source import Place, Source

SPLIT = "; a comma within [ ] ends an edge: write each edge in a line of its own, after a dash"


@dataclass
class Joins:
    """Edges as LangGraph takes them.

    Attributes:
        edges: (sources, target): one source, or all that a target waits for.
        deferred: nodes that wait until nothing else is left to do.
    """

    edges: list[tuple[Names, str]] = field(default_factory=list)
    deferred: set[str] = field(default_factory=set)


def joins(source: Source, found: Arrows, nodes: dict[str, Place]) -> Joins:
    """How edges meet; circles, and nodes that are not reached or lead nowhere, join the faults."""
    graph: nx.DiGraph[str] = nx.DiGraph(list(found.pairs()))
    graph.add_nodes_from([START, END, *nodes])
    if not _sound(source, graph, found, nodes):
        return Joins()
    made, certain, late = Joins(), _certain(graph, found), waiting(graph, found)
    for node in nx.topological_sort(graph):
        plain = [a for a, b in found.plain if b == node]
        chosen = [a for a in graph.predecessors(node) if a in found.choices]
        if node == END or len(plain) + len(chosen) < 2:
            made.edges += [((a,), node) for a in plain]
        elif not chosen and certain.issuperset(plain):
            made.edges.append((tuple(a for a in plain if a != START), node))
        else:
            made.deferred |= {node} & late
            made.edges += [((a,), node) for a in plain]
    return made


def _sound(source: Source, graph: nx.DiGraph[str], found: Arrows, nodes: dict[str, Place]) -> bool:
    before = len(source.faults)
    if START not in ends(found):
        source.fault(("edges",), "no edge begins at 'start'; write start -> NODE")
        return False
    for circle in nx.strongly_connected_components(graph):
        if len(circle) > 1 or any(graph.has_edge(one, one) for one in circle):
            walk = [*(a for a, _ in nx.find_cycle(graph, sorted(circle)[0]))]
            shown = " -> ".join([*walk, walk[0]])
            source.fault(_path(found, *(walk * 2)[:2]), f"goes round without end: {shown}; use: refine has a bound")
    reached, ending = nx.descendants(graph, START), nx.ancestors(graph, END)
    split = SPLIT if source.is_split(("edges",)) else ""
    for name, path in nodes.items():
        if name not in reached:
            source.fault(path, f"no way leads here from 'start'; add an edge to it{split}")
        elif name not in ending and len(source.faults) == before:
            source.fault(path, f"leads nowhere; write {name} -> end{split}")
    return len(source.faults) == before


def _path(found: Arrows, one: str, target: str) -> Place:
    """Where an edge stands."""
    if (one, target) in found.plain:
        return found.plain[one, target]
    branches = found.choices.get(one, [])
    return next((b.path for b in branches if target in (*b.to, *b.otherwise)), ("edges",))


def _certain(graph: nx.DiGraph[str], found: Arrows) -> set[str]:
    """Nodes that run in every run."""
    certain = {START}
    for node in nx.topological_sort(graph):
        if any((a, node) in found.plain and a in certain for a in graph.predecessors(node)):
            certain.add(node)
    return certain
