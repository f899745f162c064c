"""How many labelled items it takes to tell two metrics apart."""

from __future__ import annotations

import math

from scipy import stats

from judgegraph.stats.dependent import shared_error

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
