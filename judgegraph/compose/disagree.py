"""The condition over several judges: they disagree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar, Self

from judgegraph.compose.of_scores import BLIND, NEARLY, OFF, State, check_share
from judgegraph.types import Score

STAGES = ("ballot", "draft", "final")


@dataclass(frozen=True)
class Disagree:
    """A criterion that several judges score differently.

    Every two answers of one criterion are compared, those that failed and those of a rival left out. A score that
    another one rectifies (`Score.draft`) does not count beside it. One judge alone never disagrees.

    Attributes:
        above: 0 to 1; in doubt where the greatest distance, each score as a share of its scale's range, is greater.
            Labels are in doubt where any two differ.
        stage: one or several; None: ballots, drafts and finals; where a panel left several ballots of a criterion,
            these alone, as they are copies of what its members wrote elsewhere and its own score comes of them.
    """

    above: float = 0.25
    stage: str | tuple[str, ...] | None = field(default=None, kw_only=True)
    name: ClassVar[str] = "disagree"
    own: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_share("disagree: above", self.above)
        if isinstance(self.stage, list):
            object.__setattr__(self, "stage", tuple(self.stage))

    def __call__(self, state: State) -> dict[str, str]:
        by = self._answers(state)
        said = {criterion: self._why(scores) for criterion, scores in by.items()}
        return {criterion: why for criterion, why in said.items() if why}

    def _answers(self, state: State) -> dict[str, list[Score]]:
        """Criterion -> the answers that it compares."""
        stages = (self.stage,) if isinstance(self.stage, str) else self.stage or STAGES
        given: Iterable[Score] = (state.get("scores") or {}).values()
        met = [s for s in given if s.of == "output" and s.stage in stages]
        if self.stage is None:
            cast = Counter(s.criterion for s in met if s.stage == "ballot")
            met = [s for s in met if s.stage == "ballot" or cast[s.criterion] < 2]
        rectified = {s.draft for s in met}
        by: dict[str, list[Score]] = {}
        for score in met:
            if score.answer is not None and score.key not in rectified:
                by.setdefault(score.criterion, []).append(score)
        return by

    def remarks(self, state: State) -> dict[str, str]:
        """Kind of note -> why it could find nothing, whatever the scores are."""
        by = self._answers(state)
        numbers = any(score.value is not None for scores in by.values() for score in scores)
        if self.above >= 1 and numbers:
            return {OFF: f"disagree: no two scores can be further apart than 1, and above is {self.above:g}"}
        if any(len(scores) > 1 for scores in by.values()):
            return {}
        stages = (self.stage,) if isinstance(self.stage, str) else self.stage or STAGES
        return {BLIND: f"disagree: no criterion has the answers of two judges at stage {' or '.join(stages)}"}

    def at(self, stage: str, agent: str | None = None, *, last: bool = False) -> Self:
        """As it is: judges disagree among themselves, whoever is reviewed."""
        return self

    def _why(self, scores: list[Score]) -> str:
        labels = {s.label.casefold() for s in scores if s.label is not None}
        if len(labels) > 1 or (labels and any(s.label is None for s in scores)):
            return f"{len(scores)} judges give different labels"
        apart = max((abs(_place(a) - _place(b)) for a, b in combinations(scores, 2)), default=0.0)
        if labels or apart - self.above <= NEARLY:
            return ""
        return f"{len(scores)} judges are {apart:.3g} of the range apart, above {self.above:g}"


def _place(score: Score) -> float:
    """Where a number stands on its scale, 0 to 1; without a scale it stands for itself."""
    scale, value = score.scale, score.value or 0.0
    if scale is None or scale.low is None or scale.high is None:
        return value
    return (value - scale.low) / (scale.high - scale.low)
