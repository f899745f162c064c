"""Apply a critic's verdicts to the drafts: plain code, no model."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import TypedDict

from judgegraph.types import Rectification, Score, Scores, keyed


class Verdicts(TypedDict):  # what rectify reads
    scores: Scores
    rectifications: dict[str, Rectification]


class Final(TypedDict):  # what it writes
    scores: Scores


@dataclass(frozen=True, kw_only=True)
class Rectify:
    """Writes a final score beside every draft.

    What the critic keeps has the draft's value. What it changes has its value, on the same scale. A draft
    without a value stays without one; where the critic failed, the final score has the critic's status: an
    unreviewed draft is not a reviewed score.

    Attributes:
        stage: of the scores that were reviewed. name: the agent that the final scores name.
    """

    stage: str = "draft"
    name: str = "sage"

    def __call__(self, state: Verdicts) -> Final:
        drafts = [s for s in state["scores"].values() if s.stage == self.stage]
        said = state["rectifications"]
        return {"scores": keyed(*(_final(d, said.get(d.criterion), self.name) for d in drafts))}


def _final(draft: Score, verdict: Rectification | None, agent: str) -> Score:
    final = draft.model_copy(update={"stage": "final", "agent": agent, "raw": None})
    if draft.status != "ok":
        return final
    if verdict is None or verdict.status != "ok":
        status = "skipped" if verdict is None else verdict.status
        reason = verdict.reason if verdict else "the critic said nothing of this criterion"
        return Score(criterion=draft.criterion, agent=agent, status=status, scale=draft.scale, reason=reason)
    if verdict.action == "keep":
        return final.model_copy(update={"reason": verdict.reason or draft.reason})
    scale = draft.scale
    return Score(
        criterion=draft.criterion, agent=agent, scale=scale, reason=verdict.reason, reader=verdict.reader,
        value=scale.check(verdict.value) if scale and verdict.value is not None else verdict.value,
        label=verdict.label, distribution=verdict.distribution, unseen=verdict.unseen, notes=verdict.notes,
    )  # fmt: skip
