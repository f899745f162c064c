"""Verdicts: what a critic says of scores is applied by somebody behind it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

import networkx as nx

from judgegraph.agents.rectify import Rectify
from judgegraph.wiring.code import mentions
from judgegraph.wiring.drawn import Drawn, Part
from judgegraph.wiring.finding import Finding, listed

KEY = "rectifications"


def unapplied(graph: Drawn) -> Iterator[Finding]:
    """Critics behind which nobody reads their verdicts, so that no score changes by what was paid for.

    A graph that names the key in its output_schema gives the verdicts themselves.
    """
    if not graph.gives(KEY):
        yield from _of(graph)


def misnamed(graph: Drawn) -> Iterator[Finding]:
    """Rectify nodes that name a critic which is not there: their final scores would name it all the same."""
    parts = [(drawn, part) for drawn in graph.everywhere() for part in drawn.parts.values() if part.inside is None]
    critics = [part for _, part in parts if not isinstance(part.runs, Rectify) and KEY in (part.writes or {KEY})]
    names = {getattr(part.runs, "name", None) if part.writes is not None else None for part in critics}
    if not names or not all(isinstance(name, str) and name for name in names) or KEY in graph.inputs:
        return  # of a function nobody knows what it calls itself; without any critic the key has no writer
    for drawn, part in parts:
        if isinstance(part.runs, Rectify) and part.runs.name not in names:
            node, name, known = drawn.at(part.name), part.runs.name, sorted(map(str, names))
            close = get_close_matches(name, known, 1) or (known if len(known) == 1 else [])
            cure = f"did you mean Rectify(name='{close[0]}')?" if close else f"the critics are {listed(known)}"
            text = f"node '{node}' applies 'rectifications' by '{name}', and no critic has that name"
            yield Finding("no-such-critic", node, KEY, f"{text}: {cure}")


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
