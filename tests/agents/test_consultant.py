"""The consultant: what it asks, when it stops, and what it does with a model that cannot call tools."""

import pytest
from langchain_core.messages import AIMessage

from judgegraph.agents.planner import Consultant
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Finding, Plan, Sample

SAMPLE = Sample(id="s", source="A secret source.", output="A secret output.")
PLAN = Plan(text="Use rouge.", alignment={"Coherence": ("a",)})
TOOLS = [{"type": "function", "function": {"name": name, "description": name}} for name in "ab"]


def calling(*names, **fields):
    calls = [{"name": name, "args": {}, "id": f"id-{name}"} for name in names]
    return AIMessage("", tool_calls=calls, **fields)


def consultant(*replies, **settings):
    return Consultant(judge=scripted(*replies), tools=TOOLS, criteria=(Criterion(name="Coherence"),), **settings)


async def test_the_model_is_offered_the_tools_and_no_text_of_the_sample():
    agent = consultant(calling("a"))
    await agent({"sample": SAMPLE, "plan": PLAN})
    asked = "\n".join(m.content for m in agent.judge.calls[0])
    assert agent.judge.asked[0]["tools"] == TOOLS
    assert "Use rouge." in asked
    assert "The sample has: source and output." in asked
    assert "secret" not in asked


async def test_its_calls_are_passed_on_with_the_conversation():
    wish = await consultant(calling("a", "b"))({"sample": SAMPLE, "plan": PLAN})
    assert wish["calls"] == [{"name": "a", "id": "id-a"}, {"name": "b", "id": "id-b"}]
    assert (wish["rounds"], wish["notes"]) == (1, {})
    assert wish["messages"][-1].tool_calls[1]["name"] == "b"


@pytest.mark.parametrize("reply", ["done", ""])
async def test_a_later_reply_without_calls_ends_it(reply):
    state = {"sample": SAMPLE, "plan": PLAN, "messages": [("user", "go on")], "rounds": 1}
    wish = await consultant(reply)({**state, "findings": {"a": Finding(assistant="a", value=1.0)}})
    assert (wish["calls"], wish["notes"]) == ([], {})
    early = await consultant(reply)(state)
    (note,) = early["notes"].values()
    assert early["calls"] is None
    assert note.text.startswith("the model stopped before a was called; ")


@pytest.mark.parametrize(
    ("reply", "status", "said"),
    [
        (RuntimeError("tools are not supported"), "provider_error", "tools are not supported"),
        ("I call no tools.", "ok", "the model called no assistant"),
        (AIMessage("", response_metadata={"finish_reason": "content_filter"}), "filtered", "content filter"),
    ],
    ids=["a server that refuses tools", "a model that ignores them", "a filtered reply"],
)
async def test_where_it_cannot_call_the_plan_is_followed_and_that_is_noted(reply, status, said):
    wish = await consultant(reply)({"sample": SAMPLE, "plan": PLAN})
    (note,) = wish["notes"].values()
    assert wish["calls"] is None
    assert (note.status, note.agent) == (status, "consultant")
    assert said in note.text
    assert note.text.endswith("what the plan names was called instead")


async def test_a_plan_that_names_nobody_needs_no_call():
    wish = await consultant("done")({"sample": SAMPLE, "plan": Plan(text="x", alignment={"Coherence": ()})})
    assert (wish["calls"], wish["notes"]) == ([], {})


@pytest.mark.parametrize(
    ("names", "said", "noted"),
    [(["a"], [], True), (["a", "b"], [], False), (["a"], ["b"], False), (["nli"], [], True)],
    ids=["one is left", "none is left", "the other was asked before", "only an unknown one was called"],
)
async def test_the_cap_is_noted_where_assistants_are_left(names, said, noted):
    findings = {name: Finding(assistant=name, value=1.0) for name in said}
    state = {"sample": SAMPLE, "messages": [("user", "go on")], "rounds": 3, "findings": findings}
    wish = await consultant(calling(*names))(state)
    assert [n.text for n in wish["notes"].values()] == ["stopped after 4 rounds of calls, its cap"] * noted


BROKEN = {"name": "b", "args": '{"x', "id": None, "error": "no JSON", "type": "invalid_tool_call"}


async def test_a_call_with_nothing_but_broken_arguments_is_a_call():
    wish = await consultant(AIMessage("", invalid_tool_calls=[BROKEN]))({"sample": SAMPLE, "plan": PLAN})
    assert (wish["calls"], wish["notes"]) == ([{"name": "b", "id": "call-1-0"}], {})


async def test_broken_arguments_do_not_matter():
    wish = await consultant(calling("a", invalid_tool_calls=[BROKEN]))({"sample": SAMPLE})
    assert wish["calls"] == [{"name": "a", "id": "id-a"}, {"name": "b", "id": "call-1-1"}]
    sent_back = wish["messages"][-1]
    assert [c["id"] for c in sent_back.tool_calls] == ["id-a", "call-1-1"]
    assert sent_back.invalid_tool_calls == []
