"""The evaluator: one sample, a score for every criterion, each with its reason."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.calls import JudgeLike, Rated, Reader, Slot, rate
from judgegraph.calls.asking import ratings_form
from judgegraph.errors import settings_checked
from judgegraph.prompts.template import criteria_text, left_out_examples, slugs
from judgegraph.types import Criterion, Sample, Score, Scores, given_criteria, keyed, sample_of

WEIGHTED = Reader("weighted", samples=5)


class Case(TypedDict):  # what an evaluator reads
    sample: Sample
    criteria: NotRequired[list[Criterion]]  # else its own


class Scored(TypedDict):  # what it writes
    scores: Scores


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Evaluator:
    """Scores all criteria in one call, reasons before scores.

    What a later version of their set brought (`Criterion.since`) has a call of its own.

    Source: SAGEval section 4.2 (after G-Eval): role and task, criteria with steps and scale, a reason for each
    score, exemplars that fix the form of the reply; scores weighted by token probability (eq. 1).

    Attributes:
        judge: who answers. criteria: what to judge by, where the state brings none.
        task: one sentence that says what kind of text is judged.
        prompt: a template; `evaluate_each` prints the criteria behind the material, for several calls to one sample.
        cot: think step by step before each reason (SAGEval with chain of thought); then `evaluate` becomes
            `evaluate_cot`, and `evaluate_each` `evaluate_each_cot`.
        reader: how scores are read. stage: of the scores it writes.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "evaluate"
    cot: bool = False
    reader: Reader = WEIGHTED
    name: str = "evaluator"
    stage: str = "draft"

    def __post_init__(self) -> None:
        if self.cot and self.prompt in ("evaluate", "evaluate_each"):
            object.__setattr__(self, "prompt", f"{self.prompt}_cot")

    async def __call__(self, state: Case) -> Scored:
        sample, versions = sample_of(state), dict[int, list[Criterion]]()
        for one in given_criteria(state) or self.criteria:
            versions.setdefault(one.since, []).append(one)
        found = await asyncio.gather(*(self._scored(sample, slugs(asked)) for asked in versions.values()))
        return {"scores": keyed(*(score for scores in found for score in scores))}

    async def _scored(self, sample: Sample, asked: Mapping[str, Criterion]) -> list[Score]:
        messages = prompts.load(self.prompt).render(
            task=self.task, criteria=criteria_text(asked), **prompts.material(sample, asked.values())
        )
        slots = {key: Slot(criterion.scale, (key,)) for key, criterion in asked.items()}
        rating = await rate(self.judge, messages, ratings_form(asked, thoughts=self.cot), slots, self.reader)
        return [self._score(asked[key], a, sample) for key, a in rating.answers.items()]

    def _score(self, criterion: Criterion, answer: Rated, sample: Sample) -> Score:
        return Score(
            criterion=criterion.name,
            agent=self.name,
            stage=self.stage,
            scale=criterion.scale,
            **answer.fields(*left_out_examples(criterion, sample)),
        )
