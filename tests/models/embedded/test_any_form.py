"""Whatever form is asked for, the reply is valid against it."""

import json
from typing import Any

import pytest
from asking import FAITHFUL, SOURCE, answer, reply, sections
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

KEYS = st.sampled_from(
    "score reason coherence label verdict plan aspects notes value count items response name fluency winner x".split()
)
PROMPTS = st.sampled_from(
    [
        "no section at all",
        sections(source=SOURCE, output=FAITHFUL),
        sections(criterion="## Fluency\nScale: 1-5\nDefinition: reads well", output=FAITHFUL, rival=SOURCE),
        sections(criteria="## Tone\nScale: warm / cold\n\n## Relevance\nScale: 1-7", query="Write.", output=""),
        sections(draft="a text under a name of its own", rubric="Wit: how funny it is"),
    ]
)


def valid(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    """The part of JSON Schema that forms use."""
    if "$ref" in schema:
        return valid(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "anyOf" in schema:
        return any(valid(value, s, root) for s in schema["anyOf"])
    if "const" in schema:
        return bool(value == schema["const"])
    if "enum" in schema:
        return value in schema["enum"]
    return CHECKS[schema["type"]](value, schema, root)


def _number(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    whole = schema["type"] == "number" or isinstance(value, int)
    return whole and schema.get("minimum", value) <= value <= schema.get("maximum", value)


def _object(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    return isinstance(value, dict) and set(value) == set(schema["properties"]) and all(
        valid(value[k], s, root) for k, s in schema["properties"].items()
    )  # fmt: skip


def _array(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    fits = isinstance(value, list) and schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 99)
    return fits and all(valid(v, schema["items"], root) for v in value)


def _string(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    return isinstance(value, str) and schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 10**6)


CHECKS = {
    "string": _string, "integer": _number, "number": _number, "object": _object, "array": _array,
    "boolean": lambda value, *_: isinstance(value, bool), "null": lambda value, *_: value is None,
}  # fmt: skip


@st.composite
def ranges(draw: st.DrawFn) -> dict[str, Any]:
    low = draw(st.integers(-20, 20))
    kind = draw(st.sampled_from(["integer", "number"]))
    return {"type": kind, "minimum": low, "maximum": low + draw(st.integers(0 if kind == "number" else 1, 200))}


@st.composite
def lists(draw: st.DrawFn, items: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    least = draw(st.integers(0, 4))
    return {"type": "array", "items": draw(items), "minItems": least, "maxItems": least + draw(st.integers(0, 3))}


def objects(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(KEYS, inner, max_size=4).map(
        lambda p: {"type": "object", "properties": p, "required": [*p], "additionalProperties": False}
    )


LEAVES = st.one_of(
    st.fixed_dictionaries({"type": st.just("string")}, optional={"minLength": st.integers(0, 9)}),
    st.fixed_dictionaries({"type": st.just("string"), "maxLength": st.integers(0, 30)}),
    st.sampled_from([{"type": "boolean"}, {"type": "null"}, {"type": "integer"}, {"type": "number"}]),
    ranges(),
    st.lists(st.integers(-9, 99), min_size=1, max_size=6, unique=True).map(lambda v: {"enum": v}),
    st.lists(st.sampled_from(["A", "B", "tie", "good", "poor", "Fluency"]), min_size=1, unique=True).map(
        lambda v: {"type": "string", "enum": v}
    ),
    st.sampled_from([{"const": 4}, {"const": "yes"}, {"$ref": "#/$defs/Rating"}, {"enum": [1, "one", None, True]}]),
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        objects(inner), lists(inner), inner.map(lambda s: {"anyOf": [s, {"type": "null"}]}),
        st.lists(inner, min_size=1, max_size=3).map(lambda s: {"anyOf": s}),
    ),
    max_leaves=8,
)  # fmt: skip
RATING = {
    "type": "object", "required": ["score", "next"], "additionalProperties": False,
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 3},
                   "next": {"anyOf": [{"$ref": "#/$defs/Rating"}, {"type": "null"}]}},
}  # fmt: skip


@pytest.mark.slow
@settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow])
@given(form=objects(SCHEMAS), prompt=PROMPTS)
def test_every_reply_is_valid_against_its_form(form: dict[str, Any], prompt: str) -> None:
    schema = form | {"$defs": {"Rating": RATING}}
    message = reply(prompt, schema, logprobs=True, top_logprobs=5)
    held = json.loads(str(message.content))
    assert valid(held, schema, schema), (held, schema)
    content = message.response_metadata["logprobs"]["content"]
    assert "".join(t["token"] for t in content) == message.content


def test_an_agent_that_nobody_foresaw_is_served() -> None:
    form = {
        "type": "object", "required": ["checks", "release"], "additionalProperties": False,
        "properties": {
            "checks": {"type": "array", "minItems": 2, "maxItems": 2, "items": {
                "type": "object", "required": ["criterion", "why", "grade"], "additionalProperties": False,
                "properties": {"criterion": {"type": "string", "enum": ["Faithfulness", "Grammar"]},
                               "why": {"type": "string"},
                               "grade": {"type": "integer", "minimum": 0, "maximum": 10}}}},
            "release": {"type": "boolean"},
        },
    }  # fmt: skip
    wanted = "Faithfulness: nothing is invented\nGrammar: the sentences are well formed"
    good = answer(sections(article=SOURCE, candidate=FAITHFUL, criteria=wanted), form)
    bad = answer(
        sections(article=SOURCE, candidate="The pier pier close closed by the by the of.", criteria=wanted), form
    )
    assert [c["criterion"] for c in good["checks"]] == ["Faithfulness", "Grammar"]
    assert all(g["grade"] > b["grade"] for g, b in zip(good["checks"], bad["checks"], strict=True))
    assert good["release"] is True
    assert bad["release"] is False
