"""Intervals from resampled values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from judgegraph.stats.arrays import Floats


@dataclass(frozen=True)
class Interval:
    """Where the true value lies with this confidence; nan where no resample had a value, or one unit was drawn.

    Attributes:
        low, high: its ends. confidence: 0 to 1.
        undefined: share of the resamples that had no value and were left out.
    """

    low: float
    high: float
    confidence: float
    undefined: float


def interval(values: Floats, confidence: float = 0.95, *, units: int = 0) -> Interval:
    """Percentiles of resampled values, nan among them left out.

    With few units percentiles are too narrow, by as much as a normal interval is narrower than one by Student's t
    around a standard deviation that is too small by (units - 1) / units. Given their number, it is widened by that
    (Hesterberg 2015, "What teachers should know about the bootstrap", expanded percentiles). Chosen by simulation:
    of 30 groups, 93 to 94 in 100 plain percentile intervals held the truth, 94 to 95.5 of the widened ones.

    Args:
        units: that were drawn; 0: plain percentiles. One alone is drawn every time, and tells of no spread.

    Raises:
        ValueError: a confidence outside 0 to 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence: expected a number between 0 and 1, got {confidence}")
    defined = values[~np.isnan(values)]
    undefined = 1 - len(defined) / len(values) if len(values) else 1.0
    if not len(defined) or units == 1:
        return Interval(math.nan, math.nan, confidence, undefined)
    tail = (1 - confidence) / 2
    if units > 1:
        tail = float(stats.norm.cdf(math.sqrt(units / (units - 1)) * stats.t.ppf(tail, units - 1)))
    low, high = np.quantile(defined, [tail, 1 - tail], method="weibull")
    return Interval(float(low), float(high), confidence, undefined)
