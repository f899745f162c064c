"""The rater: all aspects in one call; what is missing is asked for once more, by itself."""

import pytest

from judgegraph.agents.judge import Rater
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample

SAMPLE = Sample(id="s1", query="Sum up.", source="The source.", output="The output.")
CHAIN = [Criterion(name="Key points", definition="All there."), Criterion(name="Focus", definition="No side issue.")]
BOTH = {"key_points": {"score": 4}, "focus": {"score": 2}}


async def rated(*replies, aspects=None, **settings):
    judge = scripted(*replies)
    state = await Rater(judge=judge, **settings)({"sample": SAMPLE, "aspects": aspects or {"Relevance": CHAIN}})
    return judge, {s.criterion: s for s in state["scores"].values()}


def properties(asked):
    return asked["response_format"]["json_schema"]["schema"]["properties"]


async def test_one_call_scores_every_aspect_of_a_chain():
    judge, scores = await rated(BOTH)
    assert {name: (s.value, s.status, s.reader, s.stage) for name, s in scores.items()} == {
        "Key points": (4.0, "ok", "stated", "aspects:Relevance"),
        "Focus": (2.0, "ok", "stated", "aspects:Relevance"),
    }
    assert len(judge.calls) == 1
    assert judge.asked[0]["temperature"] == 0.0


async def test_the_target_is_not_in_view():
    judge, _ = await rated(BOTH)
    assert "Relevance" not in str(judge.calls[0]) + str(judge.asked[0])


@pytest.mark.parametrize(
    "first",
    [{"key_points": {"score": 4}}, {**BOTH, "focus": {"score": 9}}, {**BOTH, "focus": 2}, {**BOTH, "focus": {}}],
    ids=["missing", "off its scale", "no entry", "an entry without a score"],
)
async def test_an_aspect_that_cannot_be_read_is_asked_for_alone(first):
    judge, scores = await rated(first, {"focus": {"score": 3}})
    assert {name: s.value for name, s in scores.items()} == {"Key points": 4.0, "Focus": 3.0}
    assert [list(properties(asked)) for asked in judge.asked] == [["key_points", "focus"], ["focus"]]
    assert "Key points" not in str(judge.calls[1])


async def test_what_is_still_missing_is_unreadable():
    judge, scores = await rated(*[{"key_points": {"score": 4}}] * 4)
    assert {name: s.status for name, s in scores.items()} == {"Key points": "ok", "Focus": "unreadable"}
    assert scores["Focus"].value is None
    assert len(judge.calls) == 4


async def test_a_reply_without_any_entry_is_asked_for_as_a_whole():
    judge, scores = await rated({}, "nothing", BOTH)
    assert [s.status for s in scores.values()] == ["ok", "ok"]
    assert [list(properties(asked)) for asked in judge.asked] == [["key_points", "focus"]] * 3


async def test_a_call_that_fails_gives_every_aspect_its_status():
    judge, scores = await rated(ValueError("broken"))
    assert {s.status for s in scores.values()} == {"provider_error"}
    assert len(judge.calls) == 1


async def test_null_is_an_abstention_and_not_asked_again():
    judge, scores = await rated({**BOTH, "focus": {"score": None}})
    assert scores["Focus"].status == "abstained"
    assert len(judge.calls) == 1


async def test_reasons_come_before_scores_where_asked_for():
    reply = {key: {"reason": "seen", **entry} for key, entry in BOTH.items()}
    judge, scores = await rated(reply, reasons=True)
    assert list(properties(judge.asked[0])["focus"]["properties"]) == ["reason", "score"]
    assert scores["Focus"].reason == "seen"


async def test_equal_aspects_of_two_targets_keep_their_scores_apart():
    judge = scripted(BOTH, {"key_points": {"score": 1}, "focus": {"score": 1}})
    state = await Rater(judge=judge)({"sample": SAMPLE, "aspects": {"Relevance": CHAIN, "Fluency": CHAIN}})
    assert {key: s.value for key, s in state["scores"].items()} == {
        "Key points/rater/aspects:Relevance/0": 4.0, "Focus/rater/aspects:Relevance/0": 2.0,
        "Key points/rater/aspects:Fluency/0": 1.0, "Focus/rater/aspects:Fluency/0": 1.0,
    }  # fmt: skip


async def test_an_empty_chain_costs_no_call():
    judge, scores = await rated(aspects={"Relevance": []})
    assert (judge.calls, scores) == ([], {})
