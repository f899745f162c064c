"""Reading a JSON schema: references, alternatives, types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DEEPEST = 12  # a form that refers to itself is cut here


def resolved(schema: Any, root: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with `$ref` and `allOf` merged in; other keys beside a reference win."""
    held = dict(schema) if isinstance(schema, Mapping) else {}
    for _ in range(20):
        ref = held.pop("$ref", None)
        if not isinstance(ref, str):
            break
        held = {**_pointed(ref, root), **held}
    for part in held.pop("allOf", []):
        more = resolved(part, root)
        merged = {**more.get("properties", {}), **held.get("properties", {})}
        needed = [*held.get("required", []), *more.get("required", [])]
        held = {**more, **held} | ({"properties": merged} if merged else {}) | ({"required": needed} if needed else {})
    return held


def _pointed(ref: str, root: Mapping[str, Any]) -> dict[str, Any]:
    node: Any = root
    for part in ref.removeprefix("#").strip("/").split("/"):
        if part:
            node = node.get(part.replace("~1", "/").replace("~0", "~"), {}) if isinstance(node, Mapping) else {}
    return dict(node) if isinstance(node, Mapping) else {}


def options(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The alternatives of a schema: of anyOf, oneOf and of a list of types; itself where there are none."""
    for key in ("anyOf", "oneOf"):
        if key in schema:
            rest = {k: v for k, v in schema.items() if k != key}
            return [o for s in schema[key] for o in options({**rest, **resolved(s, root)}, root)]
    if isinstance(schema.get("type"), list):
        return [{**schema, "type": t} for t in schema["type"]]
    return [dict(schema)]


def kind_of(schema: Mapping[str, Any]) -> str:
    """ "null", "object", "array", "string", "integer", "number", "boolean", "enum" or "const"."""
    if "const" in schema:
        return "null" if schema["const"] is None else "const"
    if "enum" in schema:
        return "null" if schema["enum"] == [None] else "enum"
    if "type" in schema:
        return str(schema["type"])
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema else "string"


def pick(schema: Any, root: Mapping[str, Any], *, null: bool, depth: int) -> dict[str, Any]:
    """One alternative: null where `null` is wished and allowed, else the first that is not; no endless depth."""
    held = options(resolved(schema, root), root)
    nulls = [o for o in held if kind_of(o) == "null" or (kind_of(o) == "enum" and None in o["enum"])]
    if nulls and (null or depth > _DEEPEST):
        return {"const": None}
    whole = [o for o in held if kind_of(o) != "null"]
    if depth > _DEEPEST:
        whole.sort(key=lambda o: kind_of(o) in ("object", "array"))
    return whole[0] if whole else {"const": None}


def deep(depth: int) -> bool:
    """Nothing optional is written beyond this depth."""
    return depth > _DEEPEST


def scoring(schema: Any, root: Mapping[str, Any]) -> dict[str, Any] | None:
    """The alternative of a leaf that holds a score or a label; None for other leaves."""
    for option in options(resolved(schema, root), root):
        kind = kind_of(option)
        if kind in ("integer", "number", "boolean"):
            return option
        if kind == "enum" and any(not isinstance(v, bool) and v is not None for v in option["enum"]):
            return option
    return None
