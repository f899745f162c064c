"""A reducer by itself: it is tried on empty values and on values of one entry, as LangGraph would call it."""

from __future__ import annotations

import copy
from collections.abc import Collection
from types import BuiltinFunctionType
from typing import Any

PLAIN = (dict, list, tuple, set, frozenset, str, int, float, bool)  # classes with an empty value
NUMBERS = {int, float, complex, bool}


def fits(kind: Any, made: Any) -> bool:
    """Whether what a reducer says it returns may be a key's value; made: None where it does not say."""
    if made is None or {kind, made} <= NUMBERS:
        return True
    try:
        return issubclass(made, kind) or issubclass(kind, made)
    except TypeError:  # a protocol, which has no subclasses to ask for
        return True


def fails(channel: Any, kind: Any, given: Collection[Any]) -> list[Any]:
    """Classes of updates, of those that are written, whose empty value a reducer cannot join with a key's first value.

    Args:
        kind: the class of the key. given: of what nodes write; without any, an operator is tried with the key's own.
    """
    if not channel.is_available():  # it has no first value: LangGraph joins nothing with the first update
        return []
    known = list(given) or ([kind] if isinstance(channel.operator, BuiltinFunctionType) else [])
    return [one for one in known if one in (kind, *PLAIN) and _raises(channel, kind, one)]


def _raises(channel: Any, kind: Any, given: Any) -> bool:
    first = copy.copy(channel.value)
    update = copy.copy(channel.value) if given is kind else given()
    try:
        channel.operator(first, update)
    except (TypeError, AttributeError):
        return True
    except Exception:  # it wants more than an empty value
        return False
    return False


def doubles(reducer: Any, kind: Any) -> bool:
    """Whether joining a list of one with itself makes it longer."""
    one = kind([object()])
    try:
        return len(reducer(kind(one), kind(one))) > 1
    except Exception:  # it wants values of its own kind
        return False


def keeps_one(channel: Any) -> bool:
    """Whether of two mappings, or two lists, one is lost."""
    pairs: dict[type, Any] = {dict: ({"a": object()}, {"b": object()}), list: ([object()], [object()])}
    one, other = pairs.get(type(getattr(channel, "value", None)), (None, None))
    if one is None:
        return False
    try:
        return channel.operator(copy.copy(one), copy.copy(other)) in (one, other)
    except Exception:  # it wants values of its own kind
        return False
