"""A share or a mean with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.bootstrap import resample
from judgegraph.stats.intervals import interval


@dataclass(frozen=True)
class Measured:
    """A number with its interval; nan where there is none. `method`: "wilson" or "bootstrap"."""

    value: float
    low: float
    high: float
    n: int
    method: str

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

        Of parts between 0 and 1 it is too wide rather than too narrow: they vary less than hits with the same mean.
        Where samples hang together it would be too narrow, and units are drawn instead.
        """
        n = len(parts)
        if not n:
            return Measured(math.nan, math.nan, math.nan, 0, "wilson")
        if units is not None:
            return self.mean(parts, units)
        p, z = math.fsum(parts) / n, float(norm.ppf((1 + self.confidence) / 2))
        middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        low, high = ((middle + way * half) / (1 + z * z / n) for way in (-1, 1))
        return Measured(p, max(0.0, low) if p else 0.0, min(1.0, high) if p < 1 else 1.0, n, "wilson")

    def mean(self, values: Sequence[float], units: Codes | None = None) -> Measured:
        """Of values, by drawing samples, or the units that they stand in."""
        column = np.array(values, dtype=np.float64)
        return self.of(lambda index: column[index].mean() if len(index) else math.nan, len(column), units)

    def of(self, statistic: Callable[[Codes], float], n: int, units: Codes | None = None) -> Measured:
        """Of any number that is computed from drawn items."""
        if not n:
            return Measured(math.nan, math.nan, math.nan, 0, "bootstrap")
        value = float(statistic(np.arange(n)))

        def drawn(index: Codes) -> Floats:
            return np.array([statistic(index)])

        values = resample(drawn, n, units=units, resamples=self.resamples, seed=self.seed)[0]
        count = n if units is None else len(np.unique(units))
        found = interval(values, self.confidence, units=count)
        return Measured(value, found.low, found.high, n, "bootstrap")
