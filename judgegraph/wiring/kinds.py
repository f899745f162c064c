"""The classes of values: what a node writes under a key, as far as its annotation says."""

from __future__ import annotations

from types import NoneType
from typing import Any, get_type_hints

from judgegraph.wiring.code import hints_of
from judgegraph.wiring.drawn import Drawn, Part
from judgegraph.wiring.signatures import members, plain_type


def kinds_of(hint: Any) -> set[Any]:
    """The classes of an annotation, of a union one each, None being none; empty where one is not known."""
    found = {plain_type(one) for one in members(bare(hint)) if one is not NoneType}
    return set() if None in found else found


def bare(hint: Any) -> Any:
    """An annotation without the reducer around it."""
    while getattr(hint, "__metadata__", None) is not None:
        hint = hint.__origin__
    return hint


def written(part: Part, key: str) -> set[Any]:
    """The classes of what a node writes under a key; empty where its annotation does not say."""
    if part.inside is not None:
        return kinds_of(getattr(part.inside.channels.get(key), "typ", None))
    found: set[Any] = set()
    for schema in members(hints_of(part.runs).get("return")):
        hint = _hints(schema).get(key)
        found |= kinds_of(hint)
        if hint is not None and not kinds_of(hint):
            return set()
    return found


def _hints(schema: Any) -> dict[str, Any]:
    try:
        return get_type_hints(schema) if isinstance(schema, type) else {}
    except Exception:  # whatever stands in a user's annotations
        return {}


def keys_of_kind(drawn: Drawn, part: Part, *kinds: type) -> set[str]:
    """Keys of the state that a node may write, and whose values are of these classes.

    A node that does not say what it writes may write all of them.
    """
    keys = drawn.channels if part.writes is None else part.writes
    typed = {key: kinds_of(getattr(drawn.channels.get(key), "typ", None)) for key in keys}
    return {key for key in keys if any(kind in kinds for kind in typed[key] | written(part, key))}
