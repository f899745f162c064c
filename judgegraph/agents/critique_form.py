"""What a critic is asked to return: rectified scores, changed definitions, new criteria."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgegraph.calls.form import STRING, Form, Incomplete, enum_of, rating_schema, read_entries, record
from judgegraph.types import Criterion, Suggestion

PARTS = ("rectifications", "definitions", "new_criteria")
NEW_AT_MOST = 3  # SAGEval section 6.3: up to three suggested aspects per item
VERDICTS = ("keep", "raise", "lower")
LABEL_VERDICTS = ("keep", "change")


def critique_form(
    criteria: Mapping[str, Criterion], parts: tuple[str, ...] = PARTS, name: str = "critique"
) -> Form[dict[str, Any]]:
    """The form for any of the three duties; its value maps each part to what could be read of it."""
    schemas = {part: _schema(part, criteria) for part in parts}

    def read(data: Any) -> dict[str, Any]:
        if not isinstance(data, Mapping):
            raise ValueError(f"expected an object with {', '.join(parts)}")
        lists = {part: _suggestions(part, data.get(part), criteria) for part in parts if part != PARTS[0]}
        if PARTS[0] not in parts:
            return lists
        try:
            return {PARTS[0]: _entries(data.get(PARTS[0]), criteria), **lists}
        except Incomplete as error:
            raise Incomplete(f"{PARTS[0]}: {error}", {PARTS[0]: error.value, **lists}, error.got) from None

    return Form(name, record(schemas), read)


def verdicts_of(criterion: Criterion) -> tuple[str, ...]:
    """What a critic may say of a score."""
    return LABEL_VERDICTS if criterion.scale.labels else VERDICTS


def _schema(part: str, criteria: Mapping[str, Criterion]) -> dict[str, Any]:
    if part == "rectifications":
        return record({key: rating_schema(c, verdict=enum_of(verdicts_of(c))) for key, c in criteria.items()})
    names = enum_of(c.name for c in criteria.values())
    if part == "definitions":
        item = record({"criterion": names, "definition": STRING, "reason": STRING})
        return {"type": "array", "items": item}
    item = record({"name": STRING, "definition": STRING, "reason": STRING})
    return {"type": "array", "items": item, "maxItems": NEW_AT_MOST}


def _entries(data: Any, criteria: Mapping[str, Criterion]) -> dict[str, Any]:
    """Entries with a known verdict; a verdict of "keep" needs no value of its own."""
    given = dict(data) if isinstance(data, Mapping) else {}
    unknown = {
        key: f"verdict {given[key].get('verdict')!r} is none of {', '.join(verdicts_of(c))}"
        for key, c in criteria.items()
        if isinstance(given.get(key), Mapping) and given[key].get("verdict") not in verdicts_of(c)
    }
    missing = [key for key in unknown if given.pop(key, None) is not None]
    try:
        return read_entries(given, criteria)
    except Incomplete as error:
        said = "; ".join([*(f"{key}: {unknown[key]}" for key in missing), str(error)])
        raise Incomplete(said, error.value, error.got) from None


def _suggestions(part: str, data: Any, criteria: Mapping[str, Criterion]) -> list[Suggestion]:
    """The well-formed suggestions; advice that cannot be read is not worth another call."""
    found: list[Suggestion] = []
    known = {c.name.casefold(): c.name for c in criteria.values()}
    for item in data if isinstance(data, list) else ():
        if not isinstance(item, Mapping):
            continue
        name = str(item.get("criterion" if part == "definitions" else "name") or "").strip()
        definition = str(item.get("definition") or "").strip()
        is_known = name.casefold() in known
        if not name or not definition or is_known != (part == "definitions"):
            continue
        kind: Any = "definition" if part == "definitions" else "criterion"
        reason = str(item.get("reason") or "")
        found.append(
            Suggestion(kind=kind, criterion=known.get(name.casefold(), name), definition=definition, reason=reason)
        )
    return found if part == "definitions" else found[:NEW_AT_MOST]
