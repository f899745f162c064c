"""Fan-outs: whether one may send nothing."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any

from judgegraph.wiring.code import codes, functions
from judgegraph.wiring.flow import Flow, flow_of


def may_send_nothing(thing: Any) -> bool:
    """Whether some way through the code that makes a `Send` makes none; False where that code cannot be seen."""
    return any(_skips(function, function.__code__) for function in functions(thing) if _makes(function.__code__))


def _makes(code: CodeType) -> bool:
    return any("Send" in one.co_names or "Send" in one.co_freevars for one in codes(code))


def _skips(function: FunctionType, code: CodeType) -> bool:
    """Whether its end can be reached without a `Send`; a loop over what is never empty is gone through first."""
    flow = flow_of(function, code)
    todo, known = [(0, -1)], set()
    while todo:
        place, came = todo.pop()
        step = flow.steps[place]
        if _sends_here(function, flow, place):
            continue
        if step.opname in ("RETURN_VALUE", "RETURN_CONST"):
            return True
        later = flow.after[place]
        if step.opname == "FOR_ITER" and came < place and flow.is_filled(place):
            later = later[:1]
        for one in later:
            if (place, one) not in known:
                known.add((place, one))
                todo.append((one, place))
    return False


def _sends_here(function: FunctionType, flow: Flow, place: int) -> bool:
    """A step that names `Send`, or a comprehension over what is never empty that makes one for each."""
    step = flow.steps[place]
    if step.argval == "Send" and step.opname.startswith("LOAD_"):
        return True
    if (
        not isinstance(step.argval, CodeType)
        or not step.argval.co_name.endswith(("comp>", "genexpr>"))
        or not _makes(step.argval)
    ):
        return False
    over = next((at for at in range(place, len(flow.steps)) if flow.steps[at].opname == "GET_ITER"), None)
    plain = over is not None and flow.is_filled(over)
    return plain and not _skips(function, step.argval)
