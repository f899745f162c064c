"""Verdicts on pairs that were asked for in both orders: are they right, and do they hold?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Orders:
    """Shares of n pairs, 0 to 1, nan of none.

    Attributes:
        accuracy_first, accuracy_second, accuracy_mean: right in the given order, in the exchanged one, their mean.
        agreement: right in both orders. consistency: the same verdict in both.
        unread_first, unread_second: how many pairs had no verdict that could be read.
    """

    accuracy_first: float
    accuracy_second: float
    accuracy_mean: float
    agreement: float
    consistency: float
    n: int
    unread_first: int = 0
    unread_second: int = 0


def both_orders(
    human: Sequence[float | str],
    first: Sequence[float | str | None],
    second: Sequence[float | str | None],
    *,
    unread_agree: bool = False,
) -> Orders:
    """Compares verdicts in the given and the exchanged order with people's; the exchanged ones are mapped back before.

    Args:
        first, second: None where a verdict could not be read; it is wrong.
        unread_agree: whether a pair unread in both orders counts as consistent.
    """
    rows = list(zip(human, first, second, strict=True))
    n = len(rows)

    def share(count: int) -> float:
        return count / n if n else math.nan

    right = [(h == one, h == two) for h, one, two in rows]
    one, two = share(sum(a for a, _ in right)), share(sum(b for _, b in right))
    same = sum(a == b and (unread_agree or a is not None) for _, a, b in rows)
    agreement = share(sum(a and b for a, b in right))
    unread = [sum(verdict is None for verdict in order) for order in (first, second)]
    return Orders(one, two, (one + two) / 2, agreement, share(same), n, *unread)
