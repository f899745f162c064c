"""The writer of criteria: from a query alone, what a response to it should be judged by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.criteria_form import CRITERIA_TEXT, criteria_form, distinct
from judgegraph.calls import JudgeLike, ask
from judgegraph.errors import ReplyError, one_line
from judgegraph.types import Criterion, Note, Notes, Sample, given_criteria, keyed, sample_of

PROMPTS = {"form": "branch", "text": "branch_text"}


class Asked(TypedDict):  # what the writer reads
    sample: Sample
    criteria: NotRequired[list[Criterion]]  # given ones replace its work


class Branched(TypedDict):  # what it writes
    criteria: list[Criterion]
    notes: Notes


@dataclass(frozen=True, kw_only=True)
class CriteriaWriter:
    """Writes criteria for a query; where criteria are given, hands them on without a call.

    Source: Fennec, section 3.1, eq. 1: it sees the query and no response, so samples that share a query share its
    criteria. The scale of what it writes is 1-5.

    Attributes:
        judge: who answers. criteria: given ones; those of the state come first.
        count: criteria to ask for and to keep at most, 1 or more (paper: 5); more or fewer in the reply is noted.
        task: one sentence that says what kind of text is judged.
        reply: "form" asks for JSON, "text" for numbered lines. prompt: a template, by default the reply's own.
        temperature: paper: 0; None leaves it to the judge.
        pairs_only: a sample without a rival gets no criteria, and nothing is asked for it.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    count: int = 5
    task: str = "an assistant's response to a user's query"
    reply: Literal["form", "text"] = "form"
    prompt: str = ""
    temperature: float | None = 0.0
    name: str = "criteria-writer"
    pairs_only: bool = False

    def __post_init__(self) -> None:
        if self.prompt in ("", *PROMPTS.values()):  # so that `replace(agent, reply=...)` changes both
            object.__setattr__(self, "prompt", PROMPTS[self.reply])

    async def __call__(self, state: Asked) -> Branched:
        if given := list(given_criteria(state) or self.criteria):
            kept = distinct(given)
            return {"criteria": kept, "notes": keyed(*self._doubled(given, kept))}
        if self.pairs_only and sample_of(state).rival is None:
            return {"criteria": [], "notes": {}}
        notes = self._without_query(sample_of(state))
        messages = prompts.load(self.prompt).render(task=self.task, count=str(self.count), query=sample_of(state).query)
        form = criteria_form(self.count) if self.reply == "form" else CRITERIA_TEXT
        try:
            written = await ask(self.judge, messages, form, temperature=self.temperature)
        except ReplyError as error:
            failed = Note.model_validate(
                {"agent": self.name, "text": f"no criteria: {one_line(error)}", "status": error.status}
                | {"kind": "criteria-failed"}
            )
            return {"criteria": [], "notes": keyed(*notes, failed)}
        single = distinct(written)
        notes += self._doubled(written, single)
        if len(single) != self.count:
            text = f"{self.count} criteria asked for, {len(single)} came"
            notes.append(Note(agent=self.name, text=text, kind="criteria-fewer"))
        return {"criteria": single[: self.count], "notes": keyed(*notes)}

    def _without_query(self, sample: Sample) -> list[Note]:
        """Criteria of nothing say nothing of the sample, however well they read."""
        if sample.query.strip():
            return []
        text = "the sample's query is empty: criteria were asked for all the same, and are of the task alone"
        return [Note(agent=self.name, text=text, kind="query-empty")]

    def _doubled(self, criteria: Sequence[Criterion], kept: Sequence[Criterion]) -> list[Note]:
        left = len(criteria) - len(kept)
        text = f"{left} of {len(criteria)} criteria left out: their names had come before"
        return [Note(agent=self.name, text=text, kind="criteria-doubled")] if left else []
