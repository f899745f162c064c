"""Pearson, Spearman and Kendall of two series; tests of two correlations that share a side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgegraph.errors import counted

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]  # 0, 1, ...: which group or system an item belongs to
Coefficient = Literal["pearson", "spearman", "kendall-b", "kendall-c"]
Level = Literal["dataset", "group", "system"]  # over all items; mean over groups; over means per system
Constant = Literal["skip", "zero"]  # a group in which either side is constant has no coefficient, or counts as 0
Unit = Literal["item", "group", "system", "both"]  # what a bootstrap draws
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall-b", "kendall-c")


# How two series of numbers go together: Pearson, Spearman, Kendall's tau-b and tau-c.


ROUND_OFF = 1e-13  # a spread that is smaller than this share of the mean is what floating point left of a constant


def checked(name: str, values: Floats, n: int | None = None) -> Floats:
    """The values as floats.

    Raises:
        ValueError: it is no plain series, of another length than `n`, or a nan stands in it.
    """
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or (n is not None and len(found) != n):
        raise ValueError(f"{name}: expected a series{'' if n is None else f' of {n}'}, got shape {found.shape}")
    if np.isnan(found).any():
        missing = int(np.isnan(found).sum())
        verb = "is" if missing == 1 else "are"
        raise ValueError(
            f"{name}: {missing:,} of {counted(len(found), 'value')} {verb} nan; leave out what is nan first"
        )
    return found


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's r; nan where a side is constant or infinite."""
    if len(x) < 2 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return float("nan")
    sides = []
    for side in (x, y):
        scaled = side / (np.abs(side).max() or 1.0)  # squares of huge or tiny values stay numbers
        off = scaled - scaled.mean()
        size = float(np.linalg.norm(off))
        if (side == side[0]).all() or size <= ROUND_OFF * abs(scaled.mean()):
            return float("nan")
        sides.append(off / size)
    return float(np.clip(sides[0] @ sides[1], -1.0, 1.0))


def coefficient(name: Coefficient, x: Floats, y: Floats) -> float:
    """One coefficient of two series, -1 to 1; nan where it is undefined: fewer than two items, or a constant side.

    Spearman takes average ranks; "kendall-c" is Stuart's.

    Raises:
        ValueError: an unknown name, series of different lengths, a nan in one of them.
    """
    if name not in COEFFICIENTS:
        raise ValueError(f"coefficient {name!r}: expected one of {', '.join(COEFFICIENTS)}")
    x = checked("x", x)
    y = checked("y", y, len(x))
    if len(x) < 2 or (x == x[0]).all() or (y == y[0]).all():
        return float("nan")
    if name == "pearson":
        return pearson(x, y)
    if name == "spearman":
        return pearson(stats.rankdata(x), stats.rankdata(y))
    # nobody reads the p value: the exact one costs more than tau, the asymptotic one divides by n - 2
    method: Literal["asymptotic", "auto"] = "asymptotic" if len(x) > 2 else "auto"
    variant: Literal["b", "c"] = "b" if name == "kendall-b" else "c"
    return float(stats.kendalltau(x, y, variant=variant, method=method).statistic)


# Two correlations that share one side: is one higher? The classical tests, from the three correlations alone.


@dataclass(frozen=True)
class TestResult:
    """What a test of two metrics found.

    Attributes:
        name: of the test. statistic: permutation: coefficient with a less that with b; williams: t; steiger: z.
        p: two-sided, nan where the test does not apply. n: what it rests on: items, or units that were swapped.
        note: one line where there is something to know. made: permutations that were gone through, 0 without any.
    """

    __test__ = False  # not a test of pytest

    name: str
    statistic: float
    p: float
    n: int
    note: str = ""
    made: int = 0

    @property
    def p_is_least(self) -> bool:
        """Whether p is the least that so many drawn permutations can give, so that more of them might give less."""
        return bool(self.made) and self.p * (self.made + 1) < 1 + 1e-9  # of all there are it is more


def williams(r_ha: float, r_hb: float, r_ab: float, n: int) -> TestResult:
    """Williams' t for two dependent Pearson correlations that share `human` (Williams 1959), n - 3 degrees of freedom.

    As in Graham and Baldwin 2014 for metrics, but two-sided. Of rank correlations its p is only near.
    """
    if (why := _cannot(r_ha, r_hb, r_ab, n)) is not None:
        return TestResult("williams", math.nan, math.nan, n, why)
    determinant = max(0.0, 1 - r_ha**2 - r_hb**2 - r_ab**2 + 2 * r_ha * r_hb * r_ab)
    mean = (r_ha + r_hb) / 2
    variance = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r_ab) ** 3
    if variance <= 0:
        return TestResult("williams", math.nan, math.nan, n, "the three correlations leave nothing to chance")
    t = (r_ha - r_hb) * math.sqrt((n - 1) * (1 + r_ab) / variance)
    return TestResult("williams", t, float(2 * stats.t.sf(abs(t), n - 3)), n)


def steiger(r_ha: float, r_hb: float, r_ab: float, n: int) -> TestResult:
    """Steiger's Z for two dependent Pearson correlations that share `human`, by Fisher's z (Steiger 1980, eq. 14)."""
    if (why := _cannot(r_ha, r_hb, r_ab, n)) is not None:
        return TestResult("steiger", math.nan, math.nan, n, why)
    if max(abs(r_ha), abs(r_hb)) >= 1:
        return TestResult("steiger", math.nan, math.nan, n, "a metric equals human: Fisher's z has no value")
    mean = (r_ha + r_hb) / 2
    variance = 2 - 2 * shared_error(mean, mean, r_ab)
    if variance <= 0:
        return TestResult("steiger", math.nan, math.nan, n, "the three correlations leave nothing to chance")
    z = (math.atanh(r_ha) - math.atanh(r_hb)) * math.sqrt((n - 3) / variance)
    return TestResult("steiger", z, float(2 * stats.norm.sf(abs(z))), n)


def shared_error(r_ha: float, r_hb: float, r_ab: float) -> float:
    """Correlation of the sampling errors of r_ha and r_hb (Dunn and Clark 1969), which share `human`."""
    product, squares = r_ha * r_hb, r_ha**2 + r_hb**2
    covariance = r_ab * (1 - squares) - product * (1 - squares - r_ab**2) / 2
    return covariance / ((1 - r_ha**2) * (1 - r_hb**2))


def _cannot(r_ha: float, r_hb: float, r_ab: float, n: int) -> str | None:
    if any(math.isnan(r) for r in (r_ha, r_hb, r_ab)):
        return "a correlation is undefined"
    if n < 4:
        return f"{counted(n, 'item')}: it takes 4"
    return "the two metrics are one" if r_ab >= 1 - 1e-12 else None


# One side of a weighted pair of series: its distinct values, how often each was drawn, and its ranks.


class Side:
    """Codes of values, sorted once.

    Attributes:
        code: 0, 1, ... by size of the value. values: how many there are.
    """

    def __init__(self, code: Codes) -> None:
        self.code = code
        self.values = int(code.max(initial=-1)) + 1
        self._ordered = bool((np.diff(code) >= 0).all())
        self._order = np.argsort(code, kind="stable")
        self._starts = np.searchsorted(code[self._order], np.arange(self.values))

    def counts(self, weights: Floats) -> Floats:
        """How often each value was drawn, (resamples, values)."""
        ordered = weights if self._ordered else np.take(weights, self._order, axis=1)
        return ordered if self.values == len(self.code) else np.add.reduceat(ordered, self._starts, axis=1)

    def by_item(self, by_value: Floats) -> Floats:
        """What is known of each value, put to each item: (resamples, values) -> (resamples, items)."""
        if self._ordered and self.values == len(self.code):
            return by_value
        return np.take(by_value, self.code, axis=1)


def ranks(counts: Floats) -> Floats:
    """Average ranks less their mean, of each value in each resample; all of them halves, so exact."""
    found = np.cumsum(counts, axis=1)
    found -= found[:, -1:] / 2
    found -= counts / 2
    return found
