"""Coverage: the weakest of all that was asked for, with everything that is missing in the count."""

import pytest

from judgegraph.report.page import facts
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.runs.summary import ALL, NO_ANSWER, OWN, PAIRS, coverage, covered, summarise
from judgegraph.types import Comparison, Criterion, Sample, Scale, Score

FIVE = Scale(low=1, high=5)


def score(name, status="ok", stage="final", agent="a", of="output"):
    value = 3.0 if status == "ok" else None
    return Score(criterion=name, agent=agent, stage=stage, of=of, status=status, value=value, scale=FIVE)


def item(*scores, **fields):
    return Item(sample=Sample(id="s", output="t"), scores=scores, **fields)


def pair(verdict, **fields):
    comparison = Comparison(criterion="overall", agent="merge", verdict=verdict, status="ok" if verdict else "refused")
    return Item(sample=Sample(id="p", output="t", rival="u"), comparisons=(comparison,), verdict=verdict, **fields)


LOST = item(status="timeout", reason="r")


@pytest.mark.parametrize(
    ("items", "rejected", "share", "name"),
    [
        ([item(score("A"), score("B"))] * 2, 0, 1.0, "A"),
        ([item(score("A"), score("B")), item(score("A"), score("B", "unreadable"))], 0, 0.5, "B"),
        ([item(score("A"), score("B")), item(score("A"), score("B", "abstained"))], 0, 0.5, "B"),
        ([item(score("A"))] * 3, 1, 0.75, "A"),
        ([item(score("A"))] * 3 + [LOST], 0, 0.75, "A"),
        ([item(score("A"))] * 2 + [LOST], 1, 0.5, "A"),
        ([item(score("A", "refused", "draft"), score("A"))], 0, 1.0, "A"),
        ([item(score("A", agent="a"), score("A", "refused", agent="b"))], 0, 0.0, "A (b)"),
        ([item(score("A"), score("A", "refused", of="rival"))], 0, 0.0, "A (rival)"),
        ([pair("A"), pair("tie"), pair(None)], 1, 0.5, PAIRS),
        ([item(overall=3.0), item(), LOST], 1, 0.25, ALL),
        ([item(score("A", stage="drafts"))], 0, 0.0, NO_ANSWER),
        ([item(score("A", stage="metric")), item(score("A", "abstained", "metric"))], 0, 0.5, "A"),
        ([LOST], 0, 0.0, ALL),
        ([], 0, 0.0, ALL),
    ],
    ids=[
        "all of it", "the weaker criterion", "abstained is not ok", "a rejected row", "a failed sample",
        "both", "drafts are steps on the way", "an agent", "a side of a pair", "a tie is a verdict",
        "an answer over all", "no answer", "metrics alone", "nothing but failures", "nothing",
    ],
)  # fmt: skip
def test_coverage_is_the_weakest_share_with_what_is_missing(items, rejected, share, name):
    assert coverage(summarise(items, "sig"), rejected) == (share, name)


def test_a_verdict_alone_is_all_that_is_due_of_a_pair():
    both = (score("A", "unreadable"), score("A", "unreadable", of="rival"))
    found = [pair("A", scores=both), pair("B", scores=(score("A"), score("A", of="rival"))), pair(None, scores=both)]
    assert coverage(summarise(found, "sig")) == (pytest.approx(2 / 3), PAIRS)


def test_a_sample_that_brought_no_answer_is_missed():
    found = [item(score("A")), item(score("B", stage="metric")), item(score("B", stage="metric"))]
    assert coverage(summarise(found, "sig")) == (pytest.approx(1 / 3), ALL)


def test_a_sample_that_a_budget_cut_short_is_missed_once():
    cut = item(score("A"), score("B", "over_budget"), status="over_budget", reason="r")
    summary = summarise([item(score("A"), score("B")), cut, item(status="over_budget", reason="r")], "sig")
    assert [(x.criterion, x.n_ok, x.n) for x in summary.lines.values()] == [("A", 2, 3), ("B", 1, 3)]
    assert coverage(summary) == (pytest.approx(1 / 3), "B")
    pairs = [pair("A"), pair("B", status="over_budget", reason="r"), pair(None, status="over_budget", reason="r")]
    assert dict(summarise(pairs, "sig").verdicts) == {"A": 1, "none": 2}


def test_repeated_scores_of_a_rejected_row_are_all_missing():
    twice = item(score("A"), Score(criterion="A", agent="a", repeat=1, value=3.0, scale=FIVE))
    assert coverage(summarise([twice], "sig"), 1) == (0.5, "A")


def written(*scores):
    return item(*scores, branches={s.criterion: Criterion(name=s.criterion) for s in scores})


@pytest.mark.parametrize(
    ("more", "rejected", "share"),
    [([], 0, 19 / 20), ([LOST], 0, 19 / 22), ([LOST], 1, 19 / 24)],
    ids=["one of twenty", "a failed sample misses two", "so does a rejected row"],
)
def test_criteria_written_for_a_sample_are_one_line(more, rejected, share):
    items = [written(score(f"A{i}"), score(f"B{i}", "ok" if i else "refused")) for i in range(10)]
    assert coverage(summarise([*items, *more], "sig"), rejected) == (pytest.approx(share), OWN)


def test_criteria_that_the_run_was_given_are_no_samples_own_where_a_method_writes_them_anew():
    items = [written(score("A"), score("B", status)) for status in ("ok", "ok", "refused", "ok")]
    assert coverage(summarise(items, "sig", ["A", "B"])) == (0.75, "B")
    assert coverage(summarise(items, "sig", ["A"])) == (0.75, OWN)


def test_samples_that_were_never_judged_are_missed_in_every_line():
    summary = summarise([item(score("A"), score("B"))] * 3, "sig")
    assert coverage(summary, unjudged=1) == (0.75, "A")
    assert coverage(summary, rejected=1, unjudged=2) == (0.5, "A")


def test_its_counts_say_what_no_table_counts():
    summary = summarise([item(score("A"))] * 3, "sig")
    assert covered(summary).counts == "3 of 3 scores"
    found = covered(summary, rejected=1, unjudged=2)
    assert (found.ok, found.n, found.absent) == (3, 6, 3)
    assert (
        found.counts
        == "3 of 6 scores, 1 of rejected rows and 2 of samples not judged among these, which no table counts"
    )


def test_samples_that_are_judged_in_part_are_told_so_that_numbers_add_up():
    cut = item(score("A"), score("B", "over_budget"), status="over_budget", reason="r")
    summary = summarise([item(score("A"), score("B")), cut, LOST], "sig")
    assert (summary.judged, summary.partly, summary.samples.total() - summary.samples["ok"]) == (2, 1, 2)
    assert summary.judged - summary.partly + 2 == summary.samples.total()
    run = Run({"signature": "sig", "state": "finished"}, [item(score("A"), score("B")), cut, LOST])
    assert dict(facts(run, summary, 0))["Failed"] == "2 samples, 1 of these judged in part"
