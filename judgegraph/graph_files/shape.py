"""Plain data held to its shape: what is wrong is told in the words of a graph file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from judgegraph.errors import one_line
from judgegraph.graph_files.source import Place, Source
from judgegraph.graph_files.spec import TITLES, HeadSpec, JudgeSpec, Spec

T = TypeVar("T")
NAMES = "a name of letters, digits, - and _ that starts with a letter, 60 signs at most"
EXPECTED = {  # kind of error -> what was expected
    "string_type": "text", "int_type": "a whole number", "float_type": "a number", "bool_type": "true or false",
    "list_type": "a list", "dict_type": "a mapping", "model_type": "a mapping", "string_pattern_mismatch": NAMES,
    "int_from_float": "a whole number",
}  # fmt: skip


def shaped(adapter: TypeAdapter[T], source: Source, path: Place, data: Any, root: type[Spec] = HeadSpec) -> T | None:
    """The data as the adapter's type; None where something is wrong, which joins the source's faults.

    Args:
        path: where the data stands in the file. root: the part of a file that it is.
    """
    try:
        return adapter.validate_python(data)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            place = tuple(part for part in one["loc"] if not str(part).startswith(("<", "[")))
            source.fault((*path, *place), _said(source, (*path, *place), one, _owner(place[:-1], root)))
        return None


def hint(name: str, known: Iterable[str], what: str = "Known") -> str:
    """ "; did you mean 'x'? Known: x, y": for a name that is none of those."""
    listed = list(known)
    near = difflib.get_close_matches(name, listed, 1)
    meant = f"; did you mean '{near[0]}'?" if near else "."
    return f"{meant} {what}: {', '.join(listed) or 'none'}"


def keys_of(spec: type[Spec]) -> list[str]:
    """The keys of a part of a file, as they are written there."""
    return [field.alias or name for name, field in spec.model_fields.items()]


def _owner(place: Place, root: type[Spec]) -> type[Spec]:
    """Whose keys stand at a place: a judge may stand within any part."""
    return JudgeSpec if place[-1:] == ("judge",) else root


def _said(source: Source, place: Place, error: Mapping[str, Any], owner: type[Spec]) -> str:
    kind, context = error["type"], error.get("ctx") or {}
    if kind == "extra_forbidden":
        key = one_line(place[-1], 60)
        if owner is JudgeSpec and "key" in key and key != "api_key_env":
            return "a key stands in no file; name the environment variable that holds it: api_key_env: NAME"
        return f"unknown key of {TITLES[owner]}{hint(key, keys_of(owner))}"
    if kind == "missing":
        return f"missing in {TITLES[owner]}"
    if kind in ("too_long", "too_short"):
        low, high = context.get("min_length"), context.get("max_length")
        many = f"{low} or more entries" if kind == "too_short" else f"{high} at most" if high != 1 else "one entry"
        got = context.get("actual_length")
        return f"expected {many}{f', got {got}' if got is not None else ''}"
    if kind == "literal_error":
        return f"expected {context['expected']}, got {source.shown(place)}"
    if kind in EXPECTED:
        quote = "; put it in quotes" if kind == "string_type" and source.is_scalar(place) else ""
        if kind == "model_type" and owner is not HeadSpec:
            return f"expected text or a mapping, got {source.shown(place)}"
        return f"expected {EXPECTED[kind]}, got {source.shown(place)}{quote}"
    said = one_line(error["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    return f"{said if said.startswith('expected') else f'expected {said}'}, got {source.shown(place)}"
