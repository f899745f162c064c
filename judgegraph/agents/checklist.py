"""Checklists: questions to answer with yes or no, written once for a criterion, and the share of yes among the answers.

A checklist stands in the state as a chain of aspects does (CoAScore), so `judgegraph.agents.judge.Rater` answers it:
all questions of a criterion in one call, what is missing in a second one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from judgegraph import prompts
from judgegraph.agents.aspects import Average, Chain, Chained, Proposed, Targets
from judgegraph.agents.criteria import unnumbered
from judgegraph.agents.judge import chain_key
from judgegraph.calls import Form, JudgeLike, ask
from judgegraph.calls.asking import STRING, record
from judgegraph.errors import ReplyError, counted, one_line, settings_checked
from judgegraph.prompts.criteria import same_key
from judgegraph.prompts.template import criterion_text
from judgegraph.types import Criterion, Note, Scale, Score, given_criteria, keyed

YES_NO = Scale(labels=("yes", "no"))
LONGEST = 500  # characters of a question
MOST_SHOWN = 5  # questions that a score's reason names
More: TypeAlias = Literal["none", "diversify", "elaborate", "both"]
WAYS = {
    "diversify": "Look at sides of the criterion that the questions leave out, and ask for those.",
    "elaborate": "Take the questions apart: ask for the single things that each of them takes together.",
}


def questions_form(most: int) -> Form[list[str]]:
    """One to `most` questions, each once."""

    def read(data: Any) -> list[str]:
        listed = data.get("questions") if isinstance(data, Mapping) else None
        said = [unnumbered(" ".join(one.split())) for one in listed or () if isinstance(one, str)]
        found = list({same_key(one): one for one in said if one and len(one) <= LONGEST}.values())
        if not found:
            raise ValueError("no question in it")
        return found[:most]

    listed = {"type": "array", "items": STRING, "minItems": 1, "maxItems": most}
    return Form("checklist", record({"questions": listed}), read)


def _dropped(data: Any) -> dict[int, str]:
    """Number of a question -> why it is dropped."""
    listed = data.get("drop") if isinstance(data, Mapping) else None
    if not isinstance(listed, list):
        raise ValueError("expected an object with a list 'drop'")
    rows = [one for one in listed if isinstance(one, Mapping) and type(one.get("number")) is int]
    return {one["number"]: str(one.get("reason") or "") for one in rows}


_DROP = record({"number": {"type": "integer"}, "reason": STRING})
FILTER: Form[dict[int, str]] = Form("filter", record({"drop": {"type": "array", "items": _DROP}}), _dropped)


@settings_checked
@dataclass(frozen=True, kw_only=True)
class ChecklistWriter:
    """Writes the questions of each criterion: seeds, more of them where wanted, without those that do not belong.

    Source: CheckEval (arXiv:2403.18771): seed questions, two ways to more of them, a filter. There people
    write the seeds. No sample is read, so the calls are the same for a whole dataset, and a run pays for them once.

    Attributes:
        judge: who answers. criteria: where the state brings none. task: one sentence, what kind of text is judged.
        count: seeds wanted, 1 or more. more: "diversify" asks for sides that they leave out, "elaborate" takes them
            apart, "both", or "none"; each may bring up to `count` more.
        sift: let the judge drop what is off the criterion or asked twice, with a reason that a note keeps.
        given: the criterion's own steps are its questions, and nobody is asked.
        chains: a name for the checklists, which stands in their keys.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "checklist"
    count: int = 5
    more: More = "none"
    sift: bool = False
    given: bool = False
    name: str = "checklist-writer"
    chains: str = ""

    async def __call__(self, state: Targets) -> Proposed:
        targets = given_criteria(state) or self.criteria
        lists = await asyncio.gather(*map(self._checklist, targets))
        keys = [chain_key(target.name, self.chains) for target in targets]
        asked = {key: _numbered(found) for key, (found, _) in zip(keys, lists, strict=True)}
        return {"aspects": asked, "notes": keyed(*(note for _, notes in lists for note in notes))}

    async def _checklist(self, target: Criterion) -> tuple[list[str], list[Note]]:
        if self.given:
            why = "it has no steps, which are to be its questions"
            return [*target.steps], [] if target.steps else [self._note(target, why, "skipped")]
        about = {"task": self.task, "criterion": criterion_text(target.model_copy(update={"steps": ()}))}
        try:
            found = await self._asked(self.prompt, **about, count=str(self.count))
        except ReplyError as error:
            return [], [self._note(target, f"no questions: {one_line(error)}", error.status)]
        notes: list[Note] = []
        for way in ("diversify", "elaborate") if self.more == "both" else () if self.more == "none" else (self.more,):
            told = {**about, "questions": _listed(found), "how": WAYS[way], "count": str(self.count)}
            try:
                more = await self._asked("checklist_more", **told)
            except ReplyError as error:
                notes.append(self._note(target, f"no more questions ({way}): {one_line(error)}", error.status))
                continue
            known = {same_key(one) for one in found}
            found = [*found, *(one for one in more if same_key(one) not in known)]
        return await self._sifted(target, found, notes, about) if self.sift else (found, notes)

    async def _asked(self, prompt: str, **fields: str) -> list[str]:
        messages = prompts.load(prompt).render(**fields)
        return await ask(self.judge, messages, questions_form(self.count), temperature=0.0)

    async def _sifted(
        self, target: Criterion, found: list[str], notes: list[Note], about: Mapping[str, str]
    ) -> tuple[list[str], list[Note]]:
        messages = prompts.load("checklist_filter").render(**about, questions=_listed(found))
        try:
            drop = await ask(self.judge, messages, FILTER, temperature=0.0)
        except ReplyError as error:
            return found, [*notes, self._note(target, f"nothing was filtered: {one_line(error)}", error.status)]
        lost = {number: why for number, why in drop.items() if 1 <= number <= len(found)}
        if len(lost) == len(found):
            return found, [*notes, self._note(target, "the filter would have dropped every question: all stay", "ok")]
        notes += [
            self._note(target, f"dropped {found[n - 1]!r}: {one_line(why, 200)}", "ok") for n, why in lost.items()
        ]
        return [one for number, one in enumerate(found, 1) if number not in lost], notes

    def _note(self, target: Criterion, text: str, status: Any) -> Note:
        kind = "checklist-failed" if status != "ok" else "checklist-filtered"
        return Note(agent=self.name, text=f"{target.name}: {text}", status=status, kind=kind)


def _listed(questions: Sequence[str]) -> str:
    return "\n".join(f"{number}. {one}" for number, one in enumerate(questions, 1))


def _numbered(questions: Sequence[str]) -> list[Criterion]:
    """Questions as a rater is asked them: Q1, Q2, ..., each yes or no."""
    return [Criterion(name=f"Q{n}", definition=one, scale=YES_NO) for n, one in enumerate(questions, 1)]


@settings_checked
@dataclass(frozen=True, kw_only=True)
class YesShare(Average):
    """Gives each criterion the share of yes among its answered questions, on its own scale: none is its low end.

    Source: CheckEval (arXiv:2403.18771): the score of an aspect is its share of yes. A question that could
    not be read is missing and noted, and never a no; where fewer than half could be read there is no score.

    Attributes:
        probable: a question counts by the probability of its yes, where the rater has it (RocketEval,
            arXiv:2503.05142), and not by its answer.
    """

    probable: bool = False
    name: str = "yes-share"

    def _averaged(self, state: Chained, target: Criterion) -> tuple[Score, list[Note]]:
        low, high = target.scale.low, target.scale.high
        if low is None or high is None:
            return self._score(target, status="skipped", reason="labels have no share of yes"), []
        chain = Chain.of(state, target, self.chains)
        answers = {a.definition: chain.rated[a.name] for a in chain.known}
        if not answers:
            return chain.unscored(self.name, self.stage, state.get("notes") or {})
        notes = chain.unrated(self.name)
        if 2 * len(answers) < len(chain.aspects):
            why = f"only {len(answers)} of {counted(len(chain.aspects), 'question')} answered"
            return self._score(target, status="unreadable", reason=why, notes=chain.left_out), notes
        share = sum(map(self._yes, answers.values())) / len(answers)
        said = [one_line(question, 200) for question, score in answers.items() if score.label == "no"]
        why = f"yes to {len(answers) - len(said)} of {counted(len(answers), 'question')}"
        why += f"; no to: {' | '.join(said[:MOST_SHOWN])}" if said else ""
        why += f" and {len(said) - MOST_SHOWN} more" if len(said) > MOST_SHOWN else ""
        value = low + share * (high - low)
        return self._score(target, value=value, reader="mean", reason=why, notes=chain.left_out), notes

    def _yes(self, score: Score) -> float:
        if self.probable and score.distribution:
            return score.distribution.get("yes", 0.0)
        return float(score.label == "yes")
