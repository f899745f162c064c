"""Verdicts: what a critic says of scores is applied by somebody behind it."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from judgegraph.wiring.code import mentions
from judgegraph.wiring.drawn import Drawn, Part
from judgegraph.wiring.finding import Finding

KEY = "rectifications"


def unapplied(graph: Drawn) -> Iterator[Finding]:
    """Critics behind which nobody reads their verdicts, so that no score changes by what was paid for.

    A graph that names the key in its output_schema gives the verdicts themselves.
    """
    if not graph.gives(KEY):
        yield from _of(graph)


def _of(graph: Drawn) -> Iterator[Finding]:
    """In a graph whose own verdicts nobody outside it reads."""
    for name, part in graph.parts.items():
        if KEY not in (part.writes or ()) or _applied(graph, name):
            continue
        if part.inside is not None:
            yield from _of(part.inside)
        elif not part.reads & {KEY} and "scores" in part.reads:
            node = graph.at(name)
            cure = (
                f"add Rectify(name='{getattr(part.runs, 'name', name)}') behind it, or use jg.critique, which holds one"
            )
            text = f"node '{node}' writes 'rectifications', and no node behind it reads them, so no score changes"
            more = "where the verdicts themselves are wanted, name the key in the graph's output_schema="
            yield Finding("unapplied-verdicts", node, KEY, f"{text}: {cure}; {more}")


def _applied(graph: Drawn, name: str) -> bool:
    """Whether some node behind one reads verdicts; on a loop that is each of its nodes."""
    return any(_reads(graph.parts[other]) for other in nx.descendants(graph.arrows, name) if other in graph.parts)


def _reads(part: Part) -> bool:
    if part.inside is not None:  # a critique, say, does not take in what was said of other scores
        return KEY in part.inside.given and any(_reads(one) for one in part.inside.parts.values())
    return KEY in part.reads | part.may_read or (not isinstance(part.runs, type) and KEY in mentions(part.runs))
