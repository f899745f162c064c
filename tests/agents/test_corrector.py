"""The corrector: who is corrected, by what rule, fed with what."""

import pytest

from judgegraph.agents.corrector import Corrector
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Sample, Score, keyed

SAMPLE = Sample(id="s1", query="Why?", output="the output", rival="the rival")


def score(criterion, value, of="output", repeat=0, scale="1-5", agent="judge", stage="final"):
    status = "ok" if value is not None else "unreadable"
    return Score(
        criterion=criterion, agent=agent, value=value, of=of, repeat=repeat, scale=scale, status=status, stage=stage,
        reason=f"{criterion} of {of}",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("values", "below", "at_most"),
    [
        ((5, 2), True, True),
        ((3, 4), False, True),
        ((3.5, 4), False, False),
        ((None,), False, False),
        ((), False, False),
    ],
)
def test_one_low_criterion_is_enough_and_a_missing_score_is_not_low(values, below, at_most):
    scores = keyed(*(score(f"c{i}", value) for i, value in enumerate(values)))
    assert bool(Corrector().low(scores)) is below
    assert bool(Corrector(rule="at-most").low(scores)) is at_most


@pytest.mark.parametrize(
    ("scale", "value", "low"),
    [
        ("1-5", 2.9, True),
        ("1-5", 3.0, False),
        ("0-1", 0.4, True),
        ("0-1", 1.0, False),
        ("1-3", 1, True),
        ("1-10", 5.4, True),
    ],
)
def test_the_threshold_stands_at_the_same_place_of_every_scale(scale, value, low):
    assert bool(Corrector().low(keyed(score("c", value, scale=scale)))) is low


@pytest.mark.parametrize(("values", "low"), [((2, 4), False), ((2, 3), True)])
def test_of_two_orders_the_mean_of_a_criterion_counts(values, low):
    scores = keyed(*(score("c", value, repeat=i) for i, value in enumerate(values)))
    assert [len(s) for s in Corrector().low(scores).values()] == ([2] if low else [])


def test_only_the_named_agents_final_scores_count():
    scores = keyed(score("c", 1, agent="other"), score("d", 1, stage="draft"), score("e", 1))
    assert [s.criterion for s in Corrector().low(scores)["output"]] == ["c", "e"]
    assert [s.criterion for s in Corrector(scored_by=("judge",)).low(scores)["output"]] == ["e"]


async def test_each_low_response_is_rewritten_by_what_was_said_of_it():
    judge = scripted({"response": "better output"}, {"response": "better rival"})
    scores = keyed(score("c1", 1), score("c2", 5), score("c1", 4, of="rival"), score("c2", 2, of="rival"))
    state = {"sample": SAMPLE, "scores": scores, "criteria": [Criterion(name="c1", definition="DEF1")]}
    written = (await Corrector(judge=judge)(state))["corrections"]
    assert [(c.of, c.text, c.original, c.criteria) for c in written.values()] == [
        ("output", "better output", "the output", ("c1",)),
        ("rival", "better rival", "the rival", ("c2",)),
    ]
    first, second = (str(call[1].content) for call in judge.calls)
    assert all(part in first for part in ("Why?", "the output", "c1 of output", "Score: 1", "DEF1"))
    assert all(part not in first for part in ("c2", "the rival"))
    assert "c2 of rival" in second


@pytest.mark.parametrize(
    ("settings", "scales", "rule"),
    [
        ({}, ["1-5"], "below 3 on 1-5"),
        ({"rule": "at-most"}, ["1-5"], "at most 3 on 1-5"),
        ({"threshold": 4.0}, ["1-5", "0-1"], "below 4 on 1-5 or 0.75 on 0-1"),
        ({}, [None], "below 3"),
    ],
)
async def test_a_correction_keeps_the_rule_and_the_scores_it_was_made_by(settings, scales, rule):
    low = [score(f"c{i}", 0.5 if scale == "0-1" else 1, scale=scale) for i, scale in enumerate(scales)]
    state = {"sample": SAMPLE, "scores": keyed(score("fine", 5), *low)}
    written = await Corrector(judge=scripted({"response": "better"}), **settings)(state)
    correction = written["corrections"]["output"]
    assert (correction.rule, correction.by) == (rule, tuple(low))


async def test_a_correction_that_failed_keeps_them_too():
    low = score("c", 1)
    written = await Corrector(judge=scripted(*[{"response": ""}] * 3))({"sample": SAMPLE, "scores": keyed(low)})
    assert written["corrections"]["output"].by == (low,)


async def test_without_a_low_criterion_there_is_no_call():
    written = await Corrector(judge=scripted())({"sample": SAMPLE, "scores": keyed(score("c", 5))})
    assert written == {"corrections": {}}


async def test_a_failed_correction_keeps_the_original_and_a_status():
    judge = scripted(*[{"response": ""}] * 3)
    written = await Corrector(judge=judge)({"sample": SAMPLE, "scores": keyed(score("c", 1))})
    (correction,) = written["corrections"].values()
    assert (correction.status, correction.text, correction.original) == ("unreadable", "", "the output")


async def test_of_a_plain_reply_only_a_leading_label_is_removed():
    judge = scripted("[Modified Response]: Because. Modified response: ends.")
    written = await Corrector(judge=judge, reply="text")({"sample": SAMPLE, "scores": keyed(score("c", 1))})
    assert written["corrections"]["output"].text == "Because. Modified response: ends."


@pytest.mark.parametrize("rival", ["", " \n"])
async def test_an_empty_response_is_not_corrected(rival):
    sample = SAMPLE.model_copy(update={"rival": rival})
    judge = scripted([])
    done = await Corrector(judge=judge)({"sample": sample, "scores": keyed(score("c", 1, of="rival"))})
    (found,) = done["corrections"].values()
    assert (found.status, found.text, found.reason) == ("skipped", "", "it is empty: there is nothing to correct")
    assert [note.text for note in done["notes"].values()] == ["rival: it is empty: there is nothing to correct"]
