"""The planner: sees no sample, and fails with a status."""

import pytest

from judgegraph.agents.planner import Planner
from judgegraph.errors import AuthError
from judgegraph.prompts import load
from judgegraph.testing import scripted
from judgegraph.types import Criterion

CRITERIA = (Criterion(name="Coherence", definition="Holds together."),)
TOLD = {"rouge-l": "Measures: order", "nli": "Measures: support"}
PLAN = {"plan": "Read.", "alignment": {"coherence": ["rouge-l"]}, "usage": {"rouge-l": "high is good", "nli": ""}}


def planner(*replies):
    return Planner(judge=scripted(*replies), assistants=TOLD, criteria=CRITERIA, task="The output is a poem.")


def test_its_prompt_has_no_field_of_a_sample():
    assert load("fusion_plan").fields == {"task", "criteria", "assistants"}


async def test_a_plan_holds_text_alignment_and_usage():
    written = await planner(PLAN)({})
    assert written["plan"].model_dump() == {
        "text": "Read.", "alignment": {"Coherence": ("rouge-l",)}, "usage": {"rouge-l": "high is good"}, "status": "ok",
    }  # fmt: skip
    assert written["notes"] == {}


async def test_it_is_told_task_criteria_and_assistants():
    agent = planner(PLAN)
    await agent({})
    asked = agent.judge.calls[0][1].content
    for part in ("The output is a poem.", "## Coherence", "Holds together.", "## nli\nMeasures: support"):
        assert part in asked


async def test_criteria_of_the_state_come_first():
    agent = planner({**PLAN, "alignment": {"wit": ["nli"]}})
    written = await agent({"criteria": [Criterion(name="Wit")]})
    assert written["plan"].alignment == {"Wit": ("nli",)}


async def test_what_was_mended_is_noted():
    written = await planner({**PLAN, "alignment": {"coherence": ["nosuch"]}})({})
    (note,) = written["notes"].values()
    assert (note.agent, note.text) == ("planner", "the plan was mended: unknown assistant 'nosuch' dropped")


@pytest.mark.parametrize(
    ("replies", "status"),
    [(["I would rather not plan."] * 3, "unreadable"), ([RuntimeError("gone")], "provider_error")],
)
async def test_a_plan_that_cannot_be_had_is_a_status_and_a_note(replies, status):
    written = await planner(*replies)({})
    (note,) = written["notes"].values()
    assert (written["plan"].status, written["plan"].text, note.status) == (status, "", status)
    assert note.text.startswith("no plan, all assistants are asked: ")


async def test_a_refused_key_ends_the_run():
    class Refused(Exception):
        status_code = 401

    with pytest.raises(AuthError):
        await planner(Refused("no"))({})
