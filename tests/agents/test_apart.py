"""Two responses scored apart: the greater score is the verdict, and what one side lacks is a status."""

import pytest

from judgegraph.agents.merge import Merge
from judgegraph.agents.pairwise import compared
from judgegraph.types import Criterion, Sample, Score, keyed

PAIR = Sample(id="s1", output="a", rival="b")


def score(criterion, value, of="output", status="ok", reason="", agent="judge"):
    return Score(criterion=criterion, agent=agent, value=value, of=of, status=status, reason=reason)


def both(criterion, a, b):
    return [score(criterion, a), score(criterion, b, "rival")]


@pytest.mark.parametrize(("a", "b", "verdict"), [(4, 2, "A"), (1.5, 2, "B"), (3, 3, "tie"), (0.1 + 0.2, 0.3, "tie")])
def test_the_greater_of_two_single_scores_is_the_verdict(a, b, verdict):
    (found,) = compared(both("Depth", a, b))
    assert (found.verdict, found.score_a, found.score_b, found.status) == (verdict, a, b, "ok")
    assert found.key == "Depth/judge/AB"


@pytest.mark.parametrize(
    ("scores", "status", "a", "b", "why"),
    [
        ([score("c", 4), score("c", None, "rival", "refused", "no")], "refused", 4, None, "B: refused (no)"),
        ([score("c", None, status="abstained"), score("c", 2, "rival")], "abstained", None, 2, "A: abstained"),
        ([score("c", 4)], "skipped", 4, None, "B has no score"),
        (
            [Score(criterion="c", agent="judge", label="warm"), score("c", 2, "rival")],
            "skipped", None, 2, "a scale of labels has no scores to compare",
        ),
    ],
    ids=["refused", "abstained", "none", "a label"],
)  # fmt: skip
def test_a_side_without_a_number_is_a_status_and_the_other_keeps_its_score(scores, status, a, b, why):
    (found,) = compared(scores)
    assert (found.status, found.verdict, found.score_a, found.score_b, found.reason) == (status, None, a, b, why)


def merged(*scores, names=("Depth", "Tone"), **settings):
    state = {"sample": PAIR, "criteria": [Criterion(name=n) for n in names], "scores": keyed(*scores)}
    return Merge(mode="apart", **settings)(state)


def test_the_sums_over_the_criteria_that_both_have_decide():
    found = merged(*both("Depth", 4, 3), *both("Tone", 1, 4))
    total = found["comparisons"]["overall/merge/AB"]
    assert (total.score_a, total.score_b, found["verdict"], found["overall"]) == (5, 7, "B", 2.5)
    assert list(found["comparisons"]) == ["Depth/judge/AB", "Tone/judge/AB", "overall/merge/AB"]
    lacking = merged(*both("Depth", 4, 3), score("Tone", 1), score("Tone", None, "rival", "unreadable"))
    total = lacking["comparisons"]["overall/merge/AB"]
    assert (total.score_a, total.score_b, total.verdict) == (4, 3, "A")
    assert total.notes == ("Tone: left out of both sums (unreadable)",)


def test_votes_count_verdicts_and_not_the_sizes_of_scores():
    scores = [*both("Depth", 3, 2), *both("Tone", 3, 2), *both("Order", 1, 5)]
    names = ("Depth", "Tone", "Order")
    assert merged(*scores, names=names)["verdict"] == "B"
    assert merged(*scores, names=names, rule="votes")["verdict"] == "A"


def test_only_the_judges_own_scores_of_the_criteria_at_hand_count():
    found = merged(*both("Depth", 4, 3), score("Depth", 1, agent="other"), *both("Elsewhere", 1, 5))
    assert found["comparisons"]["overall/merge/AB"].reason == "A 4, B 3 by 1 of 1 criterion"


def test_with_nothing_scored_the_merged_comparison_says_why():
    assert merged()["comparisons"]["overall/merge/AB"].reason == "no criteria to compare by"
