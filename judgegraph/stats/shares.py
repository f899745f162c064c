"""Intervals of shares, such as accuracy, that hold near 0 and 1, where a bootstrap has nothing left to draw."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.intervals import Interval


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
    spread = plain if unit is None else variance_of_mean(values, unit)
    return min(alone, widest / spread) if spread > 0 else alone


def variance_of_mean(values: Floats, unit: Codes | None = None) -> float:
    """How far the mean of items moves from sample to sample of their units; nan of fewer than two units.

    Args:
        unit: of each item; None: each is one.
    """
    off = values - np.mean(values)
    sums = off if unit is None else np.bincount(np.unique(unit, return_inverse=True)[1], off)
    count = len(sums)
    return float(sums @ sums) * count / ((count - 1) * len(values) ** 2) if count > 1 else math.nan
