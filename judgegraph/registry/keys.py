"""What an agent reads of a state and writes into it, as its own annotations say."""

from __future__ import annotations

import inspect
from typing import Any, NotRequired, Required, get_origin, get_type_hints

from typing_extensions import is_typeddict

Keys = tuple[str, ...]


def keys_of(node: Any) -> tuple[Keys | None, Keys | None]:
    """(keys read, keys written) of an agent, its class, a function or a graph; "?" stands behind those it can miss.

    None where nothing is known: no annotation, or none of a TypedDict.
    """
    if (builder := getattr(node, "builder", None)) is not None and hasattr(builder, "input_schema"):
        reads, writes = keys(builder.input_schema), keys(builder.output_schema)
        return reads and tuple("sample" if k == "sample?" else k for k in reads), writes and _plain(writes)
    call = _call(node)
    if call is None:
        return None, None
    hints = _hints(call)
    return keys(hints.get(_first(call) or "")), keys(hints.get("return"))


def keys(schema: Any) -> Keys | None:
    """Keys of a TypedDict in their order, "criteria?" where one may be missing; None for anything else."""
    if not is_typeddict(schema):
        return None
    try:
        hints = get_type_hints(schema, include_extras=True)
    except Exception:  # a name that only type checkers see
        hints = dict(schema.__annotations__)
    optional: frozenset[str] = getattr(schema, "__optional_keys__", frozenset())
    return tuple(f"{key}?" if _may_miss(hint, key in optional) else key for key, hint in hints.items())


def _plain(found: Keys) -> Keys:
    """A graph writes what its nodes write: that its state is not total says nothing."""
    return tuple(key.removesuffix("?") for key in found)


def is_state(function: Any) -> bool:
    """Whether a function is a part as it stands, and builds none.

    An agent's first argument is called `state` or annotated with a TypedDict, an assistant's is called `sample`.
    """
    first = _first(function)
    return first is not None and (first in ("state", "sample") or is_typeddict(_hints(function).get(first)))


def _may_miss(hint: Any, listed: bool) -> bool:
    """`NotRequired` that stands as a text in its module is in no list of optional keys."""
    origin = get_origin(hint)
    if origin in (NotRequired, Required):
        return origin is NotRequired
    text = getattr(hint, "__forward_arg__", "")
    return listed or "NotRequired[" in text


def _call(node: Any) -> Any:
    if inspect.isroutine(node):
        return node
    owner = node if inspect.isclass(node) else type(node)
    call = inspect.getattr_static(owner, "__call__", None)
    return call if inspect.isfunction(call) else None


def _first(function: Any) -> str | None:
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    named = [p for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name != "self"]
    return named[0].name if named else None


def _hints(function: Any) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except Exception:  # whatever stands in a user's annotations
        return {}
