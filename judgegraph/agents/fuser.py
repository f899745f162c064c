"""The fuser: scores a target with its chain's definitions and scores in view."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgegraph import prompts
from judgegraph.agents.chain import Chain, Chained, Fused
from judgegraph.agents.score_form import ReplyKind, ask_score, named
from judgegraph.calls import JudgeLike, Reader
from judgegraph.calls.ratings import STATED, Rated
from judgegraph.prompts.sections import criteria_text, criterion_text, scores_text
from judgegraph.types import Criterion, Note, Sample, Score, given_criteria, keyed, sample_of

__all__ = ["Chained", "Fused", "Fuser"]


@dataclass(frozen=True, kw_only=True)
class Fuser:
    """Gives each target its score, one call per target.

    Source: CoAScore section 3.4, eq. 4: K_i = name_i: (definition_i, score_i). The paper has no rule for failures.
    Ours: an aspect without a score is left out and noted (definitions alone did worse than none, the ablation
    "w/o score"); with no scored aspect at all nothing is asked, as that would be an LLMScore under CoAScore's
    name: the target's score has the status of what failed.

    Attributes:
        judge: who answers. criteria: the targets, where the state brings none.
        task: one sentence that says what kind of text is judged.
        reply: "form" asks for JSON, score first; "text" for free text.
        reader: how the score is read; the paper's is the stated number at temperature 0.
        chains: the name of the chains that it reads; "" for those without one.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "fuse"
    reply: ReplyKind = "form"
    reader: Reader = STATED
    name: str = "fuser"
    stage: str = "final"
    chains: str = ""

    async def __call__(self, state: Chained) -> Fused:
        targets = given_criteria(state) or self.criteria
        done = await asyncio.gather(*(self._fused(state, target) for target in targets))
        return {
            "scores": keyed(*(score for score, _ in done)),
            "notes": keyed(*(note for _, notes in done for note in notes)),
        }

    async def _fused(self, state: Chained, target: Criterion) -> tuple[Score, list[Note]]:
        chain = Chain.of(state, target, self.chains)
        if not (known := chain.known):
            return chain.unscored(self.name, self.stage, state.get("notes") or {})
        shown = scores_text(chain.rated[aspect.name] for aspect in known)
        answer = await self._asked(sample_of(state), target, known, scores=shown)
        answer = replace(answer, notes=(*answer.notes, *chain.left_out))
        return self._score(target, answer), chain.unrated(self.name)

    async def _asked(self, sample: Sample, target: Criterion, aspects: Sequence[Criterion], **shown: Any) -> Rated:
        plain = target.model_copy(update={"steps": ()})
        prompt = prompts.load(self.prompt)
        messages = prompt.render(
            task=self.task, criterion=criterion_text(plain), **named(prompt, target), aspects=criteria_text(aspects),
            **shown, query=sample.query, source=sample.source, output=sample.output,
        )  # fmt: skip
        return await ask_score(
            self.judge, messages, target, self.reader, reply=self.reply, explain="after", temperature=0.0
        )

    def _score(self, target: Criterion, answer: Rated) -> Score:
        return Score(
            criterion=target.name, agent=self.name, stage=self.stage, scale=target.scale, **answer.fields()
        )  # fmt: skip
