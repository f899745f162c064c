"""Final scores beside all that a critic might have reviewed, asked about or not: plain code, no model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from judgegraph.agents.rectify import Rectify
from judgegraph.agents.under_review import nothing_there, places, readable, unread
from judgegraph.compose.conditions import EVERY
from judgegraph.compose.under_doubt import Reviewed
from judgegraph.errors import ConfigError
from judgegraph.types import Criterion, Notes, Rectification, Score, Scores, key_of, keyed

NOT_ASKED = "the critic was not asked: nothing was in doubt"


class Reviewing(TypedDict):  # what stands in the state after the critic
    scores: Scores
    rectifications: NotRequired[dict[str, Rectification]]
    doubts: NotRequired[dict[str, str]]  # where a gate stands before the critic


class Settled(TypedDict):
    """What it writes."""

    scores: Scores
    notes: Notes


@dataclass(frozen=True, kw_only=True)
class Settle:
    """Writes a final score beside every score under review.

    What the critic was asked about is rectified as it says (see `Rectify`). The rest has the value it had, and a note
    that says so. The draft's key stands in each.

    Attributes:
        reviewed: which scores are under review. name: the critic, whom the final scores name as their agent.
        criteria: that the critic was shown where the state brought none; here a run's configuration finds them.
    """

    reviewed: Reviewed
    criteria: Sequence[Criterion] = ()
    name: str = "sage"

    async def __call__(self, state: Reviewing) -> Settled:
        scores, asked = self.reviewed.all(state), self.reviewed.asked(state)
        if not scores:
            return {"scores": {}, "notes": nothing(self.name, self.reviewed, state)}
        check(scores.values(), self.name)
        said, doubts = state.get("rectifications") or {}, state.get("doubts") or {}
        finals = [
            noted(rectified(s, said, self.name), *was_asked(doubts, c)) if c in asked else kept(s, self.name)
            for c, s in scores.items()
        ]
        return {"scores": keyed(*finals), "notes": not_read(self.name, asked)}


def rectified(score: Score, said: Mapping[str, Rectification], critic: str) -> Score:
    """The final score beside one that a critic reviewed; see `Rectify`."""
    made = Rectify(stage=score.stage, name=critic)({"scores": keyed(score), "rectifications": dict(said)})
    (final,) = made["scores"].values()
    return final


def kept(score: Score, critic: str) -> Score:
    """The final score beside one that the critic was not asked about: as it was, and it says so."""
    notes = (*score.notes, NOT_ASKED)
    return score.model_copy(
        update={"stage": "final", "agent": critic, "raw": None, "draft": score.key, "notes": notes}
    )  # fmt: skip


def was_asked(doubts: Mapping[str, str], criterion: str) -> tuple[str, ...]:
    """Why the critic was asked about a criterion, where a gate had to open for it."""
    why = doubts.get(criterion) or doubts.get(EVERY, "")
    return (f"the critic was asked: {why}",) if why else ()


def noted(score: Score, *notes: str) -> Score:
    """The score with more to say of it."""
    return score.model_copy(update={"notes": tuple(dict.fromkeys((*score.notes, *notes)))}) if notes else score


def check(scores: Iterable[Score], critic: str) -> None:
    """A critic that reviews its own finals would overwrite them.

    Raises:
        ConfigError: it would.
    """
    for score in scores:
        if score.key == key_of(score.criterion, critic, "final", 0):
            raise ConfigError(
                f"the scores under review are the final ones of '{critic}', and what it says of them would overwrite "
                f"them: give this critic another name, such as name='second-{critic}'"
            )


def nothing(critic: str, reviewed: Reviewed, state: Mapping[str, Any]) -> Notes:
    """A note for a sample without a score to review."""
    there = places((state.get("scores") or {}).values())
    return keyed(nothing_there(critic, reviewed.stage, reviewed.of or "", there))


def not_read(critic: str, asked: Mapping[str, Score]) -> Notes:
    """A note where the critic was not asked, as no score that it would be shown could be read; else none."""
    return keyed(unread(critic, list(asked.values()))) if asked and not readable(asked.values()) else {}
