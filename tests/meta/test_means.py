"""Means of judgements tie where the written numbers do."""

import itertools
from collections import defaultdict

import pytest

from judgegraph.meta.answers import answers_in
from judgegraph.meta.cells import Judgements, mean, median, people, single
from judgegraph.meta.conventions import Conventions
from judgegraph.runs.item import Item
from judgegraph.types import Sample, Score

TENTHS = [i / 10 for i in range(11)]


@pytest.mark.parametrize("width", [2, 3, 4])
def test_equal_sums_of_tenths_have_one_mean(width: int):
    found = defaultdict(set)
    for places in itertools.combinations_with_replacement(range(11), width):
        found[sum(places)].add(mean([TENTHS[at] for at in places]))
    assert {len(means) for means in found.values()} == {1}


def test_medians_between_two_numbers_tie_as_well():
    assert median([0.1, 0.7, 0.0, 0.9]) == median([0.4, 0.4, 0.4, 0.4]) == 0.4
    assert (median([3.0, 1.0, 2.0]), median([5.0])) == (2.0, 5.0)


PLACES = ((0.1, 0.2, 0.3), (0.2, 0.2, 0.2))


@pytest.mark.parametrize("rule", ["mean", "median"])
def test_several_annotators_tie(rule):
    judged = Judgements("", "number", ("1", "2"), PLACES, {})
    first, second = people(judged, Conventions(annotators=rule))
    assert first == second == 0.2


def test_doubled_records_tie():
    rows = [*PLACES[0], *PLACES[1]]
    judged = Judgements("", "number", tuple("aaabbb"), tuple((v,) for v in rows), {"m": tuple(rows)})
    one, _ = single(judged, "mean")
    assert one.human == ((0.2,), (0.2,))
    assert one.metrics["m"] == (0.2, 0.2)


def test_repeats_of_a_run_tie():
    def answer(values):
        scores = tuple(Score(criterion="c", agent="a", value=value) for value in values)
        return answers_in(Item(sample=Sample(id="1", output="x"), scores=scores), ("final",), False).answers("c")["a"]

    assert [answer(values) for values in PLACES] == [(0.2, "ok"), (0.2, "ok")]
