"""Which scores a critic reviews, and how it sees them: as drafts, whatever stage they are of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgegraph.compose.doubt import of_these
from judgegraph.types import Criterion, Scale, Score, Scores, given_criteria, keyed

State = Mapping[str, Any]


@dataclass(frozen=True)
class Reviewed:
    """The scores of a stage and an agent, one per criterion.

    Attributes:
        stage: theirs. of: the agent whose they are; None: anybody's, of several the last one's.
    """

    stage: str = "draft"
    of: str | None = None

    def all(self, state: State) -> dict[str, Score]:
        """Criterion -> score; of a pair those of the output."""
        given: Mapping[str, Score] = state.get("scores") or {}
        met = (s for s in given.values() if s.stage == self.stage and s.of == "output")
        return {s.criterion: s for s in met if self.of in (None, s.agent)}

    def asked(self, state: State) -> dict[str, Score]:
        """Those that the critic is asked about: where a gate stands before it, the ones in doubt."""
        scores = self.all(state)
        if "doubts" not in state:
            return scores
        return {criterion: scores[criterion] for criterion in of_these(state["doubts"], scores)}

    def shown(
        self, state: State, scores: Collection[Score], stage: str, own: Sequence[Criterion] = ()
    ) -> dict[str, Any]:
        """A state in which these are the only scores at the critic's stage, and their criteria all there are.

        Args:
            own: criteria, where the state brings none.
        """
        given: Scores = state.get("scores") or {}
        others = {key: s for key, s in given.items() if s.stage not in (stage, self.stage)}
        mine = keyed(*(score.model_copy(update={"stage": stage}) for score in scores))
        criteria = criteria_of(state, own, {s.criterion: s.scale for s in scores})
        return {**state, "scores": {**others, **mine}, "criteria": criteria}


def criteria_of(state: State, own: Sequence[Criterion], names: Mapping[str, Scale | None]) -> list[Criterion]:
    """Criteria of these names, in the order they were asked, on the scales that their scores have.

    Args:
        own: where the state brings none. names: criterion -> scale of its score, None where it has none. One that
            neither knows is as it was written for the sample, else nothing but its name.
    """
    known = {c.name: c for c in (state.get("branches") or {}).values()}
    listed = {c.name: c for c in given_criteria(state) or own}
    ordered = [name for name in listed if name in names] + [name for name in names if name not in listed]
    found = [listed.get(name) or known.get(name) or Criterion(name=name) for name in ordered]
    return [c if (scale := names[c.name]) in (None, c.scale) else c.model_copy(update={"scale": scale}) for c in found]
