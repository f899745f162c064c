"""What the critic makes of its judge's replies; no judge is asked."""

import asyncio
from typing import Any

import judgegraph as jg
import pytest
from judgegraph import Rectification, keyed
from judgegraph.agents import Reviewed
from judgegraph.graphs import sageval
from judgegraph.testing import Scripted, assert_conforms, scripted

from evidence_critic import EvidenceCritic

SAMPLE = jg.Sample(id="a", source="The library opens at nine.", output="The library opens at noon.")
CLARITY = jg.Criterion(name="Clarity", definition="How easily it is understood.")
DRAFT = jg.Score(criterion="Clarity", agent="evaluator", stage="draft", value=4, scale=CLARITY.scale, reason="Short.")
STATE: Reviewed = {"sample": SAMPLE, "criteria": [CLARITY], "scores": keyed(DRAFT)}


def reviewed(*replies: Any) -> tuple[Scripted, Rectification]:
    """The judge, and what the critic says of the one score."""
    judge = scripted(*replies)
    written = asyncio.run(EvidenceCritic(judge=judge)(STATE))
    return judge, written["rectifications"]["Clarity/evidence-critic"]


def reply(verdict: str, score: float) -> dict[str, Any]:
    return {"rectifications": {"clarity": {"reason": "One line, plain words.", "verdict": verdict, "score": score}}}


@pytest.mark.parametrize(
    ("verdict", "score", "action", "value"), [("keep", 4, "keep", None), ("lower", 2, "change", 2.0)]
)
def test_a_verdict_is_taken_as_it_was_given(verdict: str, score: float, action: str, value: float | None) -> None:
    _, said = reviewed(reply(verdict, score))
    assert (said.status, said.action, said.value) == ("ok", action, value)
    assert said.reason == "One line, plain words."


def test_a_reply_that_cannot_be_read_is_a_status_and_no_verdict() -> None:
    _, said = reviewed("no", "no", "no")
    assert (said.status, said.action, said.value) == ("unreadable", "keep", None)


def test_the_judge_sees_the_text_and_the_score_in_sections_of_their_own() -> None:
    judge, _ = reviewed(reply("keep", 4))
    asked = str(judge.calls[0][-1].content)
    for tag, text in {"output": SAMPLE.output, "source": SAMPLE.source, "scores": "Score: 4"}.items():
        inside = asked.partition(f"<{tag}-")[2].partition(f"</{tag}-")[0]
        assert text in inside


def test_a_method_takes_it_as_its_critic() -> None:
    run = jg.evaluate(sageval(critic=EvidenceCritic(criteria=[CLARITY]), criteria=[CLARITY]), [SAMPLE])
    (item,) = run.items
    finals = [score for score in item.scores if score.stage == "final"]
    assert [(score.agent, score.status) for score in finals] == [("evidence-critic", "ok")]


def test_it_keeps_the_contract_of_agents() -> None:
    assert_conforms(EvidenceCritic)
