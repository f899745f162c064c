"""The fuser: definitions and scores in view; without any scored aspect a status, never an LLMScore in disguise."""

import pytest

from judgegraph.agents.fusion import Fuser
from judgegraph.agents.judge import aspect_stage
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Note, Sample, Scale, Score, keyed

SAMPLE = Sample(id="s1", source="The source.", output="The output.")
TARGET = Criterion(name="Relevance", definition="Holds what matters.", steps=("Read it twice.",))
CHAIN = [Criterion(name="Coverage", definition="All there."), Criterion(name="Focus", definition="No side issue.")]


def aspect(name, value=None, status="ok", target="Relevance"):
    return Score(criterion=name, agent="rater", stage=aspect_stage(target), value=value, status=status)


async def fused(*replies, scores=(), chain=CHAIN, notes=(), target=TARGET, **settings):
    judge = scripted(*replies)
    state = {"sample": SAMPLE, "aspects": {target.name: chain}, "scores": keyed(*scores), "notes": keyed(*notes)}
    written = await Fuser(judge=judge, criteria=[target], **settings)(state)
    (score,) = written["scores"].values()
    return judge, score, list(written["notes"].values())


async def test_definitions_and_scores_are_in_view():
    judge, score, _ = await fused({"score": 3, "reason": "so"}, scores=(aspect("Coverage", 4.0), aspect("Focus", 2.0)))
    text = str(judge.calls[0][-1].content)
    assert all(said in text for said in ("All there.", "No side issue.", "## Coverage\nScore: 4", "## Focus\nScore: 2"))
    assert "Read it twice." not in text
    assert (score.key, score.value, score.reason, score.notes) == ("Relevance/fuser/final/0", 3.0, "so", ())
    assert judge.asked[0]["temperature"] == 0.0


async def test_the_score_is_asked_for_before_its_reason():
    judge, *_ = await fused({"score": 3, "reason": "so"}, scores=(aspect("Coverage", 4.0),))
    schema = judge.asked[0]["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["score", "reason"]


async def test_an_aspect_without_a_score_is_left_out_and_noted():
    judge, score, notes = await fused(
        {"score": 3, "reason": "so"}, scores=(aspect("Coverage", 4.0), aspect("Focus", status="unreadable"))
    )
    assert "Focus" not in str(judge.calls[0])
    assert score.notes == ("1 of 2 aspects without a score, left out: Focus",)
    assert [note.kind for note in notes] == ["aspects-unscored"]


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (("unreadable", "unreadable"), "unreadable"),
        (("abstained", "abstained"), "abstained"),
        (("provider_error", "abstained"), "provider_error"),
    ],
)
async def test_with_no_scored_aspect_the_target_has_the_aspects_status(statuses, expected):
    scores = [aspect(c.name, status=s) for c, s in zip(CHAIN, statuses, strict=True)]
    judge, score, (note,) = await fused(scores=scores)
    assert judge.calls == []
    assert (score.status, score.value, note.status) == (expected, None, expected)
    assert note.text == "Relevance: not scored, none of its 2 aspects has a score"
    assert score.reason.startswith("none of its 2 aspects has a score: ")


@pytest.mark.parametrize(
    ("notes", "status", "added"),
    [
        ([Note(agent="proposer", text="Relevance: no aspects: cut off", status="truncated")], "truncated", 0),
        ([Note(agent="proposer", text="Fluency: no aspects: cut off", status="truncated")], "skipped", 1),
        ([Note(agent="proposer", text="Relevance: 3 of 5 aspects")], "skipped", 1),
        ([], "skipped", 1),
    ],
    ids=["its own failure", "another target's", "a shortfall", "no word of it"],
)
async def test_without_a_chain_the_target_has_the_proposers_status(notes, status, added):
    judge, score, told = await fused(chain=[], notes=notes)
    assert judge.calls == []
    assert (score.status, [note.status for note in told]) == (status, [status] * added)


async def test_scores_of_another_target_do_not_count():
    judge, score, _ = await fused(scores=(aspect("Coverage", 4.0, target="Fluency"),))
    assert (judge.calls, score.status) == ([], "skipped")


@pytest.mark.parametrize(("reply", "value"), [("Score for Relevance: 4", 4.0), ("2", 2.0)])
async def test_a_number_in_text_is_read_where_text_is_asked_for(reply, value):
    judge, score, _ = await fused(reply, scores=(aspect("Coverage", 4.0),), reply="text")
    assert score.value == value
    assert "response_format" not in judge.asked[0]


async def test_a_label_may_be_the_target():
    target = Criterion(name="Tone", scale=Scale(labels=("warm", "cold")))
    scores = (aspect("Coverage", 4.0, target="Tone"),)
    _, score, _ = await fused({"label": "cold", "reason": "so"}, scores=scores, target=target)
    assert (score.label, score.value) == ("cold", None)
