"""Agreement of labels: accuracy, macro F1, Cohen's kappa, Krippendorff's alpha, intervals of shares."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy import stats

from judgegraph.stats.bootstrap import Interval, correlate, settled
from judgegraph.stats.correlation import Codes, Coefficient, Constant, Floats, Level


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
BLOCK = 4_000_000  # distances held at once
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
