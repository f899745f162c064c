"""When a fractional draft counts as changed: one rule, wherever a verdict is read, applied, or comes round again."""

import math

import pytest

import judgegraph as jg
from judgegraph.agents.panel import CriticPanel
from judgegraph.agents.sage import Rectify, Sage
from judgegraph.agents.under_review import rectification, same_point
from judgegraph.calls import Rated, Reader
from judgegraph.runs.item import Item
from judgegraph.runs.summary import summarise
from judgegraph.testing import scripted
from judgegraph.types import Criterion, Rectification, Sample, Scale, Score, keyed

FIVE, SAMPLE = Scale.of("1-5"), Sample(id="s1", output="A text that can be judged by its words.")
CLARITY = Criterion(name="Clarity")


def draft(value):
    return Score(criterion="Clarity", agent="evaluator", stage="draft", value=value, scale=FIVE, reader="logprobs")


def review(verdict, value):
    said = {"clarity": {"reason": "looked", "verdict": verdict, "score": value}}
    return {"rectifications": said, "definitions": [], "new_criteria": []}


@pytest.mark.parametrize(
    ("old", "given", "same"),
    [
        (3.62, 4, True), (3.62, 3, False), (3.62, 5, False), (3.4, 3, True), (3.4, 4, False), (1.04, 1, True),
        (3.5, 3, True), (3.5, 4, True), (3.0, 3, False), (3.0, 4, False), (3.62, 3.9, False), (3.62, 3.4, False),
    ],
)  # fmt: skip
def test_a_point_no_further_than_half_a_step_is_the_draft_s_own(old, given, same):
    assert same_point(float(given), old, FIVE) is same
    assert not same_point(float(given), old, Scale.of("1-5 any")), "every number is a point there"


@pytest.mark.parametrize("scale", ["1-5", "0-100", "-2-2"])
def test_every_fraction_is_at_one_point_or_halfway_at_two(scale):
    of = Scale.of(scale)
    for step in range(20 * int(of.high - of.low) + 1):
        value = of.low + step / 20
        at = [point for point in of.points if same_point(float(point), value, of)]
        assert len(at) == (0 if value % 1 == 0 else 2 if math.isclose(value % 1, 0.5) else 1)


@pytest.mark.parametrize(
    ("old", "verdict", "given", "final"),
    [(3.62, "raise", 4, 3.62), (3.62, "lower", 3, 3.0), (3.4, "lower", 3, 3.4), (3.4, "raise", 4, 4.0),
     (3.62, "raise", 5, 5.0), (3.0, "raise", 4, 4.0)],
)  # fmt: skip
async def test_reading_and_applying_a_verdict_and_counting_it_follow_one_rule(old, verdict, given, final):
    one = draft(old)
    sage = Sage(judge=scripted(review(verdict, given)), criteria=[CLARITY], reader=Reader("stated"))
    said = (await sage({"sample": SAMPLE, "scores": keyed(one)}))["rectifications"]
    assert [r.action for r in said.values()] == ["keep" if final == old else "change"]
    theirs = Rectification(  # of a critic that knows nothing of the rule
        criterion="Clarity", agent="sage", action="change", direction="up" if given > old else "down", value=given
    )
    for verdicts in (said, keyed(theirs)):
        made = Rectify()({"scores": keyed(one), "rectifications": verdicts})["scores"]
        assert [s.value for s in made.values()] == [final]
        line = summarise([Item(sample=SAMPLE, scores=(one, *made.values()))], "run").line("Clarity")
        assert (line.changed, line.up, line.down) == (final != old, final > old, final < old)


@pytest.mark.parametrize(
    ("verdict", "named", "shares", "final"),
    [
        ("lower", "3", {"3": 0.6, "4": 0.4}, 3.4),  # another point was named; by how much, the probabilities say
        ("raise", "4", {"4": 0.7, "5": 0.3}, 3.62),  # the draft's own point, however the rest lies
        ("raise", "5", {"5": 0.5, "4": 0.5}, 4.5),
    ],
)
async def test_where_tokens_are_weighed_the_named_point_decides_and_the_weighted_value_stands(
    verdict, named, shares, final
):
    weighed = sum(float(point) * share for point, share in shares.items())
    answer = Rated(value=weighed, reason="looked", distribution=shares, reader="logprobs")
    said = rectification("sage", CLARITY, draft(3.62), answer, [{"verdict": verdict, "score": int(named)}])
    made = Rectify()({"scores": keyed(draft(3.62)), "rectifications": keyed(said)})["scores"]
    assert [s.value for s in made.values()] == [pytest.approx(final)]


async def test_a_panel_of_critics_counts_such_a_verdict_as_keep():
    async def strict(state):
        one = Rectification(criterion="Clarity", agent="strict", action="change", direction="up", value=4.0)
        return {"rectifications": keyed(one), "suggestions": []}

    panel = CriticPanel(critics=[strict], criteria=[CLARITY])
    written = await panel({"sample": SAMPLE, "scores": keyed(draft(3.62))})
    (said,) = written["rectifications"].values()
    assert (said.action, "at that point" in said.notes[0]) == ("keep", True)


async def test_rounds_that_come_back_to_the_draft_s_point_leave_the_draft_s_value():
    judge = scripted(review("lower", 3), review("raise", 4))
    node = jg.refine(judge=judge, criteria=[CLARITY], rounds=2, samples=1)
    final = await node.ainvoke({"sample": SAMPLE, "scores": keyed(draft(3.62))})
    assert final["scores"]["Clarity/sage/final/0"].value == 3.62
    assert [r.action for r in final["rectifications"].values()] == ["keep"]
