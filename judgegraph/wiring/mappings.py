"""Mappings that code writes out: their keys, and the constants under them."""

from __future__ import annotations

import dis
from typing import Any

from judgegraph.wiring.code import functions
from judgegraph.wiring.flow import Flow, flow_of, plain_function


def only_value(thing: Any, key: str) -> int | None:
    """The one whole number that a function writes under a key, as `{"n": 0}`; None where it does anything else.

    It must name the key nowhere else, and hand nothing on to code of its own.
    """
    function = plain_function(thing)
    if function is None or [*functions(thing)] != [function] or key in function.__code__.co_names:
        return None
    flow = flow_of(function)
    found = {_set_to(flow, place, key) for place, step in enumerate(flow.steps) if _names(step.argval, key)}
    return found.pop() if len(found) == 1 else None


def _names(value: Any, key: str) -> bool:
    return value == key if isinstance(value, str) else isinstance(value, tuple) and key in value


def _set_to(flow: Flow, place: int, key: str) -> int | None:
    """The number behind a key, where a step names it in a mapping like `{"n": 0, "seen": True}`."""
    step, later = flow.steps[place], flow.steps[place + 1 : place + 3]
    if isinstance(step.argval, tuple) and later and later[0].opname == "BUILD_CONST_KEY_MAP":
        behind = flow.steps[max(0, place - len(step.argval)) : place]
        plain = all(one.opname.startswith("LOAD_") and one.opname != "LOAD_ATTR" for one in behind)
        value = flow.loaded(behind[step.argval.index(key)]) if plain and len(behind) == len(step.argval) else None
    elif len(later) == 2 and later[1].opname == "BUILD_MAP" and later[1].arg == 1:
        value = flow.loaded(later[0]) if later[0].opname in ("LOAD_CONST", "LOAD_SMALL_INT") else None
    else:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def written_keys(steps: list[dis.Instruction]) -> list[str] | None:
    """The keys of a mapping whose making these steps are, in their order; None where they make anything else."""
    last = steps[-1] if steps else None
    keys: Any = None
    if last is not None and last.opname == "BUILD_CONST_KEY_MAP":
        keys = steps[-2].argval
    elif last is not None and last.opname == "BUILD_MAP" and last.arg == 1 and _is_kept(steps):
        keys = [steps[0].argval]
    return [*keys] if keys is not None and all(isinstance(key, str) for key in keys) else None


def _is_kept(steps: list[dis.Instruction]) -> bool:
    """Whether the first step loads a constant, and nothing but the last takes it."""
    depth = [0]
    for step in steps[:-1]:
        depth.append(depth[-1] + dis.stack_effect(step.opcode, step.arg))
    return steps[0].opname == "LOAD_CONST" and min(depth[2:], default=0) > 1
