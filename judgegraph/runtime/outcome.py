"""What a sample has to show: how it ended, and how its final answers did; of a run that judged nothing, why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from judgegraph.answers import answers_of
from judgegraph.errors import one_line
from judgegraph.runtime.item import Item
from judgegraph.runtime.mishaps import without_own
from judgegraph.types import Comparison, Score

OTHERS = ("rectifications", "suggestions", "aspects", "branches", "plan", "findings", "corrections", "notes")
KINDS = 1000  # of reasons that are told apart


def answers(item: Item) -> list[Score | Comparison]:
    """The scores that are its answer, and its comparisons."""
    return [*answers_of(item), *item.comparisons]


def has_status(item: Item, status: str) -> bool:
    """Whether it ended so, or one of its final scores or comparisons did."""
    return item.status == status or any(one.status == status for one in answers(item))


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

    def said(self) -> str:
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
        return found.said()
    if state == "stopped":
        return "it was stopped before a sample was finished"
    if not rejected:
        return "the data holds no samples"
    rows = "the one row of the data was" if len(rejected) == 1 else f"all {len(rejected):,} rows of the data were"
    return f"{rows} rejected{'' if len(rejected) == 1 else '; the first'}: {one_line(rejected[0], 300)}"
