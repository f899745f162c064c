"""The scorer: one call per criterion and nothing else in view: G-Eval's and LLMScore's only agent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from judgegraph import prompts
from judgegraph.agents.evaluator import Case, Scored
from judgegraph.agents.judge import Explain, ReplyKind, ask_score, named
from judgegraph.calls import JudgeLike, Reader
from judgegraph.calls.ratings import STATED
from judgegraph.errors import settings_checked
from judgegraph.prompts import Rendered
from judgegraph.prompts.template import criterion_text, left_out_examples
from judgegraph.types import Criterion, Sample, Score, given_criteria, keyed, sample_of


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Scorer:
    """Scores every criterion by a call of its own, side by side.

    Attributes:
        judge: who answers. criteria: what to judge by, where the state brings none.
        task: one sentence that says what kind of text is judged.
        reply: "form" asks for JSON, "text" for free text. explain: where the form has its reason, if any.
        steps: show the criterion's evaluation steps.
        role: whose words a prompt of one message is: "user", or "system" as in G-Eval's released code.
        temperature: of a stated reply; a reader that samples has its own.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "llm_score"
    reply: ReplyKind = "form"
    explain: Explain = "after"
    steps: bool = False
    role: Literal["user", "system"] = "user"
    reader: Reader = STATED
    temperature: float = 0.0
    name: str = "scorer"
    stage: str = "final"

    async def __call__(self, state: Case) -> Scored:
        asked = given_criteria(state) or self.criteria
        if len(asked) == 1:  # no task of its own
            return {"scores": keyed(await self._score(sample_of(state), asked[0]))}
        scores = await asyncio.gather(*(self._score(sample_of(state), criterion) for criterion in asked))
        return {"scores": keyed(*scores)}

    async def _score(self, sample: Sample, criterion: Criterion) -> Score:
        answer = await ask_score(
            self.judge, self._messages(sample, criterion), criterion, self.reader,
            reply=self.reply, explain=self.explain, temperature=self.temperature,
        )  # fmt: skip
        return Score(
            criterion=criterion.name,
            agent=self.name,
            stage=self.stage,
            scale=criterion.scale,
            **answer.fields(*left_out_examples(criterion, sample)),
        )

    def _messages(self, sample: Sample, criterion: Criterion) -> Rendered:
        prompt = prompts.load(self.prompt)
        rendered = prompt.render(
            task=self.task, criterion=_shown(criterion, self.steps), **named(prompt, criterion),
            **prompts.material(sample, (criterion,)),
        )  # fmt: skip
        if len(rendered.messages) > 1 or rendered.messages[0][0] == self.role:
            return rendered
        return replace(rendered, messages=((self.role, rendered.messages[0][1]),))


@lru_cache(maxsize=256)
def _shown(criterion: Criterion, steps: bool) -> str:
    return criterion_text(criterion if steps else criterion.model_copy(update={"steps": ()}))
