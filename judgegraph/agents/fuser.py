"""The fuser: scores a target with its chain's definitions and scores in view."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.aspect_list import aspect_stage
from judgegraph.agents.score_form import ReplyKind, ask_score, named
from judgegraph.calls import JudgeLike, Reader
from judgegraph.calls.ratings import STATED
from judgegraph.prompts.sections import criteria_text, criterion_text, scores_text
from judgegraph.types import Criterion, Note, Notes, Sample, Score, Scores, Status, keyed


class Chained(TypedDict):  # what a fuser reads
    sample: Sample
    aspects: dict[str, list[Criterion]]  # target -> its chain
    scores: Scores  # the aspects' among them
    criteria: NotRequired[list[Criterion]]  # the targets, else its own
    notes: NotRequired[Notes]  # why a chain is empty


class Fused(TypedDict):  # what it writes
    scores: Scores
    notes: Notes


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
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "fuse"
    reply: ReplyKind = "form"
    reader: Reader = STATED
    name: str = "fuser"
    stage: str = "final"

    async def __call__(self, state: Chained) -> Fused:
        targets = state.get("criteria") or self.criteria
        done = await asyncio.gather(*(self._fused(state, target) for target in targets))
        return {
            "scores": keyed(*(score for score, _ in done)),
            "notes": keyed(*(note for _, notes in done for note in notes)),
        }

    async def _fused(self, state: Chained, target: Criterion) -> tuple[Score, list[Note]]:
        chain = state["aspects"].get(target.name) or []
        stage = aspect_stage(target.name)
        rated = {s.criterion: s for s in state["scores"].values() if s.stage == stage}
        known = [aspect for aspect in chain if _has_score(rated.get(aspect.name))]
        if not known:
            return self._without(target, chain, rated, state.get("notes") or {})
        lost = [aspect.name for aspect in chain if aspect not in known]
        return await self._asked(state["sample"], target, known, rated, lost), []

    async def _asked(
        self, sample: Sample, target: Criterion, known: list[Criterion], rated: Mapping[str, Score], lost: list[str],
    ) -> Score:  # fmt: skip
        shown = target.model_copy(update={"steps": ()})
        prompt = prompts.load(self.prompt)
        messages = prompt.render(
            task=self.task, criterion=criterion_text(shown), **named(prompt, target),
            aspects=criteria_text(known), scores=scores_text(rated[aspect.name] for aspect in known),
            query=sample.query, source=sample.source, output=sample.output,
        )  # fmt: skip
        answer = await ask_score(
            self.judge, messages, target, self.reader, reply=self.reply, explain="after", temperature=0.0
        )
        if lost:
            left = f"{len(lost)} of {len(lost) + len(known)} aspects without a score, left out: {', '.join(lost)}"
            answer = replace(answer, notes=(*answer.notes, left))
        return self._score(target, **answer.fields())

    def _without(
        self, target: Criterion, chain: list[Criterion], rated: Mapping[str, Score], notes: Notes
    ) -> tuple[Score, list[Note]]:
        """The score of a target that no aspect speaks for: a status, with a note where no proposer left one."""
        if not chain and (told := _told(target.name, notes)):
            reason = told.text.removeprefix(f"{target.name}: ")
            return self._score(target, status=told.status, reason=reason), []
        status, reason = _lost(chain, rated)
        why = f"none of its {len(chain)} aspects has a score"
        note = Note(agent=self.name, text=f"{target.name}: not scored, {why}", status=status)
        return self._score(target, status=status, reason=f"{why}: {reason}"), [note]

    def _score(self, target: Criterion, **fields: Any) -> Score:
        return Score(criterion=target.name, agent=self.name, stage=self.stage, scale=target.scale, **fields)


def _has_score(score: Score | None) -> bool:
    return score is not None and score.status == "ok"


def _lost(chain: Sequence[Criterion], rated: Mapping[str, Score]) -> tuple[Status, str]:
    """The most frequent status of aspects without a score, and the reason of the first of them."""
    if not chain:
        return "skipped", "no aspects were proposed"
    statuses: list[Status] = [rated[a.name].status if a.name in rated else "skipped" for a in chain]
    status = Counter(statuses).most_common(1)[0][0]
    first = rated.get(chain[statuses.index(status)].name)
    return status, (first.reason if first else "") or status


def _told(target: str, notes: Notes) -> Note | None:
    """The note that its proposer left of an empty chain."""
    return next((n for n in notes.values() if n.status != "ok" and n.text.startswith(f"{target}: ")), None)
