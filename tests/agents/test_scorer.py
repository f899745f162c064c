"""The scorer: a call per criterion; text or form, reason before, after or not at all."""

import pytest

from judgegraph.agents.scorer import Scorer
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

SAMPLE = Sample(id="s1", query="Sum up.", source="The source.", output="The output.")
CLARITY = Criterion(name="Clarity", definition="One reading only.", steps=("Read it twice.",))
FOCUS = Criterion(name="Focus", definition="No side issue.", scale="1-3")


async def scored(*replies, criteria=(CLARITY,), **settings):
    judge = scripted(*replies)
    state = await Scorer(judge=judge, criteria=criteria, **settings)({"sample": SAMPLE})
    return judge, list(state["scores"].values())


async def test_each_criterion_has_a_call_of_its_own():
    judge, scores = await scored({"score": 4, "reason": "a"}, {"score": 1, "reason": "b"}, criteria=(CLARITY, FOCUS))
    assert [(s.criterion, s.value, s.status) for s in scores] == [("Clarity", 4.0, "ok"), ("Focus", 1.0, "ok")]
    assert "Focus" not in str(judge.calls[0])
    assert "Clarity" not in str(judge.calls[1])


@pytest.mark.parametrize(
    ("explain", "keys"), [("never", ["score"]), ("after", ["score", "reason"]), ("before", ["reason", "score"])]
)
async def test_the_form_says_where_the_reason_stands(explain, keys):
    judge, _ = await scored({"score": 4, "reason": "a"}, explain=explain)
    assert list(judge.asked[0]["response_format"]["json_schema"]["schema"]["properties"]) == keys


@pytest.mark.parametrize(
    ("replies", "status", "value", "calls"),
    [
        (["4"], "ok", 4.0, 1),
        (["I like it.", "Score: 4"], "ok", 4.0, 2),
        (["I like it."] * 3, "unreadable", None, 3),
        (["7"] * 3, "unreadable", None, 3),
        (["I'm sorry, I cannot rate this."], "refused", None, 1),
        (["N/A"], "abstained", None, 1),
        (["No evidence: there is nothing to compare with."], "abstained", None, 1),
        (["No evidence: of the 3 features none fits."], "abstained", None, 1),
        (["Score: N/A"], "abstained", None, 1),
        (["No evidence of jumps. Score: 4"], "ok", 4.0, 1),
    ],
    ids=[
        "bare",
        "asked again",
        "never",
        "off the scale",
        "refused",
        "not applicable",
        "no evidence",
        "no evidence, and a number",
        "a mark without a number",
        "evidence named",
    ],
)
async def test_a_text_reply_ends_as_a_score_or_a_status(replies, status, value, calls):
    judge, (score,) = await scored(*replies, reply="text")
    assert (score.status, score.value, len(judge.calls)) == (status, value, calls)
    assert (score.raw is not None) == (status in ("unreadable", "refused"))


async def test_an_abstention_is_not_the_label_no():
    rhyme = Criterion(name="Rhyme", scale=["yes", "no"])
    said = "No evidence: none of my text features belongs to Rhyme."
    _, (score,) = await scored(said, criteria=(rhyme,), reply="text")
    assert (score.status, score.label, score.reason, score.raw) == ("abstained", None, said, None)
    embedded = await Scorer(criteria=[rhyme], reply="text", prompt="g_eval")({"sample": SAMPLE})
    assert [s.status for s in embedded["scores"].values()] == ["abstained"]


async def test_a_bare_number_is_no_reason():
    assert [(await scored(reply, reply="text"))[1][0].reason for reply in ("4", "4. Clear.")] == ["", "Clear."]


@pytest.mark.parametrize("steps", [True, False])
async def test_steps_are_shown_where_the_method_has_them(steps):
    judge, _ = await scored({"score": 4, "reason": "a"}, steps=steps)
    assert ("Read it twice." in str(judge.calls[0])) is steps


@pytest.mark.parametrize(("role", "kind"), [("user", "human"), ("system", "system")])
async def test_a_prompt_of_one_message_can_be_either_side(role, kind):
    judge, _ = await scored("4", prompt="g_eval", reply="text", role=role)
    assert [message.type for message in judge.calls[0]] == [kind]


async def test_the_states_criteria_come_before_its_own():
    judge = scripted({"score": 3, "reason": "a"})
    state = await Scorer(judge=judge, criteria=[CLARITY])({"sample": SAMPLE, "criteria": [FOCUS]})
    assert list(state["scores"]) == ["Focus/scorer/final/0"]
