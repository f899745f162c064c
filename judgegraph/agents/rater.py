"""The rater: one sample, all aspects of a chain in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.aspect_list import aspect_stage, chains_of
from judgegraph.calls import Form, JudgeLike, Rated, Reader, Slot, rate
from judgegraph.calls.form import Incomplete, answer_key, answer_schema, ratings_form, read_entries, record
from judgegraph.calls.ratings import STATED
from judgegraph.prompts.sections import criteria_text, slugs
from judgegraph.types import Criterion, Sample, Score, Scores, keyed, sample_of


class Chained(TypedDict):  # what a rater reads
    sample: Sample
    aspects: dict[str, list[Criterion]]  # target, target/chains -> its chain


class AspectScores(TypedDict):  # what it writes
    scores: Scores


@dataclass(frozen=True, kw_only=True)
class Rater:
    """Scores every aspect of a chain at once, one call per chain; the target is not in view.

    Source: CoAScore section 3.3, eq. 3. What is missing in the reply, or off its scale, is asked for in a second call
    with just that; what then is still missing is "unreadable".

    Attributes:
        judge: who answers. task: one sentence that says what kind of text is judged.
        reasons: ask for a reason before each score; the paper asks for scores alone.
        reader: how scores are read; the paper's is the stated number at temperature 0.
        chains: the name of the chains that it rates; "" for those without one.
    """

    judge: JudgeLike = "embedded"
    task: str = "a generated text"
    prompt: str = "rate"
    reasons: bool = False
    reader: Reader = STATED
    name: str = "rater"
    chains: str = ""

    async def __call__(self, state: Chained) -> AspectScores:
        chains = {target: chain for target, chain in chains_of(state["aspects"], self.chains).items() if chain}
        rated = await asyncio.gather(*(self._rated(sample_of(state), chain) for chain in chains.values()))
        scores = [
            self._score(target, aspect, answer)
            for target, answers in zip(chains, rated, strict=True)
            for aspect, answer in answers
        ]
        return {"scores": keyed(*scores)}

    async def _rated(self, sample: Sample, chain: Sequence[Criterion]) -> list[tuple[Criterion, Rated]]:
        """Aspect by aspect, in the order of the chain."""
        asked = slugs(chain)
        came, answers = await self._asked(sample, asked, again=False)
        missing = {key: asked[key] for key, answer in answers.items() if answer.status == "unreadable"}
        if came and missing:
            answers |= (await self._asked(sample, missing, again=True))[1]
        return [(asked[key], answer) for key, answer in answers.items()]

    async def _asked(
        self, sample: Sample, asked: Mapping[str, Criterion], *, again: bool
    ) -> tuple[bool, dict[str, Rated]]:
        """Whether any reply could be read at all, and the answers."""
        messages = prompts.load(self.prompt).render(
            task=self.task, aspects=criteria_text(asked),
            query=sample.query, source=sample.source, output=sample.output,
        )  # fmt: skip
        form = aspect_scores_form(asked, reasons=self.reasons, lenient=not again)
        slots = {key: Slot(aspect.scale, (key,)) for key, aspect in asked.items()}
        rating = await rate(self.judge, messages, form, slots, self.reader, temperature=0.0)
        return rating.value is not None, rating.answers

    def _score(self, target: str, aspect: Criterion, answer: Rated) -> Score:
        stage = aspect_stage(target)
        return Score(criterion=aspect.name, agent=self.name, stage=stage, scale=aspect.scale, **answer.fields())


def aspect_scores_form(
    aspects: Mapping[str, Criterion], *, reasons: bool = False, lenient: bool = False
) -> Form[dict[str, Any]]:
    """One entry per aspect: its score, with `reasons` a reason before it; lenient: any entry will do."""
    if reasons:
        schema = ratings_form(aspects).schema
    else:
        entry = {k: _entry(a) for k, a in aspects.items()}
        schema = record(entry)

    def read(data: Any) -> dict[str, Any]:
        try:
            return read_entries(data, aspects)
        except Incomplete as error:
            if lenient and error.got:
                return dict(error.value)
            raise

    return Form("ratings", schema, read)


def _entry(aspect: Criterion) -> dict[str, Any]:
    return record({answer_key(aspect.scale): answer_schema(aspect.scale)}, title=aspect.name)
