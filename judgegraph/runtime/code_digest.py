"""What a function or class of the caller's own does, as a digest of its source: another code, other results."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from hashlib import blake2b
from types import CodeType, FunctionType, ModuleType
from typing import Any

BELOW = ("judgegraph", "pydantic", "pydantic_core", "openai", "httpx")
SKIPPED = (FunctionType, type, ModuleType)  # followed where they are of the same module, else told by the source


def digest(text: str) -> str:
    """8 hex digits."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def is_ours(thing: Any) -> bool:
    """Whether it comes with this package, with Python or with the libraries below us: a version says what it does."""
    package = str(getattr(thing, "__module__", None) or "").partition(".")[0]
    return package in BELOW or package in sys.stdlib_module_names or package.startswith(("langchain", "langgraph"))


def brief(value: Any) -> Any:
    """A plain value as it is, of any other its class."""
    return value if isinstance(value, bool | int | float | str | None) else type(value).__name__


def code_of(thing: Any, told: Callable[[Any], Any] = brief) -> str | None:
    """8 hex digits of a function, class or object from outside this package; None for ours.

    They cover its source, its defaults, the values that it closes over or names in its module, and the same of the
    functions and classes of that module that it uses. Where there is no source (a prompt of Python) the compiled code
    stands in.

    Args:
        told: how such a value is told: as JSON that is the same in every process, without keys.
    """
    found = [part for one in _outside(thing) for part in _parts(one, told)]
    return digest(json.dumps(found, ensure_ascii=False)) if found else None


def _outside(thing: Any) -> list[Any]:
    """A function or class, and all of its own module that it leads to; in the order it is met."""
    met: list[Any] = []
    open_ = [_bare(thing)]
    while open_:
        one = open_.pop(0)
        if one in met or is_ours(one):
            continue
        met.append(one)
        open_ += [_bare(found) for found in _used(one)]
    return met


def _bare(thing: Any) -> Any:
    """A function without its wrappings, or the class of an object."""
    while isinstance(thing, partial):
        thing = thing.func
    thing = inspect.unwrap(getattr(thing, "__func__", thing)) if callable(thing) else thing
    return thing if isinstance(thing, FunctionType | type) else type(thing)


def _used(one: Any) -> Iterator[Any]:
    """Functions and classes of its own module: named in its code, closed over, or its base classes."""
    module = sys.modules.get(one.__module__)
    for function in _functions(one):
        reached = [getattr(module, name, None) for name in sorted(_names(function.__code__))]
        for found in (*reached, *_closed(function)):
            if isinstance(found, FunctionType | type) and found.__module__ == one.__module__:
                yield found
    package = str(one.__module__).partition(".")[0]
    if isinstance(one, type):
        yield from (kind for kind in one.__mro__[1:] if str(kind.__module__).partition(".")[0] == package)


def _functions(one: Any) -> Iterator[FunctionType]:
    for found in vars(one).values() if isinstance(one, type) else [one]:
        found = getattr(found, "fget", None) or getattr(found, "__func__", found)
        if isinstance(found := inspect.unwrap(found) if callable(found) else found, FunctionType):
            yield found


def _parts(one: Any, told: Callable[[Any], Any]) -> Iterator[Any]:
    yield _source(one)
    module = sys.modules.get(one.__module__)
    for function in _functions(one):
        yield [told(v) for v in function.__defaults__ or ()]
        yield [[k, told(v)] for k, v in sorted((function.__kwdefaults__ or {}).items())]
        yield [told(v) for v in _closed(function) if not isinstance(v, SKIPPED)]
        named = {name: getattr(module, name, None) for name in sorted(_names(function.__code__))}
        yield [[k, told(v)] for k, v in named.items() if v is not None and not isinstance(v, SKIPPED)]


def _closed(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue


def _names(code: CodeType) -> set[str]:
    inner = [_names(const) for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*inner)


@lru_cache(maxsize=512)
def _source(one: Any) -> str:
    """Its source; reading it takes a while, and what is imported does not change."""
    compiled = "\n".join(_compiled(function.__code__) for function in _functions(one))
    try:
        source = inspect.getsource(one)
    except (OSError, TypeError, IndentationError):
        return compiled
    return source + compiled if one.__name__ == "<lambda>" else source  # two of them may stand in one line


def _compiled(code: CodeType) -> str:
    consts = [_compiled(c) if isinstance(c, CodeType) else _const(c) for c in code.co_consts]
    return repr((code.co_name, code.co_code.hex(), code.co_names, consts))


def _const(value: Any) -> str:
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)
