"""Which assistant the plans of a run assigned to which criterion, and what came of asking it (Fusion-Eval, table 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judgegraph.runs.item import Item
from judgegraph.types import Finding, Plan

ALIGNMENT = ("criterion", "assistant", "plans", "assigned", "consulted", "ok", "absent")


def alignment_rows(items: Iterable[Item]) -> list[dict[str, Any]]:
    """A row for each criterion and assistant of the plans, assigned or not, in the order of the plans.

    Columns: `plans`, samples with a plan that could be read; `assigned`, in how many of them the plan names the
    assistant for the criterion; of those `consulted`, it was asked, and `ok`, it gave a value; `absent`: the most
    frequent reason why not, "" where it always did. An assistant that is offered and that no plan names has its rows.

    Source: Shu et al. 2023, arXiv:2311.09204, table 4, which has a mark where the plan assigns.
    """
    plans: list[tuple[Plan, Mapping[str, Finding]]] = []
    for item in items:
        if item.plan is not None and item.plan.status == "ok":
            plans.append((item.plan, {finding.assistant: finding for finding in item.findings}))
    criteria = dict.fromkeys(name for plan, _ in plans for name in plan.alignment)
    offered = dict.fromkeys(name for plan, said in plans for name in (*_named(plan), *plan.usage, *said))
    return [_row(criterion, assistant, plans) for criterion in criteria for assistant in offered]


def _named(plan: Plan) -> Iterable[str]:
    return (name for serving in plan.alignment.values() for name in serving)


def _row(criterion: str, name: str, plans: Sequence[tuple[Plan, Mapping[str, Finding]]]) -> dict[str, Any]:
    assigned = [said.get(name) for plan, said in plans if name in plan.alignment.get(criterion, ())]
    asked = [finding for finding in assigned if finding is not None]
    silent = [finding for finding in asked if finding.status != "ok"]
    why = Counter(f"{finding.status}: {finding.reason}" for finding in silent)
    why.update(["not consulted"] * (len(assigned) - len(asked)))
    return {
        "criterion": criterion, "assistant": name, "plans": len(plans), "assigned": len(assigned),
        "consulted": len(asked), "ok": len(asked) - len(silent), "absent": why.most_common(1)[0][0] if why else "",
    }  # fmt: skip
