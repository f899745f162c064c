"""Merging: sums, ties, votes, orders, and what is left out."""

import pytest

from judgegraph.agents.merge import Merge
from judgegraph.types import Comparison, Criterion, Sample, Score, keyed

ONE = Sample(id="s1", output="a")
PAIR = Sample(id="s1", output="a", rival="b")


def criteria(*names, scale="1-5"):
    return [Criterion(name=name, scale=scale) for name in names]


def comparison(name, a, b, order="AB", status="ok", verdict=None, agent="comparer"):
    return Comparison(criterion=name, agent=agent, score_a=a, score_b=b, order=order, status=status, verdict=verdict)


def paired(*comparisons, **settings):
    names = dict.fromkeys(c.criterion for c in comparisons)
    state = {"sample": PAIR, "criteria": criteria(*names), "comparisons": keyed(*comparisons)}
    return Merge(**settings)(state)


@pytest.mark.parametrize(
    ("scores", "sums", "verdict"),
    [
        ([(5, 1), (1, 2), (1, 3)], (7, 6), "A"),
        ([(1, 2), (2, 3)], (3, 5), "B"),
        ([(5, 1), (1, 5)], (6, 6), "tie"),
        ([(0.1, 0.3), (0.2, 0.0)], (0.3, 0.3), "tie"),
    ],
    ids=["sums, not majorities", "B", "equal sums are a tie", "a float's last digits make no winner"],
)
def test_the_greater_sum_wins(scores, sums, verdict):
    merged = paired(*(comparison(f"c{i}", a, b) for i, (a, b) in enumerate(scores)))
    total = merged["comparisons"]["overall/merge/AB"]
    assert (total.score_a, total.score_b) == pytest.approx(sums)
    assert merged["verdict"] == total.verdict == verdict


def test_what_has_no_two_scores_is_left_out_of_both_sums_and_is_never_a_zero():
    merged = paired(comparison("c1", 2, 3), comparison("c2", 5, None, status="unreadable"))
    total = merged["comparisons"]["overall/merge/AB"]
    assert (total.score_a, total.score_b, total.verdict) == (2.0, 3.0, "B")
    assert total.notes == ("c2: left out of both sums (unreadable)",)
    assert [note.status for note in merged["notes"].values()] == ["unreadable"]
    assert merged["overall"] == 2.0


def test_with_nothing_to_count_there_is_no_verdict_but_a_status():
    merged = paired(comparison("c1", None, None, status="refused"))
    assert (merged["overall"], merged["verdict"]) == (None, None)
    assert merged["comparisons"]["overall/merge/AB"].status == "refused"


@pytest.mark.parametrize(
    ("sample", "mode", "why"),
    [(PAIR, "auto", "no criteria to compare by"), (ONE, "pair", "the sample has no rival")],
)
def test_without_comparisons_the_merged_one_says_why(sample, mode, why):
    (total,) = Merge(mode=mode)({"sample": sample})["comparisons"].values()
    assert (total.status, total.reason, total.verdict) == ("skipped", why, None)


@pytest.mark.parametrize(
    ("ab", "ba", "verdict", "said"),
    [
        ((4, 2), (3, 1), "A", "the orders agree: AB says A, BA says A"),
        ((4, 2), (2, 3), "A", "the orders disagree: AB says A, BA says B"),
        ((4, 2), (2, 4), "tie", "the orders disagree: AB says A, BA says B"),
    ],
)
def test_of_two_orders_each_keeps_its_sum_and_their_agreement_is_said(ab, ba, verdict, said):
    merged = paired(comparison("c1", *ab), comparison("c1", *ba, order="BA"))
    totals = merged["comparisons"]
    assert list(totals) == ["overall/merge/AB", "overall/merge/BA", "overall/merge/both"]
    both = totals["overall/merge/both"]
    assert (both.score_a, both.score_b) == ((ab[0] + ba[0]) / 2, (ab[1] + ba[1]) / 2)
    assert (merged["verdict"], both.notes) == (verdict, (said,))
    assert merged["overall"] == (ab[0] + ba[0]) / 2


def test_without_sums_of_one_order_both_have_no_verdict():
    merged = paired(comparison("c1", 4, 2), comparison("c1", None, None, order="BA", status="timeout"))
    both = merged["comparisons"]["overall/merge/both"]
    assert (both.verdict, both.score_a, both.status, merged["verdict"]) == (None, None, "timeout", None)
    assert both.notes[0] == "the orders cannot be compared: AB says A, BA says timeout"
    assert merged["comparisons"]["overall/merge/AB"].verdict == "A"


def test_the_mean_of_two_orders_counts_what_could_be_read_in_both():
    merged = paired(
        comparison("c1", 2, 3), comparison("c2", 5, 1),
        comparison("c1", 2, 3, order="BA"), comparison("c2", 5, None, order="BA", status="unreadable"),
    )  # fmt: skip
    both = merged["comparisons"]["overall/merge/both"]
    assert (both.score_a, both.score_b, both.verdict, merged["verdict"]) == (2.0, 3.0, "B", "B")
    assert both.notes[1:] == ("c2: read in one order only, left out of the mean",)
    assert merged["comparisons"]["overall/merge/AB"].verdict == "A"


def test_whether_orders_agree_is_told_of_the_criteria_read_in_both():
    lost = {"status": "over_budget"}
    merged = paired(
        comparison("c1", 4, 4), comparison("c2", 4, 3),
        comparison("c1", 4, 4, order="BA"), comparison("c2", None, None, order="BA", **lost),
    )  # fmt: skip
    both = merged["comparisons"]["overall/merge/both"]
    assert (both.verdict, both.notes[0]) == ("tie", "the orders agree: AB says tie, BA says tie")


def test_orders_that_share_no_criterion_have_no_verdict():
    lost = {"status": "unreadable"}
    merged = paired(
        comparison("c1", 4, 2), comparison("c2", None, None, **lost),
        comparison("c1", None, None, order="BA", **lost), comparison("c2", 1, 5, order="BA"),
    )  # fmt: skip
    both = merged["comparisons"]["overall/merge/both"]
    assert (both.score_a, both.score_b, both.verdict, both.status) == (None, None, None, "unreadable")
    assert both.notes[1] == "no criterion could be read in both orders"


def test_votes_count_verdicts_without_scores():
    verdicts = [comparison(f"c{i}", None, None, verdict=v) for i, v in enumerate(("A", "B", "A", "tie"))]
    total = paired(*verdicts, rule="votes")["comparisons"]["overall/merge/AB"]
    assert (total.score_a, total.score_b, total.verdict) == (2.5, 1.5, "A")
    by_sum = paired(*verdicts)
    assert by_sum["verdict"] is None
    assert all("no number in its reply" in note.text for note in by_sum["notes"].values())


def test_scales_of_different_size_weigh_the_same():
    state = {
        "sample": PAIR,
        "criteria": [Criterion(name="c1"), Criterion(name="c2", scale="0-1 any")],
        "comparisons": keyed(comparison("c1", 3, 2), comparison("c2", 0.0, 1.0)),
    }
    merged = Merge()(state)
    total = merged["comparisons"]["overall/merge/AB"]
    assert (total.score_a, total.score_b, total.verdict) == (0.5, 1.25, "B")
    assert merged["overall"] is None
    assert len(merged["notes"]) == 1


def single(*scores, agent="judge"):
    return keyed(*(
        Score(criterion=f"c{i}", agent=agent, value=s) if isinstance(s, float)
        else Score(criterion=f"c{i}", agent=agent, status=s)
        for i, s in enumerate(scores)
    ))  # fmt: skip


@pytest.mark.parametrize(
    ("scores", "overall", "lost"),
    [((1.0, 4.0), 2.5, 0), ((1.0, "unreadable", 4.0), 2.5, 1), (("refused", "timeout"), None, 2), ((), None, 0)],
)
def test_single_is_the_mean_of_what_could_be_read(scores, overall, lost):
    state = {"sample": ONE, "criteria": criteria(*(f"c{i}" for i in range(len(scores)))), "scores": single(*scores)}
    merged = Merge()(state)
    assert (merged["overall"], merged["verdict"], merged["comparisons"]) == (overall, None, {})
    assert len(merged["notes"]) == lost


def test_other_agents_and_other_criteria_do_not_count():
    scores = {**single(1.0, 5.0), **single(3.0, agent="evaluator")}
    assert Merge()({"sample": ONE, "criteria": criteria("c0"), "scores": scores})["overall"] == 1.0
    merged = paired(comparison("c0", 1, 2), comparison("c0", 5, 1, agent="someone"))
    assert merged["verdict"] == "B"
