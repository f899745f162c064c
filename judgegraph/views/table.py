"""Tables of scores, comparisons and the like as a notebook shows them."""

from __future__ import annotations

from typing import Any

from judgegraph.runs.run import Table
from judgegraph.shown import draws
from judgegraph.views.amounts import number_text
from judgegraph.views.trace import framed, table

FIRST = 10  # rows
NUMERIC = ("value", "score_a", "score_b", "samples", "mean", "low", "high", "n", "judged", "calls", "tokens", "usd")
UNSHOWN = ("repeat", "of", "unseen")  # columns of a table of scores


@draws(Table)
def table_html(shown_table: Table) -> str:
    """The first rows, and how many there are."""
    count, shown = len(shown_table), [name for name in shown_table.columns if name not in UNSHOWN]
    caption = f"{count:,} {shown_table.what}s" + (f", the first {FIRST}" if count > FIRST else "")
    rows = [[_cell(row.get(name)) for name in shown] for row in shown_table.rows[:FIRST]]
    return framed(table(caption, shown, rows, NUMERIC))


def _cell(value: Any) -> object:
    return "" if value is None else number_text(value) if isinstance(value, float) else value
