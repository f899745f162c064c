"""The writer of guidelines: for one criterion and one query, what each value of the scale means."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.calls import Form, JudgeLike, ask
from judgegraph.calls.form import STRING, record
from judgegraph.errors import ReplyError, one_line
from judgegraph.prompts.sections import criterion_text
from judgegraph.types import Criterion, Note, Notes, Sample, keyed, sample_of

_LABEL = re.compile(r"\A\s*[\[*#\s]{0,4}(?:scoring )?guidelines?[\]*\s]{0,4}:[\s*]*", re.I)


class Topic(TypedDict):  # what the writer reads
    sample: Sample
    criterion: Criterion


class Guided(TypedDict):  # what it writes
    guidelines: dict[str, str]  # criterion -> its guideline
    notes: Notes


def _read(said: Any) -> str:
    text = said.get("guideline") if isinstance(said, dict) else said
    guideline = _LABEL.sub("", text).strip() if isinstance(text, str) else ""
    if not guideline:
        raise ValueError("the guideline is empty")
    return guideline


FORMS: dict[str, Form[str]] = {
    "form": Form("guideline", record({"guideline": STRING}), _read),
    "text": Form("guideline", None, _read),
}


@dataclass(frozen=True, kw_only=True)
class GuidelineWriter:
    """Writes the scoring guideline of one criterion; a criterion that brings its own needs no call.

    Source: Fennec, section 3.1, eq. 2: it sees query and criterion, no response, so samples that share both share
    the guideline. Where it fails, there is a note and no guideline: the judge goes on without one.

    Attributes:
        judge: who answers. task: one sentence that says what kind of text is judged.
        reply: "form" asks for JSON, "text" for the bare guideline.
        temperature: paper: 0; None leaves it to the judge.
    """

    judge: JudgeLike = "embedded"
    task: str = "an assistant's response to a user's query"
    reply: Literal["form", "text"] = "form"
    prompt: str = "guideline"
    temperature: float | None = 0.0
    name: str = "guideline-writer"

    async def __call__(self, state: Topic) -> Guided:
        criterion = state["criterion"]
        if criterion.guideline:
            return {"guidelines": {criterion.name: criterion.guideline}, "notes": {}}
        messages = prompts.load(self.prompt).render(
            task=self.task, criterion=criterion_text(criterion), query=sample_of(state).query
        )
        try:
            text = await ask(self.judge, messages, FORMS[self.reply], temperature=self.temperature)
        except ReplyError as error:
            said = f"{criterion.name}: judged without a guideline: {one_line(error)}"
            about = {"agent": self.name, "status": error.status, "kind": "guideline-failed"}
            failed = Note.model_validate({**about, "text": said})
            return {"guidelines": {}, "notes": keyed(failed)}
        return {"guidelines": {criterion.name: text}, "notes": {}}
