"""How two series of numbers go together: Pearson, Spearman, Kendall's tau-b and tau-c."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import stats

from judgegraph.stats.arrays import COEFFICIENTS, Coefficient, Floats

ROUND_OFF = 1e-13  # a spread that is smaller than this share of the mean is what floating point left of a constant


def checked(name: str, values: Floats, n: int | None = None) -> Floats:
    """The values as floats.

    Raises:
        ValueError: it is no plain series, of another length than `n`, or a nan stands in it.
    """
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or (n is not None and len(found) != n):
        raise ValueError(f"{name}: expected a series{'' if n is None else f' of {n}'}, got shape {found.shape}")
    if np.isnan(found).any():
        raise ValueError(f"{name}: {int(np.isnan(found).sum())} of {len(found)} values are nan; leave them out first")
    return found


def pearson(x: Floats, y: Floats) -> float:
    """Pearson's r; nan where a side is constant or infinite."""
    if len(x) < 2 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return float("nan")
    sides = []
    for side in (x, y):
        scaled = side / (np.abs(side).max() or 1.0)  # squares of huge or tiny values stay numbers
        off = scaled - scaled.mean()
        size = float(np.linalg.norm(off))
        if (side == side[0]).all() or size <= ROUND_OFF * abs(scaled.mean()):
            return float("nan")
        sides.append(off / size)
    return float(np.clip(sides[0] @ sides[1], -1.0, 1.0))


def coefficient(name: Coefficient, x: Floats, y: Floats) -> float:
    """One coefficient of two series, -1 to 1; nan where it is undefined: fewer than two items, or a constant side.

    Spearman takes average ranks; "kendall-c" is Stuart's.

    Raises:
        ValueError: an unknown name, series of different lengths, a nan in one of them.
    """
    if name not in COEFFICIENTS:
        raise ValueError(f"coefficient {name!r}: expected one of {', '.join(COEFFICIENTS)}")
    x = checked("x", x)
    y = checked("y", y, len(x))
    if len(x) < 2 or (x == x[0]).all() or (y == y[0]).all():
        return float("nan")
    if name == "pearson":
        return pearson(x, y)
    if name == "spearman":
        return pearson(stats.rankdata(x), stats.rankdata(y))
    # nobody reads the p value: the exact one costs more than tau, the asymptotic one divides by n - 2
    method: Literal["asymptotic", "auto"] = "asymptotic" if len(x) > 2 else "auto"
    variant: Literal["b", "c"] = "b" if name == "kendall-b" else "c"
    return float(stats.kendalltau(x, y, variant=variant, method=method).statistic)
