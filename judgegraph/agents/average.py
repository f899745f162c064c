"""The average: a target's score is the mean of its aspects' scores; plain code, no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from judgegraph.agents.chain import Chain, Chained, Fused
from judgegraph.calls.samples import mean_of
from judgegraph.types import Criterion, Note, Scale, Score, given_criteria, keyed


@dataclass(frozen=True, kw_only=True)
class Average:
    """Gives each target the mean of its chain's scores, in the units of the target's scale.

    Source: CoAScore section 4.6 and table 6, the ablation "average". The paper's scales are all 1-5; ours: on another
    one the same share of its range. As with the fuser an aspect without a score is left out and noted, and a
    target that no aspect speaks for has the status of what failed. A target with labels has no mean: it is skipped.

    Attributes:
        criteria: the targets, where the state brings none. chains: the name of the chains that it reads, "" for none.
    """

    criteria: Sequence[Criterion] = ()
    name: str = "average"
    stage: str = "final"
    chains: str = ""

    def __call__(self, state: Chained) -> Fused:
        done = [self._averaged(state, target) for target in given_criteria(state) or self.criteria]
        return {
            "scores": keyed(*(score for score, _ in done)),
            "notes": keyed(*(note for _, notes in done for note in notes)),
        }

    def _averaged(self, state: Chained, target: Criterion) -> tuple[Score, list[Note]]:
        if target.scale.labels:
            return self._score(target, status="skipped", reason="labels have no mean"), []
        chain = Chain.of(state, target, self.chains)
        given = [chain.rated[aspect.name] for aspect in chain.known]
        values = [moved(s.value, s.scale, target.scale) for s in given if s.value is not None and s.scale is not None]
        if not values:
            return chain.unscored(self.name, self.stage, state.get("notes") or {})
        why = f"the mean of {len(values)} aspects' scores"
        score = self._score(target, value=mean_of(values), reader="mean", reason=why, notes=chain.left_out)
        return score, chain.unrated(self.name)

    def _score(self, target: Criterion, **fields: Any) -> Score:
        return Score(criterion=target.name, agent=self.name, stage=self.stage, scale=target.scale, **fields)


def moved(value: float, scale: Scale, to: Scale) -> float:
    """A value at the same share of another scale's range; neither scale has labels."""
    if scale.low is None or scale.high is None or to.low is None or to.high is None or scale == to:
        return value
    share = (value - scale.low) / (scale.high - scale.low)
    return to.low + share * (to.high - to.low)
