"""The devil's advocate argues against a score, answers itself, and only then decides."""

import pytest
from review_cases import (
    ABSTAINED,
    CLARITY,
    FAILURES,
    LABELS,
    THREE,
    TONE,
    VERDICTS,
    WARM,
    asked_of,
    reviewed,
    schema_of,
)  # fmt: skip

import judgegraph as jg
from judgegraph.agents.critics import ARGUED, DevilsAdvocate, advocate_form
from judgegraph.calls.asking import Incomplete
from judgegraph.types import Rectification, keyed

ARGUMENT = {"case_against": "It never says how much.", "answer": "The sum is not asked for.", "reason": "A weak case."}
WHOLE = "Case against it: It never says how much. Answer: The sum is not asked for. Decision: A weak case."


def entry(verdict, value, key="score", /, **argument):
    return {**ARGUMENT, **argument, "verdict": verdict, key: value}


def only(written) -> Rectification:
    (one,) = written["rectifications"].values()
    return one


@pytest.mark.parametrize(("said", "value", "direction", "note"), VERDICTS.values(), ids=VERDICTS)
async def test_a_score_moves_only_where_verdict_and_value_agree(said, value, direction, note):
    written, _ = await reviewed(DevilsAdvocate, {"clarity": entry(*said)})
    one = only(written)
    assert (one.key, one.status, one.reason) == ("Clarity/devils-advocate", "ok", WHOLE)
    assert (one.action, one.value, one.direction) == ("change" if value else "keep", value, direction)
    assert [text for text in one.notes if "stands" in text] == ([note] if note else [])


@pytest.mark.parametrize(("said", "label"), LABELS.values(), ids=LABELS)
async def test_a_label_is_changed_for_another_of_its_scale(said, label):
    written, _ = await reviewed(DevilsAdvocate, {"tone": entry(*said, "label")}, criteria=[TONE], drafts=[WARM])
    assert (only(written).label, only(written).action) == (label, "change" if label else "keep")


@pytest.mark.parametrize(("replies", "status"), FAILURES.values(), ids=FAILURES)
async def test_a_failure_is_a_status_never_a_kept_score(replies, status):
    written, _ = await reviewed(DevilsAdvocate, *replies)
    assert (only(written).status, only(written).value, written["suggestions"]) == (status, None, [])


@pytest.mark.parametrize("argument", [{"case_against": ""}, {"answer": "  "}, {"case_against": None}, {"answer": 7}])
async def test_a_decision_without_an_argument_is_asked_for_again_and_then_unreadable(argument):
    bare = {"clarity": entry("lower", 1, **argument)}
    written, judge = await reviewed(DevilsAdvocate, *[bare] * 3)
    assert (only(written).status, only(written).value, len(judge.calls)) == ("unreadable", None, 3)
    assert f"{next(iter(argument))!r} must say something" in str(judge.calls[1][-1].content)
    written, _ = await reviewed(DevilsAdvocate, bare, {"clarity": entry("lower", 1)})
    assert (only(written).status, only(written).value) == ("ok", 1.0)


async def test_a_criterion_left_out_fails_alone():
    drafts = {"criteria": [CLARITY, TONE], "drafts": [THREE, WARM]}
    written, _ = await reviewed(DevilsAdvocate, *[{"clarity": entry("lower", 2)}] * 3, **drafts)
    said = {r.criterion: (r.status, r.value) for r in written["rectifications"].values()}
    assert said == {"Clarity": ("ok", 2.0), "Tone": ("unreadable", None)}


async def test_the_form_asks_for_the_case_before_its_answer_and_for_both_before_any_value():
    _, judge = await reviewed(
        DevilsAdvocate,
        {"clarity": entry("keep", 3), "tone": entry("keep", "warm", "label")},
        criteria=[CLARITY, TONE],
        drafts=[THREE, WARM],
    )
    fields = {key: [*inner["properties"]] for key, inner in schema_of(judge)["properties"].items()}
    assert fields == {
        "clarity": [*ARGUED, "reason", "verdict", "score"],
        "tone": [*ARGUED, "reason", "verdict", "label"],
    }
    system, user = asked_of(judge)
    assert user.index("One reading only.") < user.index("Dear bank") < user.index("Score: 3\nReason: fine")
    assert "Dear bank" not in system


async def test_of_several_replies_most_decide_and_the_argument_is_of_one_of_them():
    strong = entry("lower", 1, case_against="Nobody is asked.")
    samples = [{"clarity": strong}] * 3 + [{"clarity": entry("keep", 3)}] * 2
    written, _ = await reviewed(DevilsAdvocate, {"clarity": entry("keep", 3)}, samples, samples=5)
    assert (only(written).value, only(written).reader) == (pytest.approx(1.8), "samples")
    assert "Nobody is asked." in only(written).reason


async def test_what_was_abstained_is_left_and_nothing_to_review_asks_nothing():
    written, _ = await reviewed(DevilsAdvocate, {"clarity": entry("raise", 5)}, drafts=[ABSTAINED])
    assert (only(written).action, only(written).status) == ("keep", "skipped")
    written, judge = await reviewed(DevilsAdvocate, drafts=[])
    assert (written["rectifications"], written["suggestions"], judge.calls) == ({}, [], [])


@pytest.mark.parametrize("data", [None, [], "keep", {"clarity": "keep"}, {"clarity": {}}, {"clarity": {"verdict": {}}}])
def test_anything_else_than_the_form_is_incomplete(data):
    with pytest.raises(Incomplete):
        advocate_form({"clarity": CLARITY}).read(data)


@pytest.mark.parametrize(("value", "side"), [(5.0, "too high"), (1.0, "too low")])
async def test_the_embedded_judge_argues_against_the_side_that_the_score_is_on(value, side):
    sample = jg.Sample(id="a", output="We went to the pier. The pier was closed, and so we went home by the bus.")
    criteria, draft = [jg.Criterion(name="Fluency")], THREE.model_copy(update={"value": value, "criterion": "Fluency"})
    said = only(await DevilsAdvocate(criteria=criteria)({"sample": sample, "scores": keyed(draft)}))
    assert said.status == "ok"
    assert f"It may be {side}" in said.reason
    assert said.reader == "logprobs"
