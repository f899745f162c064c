"""The JSON Schema of a graph file, for editors: they complete names and underline mistakes while one writes.

It is made of the reader's own models, with the names that are registered here. What is not known while one writes (a
plug-in that is not installed, a judge of the file's own) passes: the reader has the last word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from typing import Any

from pydantic import TypeAdapter

from judgegraph.calls import Endpoint
from judgegraph.compose.conditions import CONDITIONS
from judgegraph.errors import ConfigError
from judgegraph.graph_files.build import BESIDE, HELPERS, ROLES, Role, Use, known, used
from judgegraph.graph_files.edges import settings_of_condition
from judgegraph.graph_files.read import GraphSpec
from judgegraph.graphs.settings import hints_of, is_plain, leaves
from judgegraph.prompts.criteria import known_sets
from judgegraph.registry import KINDS
from judgegraph.registry.lookup import vocabulary
from judgegraph.registry.shipped import SHIPPED
from judgegraph.types import Asked

JUDGE, NODE, WHEN = ({"$ref": f"#/$defs/{name}"} for name in ("Judge", "Node", "When"))
MEMBER = {"anyOf": [JUDGE, NODE]}
OF_ROLE: Mapping[Role, dict[str, Any]] = {
    "members": {
        "anyOf": [
            {"type": "array", "items": MEMBER, "minItems": 1},
            {"type": "object", "additionalProperties": MEMBER, "minProperties": 1},
        ]
    },
    "member": MEMBER, "node": NODE, "critic": NODE, "condition": WHEN,
}  # fmt: skip


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a graph file."""
    found = GraphSpec.model_json_schema(by_alias=True)
    parts, defs = found["properties"], found["$defs"]
    names = _one_of(known(), "A registered name, a graph file, or file.py:name.")
    defs["NodeSpec"]["properties"]["use"] = names
    uses = [*_shipped()]
    defs["NodeSpec"]["allOf"] = [_with(use) for use in uses]
    lone = [name for use in uses if {*use.needs} - {*BESIDE} for name in _written(use)]
    defs["Node"] = {"anyOf": [{**names, "not": {"enum": lone}}, {"$ref": "#/$defs/NodeSpec"}]}
    defs["Judge"] = {"anyOf": [{"type": "string", "examples": ["embedded"]}, {"$ref": "#/$defs/JudgeSpec"}]}
    defs["When"] = _when()
    defs["Criteria"] = _criteria(parts["criteria"])
    parts["judges"] = _named(parts["judges"], JUDGE)
    parts["nodes"] = _named(parts["nodes"], NODE)
    for owner in (parts, defs["NodeSpec"]["properties"]):
        for key, name in (("judge", "Judge"), ("criteria", "Criteria")):
            about = owner[key].get("description", "")
            owner[key] = {"anyOf": [{"$ref": f"#/$defs/{name}"}, {"type": "null"}], "description": about}
    chain = {"type": "string", "pattern": "->", "description": "a -> b, c -> end"}
    parts["edges"]["items"] = {"anyOf": [chain, {"$ref": "#/$defs/EdgeSpec"}]}
    defs["EdgeSpec"]["properties"]["when"] = WHEN
    parts["outputs"] = {
        "type": "array", "minItems": 1, "description": parts["outputs"]["description"],
        "items": _one_of([key for key in vocabulary() if key not in Asked.__annotations__], "A key of the result."),
    }  # fmt: skip
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A judgegraph graph file"}
    return {**about, **{key: value for key, value in found.items() if key not in ("title", "description")}}


def _one_of(names: Iterable[str], about: str) -> dict[str, Any]:
    """One of these, which editors offer, or another text."""
    return {"anyOf": [{"enum": list(names)}, {"type": "string", "minLength": 1}], "description": about}


def _named(schema: dict[str, Any], of: dict[str, Any]) -> dict[str, Any]:
    """A mapping by names: any other key is refused."""
    (pattern,) = schema["patternProperties"]
    return {**schema, "patternProperties": {pattern: of}, "additionalProperties": False}


def _criteria(schema: dict[str, Any]) -> dict[str, Any]:
    listed = next(one for one in schema["anyOf"][0]["anyOf"] if one.get("type") == "array")
    return {"anyOf": [_one_of(known_sets(), "A set, or a criteria file."), listed]}


def _when() -> dict[str, Any]:
    made = {name: _condition(name) for name in CONDITIONS}
    settings = {"type": "object", "properties": made, "additionalProperties": False}
    code = {"type": "string", "pattern": r"\.py:"}
    several = {"type": "array", "items": WHEN, "minItems": 1}
    return {"anyOf": [{"enum": list(CONDITIONS)}, code, several, {**settings, "minProperties": 1, "maxProperties": 1}]}


def _condition(name: str) -> dict[str, Any]:
    """What stands beside a condition's name: its settings, or one value for the first of them."""
    if name == "either":
        return {"anyOf": [WHEN, {"type": "array", "items": WHEN, "minItems": 1}]}
    known = {"properties": {key: {} for key in settings_of_condition(name)}, "additionalProperties": False}
    return {"anyOf": [{"type": "object", **known}, {"type": ["array", "string", "number", "boolean", "null"]}]}


def _shipped() -> Iterable[Use]:
    """Every part of this package that has settings; of plug-ins none is imported for a schema."""
    for name in dict.fromkeys([*HELPERS, *(name for kind in KINDS for name in SHIPPED[kind])]):
        try:
            use = used(name)
        except ConfigError:  # a plug-in has the same name: which one is meant cannot be said
            continue
        if use.takes is not None:
            yield use


def _with(use: Use) -> dict[str, Any]:
    """What stands in `with` beside `use: NAME`."""
    names = [name for name in use.takes or () if name not in BESIDE]
    settings = {name: _setting(use, name) for name in names}
    if use.made or use.kind == "assistant":
        settings = {}
    needs = [name for name in use.needs if name in settings]
    held = {"properties": settings, "additionalProperties": False, "required": needs}
    return {
        "if": {"properties": {"use": {"enum": _written(use)}}, "required": ["use"]},
        "then": {"properties": {"with": held}, "required": ["with"] if needs else []},
    }


def _written(use: Use) -> list[str]:
    """The ways to write a name of ours."""
    kind = "agent" if use.kind == "helper" else use.kind
    return [use.name, f"judgegraph:{use.name}", f"{kind}/{use.name}", f"{kind}/judgegraph:{use.name}"]


def _setting(use: Use, name: str) -> dict[str, Any]:
    if use.kind == "helper" and name in ROLES:
        return OF_ROLE[ROLES[name]]
    annotation = use.hints.get(name, Any)
    kinds = leaves(annotation)
    if Endpoint in kinds:
        return JUDGE
    if is_plain(annotation):
        return {key: value for key, value in TypeAdapter(annotation).json_schema().items() if key != "title"}
    for kind in kinds:
        if isinstance(kind, type) and is_dataclass(kind):
            inner: dict[str, Any] = {key: {} for key in hints_of(kind)}
            return {"anyOf": [{"type": "string"}, {"type": "object", "properties": inner}]}
    return {}
