"""The installed packages that the code of a node comes from: with another version of one, results are others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import MethodType
from typing import Any

from judgegraph.registry.plugins import brought_by
from judgegraph.runtime.code_digest import is_ours
from judgegraph.runtime.setting_value import is_judge

DEEPEST = 6  # a node's agent, its list of assistants, one of them, what it measures by


def packages_of(thing: Any) -> str:
    """ "acritics 1.0" of what runs in a node, and "acritics 1.0, tools 2.1" with what it is set to; "" of all others.

    Packages are those with an entry point of ours. What is ours or the caller's own is in none of them.
    """
    modules = {str(getattr(one, "__module__", None) or "") for one in _code(thing, DEEPEST) if not is_ours(one)}
    return ", ".join(sorted({*map(brought_by, modules)} - {""}))


def _code(thing: Any, depth: int) -> Iterator[Any]:
    """The functions and classes of a thing and of what it holds: a panel's critics, a critic's assistants."""
    if depth == 0 or thing is None or isinstance(thing, str | int | float) or is_judge(thing):
        return
    if isinstance(thing, Mapping):
        held: list[Any] = list(thing.values())
    elif isinstance(thing, list | tuple | set | frozenset):
        held = list(thing)
    elif isinstance(thing, partial):
        held = [thing.func, thing.args, thing.keywords]
    elif isinstance(thing, MethodType):
        held = [thing.__self__]
    else:
        yield thing if hasattr(thing, "__qualname__") else type(thing)
        held = _held(thing)
    for one in held:
        yield from _code(one, depth - 1)


def _held(thing: Any) -> list[Any]:
    if isinstance(thing, type) or not is_dataclass(thing):
        return []
    return [getattr(thing, "members", None), *(getattr(thing, field.name, None) for field in fields(thing))]
