"""A share or a mean with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.bootstrap import resample
from judgegraph.stats.intervals import interval
from judgegraph.stats.shares import share_interval


@dataclass(frozen=True)
class Measured:
    """A number with its interval, nan where there is none.

    Attributes:
        method: "wilson" or "bootstrap". units: how many were drawn, or count: groups where samples stand in some, else
            samples; fewer than two have no interval but Wilson's of a share of single samples.
    """

    value: float
    low: float
    high: float
    n: int
    method: str
    units: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in vars(self).items()}


@dataclass(frozen=True)
class Drawing:
    """How intervals are made. `confidence`: 0 to 1."""

    confidence: float = 0.95
    resamples: int = 1000
    seed: int = 0

    def share(self, parts: Sequence[float], units: Codes | None = None) -> Measured:
        """The mean of numbers from 0 to 1, such as hits: Wilson's interval, which says something at 0 and 1 too.

        Samples that hang together count as fewer; where each is a group of its own, as what they are.
        """
        column = np.array(parts, dtype=np.float64)
        if not len(column):
            return _nothing("wilson")
        count = len(column) if units is None else len(np.unique(units))
        found = share_interval(column, self.confidence, unit=None if count == len(column) else units)
        return Measured(math.fsum(parts) / len(column), found.low, found.high, len(column), "wilson", count)

    def mean(self, values: Sequence[float], units: Codes | None = None) -> Measured:
        """Of values, by drawing samples, or the units that they stand in."""
        column = np.array(values, dtype=np.float64)
        return self.of(lambda index: column[index].mean() if len(index) else math.nan, len(column), units)

    def of(self, statistic: Callable[[Codes], float], n: int, units: Codes | None = None) -> Measured:
        """Of any number that is computed from drawn items; no interval where more draws lack it than lie in a tail."""
        if not n:
            return _nothing("bootstrap")
        value = float(statistic(np.arange(n)))
        count = n if units is None else len(np.unique(units))

        def drawn(index: Codes) -> Floats:
            return np.array([statistic(index)])

        if count < 2 or math.isnan(value):
            return Measured(value, math.nan, math.nan, n, "bootstrap", count)
        values = resample(drawn, n, units=units, resamples=self.resamples, seed=self.seed)[0]
        found = interval(values, self.confidence, units=count)
        low, high = (math.nan, math.nan) if found.undefined > (1 - self.confidence) / 2 else (found.low, found.high)
        return Measured(value, low, high, n, "bootstrap", count)


def _nothing(method: str) -> Measured:
    return Measured(math.nan, math.nan, math.nan, 0, method)
