"""Loops: each has a way out and a bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import networkx as nx
from langgraph.channels import LastValue

from judgegraph.wiring.drawn import Drawn, Part
from judgegraph.wiring.finding import Finding
from judgegraph.wiring.kinds import keys_of_kind
from judgegraph.wiring.mappings import only_value
from judgegraph.wiring.ways import Way

MOST = 2_000  # loops that are looked at


def unbounded(drawn: Drawn) -> Iterator[Finding]:
    """Loops that nothing ends, or nothing bounds.

    A loop counts as bounded where a condition on it is marked `bounded`, reads a whole number of the state that a node
    of the loop writes, or the length of a list that one writes, or the steps that LangGraph has left. (Of a node's own
    command: the node reads and writes it.) A number that is only ever set to one constant is warned of.
    """
    told: set[frozenset[str]] = set()
    for loop in islice(nx.simple_cycles(drawn.arrows), MOST):
        if frozenset(loop) in told:
            continue
        told.add(frozenset(loop))
        if not bound(drawn, loop):
            yield _finding(drawn, loop)
        elif stuck := _stuck(drawn, loop):
            yield stuck


def bound(drawn: Drawn, loop: Sequence[str]) -> bool:
    """Whether a condition on the loop ends it after some rounds."""
    ways = [way for way in _conditions(drawn, loop) if _leaves(way, loop)]
    return any(_certain(drawn, way, loop) or _counters(drawn, loop) & way.reads for way in ways)


def _certain(drawn: Drawn, way: Way, loop: Sequence[str]) -> bool:
    """Whether it is bounded by anything but a count."""
    grown = {key for part in _parts(drawn, loop) for key in keys_of_kind(drawn, part, list, tuple, Sequence)}
    return bool(way.at_most or drawn.managed & way.reads or ("len" in way.reads and grown & way.reads))


def _parts(drawn: Drawn, loop: Sequence[str]) -> list[Part]:
    return [drawn.parts[name] for name in loop if name in drawn.parts]


def _counters(drawn: Drawn, loop: Sequence[str]) -> set[str]:
    """Whole numbers of the state that nodes of the loop may write."""
    return {key for part in _parts(drawn, loop) for key in keys_of_kind(drawn, part, int)}


def _stuck(drawn: Drawn, loop: Sequence[str]) -> Finding | None:
    """A loop whose one bound is a number that all its nodes set to the same constant, and nothing counts."""
    ways = [way for way in _conditions(drawn, loop) if _leaves(way, loop)]
    counts = set().union(*(_counters(drawn, loop) & way.reads for way in ways))
    if len(counts) != 1 or any(_certain(drawn, way, loop) for way in ways):
        return None
    (key,) = counts
    writers = [p for p in _parts(drawn, loop) if p.writes is None or key in p.writes]
    values = {only_value(part.runs, key) if part.inside is None else None for part in writers}
    if len(values) != 1 or None in values or not isinstance(drawn.channels.get(key), LastValue):
        return None
    way, node = " -> ".join(drawn.at(name) for name in [*loop, loop[0]]), drawn.at(writers[0].name)
    text = f"the loop {way} goes by '{key}', and node '{node}' sets it to {values.pop()} in every round"
    cure = f"count, as in state.get('{key}', 0) + 1, or mark the condition jg.bounded(condition, at_most=3)"
    return Finding("unbounded-loop", node, key, f"{text}: {cure}", "warning")


def _conditions(drawn: Drawn, loop: Sequence[str]) -> list[Way]:
    """Conditional edges that the loop goes by, where no plain edge does."""
    steps = list(zip(loop, [*loop[1:], loop[0]], strict=True))
    by = [(a, b) for a, b in steps if not drawn.arrows.edges[a, b]["sure"]]
    return [way for a, b in by for way in drawn.ways.get(a, ()) if b in way.ends]


def _leaves(way: Way, loop: Sequence[str]) -> bool:
    return bool(set(way.ends) - set(loop)) or len(way.ends) > 1 or way.kind == "send"


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
