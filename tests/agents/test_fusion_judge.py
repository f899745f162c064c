"""The fusing judge: what it is shown, and how its predictions become scores."""

import pytest

from judgegraph.agents.fusion import FusionJudge, with_overall
from judgegraph.calls import Reader
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Finding, Plan, Sample, Scale

SAMPLE = Sample(id="s", query="Sum up.", source="It rained.", output="Rain fell.")
CLARITY, TONE = Criterion(name="Clarity"), Criterion(name="Tone", scale=Scale(labels=("warm", "cold")))
TOLD = {"rouge-l": "Measures: order", "nli": "Measures: support"}
PLAN = Plan(text="Trust nli.", alignment={"Clarity": ("nli",)})


def said(clarity=3.5, overall=3, **more):
    return {"clarity": {"reason": "c", "score": clarity}, "overall": {"reason": "o", "score": overall}, **more}


def judge(*replies, criteria=(CLARITY,), **settings):
    return FusionJudge(judge=scripted(*replies), assistants=TOLD, criteria=criteria, **settings)


async def shown(state=None, sample=SAMPLE):
    agent = judge([said()] * 8)
    await agent({"sample": sample, **(state or {})})
    return agent.judge.calls[0][1].content


async def test_a_score_is_the_mean_of_eight_predictions():
    agent = judge([said(v, 2) for v in (1, 2, 3, 4, 5, 2.25, 2.5, 4.25)])
    written = await agent({"sample": SAMPLE})
    score = written["scores"]["Clarity/fusion-judge/final/0"]
    assert (score.value, score.reader, score.stage) == (3.0, "samples", "final")
    assert score.distribution["2.25"] == 1 / 8
    assert written["overall"] == written["scores"]["overall/fusion-judge/final/0"].value == 2.0
    assert (agent.judge.asked[0]["n"], agent.judge.asked[0]["temperature"]) == (8, 1.0)


async def test_predictions_that_cannot_be_read_are_left_out_and_counted():
    replies = [said(4, 4)] * 6 + [said(9, 4), "no"]
    written = await judge(replies)({"sample": SAMPLE})
    score = written["scores"]["Clarity/fusion-judge/final/0"]
    assert (score.value, score.notes) == (4.0, ("2 of 8 replies left out: unreadable",))


async def test_predictions_are_asked_for_again_until_half_of_them_can_be_read():
    agent = judge(["no", *[said(9, 9)] * 7], [said(4, 4)] * 8)
    written = await agent({"sample": SAMPLE})
    score = written["scores"]["Clarity/fusion-judge/final/0"]
    assert (score.value, score.notes, len(agent.judge.calls)) == (4.0, (), 2)


async def test_a_judge_that_says_nothing_leaves_a_status_and_no_overall():
    written = await judge(RuntimeError("gone"), *[RuntimeError("gone")] * 7)({"sample": SAMPLE})
    assert {s.status for s in written["scores"].values()} == {"provider_error"}
    assert written["overall"] is None


async def test_any_number_of_the_range_is_asked_for_and_the_reason_first():
    agent = judge([said()] * 8)
    await agent({"sample": SAMPLE})
    form = agent.judge.asked[0]["response_format"]["json_schema"]["schema"]["properties"]
    assert list(form) == ["clarity", "overall"]
    assert list(form["clarity"]["properties"]) == ["reason", "score"]
    assert form["clarity"]["properties"]["score"]["anyOf"][0] == {"type": "number", "minimum": 1.0, "maximum": 5.0}
    assert "Scale: 1-5 any" in agent.judge.calls[0][1].content


async def test_a_label_is_the_most_frequent_one():
    tones = ["warm"] * 5 + ["cold"] * 3
    replies = [said(tone={"reason": "t", "label": tone}) for tone in tones]
    written = await judge(replies, criteria=(CLARITY, TONE))({"sample": SAMPLE})
    assert written["scores"]["Tone/fusion-judge/final/0"].label == "warm"
    assert written["overall"] == 3.0


async def test_one_prediction_is_the_stated_number():
    written = await judge(said(2.25), reader=Reader("mean"))({"sample": SAMPLE})
    score = written["scores"]["Clarity/fusion-judge/final/0"]
    assert (score.value, score.reader) == (2.25, "stated")


async def test_values_are_shown_with_four_digits_and_the_missing_as_absent():
    findings = {
        "rouge-l": Finding(assistant="rouge-l", value=0.3501637578010559),
        "nli": Finding(assistant="nli", status="skipped", reason="the sample has no source"),
        "mine": Finding(assistant="mine", value=0.0),
    }
    lines = (await shown({"findings": findings})).splitlines()
    assert "- rouge-l: 0.3502" in lines
    assert "- nli: absent (the sample has no source)" in lines
    assert "- mine: 0" in lines


async def test_an_assistant_that_was_not_asked_is_absent():
    assert "- nli: absent (not consulted)" in await shown()


async def test_the_plan_is_shown_and_a_criterion_without_assistant_is_named():
    text = await shown({"plan": Plan(text="Trust nli.", alignment={"Clarity": ()})})
    assert "Trust nli." in text
    assert "- Clarity: absent (no assistant)" in text


async def test_without_a_plan_the_same_descriptions_are_shown():
    with_plan, without = await shown({"plan": PLAN}), await shown()
    for part in ("## rouge-l\nMeasures: order", "## nli\nMeasures: support"):
        assert part in with_plan
        assert part in without
    assert "<plan-" in with_plan
    assert "<plan-" not in without


async def test_what_a_plan_says_is_not_said_again():
    stepped = CLARITY.model_copy(update={"steps": ("Read it twice.",)})
    for plan, steps in ((PLAN, False), (Plan(text="", status="timeout"), True), (None, True)):
        agent = judge([said()] * 8, criteria=(stepped,))
        await agent({"sample": SAMPLE} | ({"plan": plan} if plan else {}))
        assert ("Read it twice." in agent.judge.calls[0][1].content) == steps


async def test_a_failed_plan_is_noted_in_every_score():
    written = await judge([said()] * 8)({"sample": SAMPLE, "plan": Plan(text="", status="timeout")})
    notes = {s.notes for s in written["scores"].values()}
    assert notes == {("judged without a plan: planning ended as timeout",)}


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"reference": "Other words."}, "with a reference:"), ({}, "with the source:")],
)
async def test_it_is_told_what_was_compared_with(fields, words):
    text = await shown(sample=SAMPLE.model_copy(update=fields))
    assert words in text
    assert ("Other words." in text) is bool(fields)


@pytest.mark.parametrize(
    ("criteria", "scale"),
    [
        ([CLARITY, Criterion(name="B", scale="1-5")], "1-5 any"),
        ([Criterion(name="A", scale="0-1"), TONE], "0-1 any"),
        ([Criterion(name="A", scale="0-1"), Criterion(name="B", scale="1-3")], "1-5 any"),
        ([TONE], "1-5 any"),
    ],
    ids=["one range", "labels aside", "several ranges", "labels alone"],
)
def test_the_overall_score_is_on_the_common_range(criteria, scale):
    *_, overall = with_overall(criteria)
    assert (overall.name, str(overall.scale)) == ("overall", scale)


async def test_a_set_with_an_overall_criterion_gets_no_second_one():
    criteria = (CLARITY, Criterion(name="Overall"))
    written = await judge([said(overall=4.5)] * 8, criteria=criteria)({"sample": SAMPLE})
    assert list(written["scores"]) == ["Clarity/fusion-judge/final/0", "Overall/fusion-judge/final/0"]
    assert written["overall"] == 4.5
