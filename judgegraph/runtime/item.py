"""One finished sample: what the graph made of it, as one line of JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from judgegraph.answers import Precedence, answer_keys
from judgegraph.errors import StateError, one_line
from judgegraph.runtime.notices import unnoticed
from judgegraph.runtime.one_go import WAITS, waits
from judgegraph.runtime.thin_text import thin
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
)

FINE = ("ok", "abstained", "skipped")  # all other statuses are failures, which a retry takes up
LISTED = ("scores", "rectifications", "findings", "comparisons", "corrections", "notes")


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
    was emptied and only the whole result shows (`runtime.notices.unnoticed`).

    Where the graph stopped to wait for a person, nothing was judged to its end: the sample failed. LangGraph gives
    None where no key of its result was written, as on a way from the start to the end. `wired` is what the graph's
    wiring tells of whose scores are the answer.
    """
    if state is None:
        return Item(sample=sample, notes=(NOTHING, *thin(sample)), place=place, ms=ms)
    if waits(state):
        return failed_item(sample, "agent_error", WAITS, ms, place)
    known = {key: value for key, value in state.items() if key in FOUND}
    for key in LISTED:
        if isinstance(known.get(key), Mapping):
            known[key] = tuple(known[key].values())
    other = {k: _plain(v) for k, v in state.items() if k not in known and k not in ("sample", "task")}
    scores = known.get("scores", ())
    found = any(known.get(key) not in (None, (), {}) for key in ("scores", "comparisons", "overall", "verdict"))
    empty = () if found else (UNANSWERED,)
    if found and scores and not answer_keys(scores, wired):
        stages = ", ".join(f"'{one_line(stage, 40)}'" for stage in dict.fromkeys(score.stage for score in scores))
        text = f"no score is an answer: they have stage {stages}; an answer has stage='final'"
        empty = (Note(agent="graph", text=text, status="skipped", kind="no-answer"),)
    known["notes"] = (*known.get("notes", ()), *empty, *_off_scale(sample, scores), *_unnoticed(known), *thin(sample))
    return Item(sample=sample, other=other, place=place, ms=ms, answers=_answers(scores, wired), **known)


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
    return unnoticed(known.get("scores", ()), known.get("rectifications", ()), criteria, compared)


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
