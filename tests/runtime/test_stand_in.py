"""Replies that stand in for a judge's: they fit every form of ours, in every manner, and are the same each time."""

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from judgegraph.agents.aspects import aspects_form
from judgegraph.agents.corrector import FORMS as CORRECTIONS
from judgegraph.agents.criteria import CRITERIA_TEXT, criteria_form
from judgegraph.agents.criteria import FORMS as GUIDELINES
from judgegraph.agents.judge import rating_form, rating_text
from judgegraph.agents.pairwise import pairwise_form, pairwise_text
from judgegraph.agents.planner import plan_form
from judgegraph.agents.sage import critique_form
from judgegraph.calls.asking import Form, _complaint, ratings_form, read
from judgegraph.calls.estimate import (
    COMPLAINT,
    DEMANDING,
    DRAWN,
    MANNERS,
    PLEASED,
    SPARING,
    AskCounts,
    simulated_choices,
)
from judgegraph.calls.types import Call, Choice
from judgegraph.errors import ReplyError
from judgegraph.types import Criterion, Scale

WHOLE = Criterion(name="Clarity", definition="clear", scale=Scale(low=1, high=5))
TONE = Criterion(name="Tone", definition="tone", scale=Scale(labels=("warm", "cold")))
BOTH = {"clarity": WHOLE, "tone": TONE}
ADDRESS = b"a" * 16
PROMPT = "## Clarity\nScale: 1-5\nName 4 aspects. Write 4 criteria."
FORMS_OF_OURS: dict[str, Form[Any]] = {
    "critique": critique_form(BOTH), "plan": plan_form(BOTH, ["rouge-l", "novelty"]),
    "criteria": criteria_form(5), "criteria in lines": CRITERIA_TEXT, "aspects": aspects_form("Clarity", 10),
    "aspects in lines": aspects_form("Clarity", 4, reply="text"), "guideline": GUIDELINES["form"],
    "guideline in text": GUIDELINES["text"], "rating": rating_form(WHOLE), "label": rating_form(TONE),
    "rating in text": rating_text(WHOLE.scale), "pair": pairwise_form(WHOLE.scale),
    "pair in text": pairwise_text(WHOLE.scale), "correction": CORRECTIONS["form"],
    "correction in text": CORRECTIONS["text"],
}  # fmt: skip


def call(form: Form[Any] | None = None, *messages: Any, **fields: Any) -> Call:
    about = {"schema": form.schema, "form": form.name} if form else {}
    return Call(messages=(HumanMessage(PROMPT), *messages), **about, **fields)


def told(manner: Any, asked: Call, last: bool = True) -> Choice:
    return simulated_choices(manner, asked, ADDRESS, last)[0]


@pytest.mark.parametrize("manner", MANNERS, ids=lambda m: m.name)
@pytest.mark.parametrize("name", FORMS_OF_OURS)
def test_a_last_reply_can_be_read_by_every_form_of_ours(name: str, manner: Any):
    form = FORMS_OF_OURS[name]
    read(told(manner, call(form)), form)


@pytest.mark.parametrize("name", FORMS_OF_OURS)
def test_who_is_stubborn_says_nothing_that_can_be_read_before(name: str):
    form = FORMS_OF_OURS[name]
    with pytest.raises(ReplyError, match=r"."):
        read(told(DEMANDING, call(form), last=False), form)


@pytest.mark.parametrize(
    ("manner", "value", "count"), [(SPARING, None, 1), (PLEASED, 5, 1), (DEMANDING, 1, 10)], ids=lambda x: str(x)
)
def test_a_manner_has_its_numbers_and_its_lists(manner: Any, value: int | None, count: int):
    form = FORMS_OF_OURS["rating"]
    assert json.loads(told(manner, call(form)).text)["score"] == value
    chain, _ = read(told(manner, call(FORMS_OF_OURS["aspects"])), FORMS_OF_OURS["aspects"]).value
    assert len(chain) == count


def test_labels_in_text_are_read_from_the_scale_in_the_prompt():
    form = rating_text(TONE.scale)
    asked = Call(messages=(HumanMessage("## Tone\nScale: warm / cold\n"),), form=form.name)
    assert read(told(PLEASED, asked), form).value == "Final score: warm"
    assert read(told(DEMANDING, asked), form).value == "Final score: cold"


def test_the_same_address_has_the_same_reply_and_another_one_another():
    asked = call(FORMS_OF_OURS["criteria"], n=3)
    once, again = simulated_choices(DRAWN, asked, ADDRESS, True), simulated_choices(DRAWN, asked, ADDRESS, True)
    assert [c.text for c in once] == [c.text for c in again]
    assert len({c.text for c in once}) == 3
    assert simulated_choices(DRAWN, asked, b"b" * 16, True)[0].text != once[0].text
    assert len({c.text for c in simulated_choices(SPARING, asked, b"b" * 16, True)}) == 1


def test_entries_are_left_out_where_the_reader_would_ask_for_them_alone():
    form = ratings_form(BOTH)
    assert list(json.loads(told(DEMANDING, call(form)).text)) == ["clarity"]
    assert list(json.loads(told(DRAWN, call(form)).text)) == ["clarity", "tone"]


def test_tools_are_called_never_once_or_always():
    tool = {"type": "function", "function": {"name": "rouge", "parameters": {"type": "object", "properties": {}}}}
    first, later = call(tools=(tool,)), call(None, ToolMessage("0.3", tool_call_id="1"), tools=(tool,))
    assert [len(told(m, first).tool_calls) for m in (SPARING, DRAWN, DEMANDING)] == [0, 1, 1]
    assert [len(told(m, later).tool_calls) for m in (SPARING, DRAWN, DEMANDING)] == [0, 0, 1]
    message = told(DEMANDING, first).message
    assert message.tool_calls[0]["name"] == "rouge"


def test_log_probabilities_come_where_they_are_asked_for():
    assert told(SPARING, call()).tokens is None
    settled, idle = (told(m, call(logprobs=True)) for m in (SPARING, DEMANDING))
    assert settled.tokens is not None
    assert settled.tokens[0].text == settled.text
    assert idle.tokens is not None
    assert idle.tokens[0].text != idle.text


def test_asking_again_is_known_by_how_it_begins():
    said = _complaint(call(), "no", "no JSON")
    assert said[1].content.startswith(COMPLAINT)


def test_a_turn_is_known_by_the_repeat_index():
    turns = AskCounts()
    again = (AIMessage("no"), HumanMessage(f"{COMPLAINT} no JSON."))
    assert turns.before(call()) == 0
    assert [turns.before(call(None, *again, repeat=i)) for i in (1, 2)] == [1, 2]
    other = (HumanMessage("five of these"),)
    assert [turns.before(call(None, *other, repeat=i)) for i in range(5)] == [0] * 5
    assert [turns.before(call(None, *other, *again, repeat=i)) for i in (5, 9, 10)] == [1, 1, 2]
    assert turns.before(call(None, *again, n=4, repeat=8)) == 2


def test_a_schema_that_holds_itself_ends():
    node = {"type": "object", "properties": {"inner": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}
    for manner in MANNERS:
        reply = told(manner, Call(messages=(HumanMessage("x"),), schema=node, form="tree"))
        assert isinstance(json.loads(reply.text), dict)
