"""How many resamples an interval gets, so that many samples and criteria do not keep the report waiting."""

from __future__ import annotations

from collections.abc import Sequence

from judgegraph.runtime.item import Item

WORK, LEAST, MOST = 1_600_000, 100, 1_000


def draws(items: Sequence[Item]) -> int:
    """1,000 for up to 200 samples of eight criteria, fewer for more, at least 100."""
    labels = sum(len(item.sample.human) for item in items)
    return max(LEAST, min(MOST, WORK // max(1, labels) // 50 * 50))
