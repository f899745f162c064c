"""What a node reads and writes, from the annotations of what it calls. What is not annotated is not claimed."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin, get_type_hints

import typing_extensions
from langgraph.types import Command
from pydantic import BaseModel

from judgegraph.types import EvalState
from judgegraph.wiring.code import hints_of

Keys = frozenset[str]
OPTIONAL = {NotRequired, typing_extensions.NotRequired}
DEMANDED = {Required, typing_extensions.Required}


def reads_of(function: Any, schema: Any, whole: Any) -> tuple[Keys, Keys]:
    """Keys that a node must find and keys that it may find; of the whole state nothing definite is read.

    Args:
        schema: what LangGraph hands it. whole: the schema of the graph's state.
    """
    own = _first(function) if schema is whole else schema
    if own is None or own is whole or own is EvalState:
        return frozenset(), frozenset()
    return keys_of(own)


def _first(function: Any) -> Any:
    """The annotation of the state, where it names keys."""
    hints = {name: hint for name, hint in hints_of(function).items() if name != "return"}
    try:
        parameters = [p for p in inspect.signature(function).parameters if p != "self"]
    except (TypeError, ValueError):
        return None
    return hints.get(parameters[0]) if parameters else None


def keys_of(schema: Any) -> tuple[Keys, Keys]:
    """Keys of a TypedDict, a dataclass or a pydantic model: those that must be there, and those that may be."""
    if not isinstance(schema, type):
        return frozenset(), frozenset()
    if issubclass(schema, BaseModel):
        needed = {name for name, field in schema.model_fields.items() if field.is_required()}
        return frozenset(needed), frozenset(set(schema.model_fields) - needed)
    if dataclasses.is_dataclass(schema):
        plain = {f.name: (f.default, f.default_factory) for f in dataclasses.fields(schema)}
        needed = {name for name, given in plain.items() if set(given) == {dataclasses.MISSING}}
        return frozenset(needed), frozenset(set(plain) - needed)
    return _of_typed_dict(schema)


def _of_typed_dict(schema: Any) -> tuple[Keys, Keys]:
    optional = getattr(schema, "__optional_keys__", None)
    if optional is None:
        return frozenset(), frozenset()
    try:
        hints = get_type_hints(schema, include_extras=True)
    except Exception:  # whatever stands in a user's annotations
        return frozenset(), frozenset(schema.__annotations__)
    # as text (`from __future__ import annotations`) a TypedDict does not see its own NotRequired
    needed = {k for k, hint in hints.items() if _said(hint, DEMANDED) or not (k in optional or _said(hint, OPTIONAL))}
    return frozenset(needed), frozenset(set(hints) - needed)


def _said(hint: Any, what: set[Any]) -> bool:
    origin = get_origin(hint)
    return origin in what or (origin is Annotated and _said(get_args(hint)[0], what))


def writes_of(function: Any, whole: Any) -> Keys | None:
    """Keys that a node may write; None where its annotation does not say."""
    return _written(hints_of(function).get("return"), whole)


def _written(hint: Any, whole: Any) -> Keys | None:
    if hint is type(None):
        return frozenset()
    if len(members(hint)) > 1:
        parts = [_written(part, whole) for part in members(hint)]
        return None if None in parts else frozenset(key for part in parts for key in part or ())
    if hint is None or hint is whole or hint is EvalState or _is_command(hint):
        return None
    needed, optional = keys_of(hint)
    return needed | optional or None


def _is_command(hint: Any) -> bool:
    kind = get_origin(hint) or hint
    return isinstance(kind, type) and issubclass(kind, Command)


def members(hint: Any) -> tuple[Any, ...]:
    """Of a union its parts; none where nothing is annotated."""
    if hint is None:
        return ()
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def plain_type(hint: Any) -> Any:
    """The class behind an annotation: of `NotRequired[Annotated[dict[str, Score], merged]]` it is dict; else None."""
    while get_origin(hint) is Annotated or get_origin(hint) in OPTIONAL | DEMANDED:
        hint = get_args(hint)[0]
    kind = get_origin(hint) or hint
    if kind in (Union, types.UnionType, Any, object, type(None)) or not isinstance(kind, type):
        return None  # Any is a class
    return dict if kind is not dict and issubclass(kind, Mapping) else kind
