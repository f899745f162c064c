"""The SAGE critic: reviews an evaluator's scores, and says what the criteria themselves lack."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from judgegraph import prompts
from judgegraph.agents.critique_form import PARTS, critique_form
from judgegraph.agents.under_review import Critic, Critique, Reviewed, UnderReview, advice, dropped
from judgegraph.calls import JudgeLike, Reader, ask, rate
from judgegraph.calls.ratings import Rating
from judgegraph.errors import ReplyError, one_line
from judgegraph.prompts import Rendered
from judgegraph.types import Criterion, Note, keyed

__all__ = ["Critic", "Critique", "Reviewed", "Sage"]

WEIGHTED = Reader("weighted", samples=5)
PROMPTS = dict(zip(PARTS, ("critique_scores", "critique_definitions", "critique_criteria"), strict=True))

Reviewing = tuple[Rating[dict[str, Any]], tuple[Note, ...]]


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
        cot: think step by step before the reason of each verdict; then the prompt `critique` becomes `critique_cot`. Of
            three calls only the one that rectifies scores changes.
        stage: of the scores it reviews; of several evaluators' scores at that stage, the last one's.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    calls: Literal["one", "three"] = "one"
    prompt: str = "critique"
    cot: bool = False
    reader: Reader = WEIGHTED
    name: str = "sage"
    stage: str = "draft"

    def __post_init__(self) -> None:
        if self.cot and self.prompt == "critique":
            object.__setattr__(self, "prompt", "critique_cot")

    @property
    def prompts(self) -> tuple[str, ...]:
        """Names of the templates that it asks by."""
        return (self.prompt,) if self.calls == "one" else tuple(self._duties.values())

    @property
    def _duties(self) -> dict[str, str]:
        return PROMPTS | ({PARTS[0]: "critique_scores_cot"} if self.cot else {})

    async def __call__(self, state: Reviewed) -> Critique:
        held = UnderReview.of(state, self.criteria, self.stage)
        if (idle := held.idle(self.name)) is not None:
            return idle
        rating, notes = await (self._at_once(held) if self.calls == "one" else self._apart(held))
        verdicts = held.verdicts(self.name, rating, PARTS[0])
        found = advice(rating.value, PARTS[1:], self.name)
        notes = (*notes, *dropped(rating.value, self.name))
        return {"rectifications": keyed(*verdicts), "suggestions": found, "notes": keyed(*notes)}

    def _render(self, prompt: str, held: UnderReview) -> Rendered:
        return prompts.load(prompt).render(task=self.task, **held.fields)

    async def _at_once(self, held: UnderReview) -> Reviewing:
        return await self._scores(self._render(self.prompt, held), held, PARTS), ()

    async def _apart(self, held: UnderReview) -> Reviewing:
        """Each duty alone, side by side, so that none colours another."""
        scoring, *advising = (self._render(self._duties[part], held) for part in PARTS)
        scores, *lists = await asyncio.gather(
            self._scores(scoring, held, PARTS[:1]),
            *(self._advice(messages, held.asked, part) for messages, part in zip(advising, PARTS[1:], strict=True)),
        )
        said = {**(scores.value or {})}
        for found, _ in lists:
            said |= {**found, "dropped": [*said.get("dropped", ()), *found.get("dropped", ())]}
        return replace(scores, value=said), tuple(note for _, note in lists if note)

    async def _scores(self, messages: Rendered, held: UnderReview, parts: tuple[str, ...]) -> Rating[dict[str, Any]]:
        form = critique_form(held.asked, parts, thoughts=self.cot)
        return await rate(self.judge, messages, form, held.slots(PARTS[0]), self.reader)

    async def _advice(
        self, messages: Rendered, asked: Mapping[str, Criterion], part: str
    ) -> tuple[dict[str, Any], Note | None]:
        """One list of suggestions, in one reply; where none can be had, a note with the status."""
        try:
            return await ask(self.judge, messages, critique_form(asked, (part,)), temperature=0.0), None
        except ReplyError as error:
            what = f"no advice on {part.replace('_', ' ')}: {one_line(error)}"
            about = {"agent": self.name, "status": error.status, "kind": "advice-missing"}
            return {}, Note.model_validate({**about, "text": what})
