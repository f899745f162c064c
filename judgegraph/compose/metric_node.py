"""Metrics as a node: assistants asked of every sample, each value a finding and a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from judgegraph.agents.fusion_judge import without_evidence
from judgegraph.tools.catalogue import AssistantLike, assistants
from judgegraph.tools.finding import Assistant, find_all
from judgegraph.types import Finding, Notes, Sample, Score, Scores, keyed, sample_of


class Measured(TypedDict):  # what a metric node reads
    sample: Sample
    findings: NotRequired[dict[str, Finding]]  # an assistant that was asked before is not asked again


class Values(TypedDict):  # what it writes
    findings: dict[str, Finding]  # assistant -> what it said
    scores: Scores  # the same, a score each
    notes: NotRequired[Notes]  # where none of them has a value


@dataclass(frozen=True, kw_only=True)
class MetricNode:
    """Asks its assistants side by side, plain ones off the event loop.

    A score's criterion is the metric's name, its value that of the metric in the metric's own units (no scale). Where
    a metric has no value (the sample lacks a reference, say) its score has the finding's status.

    Attributes:
        name: of the agent that its scores name. stage: of those scores.
    """

    assistants: Sequence[Assistant]
    name: str = "metric"
    stage: str = "metric"

    async def __call__(self, state: Measured) -> Values:
        said = state.get("findings") or {}
        found = await find_all([a for a in self.assistants if a.name not in said], sample_of(state))
        mine = [{**said, **found}[a.name] for a in self.assistants]
        silent = without_evidence(self.name, [a.name for a in self.assistants], {f.assistant: f for f in mine}, None)
        return {"findings": found, "scores": keyed(*map(self._score, mine)), "notes": keyed(*silent)}

    def _score(self, finding: Finding) -> Score:
        answer = {"label" if isinstance(finding.value, str) else "value": finding.value}
        return Score.model_validate({
            "criterion": finding.assistant, "agent": self.name, "stage": self.stage, "reader": "plain",
            "status": finding.status, "reason": finding.reason, **(answer if finding.status == "ok" else {}),
        })  # fmt: skip


def metric_node(*which: AssistantLike, name: str = "metric", stage: str = "metric") -> MetricNode:
    """A node that writes what metrics say of a sample: `g.add_node("rouge", jg.metric_node("rouge-l", "chrf"))`.

    Args:
        which: assistants by name, or assistant objects; one or more.
        name, stage: of the scores, beside the metric's name as their criterion.

    Raises:
        ConfigError: none at all, no such name, no assistant, or two of one name.
    """
    return MetricNode(assistants=assistants(which), name=name, stage=stage)
