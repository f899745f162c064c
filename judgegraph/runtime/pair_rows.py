"""A run's comparisons as rows: who won by each criterion, in which order, and over all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judgegraph.runtime.inert_cells import PAIR_COLUMNS
from judgegraph.runtime.item import Item
from judgegraph.types import Comparison, Verdict

OVERALL = "overall"  # the criterion of what is merged over all


def pair_rows(item: Item) -> Iterator[dict[str, Any]]:
    """A row per comparison of a sample, in the order of judging.

    Where the sample has a verdict, its last "overall" row has the same: if the graph wrote it without such a
    comparison, or beside another one, a row without agent and order stands there for it.
    """
    last: Verdict | None = None
    for comparison in item.comparisons:
        if comparison.criterion == OVERALL:
            last = comparison.verdict
        yield _row(item.id, comparison)
    if item.verdict not in (None, last):
        yield {
            **dict.fromkeys(PAIR_COLUMNS),
            "id": item.id,
            "criterion": OVERALL,
            "verdict": item.verdict,
            "status": "ok",
        }


def _row(id: str, comparison: Comparison) -> dict[str, Any]:
    return {"id": id, **{name: getattr(comparison, name) for name in PAIR_COLUMNS[1:]}}
