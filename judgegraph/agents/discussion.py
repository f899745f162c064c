"""A discussion of one text: who speaks, what was said so far, and judges who have heard it.

What is said stands in `transcript`, a key of the graphs that discuss; every agent here is shown what was said before it
is asked, or the part that it is to hear.

Source: the shared history of ChatEval (Chan et al. 2023, arXiv:2308.07201) and of MATEval (Li et al. 2024,
arXiv:2403.19305). There what others say comes as turns of the user; here as a section of material that nothing in it
can close.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.agents.juror import Juror
from judgegraph.calls import Form, JudgeLike, ask
from judgegraph.errors import ConfigError, ReplyError, ScaleError, one_line, settings_checked
from judgegraph.prompts.template import criteria_text, inset, left_out_examples, scores_text
from judgegraph.types import (
    Criterion,
    Note,
    Notes,
    Sample,
    Score,
    Scores,
    Status,
    Value,
    given_criteria,
    key_of,
    keyed,
    sample_of,
)

SAID_TOKENS = 600  # of a statement, which is asked for in 150 words
REPORT_TOKENS = 900
ROOM = 12_000  # characters of what was said before: about 3,000 tokens; MATEval shows 2,500
WEIGH = "What was said in a discussion of the same text. Weigh the reasons: how many agree is no reason."
CUT = "transcript-cut"


class Statement(Value):
    """What one agent said in one round; of one that could not be had the text is "" and the status says why."""

    speaker: str
    round: int = 1
    text: str = ""
    status: Status = "ok"
    reason: str = ""

    @property
    def key(self) -> str:
        """round/speaker."""
        return key_of(self.round, self.speaker)


Transcript = dict[str, Statement]  # round/speaker -> what was said, in the order in which it was


class Discussed(TypedDict):  # what an agent reads before it speaks
    sample: Sample
    criteria: NotRequired[list[Criterion]]  # else its own
    transcript: NotRequired[Transcript]


class Spoken(TypedDict):  # what a speaker writes
    transcript: Transcript
    notes: Notes


class Concluded(TypedDict):  # what a judge writes who has heard a discussion
    scores: Scores
    transcript: Transcript
    notes: Notes


class Reported(TypedDict):  # what a reporter writes
    report: str
    notes: Notes


def cast_of(method: str, given: str | Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Name -> who a speaker is: names of known roles with commas between, or names to words of one's own.

    Raises:
        ConfigError: fewer than two, one of no role or without words, or one twice.
    """
    if isinstance(given, str):
        asked = [role.strip() for role in given.split(",") if role.strip()]
        if unknown := [role for role in asked if role not in known]:
            listed = ", ".join(known)
            raise ConfigError(f"{method}: no role {one_line(unknown[0], 60)!r}; known: {listed}, or a mapping of yours")
        if len({*asked}) < len(asked):
            raise ConfigError(f"{method}: one role stands twice: two readers would be asked the same")
        given = {role: known[role] for role in asked}
    found = {str(role): words for role, words in given.items()}
    if empty := [role for role, words in found.items() if not role.strip() or not str(words).strip()]:
        raise ConfigError(f"{method}: role {one_line(empty[0], 60)!r} has no words: say who it is")
    if len(found) < 2:
        raise ConfigError(f"{method}: two roles or more, got {len(found)}")
    return found


def transcript_text(state: Mapping[str, Any], hears: Sequence[str], room: int) -> tuple[str, int]:
    """What was said so far, each statement under its speaker's name, and how many early ones there was no room for.

    Args:
        hears: speakers whose statements are shown; none: all. room: characters; the latest statement is always shown.
    """
    held: Transcript = state.get("transcript") or {}
    said = [one for one in held.values() if one.text and (not hears or one.speaker in hears)]
    shown: list[str] = []
    for one in reversed(said):
        text = f"# {one_line(one.speaker, 80)}, round {one.round}\n{inset(one.text)}"
        if shown and sum(map(len, shown)) + len(text) > room:
            break
        shown.append(text)
    return "\n\n".join(reversed(shown)), len(said) - len(shown)


def _notes(agent: str, left: int) -> list[Note]:
    text = f"{left} early statements of the discussion were left out of what it was shown: there was no room for more"
    return [Note(agent=agent, text=text, kind=CUT)] if left else []


def _read(said: Any) -> str:
    text = str(said).strip()
    if not text:
        raise ValueError("nothing was said")
    return text


STATEMENT: Form[str] = Form("statement", None, _read, tokens=SAID_TOKENS)
REPORT: Form[str] = Form("report", None, _read, tokens=REPORT_TOKENS)


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Speaker:
    """Says something of the text in a discussion, in free words; it gives no score.

    A reply that cannot be had is a statement with a status: the others go on without it, and a note says so.

    Attributes:
        judge: who answers. criteria: what is discussed, where the state brings none.
        task: one sentence that says what kind of text is judged.
        instructions: who it is and what it looks for. prompt: a template with the fields instructions, task, criteria,
            query, source, output and transcript.
        round: of what it says. hears: speakers whose statements it is shown; none: all. room: characters of these.
        temperature: None leaves it to the judge.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    instructions: str = "You are a careful reader."
    prompt: str = "discuss"
    round: int = 1
    hears: Sequence[str] = ()
    room: int = ROOM
    temperature: float | None = 0.0
    name: str = "speaker"

    async def __call__(self, state: Discussed) -> Spoken:
        before, left = transcript_text(state, self.hears, self.room)
        messages = prompts.load(self.prompt).render(
            instructions=self.instructions.strip(), task=self.task, transcript=before,
            criteria=criteria_text(given_criteria(state) or self.criteria), **prompts.material(sample_of(state)),
        )  # fmt: skip
        about: dict[str, Any] = {"speaker": self.name, "round": self.round}
        try:
            text = await ask(self.judge, messages, STATEMENT, temperature=self.temperature)
        except ReplyError as error:
            why = one_line(error)
            lost = Statement(**about, status=error.status, reason=why)
            silent = f"round {self.round}: said nothing: {why}"
            note = Note.model_validate({"agent": self.name, "text": silent, "status": error.status, "kind": "silent"})
            return {"transcript": keyed(lost), "notes": keyed(note, *_notes(self.name, left))}
        return {"transcript": keyed(Statement(**about, text=text)), "notes": keyed(*_notes(self.name, left))}


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Listener(Juror):
    """Scores all criteria after a discussion that it has heard, or took part in; what it says is heard in its turn.

    Attributes:
        round: of what it says. hears: speakers whose statements it is shown; none: all. room: characters of these.
        reply: "form" asks for JSON; "text" for a question, an answer and a score for each criterion, as in MATEval,
            read block by block. The other settings are those of `Juror`.
    """

    round: int = 1
    hears: Sequence[str] = ()
    room: int = ROOM
    reply: Literal["form", "text"] = "form"

    async def __call__(self, state: Discussed) -> Concluded:  # type: ignore[override]
        criteria = given_criteria(state) or self.criteria
        before, left = transcript_text(state, self.hears, self.room)
        statements = f"{WEIGH}\n\n{before}" if before else ""
        found = await (self._scores if self.reply == "form" else self._in_blocks)(
            sample_of(state), criteria, statements
        )
        said = Statement(speaker=self.name, round=self.round, text=scores_text(found))
        return {"scores": keyed(*found), "transcript": keyed(said), "notes": keyed(*_notes(self.name, left))}

    async def _in_blocks(self, sample: Sample, criteria: Sequence[Criterion], statements: str) -> list[Score]:
        """A score for each criterion from a reply in blocks; one without its score is unreadable."""
        messages = prompts.load("question_blocks").render(
            instructions=self.instructions.strip(), task=self.task, criteria=criteria_text(criteria),
            statements=statements, **prompts.material(sample, criteria),
        )  # fmt: skip
        try:
            text = await ask(self.judge, messages, _blocks(tuple(c.name for c in criteria)), temperature=0.0)
        except ReplyError as error:
            lost: dict[str, Any] = {"status": error.status, "reason": one_line(error), "raw": error.text or None}
            found = [self._one(c, **lost) for c in criteria]
        else:
            read = scores_of(text, [c.name for c in criteria], every_block=True)
            found = [self._of_block(criterion, read[criterion.name], text) for criterion in criteria]
        unshown = [{"notes": left_out_examples(criterion, sample)} for criterion in criteria]
        return [score.model_copy(update=notes) for score, notes in zip(found, unshown, strict=True)]

    def _of_block(self, criterion: Criterion, value: float | None, text: str) -> Score:
        if value is None:
            return self._one(criterion, status="unreadable", reason="its question has no score", raw=text)
        try:
            return self._one(criterion, value=criterion.scale.check(value), reader="text", reason=one_line(text, 1000))
        except ScaleError as error:
            return self._one(criterion, status="unreadable", reason=str(error), raw=text)

    def _one(self, criterion: Criterion, **fields: Any) -> Score:
        return Score(criterion=criterion.name, agent=self.name, stage=self.stage, scale=criterion.scale, **fields)


def _blocks(names: tuple[str, ...]) -> Form[str]:
    """A reply in blocks, of which one at least can be read."""

    def read(text: Any) -> str:
        if all(value is None for value in scores_of(str(text), names, every_block=True).values()):
            raise ValueError("no question of the criteria with a score behind it")
        return str(text)

    return Form("blocks", None, read, tokens=REPORT_TOKENS)


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Reporter:
    """Writes a report for people of what a discussion came to.

    Attributes: as of `Speaker`; `room` is of the whole discussion, the scores at its end among it.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "report"
    room: int = ROOM
    temperature: float | None = 0.0
    name: str = "reporter"

    async def __call__(self, state: Discussed) -> Reported:
        before, left = transcript_text(state, (), self.room)
        messages = prompts.load(self.prompt).render(
            task=self.task, transcript=before, criteria=criteria_text(given_criteria(state) or self.criteria),
            **prompts.material(sample_of(state)),
        )  # fmt: skip
        try:
            text = await ask(self.judge, messages, REPORT, temperature=self.temperature)
        except ReplyError as error:
            about = {"agent": self.name, "status": error.status, "kind": "report-failed"}
            note = Note.model_validate({**about, "text": f"no report: {one_line(error)}"})
            return {"report": "", "notes": keyed(note, *_notes(self.name, left))}
        return {"report": text, "notes": keyed(*_notes(self.name, left))}


# How replies of MATEval's form are read: lines of the form NAME: VALUE. A question that names one kind of error opens
# its block, which holds the answer and mostly a score; where the score is missing, a block may say how much is deducted
# or only that there is no such error. What is summed up over all questions stands behind the last block.
# The authors' own reading is told from their figures, as their code holds none.


_FIELD = re.compile(r"[ \t*]*([^:\n]*?)[ \t*]*:(.*)")
_BREAK = re.compile(r"\n|\\n")  # some ends of lines stand there as two characters
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WHOLE = re.compile(r"[Ss]core[^:\n]*:\s*(-?\d+)")
Line = tuple[str, str]  # name in small letters, and value


def scores_of(text: str, errors: Sequence[str], *, every_block: bool = False) -> dict[str, float | None]:
    """Kind of error -> its score, None where its block is missing or has none.

    Args:
        errors: as the questions name them. Where a question is asked twice its last block counts.
        every_block: a block without a score is read by its deduction, else a "No" as 0.
    """
    found: dict[str, float | None] = dict.fromkeys(errors)
    for question, lines in _by_question(text):
        asked = [error for error in errors if error.casefold() in question.casefold()]
        if len(asked) == 1:
            found[asked[0]] = _score(lines, every_block)
    return found


def scores_by_authors(text: str, errors: Sequence[str]) -> dict[str, float | None]:
    """Kind of error -> its score as MATEval's published figures have it; for reproducing them, and nothing else.

    From the first place where a kind of error is named, the first line with a whole score counts, also where that line
    belongs to a later question; without any left the score is 0. A half point is cut: "-0.5" is 0.
    """
    read = (_WHOLE.search(text, at) if (at := text.find(error)) >= 0 else None for error in errors)
    return {error: float(found[1]) if found else 0.0 for error, found in zip(errors, read, strict=True)}


def _by_question(text: str) -> Iterator[tuple[str, list[Line]]]:
    """Each question, with the lines up to the next one."""
    blocks: list[tuple[str, list[Line]]] = []
    for found in map(_FIELD.match, _BREAK.split(text)):
        if found is not None:
            name, value = found[1].casefold(), found[2]
            if name == "question":
                blocks.append((value, []))
            elif blocks:
                blocks[-1][1].append((name, value))
    return iter(blocks)


def _score(lines: Sequence[Line], every_block: bool) -> float | None:
    stated = _number(lines, lambda name: "score" in name and "final" not in name)
    if stated is not None or not every_block:
        return stated
    deducted = _number(lines, lambda name: name.startswith("deduction"))
    if deducted is not None:
        return -abs(deducted)
    denied = any(name == "answer" and re.match(r"\s*no\b", value, re.IGNORECASE) for name, value in lines)
    return 0.0 if denied else None


def _number(lines: Sequence[Line], named: Callable[[str], bool]) -> float | None:
    """The number that the first line so named starts with."""
    read = (_NUMBER.match(value.strip()) for name, value in lines if named(name))
    return next((float(found[0]) for found in read if found is not None), None)
