"""Statistics of labels from a table of counts: what a resample of them is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgegraph.stats.arrays import Codes, Floats

MOST_CLASSES = 60  # of which tables are counted a thousand times


def kappa(table: Floats, cost: Floats) -> float:
    """Cohen's kappa, one less the observed cost by the expected one; nan where nothing is expected.

    Args:
        table: (k, k), people's label by the metric's. cost: (k, k) of each disagreement, 0 on the diagonal.
    """
    total = table.sum()
    expected = float((np.outer(table.sum(axis=1), table.sum(axis=0)) * cost).sum()) / total if total else 0.0
    return 1 - float((table * cost).sum()) / expected if expected else float("nan")


def costs(k: int, power: int) -> Floats:
    """Of k classes: 0 and 1 (power 0), or the distance of their places to a power."""
    place = np.arange(k)
    apart = np.abs(np.subtract.outer(place, place)).astype(np.float64)
    return (apart > 0).astype(np.float64) if not power else apart**power


def alpha(table: Floats) -> float:
    """Krippendorff's nominal alpha of two raters; nan where nothing varies."""
    both = table + table.T
    n, each = both.sum(), both.sum(axis=0)
    expected = float(n * n - (each**2).sum())
    return 1 - float(n - 1) * float(n - np.trace(both)) / expected if expected else float("nan")


def ordinal_alpha(table: Floats) -> float:
    """Krippendorff's alpha of two raters whose classes stand in their order; nan where nothing varies."""
    both = table + table.T
    n, each = both.sum(), both.sum(axis=0)
    place = np.cumsum(each) - each / 2  # mean rank, but for a constant
    apart = np.subtract.outer(place, place) ** 2
    expected = float(each @ apart @ each)
    return 1 - float(n - 1) * float((both * apart).sum()) / expected if expected else float("nan")


def macro(table: Floats, classes: int) -> tuple[float, float, float]:
    """Macro precision, recall and F1 over the first classes, those of people."""
    right, wanted, given = np.diag(table)[:classes], table.sum(axis=1)[:classes], table.sum(axis=0)[:classes]
    met = wanted > 0  # in a resample a class may be missing
    if not met.any():
        return float("nan"), float("nan"), float("nan")
    right, wanted, given = right[met], wanted[met], given[met]
    each = right / np.where(given > 0, given, 1), right / wanted, 2 * right / (given + wanted)
    precision, recall, f1 = (float(one.mean()) for one in each)
    return precision, recall, f1


def coded(columns: Sequence[Sequence[object]], classes: Sequence[object]) -> list[Codes]:
    """Each column as places in the classes."""
    place = {label: code for code, label in enumerate(classes)}
    return [np.array([place[label] for label in column], dtype=np.intp) for column in columns]


def counted(human: Codes, metric: Codes, k: int, items: Codes) -> Floats:
    """The table of drawn items."""
    pairs = np.bincount(human[items] * k + metric[items], minlength=k * k)
    return pairs.reshape(k, k).astype(np.float64)
