"""One finished sample: what the graph made of it, as one line of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from judgegraph.errors import one_line
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
    place: int = 0
    ms: float = 0.0

    @property
    def id(self) -> str:
        """The sample's id."""
        return self.sample.id

    @property
    def judged(self) -> bool:
        """Whether something was found: a score or a comparison that could be read, or an answer over all.

        A draft whose final score was skipped is none: who reviews it said nothing.
        """
        unheard = {s.draft for s in self.scores if s.status == "skipped"}
        unheard -= {s.draft for s in self.scores if s.status != "skipped"}
        statuses = {s.status for s in self.scores if s.key not in unheard} | {c.status for c in self.comparisons}
        return "ok" in statuses or self.overall is not None or self.verdict is not None

    def line(self) -> str:
        """As JSON without what is empty; one line, strict JSON."""
        return self.model_dump_json(exclude_defaults=True)


def failures(item: Item) -> int:
    """How much of an item failed: itself, and each of its scores and other parts; an abstention is no failure."""
    parts = [part for name in LISTED for part in getattr(item, name)]
    parts += [item.plan] if item.plan is not None else []
    return sum(getattr(part, "status", "ok") not in FINE for part in [item, *parts])


NOTHING = Note(agent="graph", text="the graph wrote nothing", status="skipped")
FOUND = frozenset(Item.model_fields) - {"sample", "place", "ms"}  # keys of a state that an item keeps


def item_of(sample: Sample, state: Mapping[str, Any] | None, ms: float, place: int = 0) -> Item:
    """From a graph's final state; human labels off a score's scale are noted, and a text too thin to be judged.

    Where the graph stopped to wait for a person, nothing was judged to its end: the sample failed. LangGraph gives
    None where no key of its result was written, as on a way from the start to the end.
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
    known["notes"] = (*known.get("notes", ()), *_off_scale(sample, known.get("scores", ())), *thin(sample))
    return Item(sample=sample, other=other, place=place, ms=ms, **known)


def failed_item(sample: Sample, status: Status, why: str | BaseException, ms: float, place: int = 0) -> Item:
    """For a sample whose graph did not come to its end."""
    if isinstance(why, BaseException):
        why = f"{type(why).__name__}: {why}" if str(why) else type(why).__name__
    return Item(sample=sample, status=status, reason=one_line(why), place=place, ms=ms)


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
    ranked = sorted(scores, key=lambda s: s.stage == "final")  # an aspect may share a criterion's name, not its scale
    scales = {s.criterion.casefold(): s.scale for s in ranked if s.scale is not None and not s.scale.labels}
    found = []
    for name, label in sample.human.items():
        scale = scales.get(name.casefold())
        values = label if isinstance(label, list) else [label]
        for value in values if scale else ():
            if isinstance(value, int | float) and not scale.low <= value <= scale.high:  # type: ignore
                found.append(Note(agent="human", text=f"human.{name} = {value:g} is not on the scale {scale}"))
    return found
