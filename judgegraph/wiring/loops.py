"""Loops: each has a way out and a bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, get_type_hints

import networkx as nx

from judgegraph.wiring.code import hints_of
from judgegraph.wiring.drawn import Drawn, Part
from judgegraph.wiring.finding import Finding
from judgegraph.wiring.signatures import plain_type
from judgegraph.wiring.ways import Way

MOST = 2_000  # loops that are looked at


def unbounded(drawn: Drawn) -> Iterator[Finding]:
    """Loops that nothing ends, or nothing bounds.

    A loop counts as bounded where a condition on it is marked `bounded`, or reads a whole number of the state that a
    node of the loop writes. (Of a node's own command: the node reads and writes it.)
    """
    told: set[frozenset[str]] = set()
    for loop in islice(nx.simple_cycles(drawn.arrows), MOST):
        if frozenset(loop) in told or bound(drawn, loop):
            continue
        told.add(frozenset(loop))
        yield _finding(drawn, loop)


def bound(drawn: Drawn, loop: Sequence[str]) -> bool:
    """Whether a condition on the loop ends it after some rounds."""
    ways = [way for way in _conditions(drawn, loop) if _leaves(way, loop)]
    counters = {key for name in loop if name in drawn.parts for key in _counters(drawn, drawn.parts[name])}
    return any(way.at_most or counters & way.reads for way in ways)


def _conditions(drawn: Drawn, loop: Sequence[str]) -> list[Way]:
    """Conditional edges that the loop goes by, where no plain edge does."""
    steps = list(zip(loop, [*loop[1:], loop[0]], strict=True))
    by = [(a, b) for a, b in steps if not drawn.arrows.edges[a, b]["sure"]]
    return [way for a, b in by for way in drawn.ways.get(a, ()) if b in way.ends]


def _leaves(way: Way, loop: Sequence[str]) -> bool:
    return bool(set(way.ends) - set(loop)) or len(way.ends) > 1 or way.kind == "send"


def _counters(drawn: Drawn, part: Part) -> set[str]:
    """Whole numbers of the state that a node writes."""
    if part.inside is not None:
        kinds = {key: getattr(drawn.channels.get(key), "typ", None) for key in part.writes or ()}
        return {key for key, kind in kinds.items() if plain_type(kind) is int}
    written = _hints(hints_of(part.runs).get("return"))
    if part.writes is None:  # it does not say what it writes: what it names, of the state's numbers
        from judgegraph.wiring.code import mentions

        named = mentions(part.runs) & set(drawn.channels)
        written = {key: getattr(drawn.channels[key], "typ", None) for key in named}
    return {key for key, hint in written.items() if plain_type(hint) is int}


def _hints(schema: Any) -> dict[str, Any]:
    try:
        return get_type_hints(schema, include_extras=True) if isinstance(schema, type) else {}
    except Exception:  # whatever stands in a user's annotations
        return {}


def _finding(drawn: Drawn, loop: Sequence[str]) -> Finding:
    first = min(range(len(loop)), key=lambda i: _depth(drawn, loop[i]))
    turned = [*loop[first:], *loop[:first]]
    way, node = " -> ".join(drawn.at(name) for name in [*turned, turned[0]]), drawn.at(turned[0])
    if not any(_leaves(w, loop) for w in _conditions(drawn, loop)):
        why = "has no way out: add a condition (add_conditional_edges) that leads out of it after some rounds"
        return Finding("unbounded-loop", node, "", f"the loop {way} {why}")
    why = (
        "has no bound: let a node in it write a count (rounds: int) that its condition compares with a limit, or mark "
        "the condition jg.bounded(condition, at_most=3)"
    )
    return Finding("unbounded-loop", node, "", f"the loop {way} {why}")


def _depth(drawn: Drawn, name: str) -> float:
    try:
        return float(nx.shortest_path_length(drawn.arrows, "__start__", name))
    except nx.NetworkXNoPath:
        return float("inf")
