"""Parts by kind and name: what this package brings, and what was registered in this process."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from judgegraph.errors import ConfigError, one_line
from judgegraph.registry.shipped import SHIPPED

Kind = Literal["method", "agent", "critic", "assistant"]
T = TypeVar("T")

_REGISTERED: dict[tuple[str, str], Any] = {}  # (kind, name) -> object


def register(kind: Kind, name: str) -> Callable[[T], T]:
    """A decorator that makes a class or function known by a name in this process, and returns it as it is."""

    def keep(thing: T) -> T:
        _REGISTERED[kind, name] = thing
        return thing

    return keep


def names(kind: Kind) -> tuple[str, ...]:
    """Known names of a kind."""
    return tuple(dict.fromkeys((*SHIPPED[kind], *(n for k, n in _REGISTERED if k == kind))))


def load(kind: Kind, name: str) -> Any:
    """The class, factory or object behind a name.

    Raises:
        ConfigError: no such name.
    """
    if (kind, name) in _REGISTERED:
        return _REGISTERED[kind, name]
    if name not in SHIPPED[kind]:
        raise ConfigError(f"no {kind} '{one_line(name, 80)}'; known: {', '.join(names(kind))}")
    module, _, attribute = SHIPPED[kind][name].partition(":")
    return getattr(importlib.import_module(module), attribute)
