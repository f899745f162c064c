"""Aggregates say how many scores they rest on, and what the missing ones could do."""

import pytest

from judgegraph.runtime.item import Item
from judgegraph.runtime.summary import summarise
from judgegraph.types import Comparison, Sample, Scale, Score

FIVE = Scale(low=1, high=5)


def item(*scores, **fields):
    return Item(sample=Sample(id="s", output="t"), scores=scores, **fields)


def score(value, stage="final", **fields):
    status = "ok" if value is not None else fields.pop("status", "unreadable")
    return Score(criterion="C", agent="a", stage=stage, value=value, status=status, scale=FIVE, **fields)


def test_a_mean_rests_on_what_could_be_read_and_says_what_the_rest_could_do():
    line = summarise([item(score(4)), item(score(2)), item(score(None)), item(score(None))], "sig").line("C")
    assert (line.n_ok, line.n, line.mean) == (2, 4, 3.0)
    assert line.bounds == ((6 + 2 * 1) / 4, (6 + 2 * 5) / 4)
    assert line.statuses == {"ok": 2, "unreadable": 2}


def test_without_missing_scores_the_bounds_are_the_mean():
    line = summarise([item(score(4)), item(score(2))], "sig").line("C")
    assert line.bounds == (3.0, 3.0)
    assert line.sd == pytest.approx(2**0.5)


def test_changes_are_counted_by_direction():
    pairs = [(4, 2), (4, 5), (3, 3), (None, None), (4, None)]
    line = summarise([item(score(a, "draft"), score(b)) for a, b in pairs], "sig").line("C")
    assert (line.changed, line.down, line.up) == (2, 1, 1)


def test_labels_are_counted():
    tone = Scale(labels=("warm", "cold"))
    rows = [item(Score(criterion="T", agent="a", label=label, scale=tone)) for label in ("warm", "warm", "cold")]
    assert summarise(rows, "sig").line("T").labels == {"warm": 2, "cold": 1}


def test_pairs_count_verdicts_and_agreement_of_the_orders():
    def pair(ab, ba, verdict):
        both = (
            Comparison(criterion="overall", agent="m", verdict=ab, order="AB"),
            Comparison(criterion="overall", agent="m", verdict=ba, order="BA"),
        )
        return item(comparisons=both, verdict=verdict)

    found = summarise([pair("A", "A", "A"), pair("A", "B", "tie"), pair("B", None, None)], "sig")
    assert found.verdicts == {"A": 1, "tie": 1, "none": 1}
    assert (found.consistent, found.both) == (1, 2)
