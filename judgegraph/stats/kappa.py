"""Cohen's kappa: agreement of two raters beyond chance, plain or weighted by how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from judgegraph.stats.arrays import Floats


def cohen_kappa(
    a: Sequence[float | str | None],
    b: Sequence[float | str | None],
    weights: Literal["linear", "quadratic"] | None = None,
    order: Sequence[float | str] = (),
) -> float:
    """Kappa of two raters over the items that both labelled (Cohen 1960, weighted 1968); nan where it is undefined.

    Args:
        a, b: a label per item, None where there is none.
        weights: None: labels agree or not; else a disagreement counts by its distance in `order`, or by its square.
        order: all labels, least first; () for numbers in their own order. Weights need one of the two.

    Raises:
        ValueError: lengths differ, a label is not in `order`, or weights are asked for of words without order.
    """
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    place = places([label for pair in pairs for label in pair], order, ordered=weights is not None)
    if not pairs:
        return math.nan
    table = np.zeros((len(place), len(place)))
    np.add.at(table, tuple(np.array([[place[x], place[y]] for x, y in pairs]).T), 1.0)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(pairs)
    cost = _cost(len(place), weights)
    chance = float((cost * expected).sum())
    return 1 - float((cost * table).sum()) / chance if chance > 0 else math.nan


def places(labels: Sequence[float | str], order: Sequence[float | str], *, ordered: bool) -> dict[float | str, int]:
    """Label -> its place in `order`, or among the labels that occur.

    Raises:
        ValueError: a label is not in `order`, or words have none where there must be one.
    """
    met = dict.fromkeys(labels)
    if order:
        if strange := [label for label in met if label not in order]:
            raise ValueError(f"labels {strange[:3]} are not in the order {list(order)}")
        return {label: at for at, label in enumerate(order)}
    if any(isinstance(label, str) for label in met):
        if ordered:
            raise ValueError("words have no order of their own: give `order`, least first")
        return {label: at for at, label in enumerate(met)}
    return {label: at for at, label in enumerate(sorted(met, key=float))}


def _cost(size: int, weights: Literal["linear", "quadratic"] | None) -> Floats:
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    if weights is None:
        return np.asarray((apart > 0).astype(np.float64))
    return apart if weights == "linear" else apart**2
