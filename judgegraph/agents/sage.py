"""The SAGE critic: reviews an evaluator's scores, and says what the criteria themselves lack."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NotRequired, Protocol

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.critique_form import PARTS, critique_form
from judgegraph.agents.review import rectification
from judgegraph.calls import JudgeLike, Reader, Slot, ask, rate
from judgegraph.calls.ratings import Rating
from judgegraph.errors import ReplyError, one_line
from judgegraph.prompts import Rendered
from judgegraph.prompts.sections import criteria_text, scores_text, slugs
from judgegraph.types import Criterion, Note, Notes, Rectification, Sample, Score, Scores, Suggestion, keyed

WEIGHTED = Reader("weighted", samples=5)
PROMPTS = dict(zip(PARTS, ("critique_scores", "critique_definitions", "critique_criteria"), strict=True))


class Reviewed(TypedDict):  # what a critic reads
    sample: Sample
    scores: Scores
    criteria: NotRequired[list[Criterion]]  # else its own


class Critique(TypedDict):  # what it writes
    rectifications: dict[str, Rectification]  # criterion/agent -> what it says of its score
    suggestions: list[Suggestion]
    notes: NotRequired[Notes]  # advice that could not be had


Reviewing = tuple[Rating[dict[str, Any]], tuple[Note, ...]]


class Critic(Protocol):
    """Any agent that reviews scores: a frozen dataclass with this verb."""

    async def __call__(self, state: Reviewed) -> Critique:
        """Read the scores, say what to change."""
        ...


@dataclass(frozen=True, kw_only=True)
class Sage:
    """A meta-evaluator with three separate duties.

    Source: SAGEval section 4.3: (1) rectify scores, (2) suggest changed definitions, (3) suggest up to three
    new criteria. Its own scores are weighted by token probability like the evaluator's (section 4.4). Without
    log-probabilities it is asked several times (ours): what most replies say is its verdict, a tie keeps the score,
    and a changed score is the mean of all replies, in which "keep" counts as the draft's value. Advice is that of the
    first reply; what could not be had of it is noted.

    Attributes:
        judge: who answers. criteria: what was judged by, where the state brings none.
        calls: "one" asks for all three lists at once, "three" gives each duty a call of its own.
        stage: of the scores it reviews; of several evaluators' scores at that stage, the last one's.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    calls: Literal["one", "three"] = "one"
    prompt: str = "critique"
    reader: Reader = WEIGHTED
    name: str = "sage"
    stage: str = "draft"

    @property
    def prompts(self) -> tuple[str, ...]:
        """Names of the templates that it asks by."""
        return (self.prompt,) if self.calls == "one" else tuple(PROMPTS.values())

    async def __call__(self, state: Reviewed) -> Critique:
        asked = slugs(state.get("criteria") or self.criteria)
        drafts = {s.criterion: s for s in state["scores"].values() if s.stage == self.stage}
        asked = {key: c for key, c in asked.items() if c.name in drafts}
        if not asked:
            return {"rectifications": {}, "suggestions": [], "notes": {}}
        fields = self._fields(state["sample"], asked, drafts)
        rating, notes = await (self._at_once(asked, fields) if self.calls == "one" else self._apart(asked, fields))
        verdicts = [
            rectification(self.name, c, drafts[c.name], rating.answers[key], _said(rating, key))
            for key, c in asked.items()
        ]
        advice = [
            s.model_copy(update={"agent": self.name})
            for part in PARTS[1:]
            for s in (rating.value or {}).get(part) or ()
        ]
        return {"rectifications": keyed(*verdicts), "suggestions": advice, "notes": keyed(*notes)}

    def _fields(self, sample: Sample, asked: Mapping[str, Criterion], drafts: Mapping[str, Score]) -> dict[str, Any]:
        return {
            "task": self.task, "criteria": criteria_text(asked.values()),
            "query": sample.query, "source": sample.source, "output": sample.output,
            "scores": scores_text(drafts[c.name] for c in asked.values()),
        }  # fmt: skip

    async def _at_once(self, asked: Mapping[str, Criterion], fields: dict[str, Any]) -> Reviewing:
        return await self._scores(prompts.load(self.prompt).render(**fields), asked, PARTS), ()

    async def _apart(self, asked: Mapping[str, Criterion], fields: dict[str, Any]) -> Reviewing:
        """Each duty alone, side by side, so that none colours another."""
        scoring, *advising = (prompts.load(PROMPTS[part]).render(**fields) for part in PARTS)
        scores, *lists = await asyncio.gather(
            self._scores(scoring, asked, PARTS[:1]),
            *(self._advice(messages, asked, part) for messages, part in zip(advising, PARTS[1:], strict=True)),
        )
        said = {**(scores.value or {})}
        for advice, _ in lists:
            said |= advice
        return replace(scores, value=said), tuple(note for _, note in lists if note)

    async def _scores(
        self, messages: Rendered, asked: Mapping[str, Criterion], parts: tuple[str, ...]
    ) -> Rating[dict[str, Any]]:
        slots = {key: Slot(c.scale, (PARTS[0], key)) for key, c in asked.items()}
        return await rate(self.judge, messages, critique_form(asked, parts), slots, self.reader)

    async def _advice(
        self, messages: Rendered, asked: Mapping[str, Criterion], part: str
    ) -> tuple[dict[str, Any], Note | None]:
        """One list of suggestions, in one reply; where none can be had, a note with the status."""
        try:
            return await ask(self.judge, messages, critique_form(asked, (part,)), temperature=0.0), None
        except ReplyError as error:
            what = f"no advice on {part.replace('_', ' ')}: {one_line(error)}"
            return {}, Note.model_validate({"agent": self.name, "text": what, "status": error.status})


def _said(rating: Rating[dict[str, Any]], key: str) -> list[Any]:
    """What the replies that an answer was read from say of one criterion."""
    values = rating.values if rating.answers[key].reader == "samples" else (rating.value,)
    return [((value or {}).get(PARTS[0]) or {}).get(key) for value in values]
