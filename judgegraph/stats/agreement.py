"""Agreement of labels: accuracy, macro F1, Cohen's kappa, Krippendorff's alpha, intervals of shares.

Below are the paired tests of whether one metric is closer to people than another.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgegraph.stats.bootstrap import Interval, checked_level, codes_of, correlate, of_groups, settled, system_means
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


def cohen_kappa(
    a: Sequence[float | str | None],
    b: Sequence[float | str | None],
    weights: Literal["linear", "quadratic"] | None = None,
    order: Sequence[float | str] = (),
) -> float:
    """Kappa of two raters over the items that both labelled (Cohen 1960, weighted 1968); nan where it is undefined.

    Args:
        a, b: a label per item, None where there is none.
        weights: None: labels agree or not; else a disagreement counts by its distance in `order`, or by its square.
        order: all labels, least first; () for numbers in their own order. Weights need one of the two.

    Raises:
        ValueError: lengths differ, a label is not in `order`, or weights are asked for of words without order.
    """
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    place = places([label for pair in pairs for label in pair], order, ordered=weights is not None)
    if not pairs:
        return math.nan
    table = np.zeros((len(place), len(place)))
    np.add.at(table, tuple(np.array([[place[x], place[y]] for x, y in pairs]).T), 1.0)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(pairs)
    cost = _cost(len(place), weights)
    chance = float((cost * expected).sum())
    return 1 - float((cost * table).sum()) / chance if chance > 0 else math.nan


def places(labels: Sequence[float | str], order: Sequence[float | str], *, ordered: bool) -> dict[float | str, int]:
    """Label -> its place in `order`, or among the labels that occur.

    Raises:
        ValueError: a label is not in `order`, or words have none where there must be one.
    """
    met = dict.fromkeys(labels)
    if order:
        if strange := [label for label in met if label not in order]:
            raise ValueError(f"labels {strange[:3]} are not in the order {list(order)}")
        return {label: at for at, label in enumerate(order)}
    if any(isinstance(label, str) for label in met):
        if ordered:
            raise ValueError("words have no order of their own: give `order`, least first")
        return {label: at for at, label in enumerate(met)}
    return {label: at for at, label in enumerate(sorted(met, key=float))}


def _cost(size: int, weights: Literal["linear", "quadratic"] | None) -> Floats:
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    if weights is None:
        return np.asarray((apart > 0).astype(np.float64))
    return apart if weights == "linear" else apart**2


# Krippendorff's alpha: agreement of any number of raters, any of whom may have left items out.


Metric: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
BLOCK = 4_000_000  # numbers held at once
WHOLE = 2_000_000  # of these, eight bytes each, that it need not make of them again
KEPT = 20_000_000  # swaps, a byte each, that the next test of as many units need not draw again
ROUND_OFF = 1e-12  # a share of two ratings by which they may differ and are equal


def krippendorff_alpha(
    ratings: Sequence[Sequence[float | str | None]] | Floats,
    metric: Metric = "nominal",
    order: Sequence[float | str] = (),
) -> float:
    """Alpha of raters x items, None or nan where there is no rating; nan if nothing can be compared, or all is equal.

    One less the ratio of disagreement within items to that among all ratings (Krippendorff 2004, chapter 11); items
    with one rating do not count.

    Args:
        metric: how far two ratings are apart. order: of ordinal words, least first.

    Raises:
        ValueError: raters of different lengths, words where numbers are needed, numbers below 0 with "ratio".
    """
    values, item = _pairable(_numbers(ratings, metric, order))
    values = _merged(values)
    if not len(values) or (values == values[0]).all():  # sums of equal numbers are not equal to the last digit
        return math.nan
    if metric in ("interval", "ratio"):
        if not np.isfinite(values).all():
            return math.nan
        values = values / np.abs(values).max()  # squares of huge or tiny numbers stay numbers
    if metric == "ordinal":  # its distance is that of the mean ranks
        values = stats.rankdata(values)
    if metric == "interval":  # the squares of small differences between large numbers are lost
        values = values - np.median(values)
    apart = {"nominal": _unequal, "ordinal": _squares, "interval": _squares, "ratio": _ratios}[metric]
    observed, expected = apart(values, item), apart(values, np.zeros_like(item))
    return 1 - observed / expected if expected > 0 else math.nan


def _numbers(
    ratings: Sequence[Sequence[float | str | None]] | Floats, metric: Metric, order: Sequence[float | str]
) -> Floats:
    """The ratings as numbers, nan where there is none: words by their place."""
    if isinstance(ratings, np.ndarray):
        table = np.asarray(ratings, dtype=np.float64)
    else:
        rows = [[None if r is None or r != r else r for r in rater] for rater in ratings]
        met = [r for rater in rows for r in rater if r is not None]
        words = any(isinstance(r, str) for r in met)
        if words and metric in ("interval", "ratio"):
            raise ValueError(f"{metric} alpha takes numbers, not words")
        if words or order:
            place = places(met, order, ordered=metric == "ordinal")
            rows = [[None if r is None else place[r] for r in rater] for rater in rows]
        table = np.array(rows, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError("ratings are raters x items")
    if metric == "ratio" and (table < 0).any():
        raise ValueError("ratio alpha takes numbers from 0 on")
    return table


def _pairable(table: Floats) -> tuple[Floats, Codes]:
    """Ratings of items that have two or more, item by item, and the item of each: 0, 1, ..."""
    columns = table.T[(~np.isnan(table)).sum(axis=0) >= 2]
    item, rater = np.nonzero(~np.isnan(columns))
    return columns[item, rater], item


def _merged(values: Floats) -> Floats:
    """Ratings that differ by round-off (0.3 and 0.1 + 0.2) are one."""
    distinct, code = np.unique(values, return_inverse=True)
    if not np.isfinite(distinct).all():
        return values
    size = np.maximum(np.abs(distinct[1:]), np.abs(distinct[:-1]))
    new = np.concatenate([[True], distinct[1:] - distinct[:-1] > ROUND_OFF * size])
    return np.asarray(distinct[new][np.cumsum(new) - 1][code]) if len(distinct) else values


def _unequal(values: Floats, item: Codes) -> float:
    """Unequal ordered pairs within items, an item's divided by its ratings less one."""
    size = np.bincount(item)
    code = np.unique(values, return_inverse=True)[1]
    cells, count = np.unique(item * (int(code.max(initial=0)) + 1) + code, return_counts=True)
    equal = np.bincount(cells // (int(code.max(initial=0)) + 1), count.astype(np.float64) ** 2)
    return float(((size.astype(np.float64) ** 2 - equal) / (size - 1)).sum())


def _squares(values: Floats, item: Codes) -> float:
    """Squared differences of the same pairs, by sums: twice n times the squared distances from the item's mean."""
    size = np.bincount(item)
    mean = np.bincount(item, values) / size
    return float((2 * size * np.bincount(item, (values - mean[item]) ** 2) / (size - 1)).sum())


def _ratios(values: Floats, item: Codes) -> float:
    """((x - y) / (x + y)) squared of the same pairs; two zeros are not apart."""
    size = np.bincount(item)
    if len(size) == 1:  # pairs of distinct ratings are far fewer than pairs of ratings
        distinct, count = np.unique(values, return_counts=True)
        return _ratio_rows(distinct[None], count.astype(np.float64)) / (len(values) - 1)
    starts = np.cumsum(size) - size
    total = 0.0
    for many in np.unique(size):
        rows = values[starts[size == many][:, None] + np.arange(many)]
        step = max(1, BLOCK // int(many) ** 2)
        blocks = (rows[at : at + step] for at in range(0, len(rows), step))
        total += sum(_ratio_rows(block, np.ones(many)) for block in blocks) / (many - 1)
    return float(total)


def _ratio_rows(rows: Floats, weights: Floats) -> float:
    """The distances of all ordered pairs within each row, by the product of their columns' weights."""
    total, width = 0.0, rows.shape[1]
    step = max(1, BLOCK // (len(rows) * width))
    for at in range(0, width, step):
        x, y = rows[:, at : at + step, None], rows[:, None, :]
        both = x + y
        apart = ((x - y) / np.where(both == 0, 1, both)) ** 2
        total += float((apart @ weights @ weights[at : at + step]).sum())
    return total


# Agreement of labels: accuracy, precision, recall and F1; kappa, alpha and both orders by name.


Label: TypeAlias = float | str


@dataclass(frozen=True)
class Macro:
    """Plain means over the classes; where nothing was found, or there was nothing to find, a class counts as 0."""

    precision: float
    recall: float
    f1: float


def accuracy(human: Sequence[Label], metric: Sequence[Label | None]) -> float:
    """Share of items on which the metric says what people say, nan of no items; None (unread) is wrong."""
    pairs = list(zip(human, metric, strict=True))
    return sum(given == right for right, given in pairs) / len(pairs) if pairs else math.nan


def macro(human: Sequence[Label], metric: Sequence[Label | None], classes: Sequence[Label] = ()) -> Macro:
    """Precision, recall and F1 of each class, then their means.

    Args:
        classes: over which the means are taken; () for those that people gave. An answer that is none of them, or None
            (unread), is a miss of the right class and counts against the precision of no class.
    """
    right: Counter[Label] = Counter(h for h, m in zip(human, metric, strict=True) if h == m)
    wanted, given = Counter(human), Counter(metric)
    chosen = list(dict.fromkeys(classes or wanted))
    if not chosen:
        return Macro(math.nan, math.nan, math.nan)
    precision = [_share(right[c], given[c]) for c in chosen]
    recall = [_share(right[c], wanted[c]) for c in chosen]
    f1 = [_share(2 * right[c], given[c] + wanted[c]) for c in chosen]
    return Macro(*(sum(values) / len(chosen) for values in (precision, recall, f1)))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


# Intervals of shares, such as accuracy, that hold near 0 and 1, where a bootstrap has nothing left to draw.


def share_interval(values: Floats, confidence: float = 0.95, *, unit: Codes | None = None) -> Interval:
    """Wilson's interval of a mean of values from 0 to 1 (Wilson 1927), of as many items as its variance speaks for.

    What items of one unit share makes them count as fewer (Korn and Graubard 1998: their number is what a simple
    sample of this variance would have, times (z / t) squared for a variance known from so many units). Where all items
    are 0, or all 1, there is no variance to tell by, and each unit counts as one item.

    Args:
        values: (items,), 0 or 1, or means of two such. unit: of each item; None: each is one.

    Raises:
        ValueError: a confidence outside 0 to 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: expected a number between 0 and 1, got {confidence}")
    units = len(values) if unit is None else len(np.unique(unit))
    if not len(values) or (unit is not None and units < 2):
        return Interval(math.nan, math.nan, confidence, 1.0)
    mean, z = float(np.mean(values)), float(stats.norm.isf((1 - confidence) / 2))
    size = _size(values, mean, unit, units)
    if unit is not None:
        size *= (z / float(stats.t.isf((1 - confidence) / 2, units - 1))) ** 2
    middle = (mean + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * math.sqrt(mean * (1 - mean) / size + z * z / (4 * size * size))
    low, high = 0.0 if mean <= 0 else middle - half, 1.0 if mean >= 1 else middle + half
    return Interval(max(0.0, low), min(1.0, high), confidence, 0.0)


def _size(values: Floats, mean: float, unit: Codes | None, units: int) -> float:
    """Items of a simple sample that would be as sure."""
    widest = mean * (1 - mean)
    if widest <= 0:
        return float(units)
    plain = float(np.mean((values - mean) ** 2)) / len(values)
    alone = min(2.0 * len(values), widest / plain) if plain > 0 else 2.0 * len(values)
    variance = plain if unit is None else variance_of_mean(values, unit)
    return min(alone, widest / variance) if variance > 0 else alone


def variance_of_mean(values: Floats, unit: Codes | None = None) -> float:
    """How far the mean of items moves from sample to sample of their units; nan of fewer than two units.

    Args:
        unit: of each item; None: each is one.
    """
    off = values - np.mean(values)
    sums = off if unit is None else np.bincount(np.unique(unit, return_inverse=True)[1], off)
    count = len(sums)
    return float(sums @ sums) * count / ((count - 1) * len(values) ** 2) if count > 1 else math.nan


# The human ceiling: how far one annotator agrees with the others.


@dataclass(frozen=True)
class Ceiling:
    """Agreement of annotators with one another.

    Attributes:
        value: mean over annotators, nan where none could be compared. each: annotator by annotator, nan where not.
        n: items that two or more annotated.
    """

    value: float
    each: tuple[float, ...]
    n: int


def leave_one_out(
    annotators: Floats,
    *,
    coefficient: Coefficient = "pearson",
    level: Level = "dataset",
    group: Codes | None = None,
    system: Codes | None = None,
    constant: Constant = "skip",
) -> Ceiling:
    """Each annotator against the mean of the others, over the items that both have.

    Args:
        annotators: (items, annotators), nan where one left an item out.
        coefficient, level, group, system, constant: as of `levels.correlate`.
    """
    each = []
    for at in range(annotators.shape[1]):
        own, mean = annotators[:, at], others(annotators, at)
        known = ~np.isnan(own) & ~np.isnan(mean)
        each.append(
            correlate(
                mean[known], own[known], coefficient=coefficient, level=level,
                group=None if group is None else group[known],
                system=None if system is None else system[known], constant=constant,
            ).value
        )  # fmt: skip
    return _ceiling(each, int(((~np.isnan(annotators)).sum(axis=1) >= 2).sum()))


def others(annotators: Floats, at: int) -> Floats:
    """The mean of all annotators but one, nan where none of them has the item; equal means are equal."""
    rest = np.delete(annotators, at, axis=1)
    known = ~np.isnan(rest)
    count = known.sum(axis=1)
    means = np.where(known, rest, 0.0).sum(axis=1) / np.maximum(count, 1)
    means = settled(means, float(np.abs(rest[known]).max(initial=0.0))) if rest.shape[1] > 1 else means
    return np.where(count > 0, means, np.nan)


def leave_one_out_labels(annotators: Sequence[Sequence[float | str | None]]) -> Ceiling:
    """How often each annotator says what the majority of the others says.

    Where k labels of the others are equally frequent, an annotator who gave one of them counts 1/k: what he could
    expect of a majority drawn by lot.

    Args:
        annotators: items x annotators, None where one left an item out.
    """
    found = hits(annotators)
    each = [float(column.mean()) if len(column) else math.nan for column in (c[~np.isnan(c)] for c in found.T)]
    return _ceiling(each, sum(sum(label is not None for label in row) >= 2 for row in annotators))


def hits(annotators: Sequence[Sequence[float | str | None]]) -> Floats:
    """(items, annotators): whether he says what the majority of the others says, nan where nothing can be said."""
    found = [[_hit(row[at], [*row[:at], *row[at + 1 :]]) for at in range(len(row))] for row in annotators]
    return np.array(found, dtype=np.float64).reshape(len(annotators), len(annotators[0]) if annotators else 0)


def _hit(own: float | str | None, others: Sequence[float | str | None]) -> float:
    votes = Counter(label for label in others if label is not None)
    if own is None or not votes:
        return math.nan
    most = max(votes.values())
    return (votes[own] == most) / sum(count == most for count in votes.values())


def _ceiling(each: Sequence[float], n: int) -> Ceiling:
    known = [value for value in each if not math.isnan(value)]
    return Ceiling(sum(known) / len(known) if known else math.nan, tuple(each), n)


# Is one metric closer to people than another, on the same items? Paired tests, both orders, correction for many.


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
    kept = _stored_signs if units * permutations <= WHOLE else _signs_of
    yield from kept(units, permutations, seed, rows)


def _signs_of(units: int, permutations: int, seed: int, rows: int) -> Iterator[Floats]:
    kept = _stored_swaps if units * permutations <= KEPT else _swaps
    for drawn in kept(units, permutations, seed, rows):
        signs = np.multiply(drawn, -2.0)
        signs += 1.0  # in place: most of the time went to memory that was asked for
        yield signs


@lru_cache(maxsize=1)
def _stored_signs(units: int, permutations: int, seed: int, rows: int) -> tuple[Floats, ...]:
    """The same for each pair of metrics that is tested on the same items."""
    return tuple(_signs_of(units, permutations, seed, rows))


def _swaps(units: int, permutations: int, seed: int, rows: int) -> Iterator[NDArray[np.int8]]:
    rng = np.random.default_rng(seed)
    for at in range(0, permutations, rows):
        yield rng.integers(0, 2, size=(min(rows, permutations - at), units), dtype=np.int8)


@lru_cache(maxsize=1)
def _stored_swaps(units: int, permutations: int, seed: int, rows: int) -> tuple[NDArray[np.int8], ...]:
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
    (found,) = _of_means((each[0] - each[1])[None], each.shape[1], permutations, seed)
    return found


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
    (found,) = permutation_tests_of_means(apart[None], group=group, permutations=permutations, seed=seed)
    return found


def permutation_tests_of_means(
    apart: Floats, *, group: Codes, permutations: int = 2000, seed: int = 0
) -> list[TestResult]:  # fmt: skip
    """The same test for each of several differences on the same items, by the same swaps.

    Args:
        apart: (tests, items), what lies between two metrics. group: (items,), 0, 1, ...
    """
    unit = codes_of("group", group, apart.shape[1])
    sums = np.stack([np.asarray(np.bincount(unit, row), dtype=np.float64) for row in apart])
    return _of_means(sums, apart.shape[1], permutations, seed)


def _of_means(apart: Floats, count: int, permutations: int, seed: int) -> list[TestResult]:
    """Of sums over units of what lies between a and b, (tests, units), divided by a count that swaps leave as it is."""
    units = apart.shape[1]
    drawn = np.concatenate([rows @ apart.T / count for rows in patterns(units, permutations, seed, units)])
    means = apart.sum(axis=1) / count
    return [_result(float(mean), column, units, "") for mean, column in zip(means, drawn.T, strict=True)]


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
