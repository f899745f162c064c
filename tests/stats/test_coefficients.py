"""Coefficients and levels against scipy's, on tables with ties, and where nothing is defined."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from judgegraph.stats.bootstrap import correlate, of_groups, of_rows, settled, system_means
from judgegraph.stats.correlation import COEFFICIENTS, coefficient

SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall-b": lambda x, y: stats.kendalltau(x, y).statistic,
    "kendall-c": lambda x, y: stats.kendalltau(x, y, variant="c").statistic,
}
few, many = st.integers(1, 5).map(float), st.floats(-1e6, 1e6).map(lambda v: round(v, 3))
tables = st.integers(2, 40).flatmap(
    lambda n: st.tuples(*(st.lists(st.sampled_from([few, many]).flatmap(lambda s: s), min_size=n, max_size=n),) * 2)
)


def by_hand(name, x, y):
    """What scipy says, nan where a side is constant."""
    return math.nan if len(x) < 2 or len(set(x)) < 2 or len(set(y)) < 2 else float(SCIPY[name](x, y))


def near(found, expected):
    return found == pytest.approx(expected, abs=1e-9, nan_ok=True)


@settings(max_examples=40)
@given(tables, st.sampled_from(COEFFICIENTS))
def test_a_coefficient_is_scipys(table, name):
    x, y = map(np.array, table)
    assert near(coefficient(name, x, y), by_hand(name, x, y))


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize(
    ("x", "y"), [([], []), ([1.0], [2.0]), ([2.0, 2.0, 2.0], [1.0, 2.0, 3.0]), ([1.0, 2.0], [0.3, 0.3])]
)
def test_without_two_items_that_differ_there_is_no_coefficient(name, x, y):
    assert math.isnan(coefficient(name, np.array(x), np.array(y)))


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_two_items_that_differ_agree_fully_or_not_at_all(name):
    assert coefficient(name, np.array([1.0, 2.0]), np.array([5.0, 9.0])) == pytest.approx(1)
    assert coefficient(name, np.array([1.0, 2.0]), np.array([9.0, 5.0])) == pytest.approx(-1)


def test_huge_and_tiny_values_keep_their_coefficient():
    x, y = np.array([1.0, 2.0, 3.0, 5.0]), np.array([2.0, 1.0, 4.0, 4.0])
    for factor in (1e300, 1e-300):
        assert coefficient("pearson", x * factor, y) == pytest.approx(coefficient("pearson", x, y))


def test_infinite_values_have_ranks_but_no_moments():
    x, y = np.array([-np.inf, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    assert coefficient("spearman", x, y) == pytest.approx(1)
    assert math.isnan(coefficient("pearson", x, y))


def test_a_side_that_differs_by_round_off_alone_is_constant_to_pearson():
    assert math.isnan(coefficient("pearson", np.array([0.1 + 0.2, 0.3, 0.3]), np.array([1.0, 2.0, 3.0])))


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: coefficient("pearson", np.array([1.0, np.nan]), np.ones(2)), "1 of 2 values is nan"),
        (lambda: coefficient("pearson", np.ones(3), np.ones(2)), "expected a series of 3"),
        (lambda: coefficient("gamma", np.ones(3), np.ones(3)), "expected one of pearson"),
        (lambda: correlate(np.ones(3), np.ones(3), coefficient="gamma"), "expected one of pearson"),
        (lambda: correlate(np.ones(3), np.ones(3), coefficient="pearson", level="all"), "expected one of dataset"),
        (lambda: correlate(np.ones(3), np.ones(3), coefficient="pearson", level="group"), "needs to know the group"),
        (lambda: correlate(np.ones(3), np.ones(3), coefficient="pearson", level="system"), "needs to know the system"),
        (
            lambda: correlate(np.ones(3), np.ones(3), coefficient="pearson", level="group", group=np.zeros(2, int)),
            "expected 3 codes",
        ),
        (
            lambda: correlate(
                np.array([np.inf, 1]), np.ones(2), coefficient="spearman", level="system", system=np.arange(2)
            ),
            "infinite value",
        ),
    ],
)
def test_what_cannot_be_counted_is_said(call, word):
    with pytest.raises(ValueError, match=word):
        call()


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 9), st.sampled_from([2, 5, 1000]))
def test_rows_are_scipys_row_by_row(seed, width, values):
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(0, values, (6, width)).astype(float) for _ in range(2))
    x[0, 0] = np.nan  # an item that is not there
    found = of_rows(x, y, COEFFICIENTS)
    for row in range(6):
        there = ~np.isnan(x[row])
        for c, name in enumerate(COEFFICIENTS):
            assert near(found[c, row], by_hand(name, x[row][there], y[row][there]))


def test_wide_rows_are_scipys_too():
    x, y = np.random.default_rng(0).integers(0, 50, (2, 3, 300)).astype(float)
    for c, name in enumerate(COEFFICIENTS):
        assert near(of_rows(x, y, COEFFICIENTS)[c, 2], by_hand(name, x[2], y[2]))


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 60), st.sampled_from(COEFFICIENTS), st.sampled_from(["skip", "zero"]))
def test_levels_are_scipys_in_a_loop(seed, n, name, constant):
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(1, 5, n).astype(float) for _ in range(2))
    group, system = rng.integers(0, 7, n) * 3, rng.integers(0, 5, n)
    each = [by_hand(name, x[group == g], y[group == g]) for g in np.unique(group)]
    defined = [value for value in each if not math.isnan(value)]
    counted = [0.0 if math.isnan(value) else value for value in each] if constant == "zero" else defined
    found = correlate(x, y, coefficient=name, level="group", group=group, constant=constant)
    assert near(found.value, np.mean(counted) if counted else math.nan)
    assert (found.n, found.units, found.skipped) == (n, len(counted), len(each) - len(defined))
    assert len(of_groups(x, y, np.unique(group, return_inverse=True)[1], [name])[0]) == len(each)

    means = [[round(side[system == s].mean(), 12) for s in np.unique(system)] for side in (x, y)]
    found = correlate(x, y, coefficient=name, level="system", system=system)
    assert near(found.value, by_hand(name, *means))
    assert (found.n, found.units, found.skipped) == (n, len(means[0]), 0)
    assert near(correlate(x, y, coefficient=name).value, by_hand(name, x, y))


@pytest.mark.parametrize("level", ["dataset", "group", "system"])
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_nothing_at_all_has_no_value_at_any_level(level, name):
    nothing, codes = np.array([]), np.array([], dtype=int)
    found = correlate(nothing, nothing, coefficient=name, level=level, group=codes, system=codes)
    assert math.isnan(found.value)
    assert (found.n, found.units, found.skipped) == (0, 0, 0)


def test_a_constant_group_is_left_out_or_counts_as_zero_and_is_told():
    x, y = np.array([1.0, 2.0, 3.0, 1.0, 1.0, 1.0, 4.0]), np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0])
    group = np.array([0, 0, 0, 1, 1, 1, 2])
    skip = correlate(x, y, coefficient="kendall-b", level="group", group=group)
    zero = correlate(x, y, coefficient="kendall-b", level="group", group=group, constant="zero")
    assert (skip.value, skip.units, skip.skipped) == (pytest.approx(1), 1, 2)
    assert (zero.value, zero.units, zero.skipped) == (pytest.approx(1 / 3), 3, 2)


def test_equal_means_of_systems_are_ties_however_floats_are_summed():
    values, system = np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1]), np.array([0, 0, 0, 1, 1, 1])
    assert len({(0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3}) == 2
    assert len(set(system_means(values, system))) == 1
    assert settled(np.array([0.0, 0.0])).tolist() == [0.0, 0.0]
    assert settled(np.array([1e-9, 2e-9])).tolist() == pytest.approx([1e-9, 2e-9])
