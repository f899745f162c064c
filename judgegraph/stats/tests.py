"""Is one metric closer to people than another, on the same items? Paired tests, and their correction for many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy import stats

from judgegraph.stats.bootstrap import of_groups
from judgegraph.stats.correlation import (
    Codes,
    Coefficient,
    Constant,
    Floats,
    Level,
    TestResult,
    checked,
    shared_error,
)
from judgegraph.stats.correlation import coefficient as coefficient_of
from judgegraph.stats.pairs import differences, patterns
from judgegraph.stats.resampling import checked_level, codes_of, system_means

FEW = 6  # units of which no pattern of swaps is rarer than 5 %, two-sided


def permutation_test(
    human: Floats,
    a: Floats,
    b: Floats,
    *,
    coefficient: Coefficient = "pearson",
    level: Level = "dataset",
    group: Codes | None = None,
    system: Codes | None = None,
    constant: Constant = "skip",
    permutations: int = 2000,
    seed: int = 0,
) -> TestResult:
    """Tests whether a and b agree with `human` alike, by swapping them at random; two-sided, p is never 0.

    Swapped as a whole are systems at system level, else groups where there are some, else items: what the items of a
    document share makes swaps of single items reject too often (at group level, too: a metric may be good on one
    document and bad on the next). Systems are taken as they are. Before, a and b are put on one footing: z-scores for
    Pearson, ranks for the others.

    Args:
        human, a, b: (items,). group, system: (items,), 0, 1, ...; None where there are none.
        permutations: how many are drawn: p = (as large + 1) / (drawn + 1). Where so few units are there that all
            patterns are no more, each is gone through once, and p is exact.

    Raises:
        ValueError: a nan, different lengths, fewer than one permutation, codes that the level needs are missing.
    """
    human = checked("human", human)
    a, b = (checked(name, side, len(human)) for name, side in (("a", a), ("b", b)))
    checked_level(level, [coefficient], [human, a, b])
    if permutations < 1:
        raise ValueError(f"permutations: expected 1 or more, got {permutations}")
    if level == "group":
        each = [of_groups(human, side, codes_of("group", group, len(human)), [coefficient])[0] for side in (a, b)]
        return _of_groups(np.array(each), constant, permutations, seed)
    unit = np.arange(len(human)) if group is None else codes_of("group", group, len(human))
    if level == "system":
        code = codes_of("system", system, len(human))
        human, a, b = (system_means(side, code) for side in (human, a, b))
        unit = np.arange(len(human))
    units = int(unit.max(initial=-1)) + 1
    observed = coefficient_of(coefficient, human, a) - coefficient_of(coefficient, human, b)
    if math.isnan(observed):
        return TestResult("permutation", math.nan, math.nan, units, "a side is constant, or has fewer than two items")
    sides = [_footing(side, coefficient) for side in (human, a, b)]
    drawn, note = differences(coefficient, *sides, unit=unit, permutations=permutations, seed=seed)
    return _result(observed, drawn, units, note)


def _footing(values: Floats, coefficient: Coefficient) -> Floats:
    """Values that may change places with another metric's."""
    if coefficient == "pearson":
        scaled = values / np.abs(values).max()  # squares of huge or tiny values stay numbers
        return np.asarray((scaled - scaled.mean()) / scaled.std())
    return np.asarray(stats.rankdata(values), dtype=np.float64)


def _of_groups(each: Floats, constant: Constant, permutations: int, seed: int) -> TestResult:
    """The test at group level, of groups that have a coefficient with a and one with b: these two are swapped."""
    each = np.nan_to_num(each) if constant == "zero" else each[:, ~np.isnan(each).any(axis=0)]
    if not each.shape[1]:
        return TestResult("permutation", math.nan, math.nan, 0, "no group in which all sides vary")
    return _of_means(each[0] - each[1], each.shape[1], permutations, seed)


def permutation_test_of_shares(
    a: Floats, b: Floats, *, group: Codes, permutations: int = 2000, seed: int = 0
) -> TestResult:
    """Tests whether two metrics are right equally often, by swapping them group by group at random; two-sided.

    Args:
        a, b: (items,), 1 or true where the metric is right. group: (items,), 0, 1, ... permutations: as above.

    Raises:
        ValueError: different lengths, or no item.
    """
    if not len(a) == len(b) == len(group) or not len(a):
        raise ValueError("a, b and group are of one length, and hold an item")
    apart = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    sums = np.asarray(np.bincount(codes_of("group", group, len(a)), apart), dtype=np.float64)
    return _of_means(sums, len(a), permutations, seed)


def _of_means(apart: Floats, count: int, permutations: int, seed: int) -> TestResult:
    """Of a sum over units of what lies between a and b, divided by a count that swaps leave as it is."""
    units = len(apart)
    drawn = np.concatenate([rows @ apart / count for rows in patterns(units, permutations, seed, units)])
    return _result(float(apart.sum() / count), drawn, units, "")


def _result(observed: float, drawn: Floats, units: int, note: str) -> TestResult:
    """An undefined difference counts as one as large as the observed one."""
    as_large = int(np.sum(~(np.abs(drawn) < abs(observed) - 1e-12)))
    every = units < 60 and len(drawn) == 2**units
    p = as_large / len(drawn) if every else (as_large + 1) / (len(drawn) + 1)
    if units < FEW:
        note = f"{units} unit{'s' if units != 1 else ''} to swap: p cannot fall below {2 / 2**units:.3g}"
    return TestResult("permutation", observed, p, units, note, len(drawn))


def corrected(p_values: Sequence[float] | Floats, method: Literal["holm", "bh", "none"] = "holm") -> Floats:
    """p values for many comparisons at once: Holm (any error) or Benjamini-Hochberg (share of errors); nan stays nan.

    Holm 1979: the k-th smallest of n counts n - k + 1 times, and none less than a smaller one.
    """
    p = np.array(p_values, dtype=np.float64)
    known = ~np.isnan(p)
    if method == "none" or known.sum() < 2:
        return p
    if method == "bh":
        p[known] = stats.false_discovery_control(p[known], method="bh")
        return p
    order = np.flatnonzero(known)[np.argsort(p[known], kind="stable")]
    p[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)))
    return p


# How many labelled items it takes to tell two metrics apart.


MOST_LABELS = 10_000_000  # who needs more has two metrics that are alike


def labels_needed(r_ha: float, r_hb: float, r_ab: float, *, alpha: float = 0.05, power: float = 0.8) -> int | None:
    """Items with which Steiger's two-sided test finds r_ha and r_hb different with chance `power`.

    For Pearson and independent items; of ranks it is near, of Kendall too many, and items that share a document tell
    less than as many single ones.

    Args:
        r_ha, r_hb: of each metric with human; r_ab: of the two metrics, -1 to 1.
        alpha: level of the test. power: chance to find the difference; both within 0 and 1.

    Returns:
        None where the two are equal, or so near that `MOST_LABELS` do not tell them apart, or undefined (nan, or 1).

    Raises:
        ValueError: alpha or power is not between 0 and 1.
    """
    if not (0 < alpha < 1 and 0 < power < 1):
        raise ValueError(f"alpha and power lie between 0 and 1, got {alpha} and {power}")
    if not (abs(r_ha) < 1 and abs(r_hb) < 1 and abs(r_ab) < 1):
        return None
    mean = (r_ha + r_hb) / 2
    tested = math.sqrt(max(0.0, 2 - 2 * shared_error(mean, mean, r_ab)))  # spread that the test assumes: no difference
    real = math.sqrt(max(0.0, 2 - 2 * shared_error(r_ha, r_hb, r_ab)))
    apart = abs(math.atanh(r_ha) - math.atanh(r_hb))
    reach = float(stats.norm.isf(alpha / 2)) * tested + float(stats.norm.ppf(power)) * real
    if apart == 0 or reach / apart > math.sqrt(MOST_LABELS):
        return None
    return max(4, math.ceil(3 + max(0.0, reach / apart) ** 2))
