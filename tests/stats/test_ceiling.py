"""One annotator against the others, by hand and by a plain loop."""

import gzip
import json
import math

import numpy as np
import pytest
from scipy import stats

from judgegraph.stats.agreement import leave_one_out, leave_one_out_labels
from judgegraph.stats.bootstrap import correlate

NAN = math.nan


def test_each_annotator_is_compared_with_the_mean_of_the_others():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(30, 3)) + rng.normal(size=(30, 1))
    found = leave_one_out(scores)
    expected = [stats.pearsonr(scores[:, i], np.delete(scores, i, axis=1).mean(axis=1)).statistic for i in range(3)]
    assert found.each == pytest.approx(expected)
    assert found.value == pytest.approx(np.mean(expected))
    assert found.n == 30


def test_an_annotation_that_is_missing_leaves_its_item_to_the_others():
    scores = np.array([[1, 2, NAN], [2, NAN, 3], [3, 3, 4], [5, 4, 5], [NAN, 2, NAN], [4, 1, NAN]], dtype=float)
    found = leave_one_out(scores, coefficient="spearman")
    assert found.each[0] == pytest.approx(stats.spearmanr([1, 2, 3, 5, 4], [2, 3, 3.5, 4.5, 1]).statistic)
    assert found.each[2] == pytest.approx(stats.spearmanr([3, 4, 5], [2, 3, 4.5]).statistic)
    assert found.n == 5


@pytest.mark.parametrize("level", ["group", "system"])
def test_a_ceiling_is_at_the_level_of_the_metric(level):
    rng = np.random.default_rng(1)
    scores = rng.integers(1, 6, size=(48, 3)).astype(float)
    scores[7, 0] = NAN
    at = {"level": level, "group": np.repeat(np.arange(6), 8), "system": np.tile(np.arange(8), 6)}
    found = leave_one_out(scores, coefficient="kendall-b", **at)
    kept = {key: value if key == "level" else value[np.arange(48) != 7] for key, value in at.items()}
    rest = np.delete(scores, 7, axis=0)
    expected = correlate(rest[:, 1:].mean(axis=1), rest[:, 0], coefficient="kendall-b", **kept).value
    assert found.each[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    "scores", [np.empty((0, 3)), np.ones((4, 1)), np.ones((4, 2)), np.array([[1, NAN], [NAN, 2]])], ids=str
)
def test_where_nobody_can_be_compared_there_is_no_ceiling(scores):
    found = leave_one_out(scores)
    assert math.isnan(found.value)
    assert len(found.each) == scores.shape[1]


def test_labels_count_by_the_majority_of_the_others():
    found = leave_one_out_labels([["A", "A", "B", "A"], ["B", "B", "B", "A"], ["A", "A", "A", "A"]])
    assert found.each == pytest.approx((1, 1, 2 / 3, 2 / 3))
    assert (found.value, found.n) == (pytest.approx(5 / 6), 3)


def test_among_labels_that_are_equally_frequent_one_is_as_good_as_drawn():
    found = leave_one_out_labels([["A", "A", "B"], ["A", "B", None], ["A", None, None]])
    assert found.each == pytest.approx(((0.5 + 0) / 2, (0.5 + 0) / 2, 0))
    assert found.n == 2


def test_labels_of_nobody_have_no_ceiling():
    assert math.isnan(leave_one_out_labels([]).value)
    assert math.isnan(leave_one_out_labels([["A"], ["B"]]).value)


def test_experts_of_summeval_agree_more_than_any_recorded_judge(shared):
    with gzip.open(shared / "data/summeval/annotations_12systems.jsonl.gz", "rt") as file:
        rows = [[expert["coherence"] for expert in json.loads(line)["expert_annotations"]] for line in file]
    found = leave_one_out(np.array(rows, dtype=float), coefficient="spearman")
    assert found.n == 1200
    assert 0.448 < found.value < 1  # gpt-4 has .448


def test_annotators_of_pandalm_against_the_majority_of_two(shared):
    items = json.loads((shared / "data/pandalm/testset-v1.json").read_text())
    rows = [[item[f"annotator{n}"] for n in (1, 2, 3)] for item in items]
    found = leave_one_out_labels(rows)
    pairs = [np.mean([row[i] == row[j] for row in rows]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert found.each == pytest.approx([np.mean(pairs[:2]), np.mean([pairs[0], pairs[2]]), np.mean(pairs[1:])])
