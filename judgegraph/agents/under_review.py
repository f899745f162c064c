"""What a critic looks at: a sample, the scores of one stage, and the criteria they were given by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, NotRequired, Protocol

from typing_extensions import TypedDict

from judgegraph.agents.review import rectification
from judgegraph.calls import Slot
from judgegraph.calls.context import context
from judgegraph.calls.ratings import Rating
from judgegraph.calls.rungs import entry_of
from judgegraph.errors import one_line
from judgegraph.prompts.sections import criteria_text, scores_text, slugs
from judgegraph.types import (
    Criterion,
    Note,
    Notes,
    Rectification,
    Sample,
    Score,
    Scores,
    Suggestion,
    given_criteria,
    keyed,
    sample_of,
)

UNREAD = "no draft could be read, so there is nothing to rectify and the critic was not asked"


class Reviewed(TypedDict):  # what a critic reads
    sample: Sample
    scores: Scores
    criteria: NotRequired[list[Criterion]]  # else its own


class Critique(TypedDict):  # what it writes
    rectifications: dict[str, Rectification]  # criterion/agent -> what it says of its score
    suggestions: list[Suggestion]
    notes: NotRequired[Notes]  # advice that could not be had


class Critic(Protocol):
    """Any agent that reviews scores: a frozen dataclass with this verb."""

    async def __call__(self, state: Reviewed) -> Critique:
        """Read the scores, say what to change."""
        ...


@dataclass(frozen=True)
class UnderReview:
    """The part of a state that a critic reviews.

    Attributes:
        asked: key of a form -> criterion, of those that were scored. drafts: criterion -> its score; of several
            agents' scores at the stage the last one's. stage: that is reviewed. others: where other scores stand.
    """

    sample: Sample
    asked: Mapping[str, Criterion]
    drafts: Mapping[str, Score]
    stage: str = "draft"
    others: tuple[str, ...] = ()

    @classmethod
    def of(cls, state: Reviewed, criteria: Sequence[Criterion], stage: str) -> UnderReview:
        """What a state holds of a stage, by its own criteria or else by these.

        Where there are none at all, by the names and scales of the drafts: scores are never left unreviewed because
        nobody said what they mean.
        """
        drafts = {s.criterion: s for s in state["scores"].values() if s.stage == stage}
        asked = slugs(given_criteria(state) or criteria or _scored(drafts.values()))
        held = {key: c for key, c in asked.items() if c.name in drafts}
        return cls(sample_of(state), held, drafts, stage, places(state["scores"].values()))

    def idle(self, agent: str) -> Critique | None:
        """What a critic writes that asks nobody, as no reply could change a score; None where one could.

        That is so without a score at its stage, without one by a criterion that is asked about, and where no draft
        could be read: a critic changes scores and gives none.
        """
        if readable(self.drafts[c.name] for c in self.asked.values()):
            return None
        lost: dict[str, Any] = {"agent": agent, "status": "skipped", "reason": UNREAD}
        verdicts = [Rectification(criterion=c.name, **lost) for c in self.asked.values()]
        return {"rectifications": keyed(*verdicts), "suggestions": [], "notes": keyed(self._why(agent))}

    def _why(self, agent: str) -> Note:
        if self.asked:
            return unread(agent, [self.drafts[c.name] for c in self.asked.values()])
        if not self.drafts:
            return nothing_there(agent, self.stage, "", self.others)
        scored = ", ".join(f"'{one_line(name, 60)}'" for name in list(self.drafts)[:5])
        text = f"the scores at stage '{self.stage}' are of {scored}, and none of these is a criterion it is given"
        return Note(agent=agent, text=text, status="skipped", kind="nothing-to-review")

    @property
    def fields(self) -> dict[str, Any]:
        """For a template: "criteria", "query", "source", "output" and "scores"."""
        return {
            "criteria": criteria_text(self.asked),
            "query": self.sample.query, "source": self.sample.source, "output": self.sample.output,
            "scores": scores_text(self.drafts[c.name] for c in self.asked.values()),
        }  # fmt: skip

    def slots(self, *path: str) -> dict[str, Slot]:
        """Where the answers stand in a form whose entries stand at a path."""
        return {key: Slot(c.scale, (*path, key)) for key, c in self.asked.items()}

    def verdicts(self, agent: str, rating: Rating[dict[str, Any]], *path: str) -> list[Rectification]:
        """One for each criterion asked about; `path` as in `slots`."""
        return [
            rectification(agent, c, self.drafts[c.name], rating.answers[key], _said(rating, key, path))
            for key, c in self.asked.items()
        ]


def places(scores: Iterable[Score]) -> tuple[str, ...]:
    """Where scores stand: stage and agent, each once."""
    return tuple(dict.fromkeys(f"'{one_line(s.stage, 40)}' by '{one_line(s.agent, 60)}'" for s in scores))


def readable(drafts: Iterable[Score]) -> bool:
    """Whether a critic could change any of these scores: one without an answer stays without one.

    In a plan invented scores count as readable: whether a judge will abstain is not known beforehand.
    """
    held, run = list(drafts), context.get()
    invented = run is not None and run.doubted is not None and run.doubted() is not None
    return any(invented or draft.answer is not None for draft in held)


def nothing_there(agent: str, stage: str, of: str, others: Sequence[str]) -> Note:
    """A note for a sample without a score to review, with where scores do stand."""
    whose = f" by '{of}'" if of else ""
    there = f"; scores stand at {', '.join(others[:5])}" if others else ""
    text = f"no score at stage '{stage}'{whose}: nothing to review{there}"
    return Note(agent=agent, text=text, status="skipped", kind="nothing-to-review")


def unread(agent: str, drafts: Sequence[Score]) -> Note:
    """A note for a sample of which no draft could be read: nobody is asked about it."""
    statuses = ", ".join(f"{n} {status}" for status, n in Counter(d.status for d in drafts).most_common())
    return Note(agent=agent, text=f"{UNREAD} ({statuses})", status="skipped", kind="drafts-unread")


def _scored(drafts: Iterable[Score]) -> list[Criterion]:
    """What scores were given for, as far as they say; without a scale nobody knows what else they could be."""
    return [Criterion(name=d.criterion, scale=d.scale) for d in drafts if d.scale is not None]


def informed(critic: Any, criteria: Sequence[Criterion]) -> Any:
    """A critic with these criteria, where it is a frozen dataclass with a field for them and none in it; else as is."""
    if not criteria or not is_dataclass(critic) or isinstance(critic, type):
        return critic
    kind: Any = type(critic)
    frozen = kind.__dataclass_params__.frozen  # a copy of another might not share what it collects
    if not frozen or "criteria" not in {f.name for f in fields(critic) if f.init}:
        return critic
    own = getattr(critic, "criteria", None)
    return replace(critic, criteria=criteria) if own is None or own in ((), []) else critic


def _said(rating: Rating[dict[str, Any]], key: str, path: tuple[str, ...]) -> list[Any]:
    """What the replies that an answer was read from say of one criterion."""
    values = rating.values if rating.answers[key].reader == "samples" else (rating.value,)
    return [entry_of(value, (*path, key)) for value in values]


def dropped(value: Mapping[str, Any] | None, agent: str) -> list[Note]:
    """A note on suggestions in a critique that could not be used."""
    lost: Sequence[str] = (value or {}).get("dropped") or ()
    if not lost:
        return []
    text = f"{len(lost)} suggestion{'s' if len(lost) > 1 else ''} left out: {'; '.join(dict.fromkeys(lost[:5]))}"
    return [Note(agent=agent, text=text, status="skipped", kind="suggestions-dropped")]


def advice(value: Mapping[str, Any] | None, parts: Iterable[str], agent: str) -> list[Suggestion]:
    """The suggestions in some parts of a critique, as those of an agent."""
    return [s.model_copy(update={"agent": agent}) for part in parts for s in (value or {}).get(part) or ()]
