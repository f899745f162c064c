"""AVG, LLMSel and CorrW over a run: against a plain reckoning of the same, and blind to an item's own label."""

import numpy as np
import pytest

from judgegraph.errors import ConfigError
from judgegraph.meta.aggregate import aggregates, cross_fitted
from judgegraph.meta.cells import Judgements
from judgegraph.meta.conventions import Conventions

PEARSON = Conventions(coefficients=("pearson",))
NAMES = ("near", "far")


def judgements(n=30, **changed):
    random = np.random.default_rng(3)
    human = random.normal(size=n)
    metrics = {
        "near": human + random.normal(size=n), "far": 100 * (human + 3 * random.normal(size=n)),
        "direct": human + random.normal(size=n), "flat": np.full(n, 7.0),
    }  # fmt: skip
    columns = {name: tuple(map(float, values)) for name, values in metrics.items()} | changed
    return Judgements("Depth", "number", tuple(f"i{k}" for k in range(n)), tuple((float(h),) for h in human), columns)


def z(values):
    read = [v for v in values if v is not None]
    mean = sum(read) / len(read)
    spread = (sum((v - mean) ** 2 for v in read) / len(read)) ** 0.5
    return [None if v is None else (v - mean) / spread for v in values]


def mean(rows, weights):
    """Per item, as one would by hand."""
    found = []
    for said in zip(*rows, strict=True):
        counted = [(w, v) for w, v in zip(weights, said, strict=True) if v is not None and w]
        found.append(sum(w * v for w, v in counted) / sum(w for w, _ in counted) if counted else None)
    return found


def added(one, **settings):
    (found,) = aggregates([one], PEARSON, NAMES, **settings)
    return {name: list(values) for name, values in found.metrics.items() if name not in one.metrics}, found


def test_the_average_is_the_mean_of_z_scores_whatever_the_units():
    one = judgements()
    rows, _ = added(one)
    assert list(rows) == ["AVG(AE)", "CorrW(AE) cross-fitted"]
    assert rows["AVG(AE)"] == pytest.approx(mean([z(one.metrics[n]) for n in NAMES], [1, 1]))


def test_the_selected_are_the_plans_and_a_criterion_without_has_none():
    one = judgements()
    rows, _ = added(one, alignment={"Depth": ["near", "elsewhere"]}, direct="direct")
    assert rows["LLMSel(AE)"] == pytest.approx(z(one.metrics["near"]))
    both = mean([z(one.metrics["near"]), z(one.metrics["direct"])], [1, 1])
    assert rows["LLMSel(AE, direct)"] == pytest.approx(both)
    for alignment in ({}, {"Depth": []}, {"Tone": ["near"]}):
        assert not any("LLMSel" in name for name in added(one, alignment=alignment, direct="direct")[0])


def test_a_direct_score_has_rows_of_its_own():
    one = judgements()
    rows, _ = added(one, direct="direct")
    assert list(rows) == [
        "AVG(AE)", "CorrW(AE) cross-fitted", "AVG(AE, direct)", "CorrW(AE, direct) cross-fitted",
    ]  # fmt: skip
    assert rows["AVG(AE, direct)"] == pytest.approx(mean([z(one.metrics[n]) for n in (*NAMES, "direct")], [1, 1, 1]))


def test_each_fold_is_weighted_by_the_others():
    one = judgements()
    rows, _ = added(one)
    scaled = [z(one.metrics[n]) for n in NAMES]
    for places, weights in cross_fitted(one, PEARSON, NAMES):
        expected = mean(scaled, [weights[n] for n in NAMES])
        assert [rows["CorrW(AE) cross-fitted"][k] for k in places] == pytest.approx([expected[k] for k in places])


def test_an_unread_value_is_left_out_of_its_item_and_never_a_zero():
    one = judgements()
    near = (None, *one.metrics["near"][1:])
    far = (None, None, *one.metrics["far"][2:])
    one = judgements(near=near, far=far)
    rows, found = added(one)
    assert rows["AVG(AE)"][0] is None
    assert rows["AVG(AE)"][1] == pytest.approx(z(near)[1])
    assert found.statuses["AVG(AE)"][:2] == ("skipped", "ok")


def test_a_metric_that_is_the_same_everywhere_says_nothing():
    one = judgements(near=(7.0,) * 30)
    assert added(one)[0]["AVG(AE)"] == pytest.approx(z(one.metrics["far"]))


def test_labels_stay_as_they_are_and_an_unknown_metric_is_told():
    labels = Judgements("Tone", "label", ("a",), (("warm",),), {"near": ("warm",)})
    assert aggregates([labels], PEARSON, NAMES) == [labels]
    with pytest.raises(ConfigError, match="Depth: no metric 'bleurt'; there are: near, far, direct, flat"):
        aggregates([judgements()], PEARSON, ["near", "bleurt"])


def test_one_of_which_lower_is_better_is_turned_first():
    one = judgements()
    wrong = judgements(near=tuple(9 - v for v in one.metrics["near"]))
    rows, found = added(wrong, ranges={"near": (100, -100)})
    for name, values in added(one)[0].items():
        assert rows[name] == pytest.approx(values)
    assert found.metrics["near"] == wrong.metrics["near"]
    open_ended = added(wrong, ranges={"near": (float("inf"), float("-inf"))})[0]
    assert open_ended["AVG(AE)"] == pytest.approx(rows["AVG(AE)"])
    with pytest.raises(ConfigError, match=r"ranges: near: expected \[WORST, BEST\]"):
        added(one, ranges={"near": (1, 1)})
