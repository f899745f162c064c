"""A plan as a notebook shows it. Alone, because a plan brings LangGraph with it, which reading a run does without."""

from __future__ import annotations

from collections.abc import Sequence

from judgegraph.planning.forecast import Forecast, NodePlan
from judgegraph.shown import draws
from judgegraph.views.runs import NUMERIC
from judgegraph.views.screen import plan_columns
from judgegraph.views.trace import fold, framed, para, table, text


@draws(Forecast)
def forecast_html(plan: Forecast) -> str:
    """Calls and money per node: certain ones, more where every reply can be read, and at worst."""
    head = ("node", "exact", "more", "at worst", "in ledger", *(("USD",) if plan.total.cost.highest.usd else ()))
    rows = [_planned(node)[: len(head)] for node in (*plan.nodes, plan.total)]
    basis = fold(text("what this rests on"), *map(para, plan.basis))
    trouble = [para(f"no figure for what comes behind: {mishap}") for mishap in plan.mishaps]
    drawn = table(f"plan for {plan.samples:,} samples", head, rows, NUMERIC)
    return framed(drawn, *map(para, plan_columns(plan)), *trouble, basis)


def _planned(node: NodePlan) -> Sequence[str]:
    low, middle, high = node.rest
    paid = (node.cost.lowest.usd, node.cost.middle.usd)
    return (
        node.node, f"{node.exact:,}", f"{low:,}–{middle:,}" if low != middle else f"{low:,}",
        f"{high:,}", f"{node.kept:,}", f"{paid[0]:.4f}–{paid[1]:.4f}",
    )  # fmt: skip
