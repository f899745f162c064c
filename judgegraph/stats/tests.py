"""Is one metric closer to people than another, on the same items? Paired tests, both orders, correction for many."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgegraph.stats.bootstrap import checked_level, codes_of, of_groups, system_means
from judgegraph.stats.correlation import (
    Codes,
    Coefficient,
    Constant,
    Floats,
    Level,
    TestResult,
    checked,
    coefficient,
    shared_error,
)
from judgegraph.stats.correlation import coefficient as coefficient_of

Counts = NDArray[np.float32]  # whole numbers below 2^24, which single precision holds exactly


class SwappedPairs:
    """Pairs of items counted by quadratic forms over the distinct (human, a, b).

    Of each of these u items stay and c - u are swapped. With H, A, B the signs of differences within human, a and b,
    and X those of a against b, concordant less discordant pairs of a' are, products of signs taken cell by cell,
    u'(HA)u + 2 u'(HX)(c - u) + (c - u)'(HB)(c - u). Pairs that are not tied are the same of squares.
    """

    def __init__(self, human: Floats, a: Floats, b: Floats, unit: Codes) -> None:
        columns = np.stack([human, a, b], axis=1)
        self.rows, code, self.counts = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
        self.items, self.distinct = len(human), len(self.rows)
        order = np.argsort(code.ravel(), kind="stable")
        self.unit, self.starts = unit[order], np.cumsum(self.counts) - self.counts

    def difference(self, name: Coefficient, rows: Floats) -> Floats:
        """tau(human, a') - tau(human, b') per row of 1 and -1 per unit; nan where a swapped side is constant."""
        stays = np.add.reduceat((rows > 0).astype(np.float32)[:, self.unit], self.starts, axis=1)
        human, concordant, untied = self._forms
        first, second = concordant(stays)
        with np.errstate(invalid="ignore", divide="ignore"):
            if name == "kendall-b":
                untied_first, untied_second = untied(stays)
                return np.asarray((first / np.sqrt(untied_first) - second / np.sqrt(untied_second)) / np.sqrt(human))
            return np.asarray(self._c(first, stays, self.rows[:, 1:]) - self._c(second, stays, self.rows[:, :0:-1]))

    @cached_property
    def _forms(self) -> tuple[float, _Form, _Form]:
        """Untied pairs of human; concordant less discordant pairs and untied pairs of swapped sides."""
        human, a, b = self.rows.T
        sign = _signs(human, human)
        untied = float((sign**2 @ self.counts.astype(np.float64)) @ self.counts)
        return untied, _Form(a, b, self.counts, sign), _Form(a, b, self.counts, None)

    def _c(self, concordant: Floats, stays: Counts, sides: Floats) -> Floats:
        """Tau-c: by what is possible where the side with fewer has so many values."""
        values, code = np.unique(sides, return_inverse=True)
        own, other = code.reshape(sides.shape).T
        seen = np.zeros((len(stays), len(values)), dtype=np.bool_)
        for at, count in enumerate(self.counts):
            seen[:, own[at]] |= stays[:, at] > 0
            seen[:, other[at]] |= stays[:, at] < count
        fewer = np.minimum(seen.sum(axis=1), len(np.unique(self.rows[:, 0])))
        return np.asarray(concordant * fewer / (self.items**2 * (fewer - 1)))


class _Form:
    """The form of a' and that of b': they share the square, so that many patterns cost one product of matrices."""

    def __init__(self, a: Floats, b: Floats, counts: Codes, human: Counts | None) -> None:
        within_a, within_b, across = (_signs(x, y) for x, y in ((a, a), (b, b), (a, b)))
        for matrix in (within_a, within_b, across):
            np.multiply(matrix, matrix if human is None else human, out=matrix)
        self.square = within_a - across - across.T + within_b
        c = counts.astype(np.float64)
        self.linear = [2 * (across @ c - within_b @ c), 2 * (across.T @ c - within_a @ c)]
        self.constant = [c @ (within_b @ c), c @ (within_a @ c)]

    def __call__(self, stays: Counts) -> tuple[Floats, Floats]:
        exact = stays.astype(np.float64)
        shared = ((stays @ self.square) * exact).sum(axis=1)
        first, second = (shared + exact @ linear + c for linear, c in zip(self.linear, self.constant, strict=True))
        return first, second


def _signs(x: Floats, y: Floats) -> Counts:
    return np.sign(np.subtract.outer(x, y)).astype(np.float32)


# Two metrics exchanged unit by unit at random, and what the difference of their coefficients then is.


BLOCK = 4_000_000  # numbers held at once
KEPT = 20_000_000  # swaps, a byte each, that the next test of as many units need not draw again
DISTINCT = 2_500  # so many distinct (human, a, b) are compared all at once
SLOW = 199  # permutations where Kendall is counted anew for each


def patterns(units: int, permutations: int, seed: int, width: int) -> Iterator[Floats]:
    """Rows of 1 (stays) and -1 (swapped) per unit, in blocks: drawn, or all there are where those are no more.

    Args:
        width: numbers that a row costs whoever takes it.
    """
    rows = max(1, BLOCK // max(width, 1))
    if exact(units, permutations):
        every = (np.arange(2**units)[:, None] >> np.arange(units)) & 1
        yield from (1 - 2 * every[at : at + rows].astype(np.float64) for at in range(0, len(every), rows))
        return
    kept = _kept_swaps if units * permutations <= KEPT else _swaps
    for drawn in kept(units, permutations, seed, rows):
        yield 1 - 2 * drawn.astype(np.float64)


def _swaps(units: int, permutations: int, seed: int, rows: int) -> Iterator[NDArray[np.int8]]:
    rng = np.random.default_rng(seed)
    for at in range(0, permutations, rows):
        yield rng.integers(0, 2, size=(min(rows, permutations - at), units), dtype=np.int8)


@lru_cache(maxsize=1)
def _kept_swaps(units: int, permutations: int, seed: int, rows: int) -> tuple[NDArray[np.int8], ...]:
    """The same for each pair of runs that is tested on the same samples."""
    return tuple(_swaps(units, permutations, seed, rows))


def exact(units: int, permutations: int) -> bool:
    """Whether every pattern of swaps is gone through once instead of drawn."""
    return units < 60 and 2**units <= permutations


def differences(
    name: Coefficient, human: Floats, a: Floats, b: Floats, *, unit: Codes, permutations: int, seed: int
) -> tuple[Floats, str]:
    """coefficient(human, a') - coefficient(human, b') per pattern, and a note where fewer were drawn than asked for.

    a' and b' are a and b with some units swapped. They come on one footing: for Spearman all three as ranks, which are
    not ranked again after a swap.

    Args:
        human, a, b: (items,). unit: of each item, 0, 1, ... without gaps.
    """
    units = int(unit.max()) + 1
    if name in ("pearson", "spearman"):
        sums = _Sums(human, a, b, unit)
        return np.concatenate([sums.difference(rows) for rows in patterns(units, permutations, seed, units)]), ""
    pairs = SwappedPairs(human, a, b, unit)
    if pairs.distinct <= DISTINCT:
        blocks = patterns(units, permutations, seed, max(len(human), pairs.distinct))
        return np.concatenate([pairs.difference(name, rows) for rows in blocks]), ""
    found = []
    for rows in patterns(units, min(permutations, SLOW), seed, units):
        for stays in rows[:, unit] > 0:
            first, second = np.where(stays, a, b), np.where(stays, b, a)
            found.append(coefficient(name, human, first) - coefficient(name, human, second))
    return np.array(found), f"{len(found)} permutations, for Kendall's tau of {pairs.distinct} distinct items is slow"


class _Sums:
    """Pearson by sums: of s = (a + b) / 2 and d = (a - b) / 2 the swapped values are s + e d and s - e d, e = ±1."""

    def __init__(self, human: Floats, a: Floats, b: Floats, unit: Codes) -> None:
        h, s, d = human - human.mean(), (a + b) / 2, (a - b) / 2
        s = s - s.mean()
        self.items = len(h)
        self.of_unit = np.stack([np.bincount(unit, column) for column in (d, s * d, h * d)], axis=1)
        self.human, self.shared, self.squares = h @ h, h @ s, s @ s + d @ d

    def difference(self, rows: Floats) -> Floats:
        """One per row of 1 and -1 per unit; nan where a swapped side is constant."""
        total, product, covariance = (rows @ self.of_unit).T
        squares = self.squares - total**2 / self.items
        with np.errstate(invalid="ignore", divide="ignore"):
            first = (self.shared + covariance) / np.sqrt(self.human * (squares + 2 * product))
            second = (self.shared - covariance) / np.sqrt(self.human * (squares - 2 * product))
        return np.asarray(first - second)


# Verdicts on pairs that were asked for in both orders: are they right, and do they hold?


@dataclass(frozen=True)
class Orders:
    """Shares of n pairs, 0 to 1, nan of none.

    Attributes:
        accuracy_first, accuracy_second, accuracy_mean: right in the given order, in the exchanged one, their mean.
        agreement: right in both orders. consistency: the same verdict in both.
        unread_first, unread_second: how many pairs had no verdict that could be read.
    """

    accuracy_first: float
    accuracy_second: float
    accuracy_mean: float
    agreement: float
    consistency: float
    n: int
    unread_first: int = 0
    unread_second: int = 0


def both_orders(
    human: Sequence[float | str],
    first: Sequence[float | str | None],
    second: Sequence[float | str | None],
    *,
    unread_agree: bool = False,
) -> Orders:
    """Compares verdicts in the given and the exchanged order with people's; the exchanged ones are mapped back before.

    Args:
        first, second: None where a verdict could not be read; it is wrong.
        unread_agree: whether a pair unread in both orders counts as consistent.
    """
    rows = list(zip(human, first, second, strict=True))
    n = len(rows)

    def share(count: int) -> float:
        return count / n if n else math.nan

    right = [(h == one, h == two) for h, one, two in rows]
    one, two = share(sum(a for a, _ in right)), share(sum(b for _, b in right))
    same = sum(a == b and (unread_agree or a is not None) for _, a, b in rows)
    agreement = share(sum(a and b for a, b in right))
    unread = [sum(verdict is None for verdict in order) for order in (first, second)]
    return Orders(one, two, (one + two) / 2, agreement, share(same), n, *unread)


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


def sign_test(raised: int, lowered: int) -> float:
    """Chance that so many of the pairs that differ do so in one direction, or more, were either as likely; two-sided.

    Exact, by the binomial distribution; pairs that are even do not count (Conover 1999, section 3.4). 1 where none
    differs.
    """
    differ = raised + lowered
    return float(stats.binomtest(raised, differ).pvalue) if differ else 1.0


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
