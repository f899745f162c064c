"""Agreement of labels: accuracy, precision, recall and F1; kappa, alpha and both orders by name."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from judgegraph.stats.kappa import cohen_kappa
from judgegraph.stats.krippendorff import krippendorff_alpha
from judgegraph.stats.verdicts import Orders, both_orders

__all__ = ["Label", "Macro", "Orders", "accuracy", "both_orders", "cohen_kappa", "krippendorff_alpha", "macro"]

Label: TypeAlias = float | str


@dataclass(frozen=True)
class Macro:
    """Plain means over the classes; where nothing was found, or there was nothing to find, a class counts as 0."""

    precision: float
    recall: float
    f1: float


def accuracy(human: Sequence[Label], metric: Sequence[Label | None]) -> float:
    """Share of items on which the metric says what people say, nan of no items; None (unread) is wrong."""
    pairs = list(zip(human, metric, strict=True))
    return sum(said == right for right, said in pairs) / len(pairs) if pairs else math.nan


def macro(human: Sequence[Label], metric: Sequence[Label | None], classes: Sequence[Label] = ()) -> Macro:
    """Precision, recall and F1 of each class, then their means.

    Args:
        classes: over which the means are taken; () for those that people gave. An answer that is none of them, or None
            (unread), is a miss of the right class and counts against the precision of no class.
    """
    right: Counter[Label] = Counter(h for h, m in zip(human, metric, strict=True) if h == m)
    wanted, given = Counter(human), Counter(metric)
    chosen = list(dict.fromkeys(classes or wanted))
    if not chosen:
        return Macro(math.nan, math.nan, math.nan)
    precision = [_share(right[c], given[c]) for c in chosen]
    recall = [_share(right[c], wanted[c]) for c in chosen]
    f1 = [_share(2 * right[c], given[c] + wanted[c]) for c in chosen]
    return Macro(*(sum(values) / len(chosen) for values in (precision, recall, f1)))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
