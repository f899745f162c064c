"""A sample's overall answer; of a pair each side's, as far as the second one's can be told."""

from __future__ import annotations

import math
from collections.abc import Iterator

from judgegraph.report.amounts import number
from judgegraph.runtime.item import Item


def overalls(item: Item) -> Iterator[tuple[str, str]]:
    """(name, value); a run keeps that of the output alone, which of a pair is A's."""
    if item.overall is None:
        return
    if not item.comparisons:
        yield "overall", number(item.overall)
        return
    yield "overall of A (output)", number(item.overall)
    if (rival := _rival(item, item.overall)) is not None:
        yield "overall of B (rival)", number(rival)


def _rival(item: Item, overall: float) -> float | None:
    """B's mean over the very comparisons whose mean for A is the overall answer; None where they are none's."""
    agents = {c.agent: None for c in item.comparisons}
    for agent in agents:
        found = [(c.score_a, c.score_b) for c in item.comparisons if c.agent == agent]
        both = [(a, b) for a, b in found if a is not None and b is not None]
        if both and math.isclose(math.fsum(a for a, _ in both) / len(both), overall, abs_tol=1e-9):
            return math.fsum(b for _, b in both) / len(both)
    return None
