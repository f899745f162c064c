"""The SAGE critic: reviews an evaluator's scores, and says what the criteria themselves lack."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NotRequired, Protocol

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.critique_form import PARTS, critique_form
from judgegraph.models import JudgeLike, Rated, Reader, Slot, rate
from judgegraph.models.ratings import Rating
from judgegraph.prompts import Rendered
from judgegraph.prompts.sections import criteria_text, scores_text, slugs
from judgegraph.types import Criterion, Rectification, Sample, Score, Scores, Suggestion

WEIGHTED = Reader("weighted", samples=5)
PROMPTS = dict(zip(PARTS, ("critique_scores", "critique_definitions", "critique_criteria"), strict=True))


class Reviewed(TypedDict):  # what a critic reads
    sample: Sample
    scores: Scores
    criteria: NotRequired[list[Criterion]]  # else its own


class Critique(TypedDict):  # what it writes
    rectifications: dict[str, Rectification]  # criterion -> what it says of its score
    suggestions: list[Suggestion]


class Critic(Protocol):
    """Any agent that reviews scores: a frozen dataclass with this verb."""

    async def __call__(self, state: Reviewed) -> Critique:
        """Read the scores, say what to change."""
        ...


@dataclass(frozen=True, kw_only=True)
class Sage:
    """A meta-evaluator with three separate duties.

    Source: SAGEval section 4.3: (1) rectify scores, (2) suggest changed definitions, (3) suggest up to three
    new criteria. Its own scores are weighted by token probability like the evaluator's (section 4.4).

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

    async def __call__(self, state: Reviewed) -> Critique:
        asked = slugs(state.get("criteria") or self.criteria)
        drafts = {s.criterion: s for s in state["scores"].values() if s.stage == self.stage}
        asked = {key: c for key, c in asked.items() if c.name in drafts}
        if not asked:
            return {"rectifications": {}, "suggestions": []}
        fields = self._fields(state["sample"], asked, drafts)
        rating = await (self._at_once(asked, fields) if self.calls == "one" else self._apart(asked, fields))
        said: dict[str, Any] = rating.value or {}
        entries: Mapping[str, Any] = said.get(PARTS[0]) or {}
        verdicts = [
            self._verdict(c, drafts[c.name], rating.answers[key], entries.get(key))
            for key, c in asked.items()
        ]
        advice = [
            s.model_copy(update={"agent": self.name}) for part in PARTS[1:] for s in said.get(part) or ()
        ]
        return {"rectifications": {r.criterion: r for r in verdicts}, "suggestions": advice}

    def _fields(
        self, sample: Sample, asked: Mapping[str, Criterion], drafts: Mapping[str, Score]
    ) -> dict[str, Any]:
        return {
            "task": self.task, "criteria": criteria_text(asked.values()),
            "query": sample.query, "source": sample.source, "output": sample.output,
            "scores": scores_text(drafts[c.name] for c in asked.values()),
        }  # fmt: skip

    async def _at_once(
        self, asked: Mapping[str, Criterion], fields: dict[str, Any]
    ) -> Rating[dict[str, Any]]:
        return await self._ask(prompts.load(self.prompt).render(**fields), asked, PARTS)

    async def _apart(self, asked: Mapping[str, Criterion], fields: dict[str, Any]) -> Rating[dict[str, Any]]:
        """Each duty alone, side by side, so that none colours another."""
        each = [self._ask(prompts.load(PROMPTS[part]).render(**fields), asked, (part,)) for part in PARTS]
        scores, *lists = await asyncio.gather(*each)
        said = {key: value for rating in (scores, *lists) for key, value in (rating.value or {}).items()}
        return replace(scores, value=said)

    async def _ask(
        self, messages: Rendered, asked: Mapping[str, Criterion], parts: tuple[str, ...]
    ) -> Rating[dict[str, Any]]:
        scoring = PARTS[0] in parts
        slots = {key: Slot(c.scale, (PARTS[0], key)) for key, c in asked.items()} if scoring else {}
        return await rate(self.judge, messages, critique_form(asked, parts), slots, self.reader)

    def _verdict(
        self, criterion: Criterion, draft: Score, answer: Rated, entry: Mapping[str, Any] | None
    ) -> Rectification:
        """What the critic says of one score; a value that goes against its own verdict changes nothing."""
        seen: dict[str, Any] = {
            "criterion": criterion.name, "agent": self.name, "reason": answer.reason, "reader": answer.reader,
            "distribution": answer.distribution, "unseen": answer.unseen, "notes": answer.notes,
        }  # fmt: skip
        if answer.status not in ("ok", "abstained"):
            return Rectification(**seen, status=answer.status)
        verdict = (entry or {}).get("verdict", "keep")
        if verdict == "keep" or answer.status == "abstained" or draft.status != "ok":
            return Rectification(**seen)
        if answer.label is not None:
            changed = answer.label != draft.label
            return (
                Rectification(**seen, action="change", label=answer.label)
                if changed
                else Rectification(**seen)
            )
        return _moved(seen, str(verdict), draft, answer, entry)


def _moved(
    seen: dict[str, Any], verdict: str, draft: Score, answer: Rated, entry: Mapping[str, Any] | None
) -> Rectification:
    """The weighted value where it goes the way the verdict says, else the stated one, else no change."""
    stated = (entry or {}).get("score")
    for value, reader in ((answer.value, answer.reader), (stated, "stated")):
        if value is None or draft.value is None:
            continue
        step = float(value) - draft.value
        if (step > 0) == (verdict == "raise") and step:
            direction: Any = "up" if step > 0 else "down"
            seen = {**seen, "reader": reader}
            return Rectification(**seen, action="change", direction=direction, value=float(value))
    note = f"said {verdict!r} but gave {stated} for a score of {draft.value:.4g}; the score stands"
    return Rectification(**{**seen, "notes": (*seen["notes"], note)})
