"""Apply a critic's verdicts to the drafts: plain code, no model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from typing_extensions import TypedDict

from judgegraph.agents.under_review import at_that_point, same_point
from judgegraph.calls.ratings import GAINSAID
from judgegraph.types import Rectification, Score, Scores, key_of


class Verdicts(TypedDict):  # what rectify reads
    scores: Scores
    rectifications: dict[str, Rectification]


class Final(TypedDict):  # what it writes
    scores: Scores


@dataclass(frozen=True, kw_only=True)
class Rectify:
    """Writes a final score beside every draft.

    What the critic keeps has the draft's value. What it changes has its value, on the same scale; a change that names
    the point which a fractional draft is at (4 for 3.62) is a keep, with a note (`votes.same_point`). A draft
    without a value stays without one; where the critic failed, the final score has the critic's status: an
    unreviewed draft is not a reviewed score. A final score names its draft by the draft's key.

    Of several critics' verdicts those by the agent `name` count; where it said nothing at all, those of any other
    critic do, under whatever keys it wrote them.

    Attributes:
        stage: of the scores that were reviewed. name: the critic, whom the final scores name as their agent.
    """

    stage: str = "draft"
    name: str = "sage"

    def __call__(self, state: Verdicts) -> Final:
        drafts = [s for s in state["scores"].values() if s.stage == self.stage]
        said = state["rectifications"]
        finals = (_final(d, _verdict(said, d.criterion, self.name), self.name) for d in drafts)
        return {"scores": {final.key: final for final in finals}}  # of several agents' drafts the last, as its critic


def _verdict(said: Mapping[str, Rectification], criterion: str, critic: str) -> Rectification | None:
    """The critic's own verdict; without any of its own another's, by criterion: the last one's."""
    if (own := said.get(key_of(criterion, critic))) is not None:
        return own
    theirs = [r for r in said.values() if r.agent == critic] or said.values()
    found = [r for r in theirs if r.criterion == criterion]
    return found[-1] if found else None


def _final(draft: Score, verdict: Rectification | None, agent: str) -> Score:
    final = draft.model_copy(update={"stage": "final", "agent": agent, "raw": None, "draft": draft.key})
    if draft.status != "ok":
        return final
    if verdict is None or verdict.status != "ok":
        status = "skipped" if verdict is None else verdict.status
        reason = verdict.reason if verdict else "the critic said nothing of this criterion"
        return Score(
            criterion=draft.criterion, agent=agent, status=status, scale=draft.scale, reason=reason, draft=draft.key
        )  # fmt: skip
    if verdict.action == "keep":
        notes = (*final.notes, *(note for note in verdict.notes if GAINSAID in note))
        return final.model_copy(update={"reason": verdict.reason or draft.reason, "notes": notes})
    scale = draft.scale
    if verdict.value is not None and same_point(verdict.value, draft.value, scale):
        way = {"up": "raise", "down": "lower"}.get(verdict.direction, "change")
        note = at_that_point(way, verdict.value, draft.value or 0.0)
        return final.model_copy(update={"reason": verdict.reason or draft.reason, "notes": (*final.notes, note)})
    return Score(
        criterion=draft.criterion, agent=agent, scale=scale, reason=verdict.reason, reader=verdict.reader,
        value=scale.check(verdict.value) if scale and verdict.value is not None else verdict.value,
        label=verdict.label, distribution=verdict.distribution, unseen=verdict.unseen, notes=verdict.notes,
        draft=draft.key,
    )  # fmt: skip
