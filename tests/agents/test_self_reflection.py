"""Self-reflection: the evaluator's judge looks at its own scores again, and revises or keeps them."""

from pathlib import Path

import pytest
from review_cases import (
    ABSTAINED,
    CLARITY,
    FAILURES,
    LABELS,
    SAMPLE,
    THREE,
    TONE,
    VERDICTS,
    WARM,
    asked_of,
    reviewed,
    schema_of,
)  # fmt: skip

import judgegraph as jg
from judgegraph import registry
from judgegraph.agents.critics import SelfReflection
from judgegraph.graphs import sageval
from judgegraph.testing import scripted
from judgegraph.types import Score, keyed

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

KEPT = {"reason": "still so", "verdict": "keep", "score": 3}


def reflection(**entries):
    return {"rectifications": entries}


def entry(verdict, answer, key="score"):
    return {"reason": "looked again", "verdict": verdict, key: answer}


@pytest.mark.parametrize(("said", "value", "direction", "note"), VERDICTS.values(), ids=VERDICTS)
async def test_a_score_moves_only_where_verdict_and_value_agree(said, value, direction, note):
    written, _ = await reviewed(SelfReflection, reflection(clarity=entry(*said)))
    (one,) = written["rectifications"].values()
    assert (one.key, one.status, one.reason) == ("Clarity/self-reflection", "ok", "looked again")
    assert (one.action, one.value, one.direction) == ("change" if value else "keep", value, direction)
    assert [text for text in one.notes if "stands" in text] == ([note] if note else [])


@pytest.mark.parametrize(("said", "label"), LABELS.values(), ids=LABELS)
async def test_a_label_is_changed_for_another_of_its_scale(said, label):
    reply = reflection(tone=entry(*said, key="label"))
    written, _ = await reviewed(SelfReflection, reply, criteria=[TONE], drafts=[WARM])
    (one,) = written["rectifications"].values()
    assert (one.label, one.action) == (label, "change" if label else "keep")


@pytest.mark.parametrize(("replies", "status"), FAILURES.values(), ids=FAILURES)
async def test_a_failure_is_a_status_never_a_kept_score(replies, status):
    written, _ = await reviewed(SelfReflection, *replies)
    assert [(r.status, r.value) for r in written["rectifications"].values()] == [(status, None)]
    assert written["suggestions"] == []


async def test_a_criterion_left_out_fails_alone():
    partial = reflection(clarity=KEPT)
    written, _ = await reviewed(SelfReflection, *[partial] * 3, criteria=[CLARITY, TONE], drafts=[THREE, WARM])
    assert {r.criterion: r.status for r in written["rectifications"].values()} == {
        "Clarity": "ok",
        "Tone": "unreadable",
    }


async def test_a_verdict_of_no_known_name_is_unreadable_after_asking_again():
    written, judge = await reviewed(SelfReflection, *[reflection(clarity=entry("maybe", 2))] * 3)
    assert [r.status for r in written["rectifications"].values()] == ["unreadable"]
    assert len(judge.calls) == 3


async def test_it_is_shown_its_scores_as_its_own_and_asked_for_verdicts_alone():
    _, judge = await reviewed(SelfReflection, reflection(clarity=KEPT))
    system, user = asked_of(judge)
    assert "<own_scores-" in user
    assert "<scores-" not in user
    assert user.index("One reading only.") < user.index("Dear bank") < user.index("Score: 3\nReason: fine")
    assert "Dear bank" not in system
    assert list(schema_of(judge)["properties"]) == ["rectifications"]
    fields = schema_of(judge)["properties"]["rectifications"]["properties"]["clarity"]["properties"]
    assert list(fields) == ["reason", "verdict", "score"]


async def test_the_same_judge_is_asked_once_more_than_without():
    judge = scripted({"clarity": {"reason": "fine", "score": 3}}, reflection(clarity=entry("lower", 2)))
    graph = sageval(judge, criteria=[CLARITY], samples=1, critic=SelfReflection(judge=judge, criteria=[CLARITY]))
    state = await graph.ainvoke({"sample": SAMPLE})
    finals = {s.agent: s.value for s in state["scores"].values() if s.stage == "final"}
    assert finals == {"self-reflection": 2.0}
    assert len(judge.calls) == 2


async def test_of_several_replies_most_decide():
    samples = [reflection(clarity=entry("lower", 1))] * 3 + [reflection(clarity=entry("keep", 3))] * 2
    first = reflection(clarity=KEPT)
    written, _ = await reviewed(SelfReflection, first, samples, samples=5)
    (one,) = written["rectifications"].values()
    assert (one.value, one.reader) == (pytest.approx(1.8), "samples")


async def test_what_was_abstained_is_left_and_nothing_to_review_asks_nothing():
    written, _ = await reviewed(SelfReflection, reflection(clarity=entry("raise", 5)), drafts=[ABSTAINED])
    assert [(r.action, r.status) for r in written["rectifications"].values()] == [("keep", "skipped")]
    written, judge = await reviewed(SelfReflection, drafts=[])
    assert (written["rectifications"], written["suggestions"], judge.calls) == ({}, [], [])


async def test_the_embedded_judge_gives_up_its_own_scores_less_easily_than_anothers():
    forms, moved = jg.criteria_set("forms"), {}
    fives = [
        Score(criterion=c.name, agent="evaluator", stage="draft", value=5.0, scale=c.scale)
        for c in forms.criteria
        if not c.scale.labels
    ]
    for name in ("sage", "self-reflection"):
        critic = registry.make("critic", name, criteria=forms.criteria)
        for sample in jg.load(EXAMPLES / "forms.twins.jsonl"):
            written = await critic({"sample": sample, "scores": keyed(*fives)})
            changed = {(sample.id, r.criterion) for r in written["rectifications"].values() if r.action == "change"}
            moved[name] = moved.get(name, set()) | changed
    assert moved["self-reflection"]
    assert moved["self-reflection"] < moved["sage"]
