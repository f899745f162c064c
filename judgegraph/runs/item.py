"""One finished sample: what the graph made of it, as one line of JSON."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from judgegraph.answers import Precedence, answer_keys, answers_of
from judgegraph.errors import ScaleError, StateError, one_line
from judgegraph.runs.notices import FAILED, unnoticed
from judgegraph.sync import WAITS, waits
from judgegraph.types import (
    Comparison,
    Correction,
    Criterion,
    Finding,
    Note,
    Plan,
    Rectification,
    Sample,
    Score,
    Status,
    Suggestion,
    Value,
    Verdict,
    text_of,
    words,
)

# Judged text too thin to earn a score: flagged, since some judges give the best one to a colon.


LEAST = 8  # words; a text of fewer is flagged
LOOKED_AT = 2000  # characters
HEAD = 300  # of these, which settle it for nearly every text: the rest is not worth its time on every sample
_KEYS = re.compile(  # what opens an answer and is none; Zhao et al. 2025, arXiv:2507.08794, has such a list
    "|".join((
        "thought process",
        r"let['\u2019]?s (?:solve|think)(?: (?:about|through|this|it|the|problem))* step[ -]by[ -]step",
        "(?:final |the )?(?:solution|answer)(?: is)?", "respuesta", "l\u00f6sung", "\u89e3(?:\u7b54|\u8aac)?",
        "\u304b\u3044\u305b\u3064", "\u601d\u8003\u8fc7\u7a0b",
    ))
)  # fmt: skip


_NO_LETTERS = re.compile(r"[\W_]+")
_IN_KEYS = ("thought process", "step", "solution", "answer", "respuesta")  # one of these is in whatever `_KEYS` finds
_TO_SPACES = str.maketrans({sign: " " for sign in map(chr, range(128)) if not sign.isalnum()} | {"'": None})


def short_text_notes(sample: Sample) -> list[Note]:
    """Notes on an output, and on a rival, that has fewer than eight words, none, or nothing but an answer's opening."""
    notes = []
    for side, text in (("output", sample.output), ("rival", sample.rival)):
        why, kind = _why(text_of(text)[:LOOKED_AT]) if text is not None else ("", "")
        if why:
            notes.append(Note(agent="sample", text=f"the {side} {why}", kind=kind))
    return notes


def _why(text: str) -> tuple[str, str]:
    """What is wrong with it and the kind of that, "" for nothing."""
    head = text[:HEAD]
    if _plainly_says_more(head) or (len(_left(head)) > HEAD // 5 and len(words(head)) >= LEAST):
        return "", ""
    if not text.strip():
        return "is empty: no score of it can be trusted", "text-empty"
    if not re.search(r"[^\W_]", text):
        return "has no word, signs alone: no score of it can be trusted", "text-empty"
    if not _left(text):
        return (
            "opens an answer and gives none: no score of it can be trusted, as some judges give it the best",
            "text-opening",
        )
    few = len(words(text)) < LEAST
    return (f"has fewer than {LEAST} words: a good score of it says little" if few else ""), ""


def _plainly_says_more(head: str) -> bool:
    """Whether it is more than an opening that was cut there, found out fast for most English texts."""
    if not (plain := head.casefold()).isascii():
        return False
    for key in _IN_KEYS:
        if key in plain:
            return False
    pieces = plain.translate(_TO_SPACES).split()
    return len(pieces) >= LEAST and len("".join(pieces)) > HEAD // 5


def _left(text: str) -> str:
    """Letters and digits that belong to no opening of an answer."""
    if (plain := text.casefold()).isascii() and not _KEYS.search(plain):
        return _NO_LETTERS.sub("", plain)
    return re.sub(r"[\W_]+", "", _KEYS.sub("", text.casefold()))


FINE = ("ok", "abstained", "skipped")  # all other statuses are failures, which a retry takes up
LISTED = (*FAILED, "notes")


class Item(Value):
    """A line of `items.jsonl`.

    Attributes:
        sample: as it was read. status: "ok" when the graph came to its end, else why not, with `reason`.
        other: keys of a graph of yours that are not in the shared vocabulary.
        answers: keys of the scores that are the graph's answer, where its wiring tells more than the scores do; empty:
            as they tell (`judgegraph.answers`), also in runs that were written before this was.
        place: the sample's number in the dataset, from 0. ms: milliseconds from start to end.
    """

    sample: Sample
    status: Status = "ok"
    reason: str = ""
    scores: tuple[Score, ...] = ()
    rectifications: tuple[Rectification, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    aspects: dict[str, tuple[Criterion, ...]] = Field(default_factory=dict)
    criteria: tuple[Criterion, ...] = ()
    branches: dict[str, Criterion] = Field(default_factory=dict)
    plan: Plan | None = None
    findings: tuple[Finding, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    corrections: tuple[Correction, ...] = ()
    overall: float | None = None
    verdict: Verdict | None = None
    notes: tuple[Note, ...] = ()
    other: dict[str, Any] = Field(default_factory=dict)
    answers: tuple[str, ...] = ()
    place: int = 0
    ms: float = 0.0

    @property
    def id(self) -> str:
        """The sample's id."""
        return self.sample.id

    @property
    def judged(self) -> bool:
        """Whether something was found: a score or a comparison that could be read, or an answer over all."""
        statuses = {s.status for s in self.scores} | {c.status for c in self.comparisons}
        return "ok" in statuses or self.overall is not None or self.verdict is not None

    def line(self) -> str:
        """As JSON without what is empty; one line, strict JSON."""
        return self.model_dump_json(exclude_defaults=True)


def failures(item: Item) -> int:
    """How much of an item failed: itself, and each of its scores and other parts; an abstention is no failure."""
    parts = [part for name in LISTED for part in getattr(item, name)]
    parts += [item.plan] if item.plan is not None else []
    return sum(getattr(part, "status", "ok") not in FINE for part in [item, *parts])


NOTHING = Note(agent="graph", text="the graph wrote nothing", status="skipped", kind="nothing-written")
UNANSWERED = Note(
    agent="graph", text="the graph wrote no score, comparison, overall or verdict", status="skipped",
    kind="nothing-written",
)  # fmt: skip
OFF_SCALE = "labels-off-scale"
FOUND = frozenset(Item.model_fields) - {"sample", "place", "ms", "answers"}  # keys of a state that an item keeps


def item_of(
    sample: Sample, state: Mapping[str, Any] | None, ms: float, place: int = 0, wired: Sequence[Precedence] = ()
) -> Item:  # fmt: skip
    """From a graph's final state; noted are human labels off a score's scale, a text too thin to be judged, and what
    was emptied and only the whole result shows (`runs.notices.unnoticed`).

    Where the graph stopped to wait for a person, nothing was judged to its end: the sample failed. LangGraph gives
    None where no key of its result was written, as on a way from the start to the end. `wired` is what the graph's
    wiring tells of whose scores are the answer.
    """
    if state is None:
        return Item(sample=sample, notes=(NOTHING, *short_text_notes(sample)), place=place, ms=ms)
    if waits(state):
        return failed_item(sample, "agent_error", WAITS, ms, place)
    known = {key: value for key, value in state.items() if key in FOUND}
    for key in LISTED:
        if (value := known.get(key)) is not None and (type(value) is dict or isinstance(value, Mapping)):
            known[key] = tuple(value.values())
    other = {k: _plain(v) for k, v in state.items() if k not in known and k not in ("sample", "task")}
    scores = known.get("scores", ())
    if any(score.label is not None for score in scores):
        scores = known["scores"] = tuple(map(_spelt, scores))
    over_all = known.get("overall") is not None or known.get("verdict") is not None
    found = bool(scores or known.get("comparisons")) or over_all
    empty = () if found else (UNANSWERED,)
    if found and scores and not answer_keys(scores, wired):
        stages = ", ".join(f"'{one_line(stage, 40)}'" for stage in dict.fromkeys(score.stage for score in scores))
        text = f"no score is an answer: they have stage {stages}; an answer has stage='final'"
        empty = (Note(agent="graph", text=text, status="skipped", kind="no-answer"),)
    known["notes"] = (
        *known.get("notes", ()),
        *empty,
        *_off_scale(sample, scores),
        *_unnoticed(known),
        *short_text_notes(sample),
    )
    status, reason = _why_not_judged(known)
    return Item(
        sample=sample, status=status, reason=reason, other=other, place=place, ms=ms, answers=_answers(scores, wired),
        **known,
    )  # fmt: skip


def _spelt(score: Score) -> Score:
    """Its label as its scale spells it: "Good" and "good" are one label, counted together."""
    if score.label is not None and score.scale is not None and score.label not in score.scale.labels:
        with suppress(ScaleError):
            return score.model_copy(update={"label": score.scale.check_label(score.label)})
    return score


def _why_not_judged(known: Mapping[str, Any]) -> tuple[Status, str]:
    """("ok", ""), but where nothing was judged as a call before had failed: that call's status and why.

    Such as where no criteria could be had: what is "skipped" for it was due all the same.
    """
    if known.get("overall") is not None or known.get("verdict") is not None:
        return "ok", ""
    for part in (*known.get("scores", ()), *known.get("comparisons", ())):
        if part.status != "skipped":
            return "ok", ""
    failed = [note for note in known["notes"] if note.status not in FINE]
    return (failed[0].status, one_line(f"{failed[0].agent}: {failed[0].text}")) if failed else ("ok", "")


def relabelled(item: Item, sample: Sample) -> Item:
    """The item with people's labels as they are now: they are no part of what was asked."""
    kept = [note for note in item.notes if not (note.agent == "human" and note.kind == OFF_SCALE)]
    notes = (*kept, *_off_scale(sample, item.scores))
    return item.model_copy(update={"sample": sample, "notes": notes})


def _answers(scores: Sequence[Score], wired: Sequence[Precedence]) -> tuple[str, ...]:
    """What the wiring tells beyond the scores; nothing where it tells no more."""
    if not wired:
        return ()
    found = answer_keys(scores, wired)
    return found if found != answer_keys(scores) else ()


def failed_item(sample: Sample, status: Status, why: str | BaseException, ms: float, place: int = 0) -> Item:
    """For a sample whose graph did not come to its end."""
    if isinstance(why, StateError):  # it names node, key and cure, which takes more than others have
        return Item(sample=sample, status=status, reason=one_line(why, 500), place=place, ms=ms)
    if isinstance(why, BaseException):
        why = _in_words(why)
    return Item(sample=sample, status=status, reason=one_line(why), place=place, ms=ms)


def _unnoticed(known: Mapping[str, Any]) -> list[Note]:
    compared = [c.criterion for c in known.get("comparisons", ())]
    criteria = known.get("criteria") or (known.get("branches") or {}).values()
    return unnoticed(
        known.get("scores", ()), known.get("rectifications", ()), criteria, compared, known.get("notes", ())
    )


_TASK = re.compile(r"During task with name '([^']*)'")  # as LangGraph notes it


def node_of(error: BaseException) -> str:
    """The node in which an error was raised, as LangGraph notes it; of nested ones the innermost."""
    found = [match[1] for note in getattr(error, "__notes__", ()) if (match := _TASK.search(note))]
    return "/".join(reversed(found))


def _in_words(error: BaseException) -> str:
    """An error with the node that raised it; of a value that was refused, its field and why."""
    kind, text = type(error).__name__, str(error)
    if isinstance(error, ValidationError):
        wrong = (f"{'.'.join(map(str, one['loc'])) or 'value'}: {one['msg']}" for one in error.errors())
        text = f"{error.title}: {'; '.join(wrong)}"
    said = f"{kind}: {text}" if text else kind
    node = "" if isinstance(error, StateError) else node_of(error)
    return f"{said} (node '{node}')" if node else said


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def _off_scale(sample: Sample, scores: tuple[Score, ...]) -> list[Note]:
    if not sample.human:
        return []
    answers = set(answer_keys(scores))
    ranked = sorted(scores, key=lambda s: s.key in answers)  # an aspect may share a criterion's name, not its scale
    scales = {s.criterion.casefold(): s.scale for s in ranked if s.scale is not None and not s.scale.labels}
    found = []
    for name, label in sample.human.items():
        scale = scales.get(name.casefold())
        values = label if isinstance(label, list) else [label]
        for value in values if scale else ():
            if isinstance(value, int | float) and not scale.low <= value <= scale.high:  # type: ignore
                text = f"human.{name} = {value:g} is not on the scale {scale}"
                found.append(Note(agent="human", text=text, kind=OFF_SCALE))
    return found


# What a sample has to show: how it ended, and how its final answers did; of a run that judged nothing, why.


OTHERS = ("rectifications", "suggestions", "aspects", "branches", "plan", "findings", "corrections", "notes")
KINDS = 1000  # of reasons that are told apart


_OWN = re.compile(r"'[^']*('|$)|\"[^\"]*(\"|$)|\d+")  # what a reason may hold of the sample at hand


def without_own(reason: str) -> str:
    """A reason without what it may hold of one sample alone, so that those of one kind are alike."""
    return _OWN.sub("*", reason)


def answers(item: Item) -> list[Score | Comparison]:
    """The scores that are its answer, and its comparisons."""
    return [*answers_of(item), *item.comparisons]


def has_status(item: Item, status: str, criterion: str | None = None) -> bool:
    """Whether it ended so, or one of its final scores or comparisons did; of a criterion alone, these of it."""
    given = [one for one in answers(item) if criterion in (None, one.criterion)]
    if criterion is not None and given:
        return any(one.status == status for one in given)
    return item.status == status or any(one.status == status for one in given)


def overalls(item: Item) -> str:
    """Its answer over all; of a pair those of both, A's and B's, as far as B's can be told from its comparisons."""
    if item.overall is None:
        return ""
    said = f"{item.overall:.4g}"
    if item.sample.rival is None:
        return said
    rival = rival_overall(item)
    return f"A {said}" if rival is None else f"A {said}, B {rival:.4g}"


def rival_overall(item: Item) -> float | None:
    """B's mean over the very comparisons whose mean for A is the overall answer; None where they are none's."""
    for agent in dict.fromkeys(c.agent for c in item.comparisons) if item.overall is not None else ():
        found = [(c.score_a, c.score_b) for c in item.comparisons if c.agent == agent]
        both = [(a, b) for a, b in found if a is not None and b is not None]
        if both and math.isclose(fmean(a for a, _ in both), item.overall or 0.0, abs_tol=1e-9):
            return fmean(b for _, b in both)
    return None


def ending(item: Item) -> str:
    """Its status, and what its answers lack, such as "ok, but no final score: 3 abstained, 1 unreadable"."""
    found = answers(item)
    lost = Counter(one.status for one in found if one.status != "ok")
    if item.status != "ok" or not lost:
        return item.status
    final = any(isinstance(one, Score) and one.stage == "final" for one in found)
    what = "comparison" if item.comparisons else "final score" if final else "score"
    said = ", ".join(f"{count} {status}" for status, count in lost.most_common())
    if lost.total() == len(found):
        return f"ok, but no {what}: {said}"
    return f"ok, but of {len(found)} {what}s {said}"


@dataclass
class _Nothing:
    """What items without anything judged hold, counted.

    Attributes:
        failed: of samples whose graph did not come to its end, and reasons: of scores and comparisons without an
            answer, (status, reason without what is one sample's own) -> (count, the first reason).
        statuses: (status, "draft", "score" or "comparison") -> count. keys: of what was written beside them. own: keys
            of a graph's own.
        notes: their texts. silent: samples of which the graph wrote nothing at all.
    """

    samples: int = 0
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    first: dict[tuple[str, str], str] = field(default_factory=dict)
    statuses: Counter[tuple[str, str]] = field(default_factory=Counter)
    keys: Counter[str] = field(default_factory=Counter)
    own: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    silent: int = 0

    def add(self, item: Item) -> None:
        self.samples += 1
        if item.status != "ok":
            self._count(self.failed, item.status, item.reason)
            return
        answers: list[Score | Comparison] = [*item.scores, *item.comparisons]
        for one in answers:
            what = "comparison" if isinstance(one, Comparison) else "draft" if one.stage == "draft" else "score"
            self.statuses[one.status, what] += 1
            if one.status != "ok":
                self._count(self.reasons, one.status, one.reason)
        notes = [note for note in item.notes if note.agent not in ("graph", "human", "sample")]
        found = [key for key in OTHERS if key != "notes" and getattr(item, key)] + (["notes"] if notes else [])
        self.keys.update(found)
        self.own.update(item.other.keys())
        self.notes.update(f"{note.agent}: {note.text}" for note in notes if len(self.notes) < KINDS)
        self.silent += not (found or item.other or item.scores or item.comparisons)

    def _count(self, counter: Counter[tuple[str, str]], status: str, reason: str) -> None:
        kind = status, without_own(reason)
        if kind in counter or len(counter) < KINDS:
            counter[kind] += 1
            self.first.setdefault(kind, reason)

    def in_words(self) -> str:
        told = [*self._failed(), *self._unread()]
        if self.silent:
            told.append(f"of {self._of(self.silent)} the graph wrote nothing")
        ended = self.samples - self.failed.total()
        if ended > self.silent and not self.statuses:
            wrote = ", ".join([*self.keys, *(f"{one_line(key, 40)} (its own)" for key in self.own)][:8])
            told.append(f"the graph wrote {wrote}, and no scores, comparisons, overall or verdict, which a run counts")
        if self.notes and not self.statuses:
            note, many = self.notes.most_common(1)[0]
            told.append(f"note ({many:,}): {one_line(note)}")
        return "; ".join(told)

    def _of(self, count: int) -> str:
        if count == self.samples:
            return "the one sample" if count == 1 else f"all {count:,} samples"
        return f"{count:,} of {self.samples:,} samples"

    def _failed(self) -> Iterable[str]:
        if not self.failed:
            return
        ((status, _), many), *more = self.failed.most_common()
        kind = self.failed.most_common(1)[0][0]
        why = f"{status}: {one_line(self.first[kind], 500)}" if self.first[kind] else status
        others = f" ({self.failed.total() - many:,} failed for other reasons)" if more else ""
        yield f"{self._of(many)} ended with {why}{others}"

    def _unread(self) -> Iterable[str]:
        if not self.statuses:
            return
        whole = len({what for _, what in self.statuses}) == 1
        counts = ", ".join(
            f"{count:,} {status}" if whole else f"{count:,} {status} {what}{'' if count == 1 else 's'}"
            for (status, what), count in self.statuses.most_common()
        )
        said = f"no score or comparison has an answer that counts ({counts})"
        kind = next((kind for kind, _ in self.reasons.most_common() if kind[1]), None)
        yield said + (f"; the commonest reason: {one_line(self.first[kind], 300)}" if kind else "")


def nothing_judged(items: Iterable[Item], rejected: Sequence[Any] = (), state: str | None = None) -> str:
    """Why a run judged nothing, in a line; "" where it judged anything.

    Args:
        rejected: rows of the data that are no samples. state: how the run ended, by its manifest.
    """
    found = _Nothing()
    for item in items:
        if item.judged:
            return ""
        found.add(item)
    if found.samples:
        return found.in_words()
    if state == "stopped":
        return "it was stopped before a sample was finished"
    if not rejected:
        return "the data holds no samples"
    rows = "the one row of the data was" if len(rejected) == 1 else f"all {len(rejected):,} rows of the data were"
    return f"{rows} rejected{'' if len(rejected) == 1 else '; the first'}: {one_line(rejected[0], 300)}"
