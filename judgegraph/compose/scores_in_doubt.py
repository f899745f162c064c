"""Conditions over scores, one after the other: wide, low, failed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeAlias

from judgegraph.answers import ANSWERING, UNTOUCHED, distribution_width
from judgegraph.errors import ConfigError, one_line
from judgegraph.types import Scale, Score, given_criteria

State: TypeAlias = Mapping[str, Any]  # of a graph: as `judgegraph.types.EvalState`
BLIND, OFF = "condition-blind", "threshold-off-scale"  # kinds of notes
NOT_ASKED = UNTOUCHED[0]  # note of a score that a gate let pass
NEARLY = 1e-9  # a width or distance that is greater by less than this is not greater


@dataclass(frozen=True)
class OfScores:
    """Base of conditions that look at one score after the other; of several of one criterion any may be in doubt.

    Of a pair they look at the output's scores: what is reviewed, escalated or gated is the output's judgement.

    Attributes:
        stage: of the scores it looks at; None: those that are reviewed or escalated, in a gate the drafts.
        agent: whose they are; None: anybody's.
        last: of several agents' scores of a criterion the last one's alone, as a critic reviews that one.
    """

    stage: str | None = field(default=None, kw_only=True)
    agent: str | None = field(default=None, kw_only=True)
    last: bool = field(default=False, kw_only=True, repr=False)
    name: ClassVar[str]
    own: ClassVar[bool] = False

    def __bool__(self) -> bool:
        """Refused: a condition by itself is neither true nor false.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(
            f"jg.{self.name}(...) is neither true nor false by itself (in `x or y`, `if x`): join conditions by "
            f"jg.either, or ask one about a state, jg.{self.name}(...)(state)"
        )

    def __call__(self, state: State) -> dict[str, str]:
        found: dict[str, str] = {}
        for score in self.scores(state):
            if score.criterion not in found and (why := self.why(score)):
                found[score.criterion] = why
        return found

    def scores(self, state: State) -> list[Score]:
        """Those that it looks at, a rival's never among them.

        Where a panel scored a criterion, at whatever stage, its score is looked at and not those of its members.
        """
        given = [s for s in (state.get("scores") or {}).values() if s.of == "output"]
        stage = self.stage or "draft"
        found = [s for s in given if s.stage == stage and self.agent in (None, s.agent)]
        if self.agent is None and stage in ANSWERING and any(s.member for s in found):
            answers = [s for s in given if s.stage in ANSWERING and not s.member]
            joined = {s.criterion for s in answers}
            found = [s for s in found if not s.member or s.criterion not in joined]
            met = {s.criterion for s in found}
            found += [s for s in answers if s.criterion not in met]
        return list({s.criterion: s for s in found}.values()) if self.last else found

    def at(self, stage: str, agent: str | None = None, *, last: bool = False) -> Self:
        """A stage of its own stands, an agent of its own too."""
        last = last and self.stage in (None, stage)
        return replace(self, stage=self.stage or stage, agent=self.agent or agent, last=self.last or last)

    def why(self, score: Score) -> str:
        """Why a score is in doubt, "" where it is not."""
        raise NotImplementedError

    def remarks(self, state: State) -> dict[str, str]:
        """Kind of note -> why it could find nothing, or would find everything, whatever the scores are."""
        scores = self.scores(state)
        if not scores:
            whose = f" by '{self.agent}'" if self.agent else ""
            return {BLIND: f"{self.name} looks at stage '{self.stage or 'draft'}'{whose}, where no score stands"}
        return {kind: text for kind, text in ((BLIND, self.blind(scores)), (OFF, self.off(scores))) if text}

    def blind(self, scores: Sequence[Score]) -> str:
        """Why none of these scores can be in doubt, "" where one can."""
        return ""

    def off(self, scores: Sequence[Score]) -> str:
        """Which threshold lies off the scale of one of these scores, "" where all lie on theirs."""
        return ""


@dataclass(frozen=True)
class Wide(OfScores):
    """A score whose distribution is wide.

    Width is the standard deviation as a share of the scale's range (0 to 0.5), of labels what the most probable one
    leaves to the others, 1 - p. It is taken over what was seen on the scale (`Score.distribution`).

    Attributes:
        above: 0 to 1; a score is in doubt where its width is greater.
        unknown: so is one that has an answer and no distribution (a stated number): nobody knows how sure it is. False
            takes it for sure. A score without an answer has no width: see `Failed`.
    """

    above: float = 0.15
    unknown: bool = True
    name: ClassVar[str] = "wide"

    def __post_init__(self) -> None:
        check_share("wide: above", self.above)

    def why(self, score: Score) -> str:
        if score.answer is None:
            return ""
        width = distribution_width(score)
        if width is None:
            return "how wide it is cannot be known: there is no distribution" if self.unknown else ""
        what = (
            "the other labels' share" if score.label is not None else "the standard deviation as a share of the range"
        )
        return f"{what} is {width:.3g}, above {self.above:g}" if width - self.above > NEARLY else ""

    def blind(self, scores: Sequence[Score]) -> str:
        """Where none has a distribution, and the unknown is taken for sure."""
        read = [score for score in scores if score.answer is not None]
        if self.unknown or not read or any(distribution_width(score) is not None for score in read):
            return ""
        return "wide: no score has a distribution, and unknown=False takes all of them for sure"

    def off(self, scores: Sequence[Score]) -> str:
        """Half of the range is the widest that a number can be."""
        most = 0.5 if any(s.value is not None for s in scores) else 1.0
        return f"wide: no score can be wider than {most:g}, and above is {self.above:g}" if self.above >= most else ""


@dataclass(frozen=True)
class Low(OfScores):
    """A low score: below a value in the units of its scale, or below a share of the scale's range.

    Labels have no order and are never low.

    Attributes:
        below: in units of the scale, such as 3 on 1-5. share: 0 to 1 of the range instead, 0.5 for its middle.
    """

    below: float | None = None
    share: float | None = None
    name: ClassVar[str] = "low"

    def __post_init__(self) -> None:
        if (self.below is None) == (self.share is None):
            raise ConfigError("low: expected either below=, in units of the scale, or share=, 0 to 1 of its range")
        if self.share is not None:
            check_share("low: share", self.share)
        elif not is_number(self.below):
            raise ConfigError(f"low: below: expected a number, got {self.below!r:.40}")

    def why(self, score: Score) -> str:
        limit = self._limit(score.scale)
        if score.value is None or limit is None:
            return ""
        return f"{score.value:.4g} is below {limit:g}" if score.value < limit else ""

    def _limit(self, scale: Scale | None) -> float | None:
        """In units of the scale; None where it has no range to take a share of."""
        if self.share is None:
            return self.below
        if scale is None or scale.low is None or scale.high is None:
            return None
        return scale.low + self.share * (scale.high - scale.low)

    def blind(self, scores: Sequence[Score]) -> str:
        """Where all scores are labels."""
        labels = [score for score in scores if score.label is not None]
        return "low: all scores are labels, which have no order" if labels and len(labels) == len(scores) else ""

    def off(self, scores: Sequence[Score]) -> str:
        for score in scores:
            scale, limit = score.scale, self._limit(score.scale)
            if scale is None or scale.low is None or scale.high is None or limit is None:
                continue
            of = f"on the scale {scale} of '{one_line(score.criterion, 60)}'"
            if limit <= scale.low:
                return f"low: nothing {of} is below {limit:g}: no score can be in doubt"
            if limit > scale.high:
                return f"low: everything {of} is below {limit:g}: every score is in doubt"
        return ""


@dataclass(frozen=True)
class Failed(OfScores):
    """A criterion without an answer: its score failed or abstains, or it was asked for and has no score."""

    name: ClassVar[str] = "failed"

    def __call__(self, state: State) -> dict[str, str]:
        scored = {score.criterion for score in self.scores(state)}
        missing = {c.name: "it has no score" for c in given_criteria(state) or () if c.name not in scored}
        return {**super().__call__(state), **missing}

    def why(self, score: Score) -> str:
        return f"there is no answer ({score.status})" if score.answer is None else ""


def is_number(value: Any) -> bool:
    """A number, and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def check_share(what: str, value: Any) -> None:
    """A threshold is a share.

    Raises:
        ConfigError: it is no number from 0 to 1; `what` says whose.
    """
    if not is_number(value) or not 0 <= value <= 1:
        raise ConfigError(f"{what}: expected a number from 0 to 1, got {value!r:.40}")
