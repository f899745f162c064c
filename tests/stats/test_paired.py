"""Paired tests of two metrics, against full enumeration, published examples and a second derivation."""

import itertools
import math
import time

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from judgegraph.stats import agreement as swaps
from judgegraph.stats.agreement import corrected, permutation_test, permutation_test_of_shares
from judgegraph.stats.bootstrap import correlate
from judgegraph.stats.correlation import COEFFICIENTS, coefficient, steiger, williams


def enumerated(name, human, a, b, unit):
    """p over every pattern of swaps, by a plain loop."""
    foot = stats.zscore if name == "pearson" else stats.rankdata
    human, a, b = (foot(side) for side in (human, a, b))
    plain = "pearson" if name == "spearman" else name
    found = []
    for pattern in itertools.product([True, False], repeat=unit.max() + 1):
        stays = np.array(pattern)[unit]
        x, y = np.where(stays, a, b), np.where(stays, b, a)
        found.append(coefficient(plain, human, x) - coefficient(plain, human, y))
    return np.mean(~(np.abs(found) < abs(found[0]) - 1e-12))


@pytest.mark.parametrize("values", [0, 3, 5], ids=["continuous", "three values", "five values"])
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_few_items_are_swapped_in_every_pattern_once(name, values):
    rng = np.random.default_rng(values)
    for _ in range(2):
        human, a, b = rng.normal(size=(3, 7)) if not values else rng.integers(1, values + 1, size=(3, 7)).astype(float)
        found = permutation_test(human, a, b, coefficient=name, permutations=128)
        assert found.statistic == pytest.approx(coefficient(name, human, a) - coefficient(name, human, b))
        assert found.p == pytest.approx(enumerated(name, human, a, b, np.arange(7)))
        assert (found.n, found.note) == (7, "")


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_items_of_a_group_are_swapped_together(name):
    rng = np.random.default_rng(1)
    human, a, b = rng.integers(1, 6, size=(3, 24)).astype(float)
    group = np.repeat(np.arange(8), 3)[rng.permutation(24)]
    found = permutation_test(human, a, b, coefficient=name, group=group)
    assert found.p == pytest.approx(enumerated(name, human, a, b, group))
    assert found.n == 8


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_drawn_patterns_come_near_to_all_patterns(name):
    rng = np.random.default_rng(2)
    human, a, b = rng.normal(size=(3, 12))
    a += 1.5 * human
    every = permutation_test(human, a, b, coefficient=name, permutations=4096)
    drawn = permutation_test(human, a, b, coefficient=name, permutations=4095, seed=3)
    assert every.p == pytest.approx(drawn.p, abs=4 * math.sqrt(every.p * (1 - every.p) / 4095) + 1 / 4096)


def test_many_distinct_items_are_counted_one_by_one_and_the_note_says_so(monkeypatch):
    rng = np.random.default_rng(4)
    human, a, b = rng.normal(size=(3, 30))
    by_forms = permutation_test(human, a, b, coefficient="kendall-b", permutations=199, seed=5)
    monkeypatch.setattr(swaps, "DISTINCT", 10)
    one_by_one = permutation_test(human, a, b, coefficient="kendall-b", permutations=2000, seed=5)
    assert one_by_one.p == pytest.approx(by_forms.p)
    assert one_by_one.note == "199 permutations, for Kendall's tau of 30 distinct items is slow"


def test_the_statistic_is_the_difference_of_what_is_printed_at_each_level():
    rng = np.random.default_rng(6)
    system, group = np.tile(np.arange(8), 12), np.repeat(np.arange(12), 8)
    human, a, b = rng.integers(1, 4, size=(3, 96)).astype(float)
    a[group == 3], human[group == 4], b[group == 5] = 2, 1, 3  # constant on one side, on another, on the third
    for level, name, constant in itertools.product(("dataset", "group", "system"), COEFFICIENTS, ("skip", "zero")):
        at = {"coefficient": name, "level": level, "group": group, "system": system, "constant": constant}
        counts = ~np.isin(group, (3, 5)) if (level, constant) == ("group", "skip") else np.ones(96, dtype=bool)
        codes = {"group": group[counts], "system": system[counts]}
        first, second = (correlate(human[counts], side[counts], **{**at, **codes}).value for side in (a, b))
        found = permutation_test(human, a, b, permutations=100, **at)
        assert found.statistic == pytest.approx(first - second)


def test_whole_documents_are_swapped_where_two_shares_are_compared():
    """By every one of the 2**6 ways."""
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(6), (1, 2, 3, 4, 5, 6))
    a, b = rng.integers(0, 2, (2, 21)).astype(float)
    found = permutation_test_of_shares(a, b, group=group, permutations=64)
    sums = np.array([(a - b)[group == g].sum() for g in range(6)])
    all_ways = [abs(float(np.dot(signs, sums))) for signs in itertools.product((1, -1), repeat=6)]
    assert found.p == np.mean(np.array(all_ways) >= abs(sums.sum()) - 1e-9)
    assert (found.statistic, found.n, found.made) == (pytest.approx(a.mean() - b.mean()), 6, 64)


def test_at_group_level_a_group_s_two_coefficients_are_swapped():
    rng = np.random.default_rng(7)
    human, a, b = rng.normal(size=(3, 40))
    group = np.repeat(np.arange(8), 5)
    each = [
        [coefficient("spearman", human[group == g], side[group == g]) for side in (a, b)] for g in range(8)
    ]  # fmt: skip
    apart = np.subtract(*np.transpose(each))
    means = [np.mean(apart * signs) for signs in itertools.product([1, -1], repeat=8)]
    expected = np.mean(np.abs(means) >= abs(means[0]) - 1e-12)
    found = permutation_test(human, a, b, coefficient="spearman", level="group", group=group)
    assert found.p == pytest.approx(expected)


def test_at_system_level_systems_are_swapped():
    rng = np.random.default_rng(8)
    human, a, b = rng.normal(size=(3, 40))
    system = np.tile(np.arange(8), 5)
    means = [np.array([side[system == s].mean() for s in range(8)]) for side in (human, a, b)]
    found = permutation_test(human, a, b, level="system", system=system, group=np.repeat(np.arange(5), 8))
    assert found.p == pytest.approx(enumerated("pearson", *means, np.arange(8)))
    assert found.n == 8


def test_a_metric_is_no_better_than_itself_in_other_units():
    human, a = np.random.default_rng(9).normal(size=(2, 50))
    for name in COEFFICIENTS:
        assert permutation_test(human, a, 20 * a + 7, coefficient=name).p == 1


def test_one_seed_gives_one_p_and_swapping_the_metrics_changes_only_the_sign():
    human, a, b = np.random.default_rng(10).normal(size=(3, 60))
    one, again, turned = (permutation_test(human, *pair) for pair in ((a, b), (a, b), (b, a)))
    assert one == again
    assert (turned.p, turned.statistic) == (one.p, -one.statistic)


def test_p_is_never_zero():
    rng = np.random.default_rng(11)
    human = rng.normal(size=300)
    for name in COEFFICIENTS:
        found = permutation_test(human, human, rng.normal(size=300), coefficient=name, permutations=99)
        assert found.p == pytest.approx(0.01)
        assert found.p_is_least


def test_with_few_units_the_note_says_how_small_p_can_be():
    human, a, b = np.random.default_rng(12).normal(size=(3, 40))
    found = permutation_test(human, a, b, group=np.repeat(np.arange(4), 10))
    assert found.note == "4 units to swap: p cannot fall below 0.125"
    assert found.p >= 0.125
    assert not found.p_is_least, "all patterns were gone through: p is exact"


@pytest.mark.parametrize(
    ("sides", "settings"),
    [
        (([1, 2, 3], [1, 1, 1], [1, 2, 3]), {}),
        (([1, 1, 1], [1, 3, 2], [1, 2, 3]), {}),
        (([1], [1], [2]), {}),
        (([], [], []), {}),
        (([1, 2, 3, 4], [1, 1, 2, 2], [1, 2, 3, 4]), {"level": "group", "group": np.array([0, 0, 1, 1])}),
        (([], [], []), {"level": "group", "group": np.array([], dtype=int)}),
        (([], [], []), {"level": "system", "system": np.array([], dtype=int)}),
        (([1, 2], [1, 2], [2, 1]), {"level": "system", "system": np.array([0, 0])}),
    ],
)  # fmt: skip
def test_where_a_coefficient_is_undefined_p_is_too_and_a_note_says_why(sides, settings):
    found = permutation_test(*(np.array(side, dtype=float) for side in sides), **settings)
    assert math.isnan(found.p)
    assert found.note


@pytest.mark.parametrize(
    "change",
    [{"human": [1, 2]}, {"a": [1, math.nan, 2]}, {"level": "group"}, {"level": "system"}, {"permutations": 0},
     {"group": np.array([0, 1])}, {"level": "all"}, {"coefficient": "kendall"}],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_tested_is_refused(change):
    settings = {"human": [1, 2, 3], "a": [1, 2, 3], "b": [3, 2, 1]} | change
    sides = [np.array(settings.pop(side), dtype=float) for side in ("human", "a", "b")]
    with pytest.raises(ValueError, match=r"expected|nan|needs"):
        permutation_test(*sides, **settings)


@pytest.mark.long
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_two_thousand_permutations_of_1600_items_take_seconds(name):
    rng = np.random.default_rng(13)
    human = rng.integers(3, 16, size=1600) / 3
    a, b = (human + rng.normal(size=1600) for _ in range(2))
    before = time.process_time()
    permutation_test(human, a, b, coefficient=name, group=np.repeat(np.arange(100), 16))
    assert time.process_time() - before < 20


def test_williams_and_steiger_give_the_published_values():
    # Silver, Hittner and May 2006: r .3, .4, .5, n = 100
    found = williams(0.3, 0.4, 0.5, 100)
    assert (round(found.statistic, 4), round(found.p, 4)) == (-1.0767, 0.2843)
    found = steiger(0.3, 0.4, 0.5, 100)
    assert (round(found.statistic, 4), round(found.p, 4)) == (-1.0718, 0.2838)
    # Steiger 1980, case A, n = 103: -.89 from rounded values
    assert round(steiger(0.4, 0.5, 0.1, 103).statistic, 2) == -0.89


def test_williams_adds_the_mean_s_uncertainty_to_hotelling_s_t_which_is_that_of_a_slope():
    rng = np.random.default_rng(14)
    for n in (10, 30, 200):
        human, a, b = (stats.zscore(side) for side in rng.normal(size=(3, n)) + rng.normal(size=n))
        r_ha, r_hb, r_ab = ((x @ y) / n for x, y in ((human, a), (human, b), (a, b)))
        design = np.stack([a + b, a - b], axis=1)
        slopes, rest, *_ = np.linalg.lstsq(design, human, rcond=None)
        hotelling = slopes[1] / math.sqrt(rest[0] / (n - 3) / np.sum((a - b) ** 2))
        mean = ((r_ha + r_hb) / 2) ** 2 * (1 - r_ab) ** 3 / ((n - 1) * (1 + r_ab) * (r_ha - r_hb) ** 2)
        found = williams(r_ha, r_hb, r_ab, n)
        assert found.statistic**-2 == pytest.approx(hotelling**-2 + mean)
        assert found.p == pytest.approx(2 * stats.t.sf(abs(found.statistic), n - 3))


def covariance(r, j, k, h, m):
    """Of the sampling errors of r_jk and r_hm, times n, of normal variables (Pearson and Filon 1898)."""
    squares = r[j, h] ** 2 + r[j, m] ** 2 + r[k, h] ** 2 + r[k, m] ** 2
    single = r[j, h] * r[k, m] + r[j, m] * r[k, h]
    of_jk = r[j, k] * (r[j, h] * r[j, m] + r[k, h] * r[k, m])
    of_hm = r[h, m] * (r[j, h] * r[k, h] + r[j, m] * r[k, m])
    return r[j, k] * r[h, m] * squares / 2 + single - of_jk - of_hm


@pytest.mark.parametrize(
    ("r_ha", "r_hb", "r_ab", "n"), [(0.5, 0.3, 0.4, 60), (-0.2, 0.3, 0.1, 20), (0.9, 0.85, 0.8, 500)]
)
def test_steiger_is_what_the_covariance_of_any_two_correlations_gives(r_ha, r_hb, r_ab, n):
    mean = (r_ha + r_hb) / 2
    r = np.array([[1, mean, mean], [mean, 1, r_ab], [mean, r_ab, 1]])
    shared = covariance(r, 0, 1, 0, 2) / (1 - mean**2) ** 2
    z = (np.arctanh(r_ha) - np.arctanh(r_hb)) * math.sqrt((n - 3) / (2 - 2 * shared))
    assert steiger(r_ha, r_hb, r_ab, n).statistic == pytest.approx(z)
    assert steiger(r_ha, r_hb, r_ab, n).p == pytest.approx(2 * stats.norm.sf(abs(z)))


@pytest.mark.parametrize("test", [williams, steiger])
@pytest.mark.parametrize(
    ("r_ha", "r_hb", "r_ab", "n", "why"),
    [
        (0.5, 0.5, 1.0, 50, "one"),
        (0.5, 0.3, 0.4, 3, "3 items"),
        (math.nan, 0.3, 0.4, 50, "undefined"),
        (0.5, 0.3, math.nan, 50, "undefined"),
    ],
)
def test_where_a_test_does_not_apply_p_is_nan_and_a_note_says_why(test, r_ha, r_hb, r_ab, n, why):
    found = test(r_ha, r_hb, r_ab, n)
    assert math.isnan(found.p)
    assert why in found.note


def test_a_metric_that_equals_human_has_williams_t_but_no_fisher_z():
    assert 0 < williams(1.0, 0.5, 0.5, 50).p < 1e-6
    assert math.isnan(steiger(1.0, 0.5, 0.5, 50).p)


@pytest.mark.parametrize(("method", "theirs"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_corrected_p_values_leave_undefined_ones_out(method, theirs):
    p = [0.01, math.nan, 0.04, 0.03, 0.2]
    found = corrected(p, method)
    assert math.isnan(found[1])
    np.testing.assert_allclose(found[[0, 2, 3, 4]], multipletests([0.01, 0.04, 0.03, 0.2], method=theirs)[1])


def test_holm_and_bh_by_hand():
    np.testing.assert_allclose(corrected([0.01, 0.04, 0.03], "holm"), [0.03, 0.06, 0.06])
    np.testing.assert_allclose(corrected([0.01, 0.04, 0.03], "bh"), [0.03, 0.04, 0.04])
    np.testing.assert_allclose(corrected([0.01, 0.04], "none"), [0.01, 0.04])


@pytest.mark.parametrize(("method", "theirs"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_corrections_are_those_of_statsmodels(method, theirs):
    rng = np.random.default_rng(3)
    for n in (2, 3, 10, 200):
        p = rng.random(n) ** 3
        p[0] = p[-1]
        np.testing.assert_allclose(corrected(p, method), multipletests(p, method=theirs)[1], rtol=1e-12)


def test_one_p_value_and_none_stay_as_they_are():
    assert list(corrected([0.02], "holm")) == [0.02]
    assert not len(corrected([], "bh"))
