"""Krippendorff's alpha: agreement of any number of raters, any of whom may have left items out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from scipy import stats

from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.kappa import places

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
