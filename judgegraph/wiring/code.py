"""What a function's code says of itself without being run: names it mentions, nodes it sends to."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any, get_type_hints

DEPTH = 3  # of functions that call functions


def function_of(runnable: Any) -> Any:
    """What a node or a branch calls; the runnable itself where it is of another kind."""
    return getattr(runnable, "func", None) or getattr(runnable, "afunc", None) or runnable


def hints_of(function: Any) -> dict[str, Any]:
    """Annotations of a function, or of an object's `__call__`; none where they cannot be resolved."""
    if isinstance(function, partial):
        return {}
    plain = isinstance(function, FunctionType | MethodType)
    try:
        return get_type_hints(function if plain else type(function).__call__, include_extras=True)
    except Exception:  # whatever stands in a user's annotations
        return {}


def functions(thing: Any, depth: int = DEPTH, known: set[int] | None = None) -> Iterator[FunctionType]:
    """A function, or the methods of an object, and what they hold or call in their own module."""
    known = set() if known is None else known
    if depth < 0 or id(thing) in known:
        return
    known.add(id(thing))
    if isinstance(thing, partial):
        inner: list[Any] = [thing.func, *thing.args, *thing.keywords.values()]
    elif isinstance(thing, MethodType):
        inner = [thing.__func__, thing.__self__]
    elif isinstance(thing, FunctionType):
        yield thing
        inner = [*held(thing).values()]
    else:
        ours = [vars(c) for c in type(thing).__mro__ if c.__module__ not in ("builtins", "abc", "typing")]
        inner = [value for members in ours for value in members.values() if isinstance(value, FunctionType)]
        inner += [value for value in getattr(thing, "__dict__", {}).values() if callable(value)]
    for one in inner:
        if callable(one) and not isinstance(one, type):
            yield from functions(one, depth - 1, known)


def held(function: FunctionType) -> dict[str, Any]:
    """What a function's closure holds by name, and functions of its module that it names."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not filled yet
            continue
    for name in {name for code in codes(function.__code__) for name in code.co_names}:
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType) and value.__module__ == function.__module__:
            found.setdefault(name, value)
    return found


def codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code and that of the functions inside it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from codes(const)


def mentions(thing: Any) -> frozenset[str]:
    """Every text and name in the code of a function or an object: whoever reads a key names it."""
    found: set[str] = set()
    for function in functions(thing):
        for code in codes(function.__code__):
            found |= {*code.co_names, *(text for const in code.co_consts for text in _texts(const))}
        found |= {value for value in held(function).values() if isinstance(value, str)}
    values = getattr(thing, "__dict__", {}).values() if not isinstance(thing, FunctionType) else ()
    return frozenset(found | {value for value in values if isinstance(value, str)})


def _texts(const: Any) -> Iterator[str]:
    if isinstance(const, str):
        yield const
    elif isinstance(const, tuple | frozenset):
        for one in const:
            yield from _texts(one)


def sends(thing: Any) -> tuple[bool, frozenset[str]]:
    """Whether code makes a `Send`, and to which nodes as far as it says."""
    makes, to = False, set()
    for function in functions(thing):
        inside, around = held(function), function.__globals__
        for code in codes(function.__code__):
            steps = list(dis.get_instructions(code))
            for at, step in enumerate(steps):
                if step.argval != "Send" or not step.opname.startswith("LOAD_"):
                    continue
                makes = True
                target = _loaded(steps[at + 1 : at + 4], {**around, **inside})
                to |= {target} if isinstance(target, str) else set()
    return makes, frozenset(to)


def _loaded(steps: list[dis.Instruction], names: Mapping[str, Any]) -> Any:
    """The first value that is loaded: a constant, or what a name stands for."""
    for step in steps:
        if step.opname == "LOAD_CONST":
            return step.argval
        if step.opname.startswith("LOAD_"):
            return names.get(str(step.argval))
    return None


def repeats(thing: Any) -> bool:
    """Whether code goes over something, item by item."""
    return any(
        step.opname == "FOR_ITER" or step.argval == "map"
        for function in functions(thing)
        for code in codes(function.__code__)
        for step in dis.get_instructions(code)
    )
