"""The writer of evaluation steps: how a judge goes from reading a text to a value, once for a criterion."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.criteria import unnumbered
from judgegraph.calls import Form, JudgeLike, ask
from judgegraph.calls.asking import STRING, record
from judgegraph.errors import ReplyError, one_line, settings_checked
from judgegraph.prompts.criteria import CriteriaSet
from judgegraph.prompts.template import criterion_text
from judgegraph.types import Criterion, Note, Notes, Sample, given_criteria, keyed

FEWEST, MOST = 2, 10  # steps that a reply may have; three to six are asked for
Which = Literal["missing", "all"]


def _read(said: Any) -> tuple[str, ...]:
    listed = said.get("steps") if isinstance(said, Mapping) else None
    lines = [unnumbered(" ".join(one.split())) for one in listed or () if isinstance(one, str)]
    steps = tuple(line for line in lines if line)
    if not FEWEST <= len(steps) <= MOST:
        raise ValueError(f"{FEWEST} to {MOST} steps were asked for, {len(steps)} came")
    return steps


FORM: Form[tuple[str, ...]] = Form(
    "steps", record({"steps": {"type": "array", "items": STRING, "minItems": 3, "maxItems": 6}}), _read
)


class Asked(TypedDict):  # what the writer reads
    sample: NotRequired[Sample]  # not looked at: the steps are of the criterion alone
    criteria: NotRequired[list[Criterion]]  # else its own


class Prepared(TypedDict):  # what it writes
    criteria: list[Criterion]
    notes: Notes


@settings_checked
@dataclass(frozen=True, kw_only=True)
class StepsWriter:
    """Writes the evaluation steps of criteria, a call for each.

    Source: G-Eval section 2 ("auto chain of thought"): they follow from task and criterion, no text is seen. So the
    call is the same for every sample, and a run pays for it once. Where it fails the criterion is judged as it was, and
    a note says so.

    Attributes:
        judge: who answers. criteria: where the state brings none. task: one sentence, what kind of text is judged.
        which: "missing" leaves steps that a criterion has, "all" writes them anew.
        temperature: None leaves it to the judge.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "steps"
    which: Which = "missing"
    temperature: float | None = 0.0
    name: str = "steps-writer"

    async def __call__(self, state: Asked) -> Prepared:
        written = await asyncio.gather(*map(self._prepared, given_criteria(state) or self.criteria))
        notes = [note for _, note in written if note is not None]
        return {"criteria": [criterion for criterion, _ in written], "notes": keyed(*notes)}

    async def _prepared(self, criterion: Criterion) -> tuple[Criterion, Note | None]:
        if criterion.steps and self.which == "missing":
            return criterion, None
        bare = criterion.model_copy(update={"steps": ()})
        messages = prompts.load(self.prompt).render(task=self.task, criterion=criterion_text(bare))
        try:
            steps = await ask(self.judge, messages, FORM, temperature=self.temperature)
        except ReplyError as error:
            kept = "its own steps stand" if criterion.steps else "it is judged without steps"
            text = f"{criterion.name}: no steps were written, {kept}: {one_line(error)}"
            note = {"agent": self.name, "text": text, "status": error.status, "kind": "steps-failed"}
            return criterion, Note.model_validate(note)
        return criterion.model_copy(update={"steps": steps}), None


async def with_steps(
    chosen: CriteriaSet, judge: JudgeLike = "embedded", *, which: Which = "missing"
) -> tuple[CriteriaSet, list[str]]:
    """A set whose criteria have evaluation steps, and a line for each criterion that got none.

    What comes is a set like any other: written to a file it is read back as the same one, and its digest, which stands
    in every signature, is of the steps too.

    Args:
        judge: who writes them. which: "missing" leaves steps that a criterion has, "all" writes them anew.
    """
    writer = StepsWriter(judge=judge, criteria=chosen.criteria, task=chosen.task, which=which)
    written = await writer({})
    failed = [note.text for note in written["notes"].values()]
    return chosen.model_copy(update={"criteria": tuple(written["criteria"])}), failed
