"""Two correlations that share one side: is one higher? The classical tests, from the three correlations alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import stats


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


def williams(r_ha: float, r_hb: float, r_ab: float, n: int) -> TestResult:
    """Williams' t for two dependent Pearson correlations that share `human` (Williams 1959), n - 3 degrees of freedom.

    As in Graham and Baldwin 2014 for metrics, but two-sided. Of rank correlations its p is only near.
    """
    if (why := _cannot(r_ha, r_hb, r_ab, n)) is not None:
        return TestResult("williams", math.nan, math.nan, n, why)
    determinant = max(0.0, 1 - r_ha**2 - r_hb**2 - r_ab**2 + 2 * r_ha * r_hb * r_ab)
    mean = (r_ha + r_hb) / 2
    spread = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r_ab) ** 3
    if spread <= 0:
        return TestResult("williams", math.nan, math.nan, n, "the three correlations leave nothing to chance")
    t = (r_ha - r_hb) * math.sqrt((n - 1) * (1 + r_ab) / spread)
    return TestResult("williams", t, float(2 * stats.t.sf(abs(t), n - 3)), n)


def steiger(r_ha: float, r_hb: float, r_ab: float, n: int) -> TestResult:
    """Steiger's Z for two dependent Pearson correlations that share `human`, by Fisher's z (Steiger 1980, eq. 14)."""
    if (why := _cannot(r_ha, r_hb, r_ab, n)) is not None:
        return TestResult("steiger", math.nan, math.nan, n, why)
    if max(abs(r_ha), abs(r_hb)) >= 1:
        return TestResult("steiger", math.nan, math.nan, n, "a metric equals human: Fisher's z has no value")
    mean = (r_ha + r_hb) / 2
    spread = 2 - 2 * shared_error(mean, mean, r_ab)
    if spread <= 0:
        return TestResult("steiger", math.nan, math.nan, n, "the three correlations leave nothing to chance")
    z = (math.atanh(r_ha) - math.atanh(r_hb)) * math.sqrt((n - 3) / spread)
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
        return f"{n} items: it takes 4"
    return "the two metrics are one" if r_ab >= 1 - 1e-12 else None
