"""Joins: each runs, and runs once; and no fan-out that sends nothing ends a run."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from judgegraph.wiring.drawn import Drawn
from judgegraph.wiring.finding import Finding, listed
from judgegraph.wiring.keys import path_text
from judgegraph.wiring.steps import Step


def never_run(drawn: Drawn) -> Iterator[Finding]:
    """List edges of whose sources some may run and others not: they wait for ever."""
    ends = drawn.steps.ends()
    for number, (many, end) in enumerate(drawn.joins):
        for step in ends:
            come = {name for i, name in step.arrived if i == number}
            if come:
                yield _stuck(drawn, many, end, step, come)
                break


def _stuck(drawn: Drawn, many: frozenset[str], end: str, step: Step, come: set[str]) -> Finding:
    node, late = drawn.at(end), sorted(many - come)
    way = path_text(drawn, late[0], drawn.steps.way_to(step) or [step]).rpartition(" -> ")[0]
    edges = ", ".join(f"add_edge('{name}', '{end}')" for name in sorted(many))
    return Finding(
        "join-never-runs", node, "",
        f"node '{node}' waits for {listed(drawn.at(n) for n in sorted(many))}, but where a run goes {way}, "
        f"{listed(drawn.at(n) for n in late)} does not run and '{node}' never does: use {edges} and "
        f"add_node('{end}', ..., defer=True)",
    )  # fmt: skip


def run_twice(drawn: Drawn) -> Iterator[Finding]:
    """Nodes that several paths of different length lead to, so that they run on each arrival."""
    loops = {name for group in nx.strongly_connected_components(drawn.arrows) if len(group) > 1 for name in group}
    loops |= {name for name in drawn.arrows if drawn.arrows.has_edge(name, name)}
    twice = {name for name in drawn.parts if name not in loops and _again(drawn, name)}
    for name in sorted(twice):
        before = sorted(drawn.arrows.predecessors(name))
        if len(before) < 2 or nx.ancestors(drawn.arrows, name) & twice:
            continue
        node, sources = drawn.at(name), listed(drawn.at(b) for b in before)
        cure = f"make it wait for all of them: add_node('{name}', ..., defer=True)"
        if drawn.parts[name].defer:
            cure = (
                "it is deferred already; let the deferred nodes before it lead there alone, or put them in a subgraph"
            )
        yield Finding(
            "double-join", node, "", f"node '{node}' runs twice, as {sources} lead to it at different times: {cure}"
        )


def _again(drawn: Drawn, name: str) -> bool:
    later = drawn.steps.after(name)
    return any(run.node == name and not run.sent for step in later for run in step.runs)


def empty_fan_outs(drawn: Drawn) -> Iterator[Finding]:
    """Fan-outs after which a run is over where they send nothing."""
    for source in sorted(drawn.steps.empty):
        (way, *_) = [w for w in drawn.ways[source] if w.kind == "send" and not w.never_empty]
        to, node = listed(drawn.at(n) for n in sorted(way.sent)), drawn.at(source)
        yield Finding(
            "empty-fan-out", node, "",
            f"the fan-out from '{node}' to {to} ends the run without a word where it sends nothing: let its function "
            "return the next node then (`return [Send(...), ...] or 'next'`, and 'next' in its list of targets), or "
            "mark it jg.never_empty if that cannot be",
        )  # fmt: skip
