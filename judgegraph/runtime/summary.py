"""Aggregates that say how many scores they rest on, and what the missing ones could do to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from judgegraph.errors import printable
from judgegraph.runtime.item import Item
from judgegraph.runtime.line import Line
from judgegraph.trace.html import Shown
from judgegraph.types import Comparison

STAGES = ("draft", "final")  # any other is of aspects that were proposed for the sample

__all__ = ["Line", "Summary", "summarise"]


@dataclass
class Summary(Shown):
    """What a run came to.

    Attributes:
        signature: all that the numbers depend on. samples: status -> count of items.
        judged: items with a score, a comparison or an overall answer that could be read. drafts: of these, those with
            drafts alone, whose final scores could not be read.
        lines: per criterion, agent, stage. verdicts: of pairs, per verdict; "none" where there is none.
        consistent: pairs judged in both orders with one verdict, of `both` such pairs.
        corrections: status -> count. suggestions: (kind, criterion) -> count; wordings: the first definition given.
        notes: text -> count.
        failures: (status, reason) -> count of samples whose graph did not come to its end.
    """

    signature: str
    samples: Counter[str] = field(default_factory=Counter)
    judged: int = 0
    drafts: int = 0
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
            "signature": self.signature, "samples": dict(self.samples), "judged": self.judged,
            "scores": rows, "pairs": pairs,
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
        return printable("\n".join(rows))

    def _repr_html_(self) -> str:
        from judgegraph.runtime.display import summary_html

        return summary_html(self)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


def summarise(items: Iterable[Item], signature: str) -> Summary:
    """Read items once and add them up; a failed sample misses the scores that the others have and it has not."""
    summary = Summary(signature)
    lost: Counter[tuple[str, bool]] = Counter()  # (status, whether the sample is a pair)
    ok: Counter[bool] = Counter()
    unheard = 0  # failed pairs without a comparison
    for item in items:
        summary.samples[item.status] += 1
        summary.judged += item.judged
        summary.drafts += item.judged and _drafts_alone(item)
        pair = item.sample.rival is not None
        if item.status == "ok":
            ok[pair] += 1
        else:
            summary.failures[item.status, item.reason] += 1
            lost[item.status, pair] += 1
            unheard += pair and not item.comparisons
        _add_scores(summary, item)
        _add_pairs(summary, item.comparisons, item.verdict)
        summary.corrections.update(c.status for c in item.corrections)
        for advice in item.suggestions:
            summary.suggestions[advice.kind, advice.criterion] += 1
            summary.wordings.setdefault((advice.kind, advice.criterion), advice.definition)
        summary.notes.update(f"{n.agent}: {n.text}" for n in item.notes)
    for (status, pair), count in lost.items():
        _add_lost(summary, status, pair, count, ok)
    if unheard and summary.verdicts:
        summary.verdicts["none"] += unheard
    return summary


def _drafts_alone(item: Item) -> bool:
    """Whether there were final scores and none could be read, nor anything else that comes of a sample."""
    finals = [score.status for score in item.scores if score.stage == "final"]
    others = [comparison.status for comparison in item.comparisons]
    return bool(finals) and "ok" not in finals + others and item.overall is None and item.verdict is None


def _add_scores(summary: Summary, item: Item) -> None:
    scores, pair = {s.key: s for s in item.scores}, item.sample.rival is not None
    written = {criterion.name for criterion in item.branches.values()}
    seen = set()
    for score in item.scores:
        key = (score.criterion, score.agent, score.stage, score.of)
        line = summary.lines.setdefault(key, Line(*key))
        line.add(score)
        line.own |= score.criterion in written or score.stage not in STAGES
        if item.status == "ok":
            line.asked[pair] += 1
            line.samples[pair] += key not in seen
            seen.add(key)
        else:
            line.brought[item.status, pair] += 1
        if draft := scores.get(score.draft or ""):
            line.review(score, draft)


def _add_lost(summary: Summary, status: str, pair: bool, count: int, ok: Counter[bool]) -> None:
    """Which scores a failed sample would have had, beside those it has, is known only when all items were seen."""
    for line in summary.lines.values():
        if due := line.due(pair, ok):
            line.lose(status, max(0, due * count - line.brought[status, pair]))


def _add_pairs(summary: Summary, comparisons: tuple[Comparison, ...], verdict: str | None) -> None:
    """Merged comparisons are told by their agent: a criterion may be named "overall" too."""
    if not comparisons:
        return
    summary.verdicts[verdict or "none"] += 1
    merged = {c.order: c.verdict for c in comparisons if c.agent.endswith("merge") and c.criterion == "overall"}
    first, second = merged.get("AB"), merged.get("BA")
    if first and second:
        summary.both += 1
        summary.consistent += first == second
