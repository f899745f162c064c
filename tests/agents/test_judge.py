"""The judge of one response by one criterion."""

import json
from dataclasses import replace

import pytest

from judgegraph.agents.judge import Judge
from judgegraph.calls import Endpoint, Reader
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

SAMPLE = Sample(id="s1", query="Why is the sky blue?", output="It scatters light.", rival="THE-RIVAL")
DEPTH = Criterion(name="Depth", definition="Is it all there?", guideline="its own")


async def scored(answer, criterion=DEPTH, **settings):
    judge = scripted(*[answer] * 3)
    state = {"sample": SAMPLE, "criterion": criterion}
    ((key, score),) = (await Judge(judge=judge, **settings)(state))["scores"].items()
    assert key == score.key == "Depth/judge/final/0"
    return score, judge


async def test_it_sees_one_response_one_criterion_and_its_guideline():
    score, judge = await scored({"reason": "half of it", "score": 3})
    text = str(judge.calls[0][1].content)
    assert text.count("its own") == 1  # the guideline has a section of its own
    assert "THE-RIVAL" not in text
    assert (score.value, score.reason, score.reader, str(score.scale)) == (3.0, "half of it", "stated", "1-5")


async def test_of_a_pair_either_response_is_scored_without_the_other_in_view():
    judge = scripted({"reason": "brief", "score": 2})
    written = await Judge(judge=judge, of="rival")({"sample": SAMPLE, "criterion": DEPTH})
    ((key, score),) = written["scores"].items()
    assert (key, score.of, score.value) == ("Depth/judge/final/0/rival", "rival", 2.0)
    swapped = SAMPLE.model_copy(update={"output": SAMPLE.rival})
    alone = scripted({"reason": "brief", "score": 2})
    await Judge(judge=alone)({"sample": swapped, "criterion": DEPTH})
    assert judge.calls == alone.calls


async def test_without_a_rival_nothing_is_asked_of_it():
    single = SAMPLE.model_copy(update={"rival": None})
    assert await Judge(judge=scripted(), of="rival")({"sample": single, "criterion": DEPTH}) == {"scores": {}}


async def test_a_written_guideline_comes_before_the_criterions_own():
    judge = scripted({"reason": "", "score": 3})
    await Judge(judge=judge)({"sample": SAMPLE, "criterion": DEPTH, "guidelines": {"Depth": "written", "Tone": "no"}})
    text = str(judge.calls[0][1].content)
    assert "written" in text
    assert "its own" not in text


@pytest.mark.parametrize(
    ("reply", "value", "status"),
    [
        ({"reason": "", "score": 5}, 5.0, "ok"),
        ({"reason": "not for this text", "score": None}, None, "abstained"),
        ({"reason": "", "score": 6}, None, "unreadable"),
        ({"reason": "no score"}, None, "unreadable"),
        ("I would rather not say.", None, "unreadable"),
    ],
)
async def test_what_cannot_be_read_is_a_status_and_no_number(reply, value, status):
    score, _ = await scored(reply)
    assert (score.value, score.status) == (value, status)


@pytest.mark.parametrize(
    ("reply", "value", "status"),
    [
        ("Response Score: 4\nExplanation: of the 5 points 3 are there", 4.0, "ok"),
        ("**Response Score:** 2 Explanation: thin", 2.0, "ok"),
        ("Response Score: 10", None, "unreadable"),
        ("It is hard to say.", None, "unreadable"),
        ("I'm sorry, but I cannot rate this.", None, "refused"),
        ("Response Score: N/A\nExplanation: of the 5 points none applies", None, "abstained"),
        ("No evidence: there is nothing to compare its 3 parts with.", None, "abstained"),
    ],
)
async def test_a_plain_reply_is_read_by_its_score(reply, value, status):
    score, _ = await scored(reply, reply="text")
    assert (score.value, score.status) == (value, status)


async def test_an_abstention_in_words_is_asked_for_once():
    score, judge = await scored("N/A", reply="text")
    assert (score.status, score.raw, len(judge.calls)) == ("abstained", None, 1)


async def test_scores_stay_in_the_units_of_their_scale():
    fraction = Criterion(name="Depth", scale="0-1 any")
    label = Criterion(name="Depth", scale=["thin", "deep"])
    assert (await scored({"reason": "", "score": 0.25}, fraction))[0].value == 0.25
    assert (await scored({"reason": "", "label": "Deep"}, label))[0].label == "deep"


async def test_zero_is_the_temperature_unless_left_to_the_judge():
    for given, sent in ((0.0, {"temperature": 0.0}), (None, {}), (0.7, {"temperature": 0.7})):
        _, judge = await scored({"reason": "", "score": 3}, temperature=given)
        assert {k: v for k, v in judge.asked[0].items() if k == "temperature"} == sent


def test_a_judge_is_a_value():
    assert Judge(judge=Endpoint(model="openai:m")) == Judge(judge=Endpoint(model="openai:m"))
    assert Judge().prompt == "judge_single"
    assert Judge(reply="text").prompt == "judge_single_text"
    assert Judge(reply="text", prompt="mine.md").prompt == "mine.md"
    assert replace(Judge(), reply="text") == Judge(reply="text")


@pytest.mark.parametrize("reply", ["form", "text"])
@pytest.mark.parametrize(
    ("said", "value"),
    [
        ({"criterion": "Tone", "score": 2}, None), ({"aspect": "TONE", "score": 2}, None),
        ({"criterion": "clarity", "score": 2}, 2), ({"criterion": "Clarity of wording", "score": 2}, 2),
        ({"criterion": "", "score": 2}, 2), ({"metric": "Clarities", "score": 2}, 2),
    ],
)  # fmt: skip
async def test_a_score_that_says_it_is_of_another_criterion_is_none(reply, said, value):
    text = json.dumps({"reason": "Seen.", **said})
    judge = scripted(*[text] * 9)
    criterion = Criterion(name="Clarity", definition="Easy to follow.")
    state = {"sample": Sample(id="a", output="A text of some words."), "criterion": criterion}
    (score,) = (await Judge(judge=judge, reply=reply, reader=Reader("stated"))(state))["scores"].values()
    assert score.value == value
    assert value is not None or score.status == "unreadable"
