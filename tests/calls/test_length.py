"""Bounds of texts in a schema, and the room that a reply to it has."""

import pytest
from pydantic import BaseModel

from judgegraph.agents.corrector import FORMS
from judgegraph.agents.planner import PLAN, plan_form
from judgegraph.agents.sage import critique_form
from judgegraph.calls.asking import Form, ratings_form, record
from judgegraph.calls.types import (
    EACH,
    TEXTS,
    TOGETHER,
    Bounded,
    ReplyBounds,
    bounded,
    bounds_for,
    texts_of_many,
    thinks_by_name,
)
from judgegraph.prompts.template import slugs
from judgegraph.types import Criterion


class Own(BaseModel):
    """A form of a caller's own."""

    reason: str
    tags: list[str]


def form_of(count):
    return ratings_form(slugs([Criterion(name=f"C{i}") for i in range(count)]))


def strings(schema):
    """Every schema of a text within a schema."""
    if isinstance(schema, dict):
        if schema.get("type") == "string":
            yield schema
        for inner in schema.values():
            yield from strings(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from strings(inner)


def lists(schema):
    if isinstance(schema, dict):
        if schema.get("type") == "array":
            yield schema
        for inner in schema.values():
            yield from lists(inner)


def room(form, prompt=100):
    return bounds_for(form.schema, form.texts, prompt, form.tokens, False)


def test_every_text_and_list_of_a_critique_has_an_end_and_the_form_itself_is_as_it_was():
    form = critique_form(slugs([Criterion(name="Clarity"), Criterion(name="Depth")]), thoughts=True)
    before = repr(form.schema)
    sent = bounded(form.schema, room(form))
    assert isinstance(sent, Bounded)
    assert all("maxLength" in s or "enum" in s for s in strings(sent))
    assert [one["maxItems"] for one in lists(sent)] == [2, 3]
    assert repr(form.schema) == before


@pytest.mark.parametrize("form", [FORMS["form"], Form.of(Own)], ids=["correction", "own"])
def test_a_text_that_is_a_result_of_its_own_is_never_bounded(form):
    assert bounded(form.schema, room(form)) == form.schema


def test_a_correction_is_not_bounded_when_it_is_asked_for_again():
    assert not any("maxLength" in s for s in strings(bounded(FORMS["form"].schema, room(FORMS["form"]).shorter())))


def test_bounds_that_a_form_has_stay():
    schema = record({"reason": {"type": "string", "maxLength": 9}})
    assert bounded(schema, ReplyBounds()) == schema


def test_a_property_may_have_any_name():
    schema = record({"type": {"type": "string"}, "properties": record({"reason": {"type": "string"}})})
    sent = bounded(schema, ReplyBounds())
    assert sent["properties"]["properties"]["properties"]["reason"]["maxLength"] == TEXTS["reason"]
    assert sent["properties"]["type"] == {"type": "string"}


def test_the_room_holds_what_the_bounds_let_through_and_grows_with_the_form():
    rooms = [room(form_of(count)).tokens for count in range(1, 12)]
    assert rooms[0] > TEXTS["reason"] / 2
    assert rooms == sorted(set(rooms))
    for count, tokens in enumerate(rooms, 1):
        each = texts_of_many(count)["reason"]
        assert tokens > count * each / 2
        assert (each == TEXTS["reason"]) == (count <= 3)
        assert each == EACH or count * each <= max(TOGETHER, TEXTS["reason"])


def test_a_correction_has_room_for_a_text_as_long_as_its_prompt():
    assert room(FORMS["form"], 9000).tokens > 9000
    assert room(FORMS["text"], 9000).tokens > 9000


def test_a_schema_that_holds_itself_has_an_end():
    schema = {"$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}}, "$ref": "#/$defs/a"}
    assert bounds_for(schema, TEXTS, 0, 0, False).tokens > 0


@pytest.mark.parametrize(
    "name", ["o1", "o4-mini", "gpt-5-mini", "deepseek-r1", "qwen3-8b", "QwQ-32B", "deepseek-reasoner"]
)
def test_models_that_are_known_to_think(name):
    assert thinks_by_name(f"openai:{name}")


@pytest.mark.parametrize("name", ["gpt-4o", "gpt-4.1-mini", "llama-3.1-8b", "smollm2", "phi-4", "qwen2.5-7b"])
def test_models_that_are_not(name):
    assert not thinks_by_name(f"openai:{name}")


def test_a_plan_and_a_reply_that_calls_assistants_have_an_end():
    criteria = {"clarity": Criterion(name="Clarity")}
    small, long = plan_form(criteria, ["nli"]), plan_form(criteria, [f"metric-{n}" for n in range(8)])
    assert room(small).tokens < room(long).tokens < 5000
    assert bounded(small.schema, room(small))["properties"]["plan"]["maxLength"] == PLAN
    assert bounds_for(None, TEXTS, 1000, 840, True).tokens == 840  # calls of tools are in it, where the form knows
    assert bounds_for(None, TEXTS, 1000, 0, True).tokens > 2000
