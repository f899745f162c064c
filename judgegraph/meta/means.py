"""Means and medians of a few judgements, equal wherever the written numbers have equal ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from statistics import fmean


def mean(values: Sequence[float]) -> float:
    """The mean of one number or more, by their decimals.

    In floating point 0.1, 0.2, 0.3 have another mean than 0.2, 0.2, 0.2, which would break ties of ranks.
    """
    if len(values) == 1:
        return float(values[0])
    if not all(map(math.isfinite, values)):
        return fmean(values)
    with localcontext(prec=40):
        return float(sum((Decimal(repr(float(value))) for value in values), Decimal()) / len(values))


def median(values: Sequence[float]) -> float:
    """The middle of one number or more, or the mean of the two there."""
    ordered, half = sorted(values), len(values) // 2
    return mean(ordered[half : half + 1] if len(ordered) % 2 else ordered[half - 1 : half + 1])
