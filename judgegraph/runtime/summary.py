"""Aggregates that say how many scores they rest on, and what the missing ones could do to them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from judgegraph.runtime.item import Item
from judgegraph.types import Comparison, Scale, Score


@dataclass
class Line:
    """One criterion by one agent at one stage.

    Attributes:
        n: scores asked for. statuses: status -> count. total: sum of the values that could be read.
        labels: label -> count. changed, up, down: finals that differ from their draft.
    """

    criterion: str
    agent: str
    stage: str
    of: str
    scale: Scale | None = None
    n: int = 0
    total: float = 0.0
    squares: float = 0.0
    values: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    up: int = 0
    down: int = 0
    changed: int = 0

    @property
    def n_ok(self) -> int:
        """Scores that could be read."""
        return self.statuses["ok"]

    @property
    def mean(self) -> float | None:
        """Mean of the values that could be read, in the units of the scale."""
        return self.total / self.values if self.values else None

    @property
    def sd(self) -> float | None:
        """Their standard deviation (n - 1), None below two."""
        if self.values < 2:
            return None
        spread = self.squares - self.total**2 / self.values
        return math.sqrt(max(0.0, spread) / (self.values - 1))

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The mean if every missing score were the scale's least, and if it were its greatest."""
        if self.scale is None or self.scale.low is None or self.scale.high is None or not self.n:
            return None
        missing = self.n - self.values
        return (self.total + missing * self.scale.low) / self.n, (self.total + missing * self.scale.high) / self.n

    def add(self, score: Score) -> None:
        """Count one score."""
        self.n += 1
        self.scale = self.scale or score.scale
        self.statuses[score.status] += 1
        if score.value is not None:
            self.values += 1
            self.total += score.value
            self.squares += score.value**2
        if score.label is not None:
            self.labels[score.label] += 1


@dataclass
class Summary:
    """What a run came to.

    Attributes:
        signature: all that the numbers depend on. samples: status -> count of items.
        lines: per criterion, agent, stage. verdicts: of pairs, per verdict; "none" where there is none.
        consistent: pairs judged in both orders with one verdict, of `both` such pairs.
        corrections: status -> count. suggestions: (kind, criterion) -> count; wordings: the first definition given.
        notes: text -> count.
        failures: (status, reason) -> count of samples whose graph did not come to its end.
    """

    signature: str
    samples: Counter[str] = field(default_factory=Counter)
    lines: dict[tuple[str, ...], Line] = field(default_factory=dict)
    verdicts: Counter[str] = field(default_factory=Counter)
    consistent: int = 0
    both: int = 0
    corrections: Counter[str] = field(default_factory=Counter)
    suggestions: Counter[tuple[str, str]] = field(default_factory=Counter)
    wordings: dict[tuple[str, str], str] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)

    def line(self, criterion: str, stage: str = "final") -> Line | None:
        """The line of a criterion at a stage; of several agents the last."""
        found = [x for x in self.lines.values() if x.criterion == criterion and x.stage == stage]
        return found[-1] if found else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        rows = [
            {
                "criterion": x.criterion, "agent": x.agent, "stage": x.stage, "of": x.of, "n": x.n, "n_ok": x.n_ok,
                "mean": x.mean, "sd": x.sd, "bounds": x.bounds, "labels": dict(x.labels),
                "statuses": dict(x.statuses), "changed": x.changed, "up": x.up, "down": x.down,
                "scale": str(x.scale) if x.scale else None,
            }
            for x in self.lines.values()
        ]  # fmt: skip
        pairs = {"verdicts": dict(self.verdicts), "both_orders": self.both, "consistent": self.consistent}
        advice = [
            {"kind": k, "criterion": c, "count": n, "definition": self.wordings[k, c]}
            for (k, c), n in self.suggestions.most_common()
        ]
        return {
            "signature": self.signature, "samples": dict(self.samples), "scores": rows, "pairs": pairs,
            "corrections": dict(self.corrections), "suggestions": advice, "notes": dict(self.notes),
            "failures": [{"status": s, "reason": r, "count": n} for (s, r), n in self.failures.most_common()],
        }  # fmt: skip

    def __str__(self) -> str:
        rows = [f"{self.signature}", f"samples: {_counts(self.samples)}"]
        for x in self.lines.values():
            mean = f"{x.mean:.3f}" if x.mean is not None else _counts(x.labels) or "-"
            rows.append(f"{x.criterion} ({x.agent}, {x.stage}): n {x.n_ok}/{x.n}, mean {mean}")
        if self.verdicts:
            rows.append(f"verdicts: {_counts(self.verdicts)}")
        return "\n".join(rows)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


def summarise(items: Iterable[Item], signature: str) -> Summary:
    """Read items once and add them up."""
    summary = Summary(signature)
    for item in items:
        summary.samples[item.status] += 1
        if item.status != "ok":
            summary.failures[item.status, item.reason] += 1
        _add_scores(summary, item)
        _add_pairs(summary, item.comparisons, item.verdict)
        summary.corrections.update(c.status for c in item.corrections)
        for advice in item.suggestions:
            summary.suggestions[advice.kind, advice.criterion] += 1
            summary.wordings.setdefault((advice.kind, advice.criterion), advice.definition)
        summary.notes.update(f"{n.agent}: {n.text}" for n in item.notes)
    return summary


def _add_scores(summary: Summary, item: Item) -> None:
    drafts = {(s.criterion, s.of): s for s in item.scores if s.stage == "draft"}
    for score in item.scores:
        key = (score.criterion, score.agent, score.stage, score.of)
        line = summary.lines.setdefault(key, Line(*key))
        line.add(score)
        draft = drafts.get((score.criterion, score.of))
        if score.stage == "final" and draft and score.status == draft.status == "ok":
            line.changed += score.answer != draft.answer
            if score.value is not None and draft.value is not None:
                line.up += score.value > draft.value
                line.down += score.value < draft.value


def _add_pairs(summary: Summary, comparisons: tuple[Comparison, ...], verdict: str | None) -> None:
    merged = {c.order: c for c in comparisons if c.criterion == "overall"}
    if not comparisons:
        return
    summary.verdicts[verdict or "none"] += 1
    if "AB" in merged and "BA" in merged and merged["AB"].verdict and merged["BA"].verdict:
        summary.both += 1
        summary.consistent += merged["AB"].verdict == merged["BA"].verdict
