"""An evaluation without one readable draft is reviewed by nobody: no call, a status with the reason, a note."""

import pytest

import judgegraph as jg
from judgegraph import registry
from judgegraph.agents.evaluator import Evaluator
from judgegraph.graphs import sageval
from judgegraph.testing import scripted
from judgegraph.types import Criterion, EvalState, Sample, Scale, Score, keyed

SAMPLE = Sample(id="s1", output="A text that can be judged by its words.")
CRITERIA = [Criterion(name="Clarity"), Criterion(name="Wit")]
CRITICS = ("sage", "self-reflection", "devils-advocate", "critic-panel")


def drafts(*statuses):
    return keyed(*(
        Score(
            criterion=c.name, agent="evaluator", stage="draft", scale=Scale.of("1-5"), status=status,
            value=3.0 if status == "ok" else None,
        )
        for c, status in zip(CRITERIA, statuses, strict=True)
    ))  # fmt: skip


@pytest.mark.parametrize("name", CRITICS)
@pytest.mark.parametrize("statuses", [("unreadable", "refused"), ("abstained", "provider_error")])
async def test_every_critic_keeps_its_calls(name, statuses):
    judge = scripted()
    critic = registry.make("critic", name, judge=judge, criteria=CRITERIA)
    written = await critic({"sample": SAMPLE, "scores": drafts(*statuses)})
    assert judge.calls == []
    assert {r.status for r in written["rectifications"].values()} == {"skipped"}
    assert all("no draft could be read" in r.reason for r in written["rectifications"].values())
    assert [(n.kind, n.status) for n in written["notes"].values()] == [("drafts-unread", "skipped")]


@pytest.mark.parametrize("name", CRITICS)
async def test_a_critic_of_a_stage_that_is_not_there_says_where_scores_stand(name):
    judge = scripted()
    critic = registry.make("critic", name, judge=judge, criteria=CRITERIA, stage="drafts")
    written = await critic({"sample": SAMPLE, "scores": drafts("ok", "ok")})
    (note,) = written["notes"].values()
    assert (judge.calls, note.kind) == ([], "nothing-to-review")
    assert "no score at stage 'drafts'" in note.text
    assert "'draft' by 'evaluator'" in note.text


async def test_scores_of_other_criteria_than_the_critic_s_are_told():
    critic = registry.make("critic", "sage", judge=scripted(), criteria=[Criterion(name="Clarty")])
    (note,) = (await critic({"sample": SAMPLE, "scores": drafts("ok", "ok")}))["notes"].values()
    assert note.kind == "nothing-to-review"
    assert "'Clarity', 'Wit'" in note.text


@pytest.mark.parametrize("helper", [jg.critique, jg.refine])
@pytest.mark.parametrize("when", [None, "failed"])
async def test_helpers_ask_no_critic_of_anybody_s_making(helper, when):
    asked = []

    async def mine(state: EvalState) -> EvalState:
        asked.append(state)
        return {"rectifications": {}}

    node = helper(mine, when=when, criteria=CRITERIA)
    final = await node.ainvoke({"sample": SAMPLE, "scores": drafts("unreadable", "refused")})
    assert asked == []
    finals = {s.criterion: s.status for s in final["scores"].values() if s.stage == "final"}
    assert finals == {"Clarity": "unreadable", "Wit": "refused"}
    assert [n.kind for n in final["notes"].values()] == ["drafts-unread"]
    await node.ainvoke({"sample": SAMPLE, "scores": drafts("unreadable", "ok")})
    assert len(asked) == (1 if when is None else 0), "one that could be read is reviewed, where it is in doubt"


async def test_sageval_pays_for_no_critic_of_an_evaluation_that_could_not_be_read():
    alone, judge = scripted(*["no"] * 9), scripted(*["no"] * 9)
    await Evaluator(judge=alone, criteria=CRITERIA)({"sample": SAMPLE})
    final = await sageval(judge, criteria=CRITERIA).ainvoke({"sample": SAMPLE})
    assert len(judge.calls) == len(alone.calls)
    assert {s.status for s in final["scores"].values()} == {"unreadable"}
    assert [n.kind for n in final["notes"].values()] == ["drafts-unread"]
