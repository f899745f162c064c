"""A sample's overall answer; of a pair each side's, as far as the second one's can be told."""

from __future__ import annotations

from collections.abc import Iterator

from judgegraph.report.amounts import number
from judgegraph.runtime.item import Item
from judgegraph.runtime.outcome import rival_overall


def overalls(item: Item) -> Iterator[tuple[str, str]]:
    """(name, value); a run keeps that of the output alone, which of a pair is A's."""
    if item.overall is None:
        return
    if not item.comparisons:
        yield "overall", number(item.overall)
        return
    yield "overall of A (output)", number(item.overall)
    if (rival := rival_overall(item)) is not None:
        yield "overall of B (rival)", number(rival)
