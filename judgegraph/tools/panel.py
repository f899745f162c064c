"""The panel: all assistants that a plan names, asked without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from judgegraph.tools.finding import Assistant, find_all
from judgegraph.types import Finding, Plan, Sample, sample_of


class Named(TypedDict):  # what the panel reads
    sample: Sample
    plan: NotRequired[Plan]
    findings: NotRequired[dict[str, Finding]]


class Found(TypedDict):  # what it writes
    findings: dict[str, Finding]  # assistant -> what it said


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Asks every assistant that some criterion is aligned to, the paper's way; without a plan, all of them.

    Source: Fusion-Eval (arXiv:2311.09204), figure 1: the plan's template is filled with the assistants' scores.
    An assistant that was asked before is not asked again.
    """

    assistants: Sequence[Assistant]
    name: str = "panel"

    async def __call__(self, state: Named) -> Found:
        said, plan = state.get("findings") or {}, state.get("plan")
        named = {name for serving in plan.alignment.values() for name in serving} if plan else set()
        asked = [
            a
            for a in self.assistants
            if a.name not in said and (plan is None or plan.status != "ok" or a.name in named)
        ]
        return {"findings": await find_all(asked, sample_of(state))}
