"""Reach: every node can run and leads to the end; and what could not be looked at is said."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
from langgraph.graph import END, START

from judgegraph.wiring.drawn import Drawn
from judgegraph.wiring.finding import Finding, listed


def unreached(drawn: Drawn) -> Iterator[Finding]:
    """Nodes that no path from START leads to."""
    reached = nx.descendants(drawn.arrows, START)
    for name in drawn.parts:
        if name in reached:
            continue
        before = [p for p in drawn.arrows.predecessors(name) if p != name]
        node = drawn.at(name)
        why = f"only {listed(drawn.at(p) for p in sorted(before))} leads to it" if before else "no edge leads to it"
        cure = f"add_edge(..., '{name}') from a node that runs before it, or leave it out"
        yield Finding("unreachable", node, "", f"node '{node}' never runs, {why}: {cure}")


def dead_ends(drawn: Drawn) -> Iterator[Finding]:
    """Nodes from which nothing leads on, in a graph that leads others to the end: a run may stop without."""
    said = any(end == END for _, end in drawn.edges)
    for name in drawn.parts if said else ():
        if not drawn.arrows.out_degree(name):
            node = drawn.at(name)
            text = f"nothing leads on from node '{node}': add_edge('{name}', END), or the edge that was forgotten"
            yield Finding("dead-end", node, "", text, "warning")


def unmapped(drawn: Drawn) -> Iterator[Finding]:
    """Conditional edges and commands that do not list where they may lead."""
    for source, ways in sorted(drawn.ways.items()):
        for way in ways:
            if way.mapped:
                continue
            node, ends = drawn.at(source), ", ".join("END" if e == END else f"'{e}'" for e in way.ends)
            cure = f"pass them: add_conditional_edges('{source}', function, [{ends}])"
            if way.goto:
                cure = f"annotate its return as Command[Literal[{ends}]], or use a conditional edge"
            what = f"the command of node '{node}'" if way.goto else f"the conditional edge from '{node}'"
            text = f"{what} does not say where it may lead, so it is not drawn and only guessed at here: {cure}"
            yield Finding("no-path-map", node, "", text, "warning")


def too_many(drawn: Drawn) -> Iterator[Finding]:
    """A graph of which not all runs were looked at."""
    if not drawn.steps.whole:
        where = f"'{drawn.path[:-1]}'" if drawn.path else "the graph"
        text = f"{where} has more ways through it than can be looked at; put side-by-side conditions into subgraphs"
        yield Finding("too-many-ways", drawn.path[:-1], "", text, "warning")
