"""The ways through a function's code: what may run after each step, and what the function may return."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Mapping, Sized
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

from judgegraph.wiring.code import held

UNKNOWN = object()
LISTS = ("BUILD_LIST", "BUILD_TUPLE", "BUILD_SET", "LIST_EXTEND", "SET_UPDATE", "LIST_APPEND")
FACTS = ("COMPARE_OP", "CONTAINS_OP", "IS_OP", "UNARY_NOT")  # true or false
TEXTS = ("FORMAT_VALUE", "BUILD_STRING", "FORMAT_SIMPLE")
OVER = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")
QUIET = ("PRECALL", "CACHE", "PUSH_NULL", "EXTENDED_ARG")
JUMPS = {*dis.hasjrel, *dis.hasjabs}


class Flow:
    """A function's code as steps, each with those that may run after it and before it."""

    def __init__(self, code: CodeType, names: Mapping[str, Any]) -> None:
        self.steps, self.names = list(dis.get_instructions(code)), names
        at = {step.offset: place for place, step in enumerate(self.steps)}
        self.after = [[*self._next(place), *self._jump(step, at)] for place, step in enumerate(self.steps)]
        self.before: list[list[int]] = [[] for _ in self.steps]
        for place, later in enumerate(self.after):
            for one in later:
                self.before[one].append(place)

    def _next(self, place: int) -> list[int]:
        name = self.steps[place].opname
        stops = name in OVER or (name.startswith("JUMP_") and "IF" not in name)
        return [] if stops or place + 1 == len(self.steps) else [place + 1]

    @staticmethod
    def _jump(step: dis.Instruction, at: Mapping[int, int]) -> list[int]:
        return [at[step.argval]] if step.opcode in JUMPS and step.argval in at else []

    def loaded(self, step: dis.Instruction) -> Any:
        """What a step loads: a constant, or what a name stands for."""
        if step.opname in ("LOAD_CONST", "LOAD_SMALL_INT", "RETURN_CONST"):
            return step.argval
        known = step.opname.startswith(("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME"))
        return self.names.get(str(step.argval), UNKNOWN) if known else UNKNOWN

    def sources(self, place: int) -> Iterator[int]:
        """The steps whose value a step finds, one for each way to it."""
        for one in self.before[place]:
            name = self.steps[one].opname
            passes = "OR_POP" in name or (name.startswith("JUMP_") and "IF" not in name)  # `a or b`: a's value
            yield from self.sources(one) if passes else (one,)

    def is_filled(self, loop: int) -> bool:
        """Whether what a FOR_ITER goes over is surely not empty, as far as its code shows."""
        over = next((at for at in range(loop, -1, -1) if self.steps[at].opname == "GET_ITER"), None)
        if over is None:
            return True  # a comprehension's code: whoever calls it knows
        return all(self._filled(one) or self._passed(one, over) for one in self.before[over])

    def _filled(self, place: int) -> bool:
        step = self.steps[place]
        if step.opname.startswith("BUILD_"):
            return bool(step.arg)
        if step.opname in ("LIST_EXTEND", "SET_UPDATE"):  # a display of constants
            return _has_items(self.loaded(self.steps[place - 1]))
        if step.opname == "CALL":
            return self._called(place)
        if step.opname.startswith("LOAD_FAST"):
            stored = [at for at, s in enumerate(self.steps) if s.opname == "STORE_FAST" and s.argval == step.argval]
            return len(stored) == 1 and self._filled(stored[0] - 1)
        return _has_items(self.loaded(step))

    def _called(self, place: int) -> bool:
        """`range(3)`, `sorted(ALL)`, `ALL.items()`."""
        on, what = [step for step in self.steps[max(0, place - 4) : place] if step.opname not in QUIET][-2:]
        if what.argval in ("items", "keys", "values"):
            return _has_items(self.loaded(on))
        value = self.loaded(what)
        if on.argval == "range":
            return isinstance(value, int) and value > 0
        return on.argval in ("enumerate", "list", "reversed", "set", "sorted", "tuple") and _has_items(value)

    def _passed(self, place: int, over: int) -> bool:
        """`state["x"] or ALL`: what is true is not empty."""
        return "IF_TRUE" in self.steps[place].opname and over in self.after[place]


def _has_items(value: Any) -> bool:
    return isinstance(value, Sized) and not isinstance(value, type) and len(value) > 0


def plain_function(thing: Any) -> FunctionType | None:
    """The function that runs where a thing is called; None where its code cannot be seen."""
    if isinstance(thing, partial):
        return plain_function(thing.func)
    if isinstance(thing, MethodType):
        return plain_function(thing.__func__)
    if isinstance(thing, FunctionType):
        return thing
    found = next((vars(c)["__call__"] for c in type(thing).__mro__ if "__call__" in vars(c)), None)
    return found if isinstance(found, FunctionType) else None


def flow_of(function: FunctionType, code: CodeType | None = None) -> Flow:
    """Of a function, or of a piece of code inside it."""
    return Flow(code or function.__code__, {**function.__globals__, **held(function)})


def returns(thing: Any) -> set[str]:
    """The kinds of what a function may return, as its code shows: "name", "list" and "unknown"."""
    function = plain_function(thing)
    if function is None:
        return {"unknown"}
    flow = flow_of(function)
    found = {
        kind
        for place, step in enumerate(flow.steps)
        for kind in ([_kind(step, flow)] if step.opname == "RETURN_CONST" else _kinds(place, flow))
    }
    return found or {"unknown"}


def _kinds(place: int, flow: Flow) -> list[str]:
    if flow.steps[place].opname != "RETURN_VALUE":
        return []
    return [_kind(flow.steps[source], flow) for source in flow.sources(place)] or ["unknown"]


def _kind(step: dis.Instruction, flow: Flow) -> str:
    value = flow.loaded(step)
    if isinstance(value, str | int) or step.opname in FACTS + TEXTS:
        return "name"
    if isinstance(value, list | tuple | set | frozenset) or step.opname in LISTS:
        return "list"
    return "unknown"
