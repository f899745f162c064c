"""Payloads: what is sent to a node holds the keys that the node must find, where it is written out as a mapping."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from typing import Any

from judgegraph.wiring.code import codes, functions
from judgegraph.wiring.drawn import Drawn
from judgegraph.wiring.finding import Finding, listed
from judgegraph.wiring.flow import Flow, flow_of
from judgegraph.wiring.mappings import written_keys
from judgegraph.wiring.signatures import Keys


def lacking(drawn: Drawn) -> Iterator[Finding]:
    """Nodes that are sent a mapping without a key that they must find: they see nothing else of the state."""
    sent = {one: way.source for ways in drawn.ways.values() for way in ways for one in payloads(way.function)}
    for (to, keys), source in sorted(sent.items(), key=lambda item: (item[0][0], sorted(item[0][1]))):
        if to not in drawn.parts:
            continue
        for key in sorted(drawn.parts[to].reads - keys):
            node, held = drawn.at(to), listed(sorted(keys))
            text = f"node '{node}' reads '{key}', and what '{drawn.at(source)}' sends it holds {held} alone"
            cure = f"add '{key}' to the mapping in Send('{to}', ...): a node that is sent to sees nothing else"
            yield Finding("missing-writer", node, key, f"{text}: {cure}")


def payloads(thing: Any) -> set[tuple[str, Keys]]:
    """(node, keys) of every `Send("node", {"key": ...})` in some code; of other payloads nothing is told."""
    found: set[tuple[str, Keys]] = set()
    for function in functions(thing):
        for code in codes(function.__code__):
            flow = flow_of(function, code)
            for place, step in enumerate(flow.steps):
                if step.argval == "Send" and step.opname.startswith("LOAD_"):
                    sent = _sent(flow, place + 1)
                    found |= {sent} if sent else set()
    return found


def _sent(flow: Flow, place: int) -> tuple[str, Keys] | None:
    """The arguments of a call that starts at a step, where they are a name and a mapping of written keys."""
    while place < len(flow.steps) and flow.steps[place].opname == "PUSH_NULL":
        place += 1
    if place >= len(flow.steps):
        return None
    to, steps = flow.loaded(flow.steps[place]), _argument(flow, place + 1)
    keys = written_keys(steps)
    return (to, frozenset(keys)) if isinstance(to, str) and keys is not None else None


def _argument(flow: Flow, place: int) -> list[dis.Instruction]:
    """The steps that make the second and last argument; none where the code branches in it."""
    depth, found = 0, list[dis.Instruction]()
    for at in range(place, len(flow.steps)):
        step = flow.steps[at]
        if step.opname in ("PRECALL", "CALL") and depth == 1:
            return found if step.arg == 2 else []
        if len(flow.after[at]) != 1 or (step.opname == "KW_NAMES" and depth == 1):
            return []
        depth += dis.stack_effect(step.opcode, step.arg)
        found.append(step)
    return []
