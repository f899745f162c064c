"""A setting of an agent as JSON that is the same in every process, and holds no key."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from operator import attrgetter, itemgetter, methodcaller
from pathlib import PurePath
from types import MethodType
from typing import Any

from pydantic import BaseModel

from judgegraph.calls import Endpoint
from judgegraph.models.secrets import bare, scrubbed
from judgegraph.runtime.code_digest import brief, code_of, digest, is_ours
from judgegraph.runtime.judge_line import SECRET, judge_line

DEEPEST = 8  # levels of a nested setting
MOST = 50  # objects of one setting that are told by their fields: a model or a data frame may hold any number
_OPERATIONAL = re.compile(  # how fast, how patiently and where, never what
    r"(?:.*_)?(?:concurrency|timeout|deadline|attempts|retries|limiter|cache|cache_dir|callbacks|verbose|client)"
)
_SECRETIVE = re.compile(r".*(?:header|cookie|passw|(?:^|_)auth(?:$|_)).*", re.I)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.I)


def kept(name: str) -> bool:
    """Whether a setting of this name may change a result, and is no key."""
    return not (_OPERATIONAL.fullmatch(name) or SECRET.fullmatch(name) or _SECRETIVE.fullmatch(name))


def is_judge(value: Any) -> bool:
    """Whether it is an endpoint or a chat model object."""
    return isinstance(value, Endpoint) or (hasattr(value, "_llm_type") and hasattr(type(value), "model_fields"))


def told(value: Any) -> Any:
    """A judge by its line, a file by its name, a function by its name and code and what it closes over.

    A `partial` has its arguments beside that, a bound method its object, an object of the caller's own its fields.
    """
    return _Teller(whole=True).told(value)


def closed_over(value: Any) -> Any:
    """The same of what code names or closes over: an object by its class, as it may be where results are gathered."""
    return _Teller(whole=False).told(value)


def told_briefly(value: Any) -> str:
    """In a few words, without what is not set: "Fluency", "calls 9"."""
    said = told(value)
    if not isinstance(said, dict):
        return str(said)
    return ", ".join(f"{name} {one}" for name, one in said.items() if name != "is" and one is not None)


def code_set(thing: Any) -> str | None:
    """8 hex digits of code of the caller's own with what it is set to: a partial's arguments, an object's fields."""
    code, carried = code_of(thing, closed_over), told(thing)
    return digest(f"{code} {json.dumps(carried, sort_keys=True)}") if code and isinstance(carried, dict) else code


def fields_of(value: Any) -> Iterator[tuple[str, Any]]:
    """(name, value) of what an object holds, as a dataclass, in its `__dict__` or in slots."""
    if is_dataclass(value):
        yield from ((f.name, getattr(value, f.name)) for f in fields(value))
        return
    slots = [getattr(kind, "__slots__", ()) for kind in type(value).__mro__]
    named = [name for own in slots for name in ([own] if isinstance(own, str) else own)]
    yield from ((name, getattr(value, name)) for name in named if name != "__dict__" and hasattr(value, name))
    yield from getattr(value, "__dict__", {}).items()


class _Teller:
    """Tells one setting; it remembers the objects it met, which may lead back to one another."""

    def __init__(self, *, whole: bool) -> None:
        self.whole = whole
        self.met: set[int] = set()

    def told(self, value: Any, depth: int = 0) -> Any:
        if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Enum)):
            return _scalar(value)
        if is_judge(value):
            return judge_line(value, None)
        if depth == DEEPEST or isinstance(value, type) or hasattr(value, "get_secret_value"):
            return _named(value)
        if isinstance(value, Enum):
            return f"{type(value).__name__}.{value.name}"
        if isinstance(value, PurePath | re.Pattern):
            return value.name if isinstance(value, PurePath) else str(value.pattern)
        if isinstance(value, Mapping):
            return {str(k): self.told(v, depth + 1) for k, v in value.items() if kept(str(k))}
        if isinstance(value, list | tuple):
            return [self.told(v, depth + 1) for v in value]
        if isinstance(value, set | frozenset):
            return sorted((self._apart().told(v, depth + 1) for v in value), key=json.dumps)
        return self._object(value, depth)

    def _apart(self) -> _Teller:
        """For an element of a set, whose order is another in every process: what was met in others does not count."""
        teller = _Teller(whole=self.whole)
        teller.met = {*self.met}
        return teller

    def _object(self, value: Any, depth: int) -> Any:
        if hasattr(value, "ainvoke"):  # a chain of LangChain: its steps, or what is bound
            inner = [getattr(value, name, None) for name in ("steps", "steps__", "func", "afunc", "bound")]
            if any(one is not None for one in inner):
                found = next(one for one in inner if one is not None)
                return self.told([found, getattr(value, "kwargs", {})] if inner[-1] is found else found, depth + 1)
        if isinstance(value, BaseModel):
            return self.told({name: getattr(value, name) for name in type(value).model_fields}, depth)
        if is_dataclass(value):
            return {"is": _named(value), **self.told(dict(fields_of(value)), depth)}
        return self._carrying(value, depth)

    def _carrying(self, value: Any, depth: int) -> Any:
        """What does something, with all that it does it by."""
        if isinstance(value, partial):
            more = {"args": list(value.args), "keywords": dict(value.keywords)}
            return {"is": self.told(value.func, depth + 1), **self.told({k: v for k, v in more.items() if v}, depth)}
        if isinstance(value, itemgetter | attrgetter | methodcaller):
            return {"is": type(value).__name__, "args": self.told(list(value.__reduce__()[1:]), depth + 1)}
        if not self.whole:
            return _named(value)
        if isinstance(value, MethodType):
            return {"is": _named(value, closed_over), "of": self.told(value.__self__, depth + 1)}
        if callable(value) and hasattr(value, "__code__"):
            return _named(value, closed_over)
        own = {} if is_ours(type(value)) or id(value) in self.met or len(self.met) >= MOST else dict(fields_of(value))
        self.met.add(id(value))
        return {"is": _named(value), **self.told(own, depth)} if own else _named(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return scrubbed(bare(value) if _URL.fullmatch(value) else value)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _named(value: Any, tell: Callable[[Any], Any] = brief) -> str:
    if hasattr(value, "get_secret_value"):
        return "a secret"
    name = getattr(value, "__name__", None) or type(value).__name__
    code = code_of(value, tell)
    return f"{name}@{code}" if code else str(name)
