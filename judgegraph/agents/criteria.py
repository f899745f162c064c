"""The writer of criteria: from a query alone, what a response to it should be judged by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.calls import Form, JudgeLike, ask
from judgegraph.calls.asking import STRING, record
from judgegraph.errors import ReplyError, counted, one_line, settings_checked
from judgegraph.prompts import Rendered
from judgegraph.prompts.criteria import same_key
from judgegraph.prompts.template import criterion_text
from judgegraph.types import Criterion, Note, Notes, Sample, given_criteria, keyed, sample_of

# The writer of guidelines: for one criterion and one query, what each value of the scale means.


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


@settings_checked
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
        messages = self.rendered(sample_of(state), criterion)
        try:
            text = await ask(self.judge, messages, FORMS[self.reply], temperature=self.temperature)
        except ReplyError as error:
            said = f"{criterion.name}: judged without a guideline: {one_line(error)}"
            about = {"agent": self.name, "status": error.status, "kind": "guideline-failed"}
            failed = Note.model_validate({**about, "text": said})
            return {"guidelines": {}, "notes": keyed(failed)}
        return {"guidelines": {criterion.name: text}, "notes": {}}

    def rendered(self, sample: Sample, criterion: Criterion) -> Rendered:
        """What the guideline of a criterion is asked for with."""
        return prompts.load(self.prompt).render(
            task=self.task, criterion=criterion_text(criterion), query=sample.query
        )  # fmt: skip


# What a writer of criteria is asked to return: a list of names and definitions, as a form or as numbered lines.


LONGEST = 200  # characters of a name, as Criterion has it

_ENUMERATOR = re.compile(r"\s*(?:[*_]{0,2}\(?\d{1,2}[.):](?:\s+|[*_]{1,2}\s*)|[-*•]\s+)")
_NAMED = re.compile(r"[*_\s]*(?P<name>[^:：]{1,60}?)[*_\s]*[:：](?!\d|//)[*_\s]*(?P<definition>\S.*)", re.S)


def criteria_form(count: int) -> Form[list[Criterion]]:
    """`count` criteria, each with a name and a definition; what comes is read, however many it is."""
    item = record({"name": STRING, "definition": STRING})
    listed = {"type": "array", "items": item, "minItems": count, "maxItems": count}

    def read(data: Any) -> list[Criterion]:
        items = data.get("criteria") if isinstance(data, Mapping) else None
        return _some(filter(None, map(_of_item, items if isinstance(items, list) else ())))

    return Form("criteria", record({"criteria": listed}), read)


CRITERIA_TEXT: Form[list[Criterion]] = Form("criteria", None, lambda text: _some(criteria_in(text)))


def _some(found: Iterable[Criterion]) -> list[Criterion]:
    criteria = list(found)
    if not criteria:
        raise ValueError("no criterion with a name in it")
    return criteria


def _of_item(item: Any) -> Criterion | None:
    if not isinstance(item, Mapping):
        return None
    name, definition = (" ".join(str(item.get(key) or "").split()) for key in ("name", "definition"))
    name = unnumbered(name).strip(" *_:")
    return Criterion(name=_short(name), definition=definition) if name else None


def unnumbered(line: str) -> str:
    """A line without its leading list mark; numbers within it stay ("1. Runs on Python 3.10")."""
    return _ENUMERATOR.sub("", line, count=1).strip()


def criteria_in(text: str) -> list[Criterion]:
    """The criteria of a plain reply: its numbered or bulleted lines; without any, lines like "Name: definition".

    Lines that follow such a line directly belong to it. Source: Fennec's parser keeps lines that start with digits and
    a full stop, else all, and strips "1." to "10." anywhere; ours strips a leading mark only.
    """
    lines = text.splitlines()
    marked = any(_ENUMERATOR.match(line) for line in lines)
    items: list[str] = []
    open_item = False
    for line in lines:
        if _ENUMERATOR.match(line) if marked else _NAMED.fullmatch(line.strip()):
            items.append(unnumbered(line))
            open_item = True
        elif open_item and line.strip():
            items[-1] += " " + line.strip()
        else:
            open_item = False
    return [_of_line(item) for item in items if item.strip(" *_:")]


def _of_line(line: str) -> Criterion:
    """Name and definition of one line; a line without a colon (a question, say) is a name, if it is not too long."""
    named = _NAMED.fullmatch(line)
    if named:
        return Criterion(name=named["name"].strip(), definition=named["definition"].strip())
    plain = line.strip(" *_:")
    return Criterion(name=_short(plain), definition=plain if len(plain) > LONGEST else "")


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1].rstrip() + "…"


def distinct(criteria: Iterable[Criterion]) -> list[Criterion]:
    """Without those whose name, case and punctuation aside, has come before."""
    found: dict[str, Criterion] = {}
    for criterion in criteria:
        found.setdefault(same_key(criterion.name), criterion)
    return list(found.values())


PROMPTS = {"form": "branch", "text": "branch_text"}


class Asked(TypedDict):  # what the writer reads
    sample: Sample
    criteria: NotRequired[list[Criterion]]  # given ones replace its work


class Branched(TypedDict):  # what it writes
    criteria: list[Criterion]
    notes: Notes


@settings_checked
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
        messages = self.rendered(sample_of(state))
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

    def rendered(self, sample: Sample) -> Rendered:
        """What criteria are asked for with."""
        return prompts.load(self.prompt).render(task=self.task, count=str(self.count), query=sample.query)

    def _without_query(self, sample: Sample) -> list[Note]:
        """Criteria of nothing say nothing of the sample, however well they read."""
        if sample.query.strip():
            return []
        text = "the sample's query is empty: criteria were asked for all the same, and are of the task alone"
        return [Note(agent=self.name, text=text, kind="query-empty")]

    def _doubled(self, criteria: Sequence[Criterion], kept: Sequence[Criterion]) -> list[Note]:
        left = len(criteria) - len(kept)
        text = f"{left} of {counted(len(criteria), 'criterion', 'criteria')} left out: their names had come before"
        return [Note(agent=self.name, text=text, kind="criteria-doubled")] if left else []
