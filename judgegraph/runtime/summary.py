"""Aggregates that say how many scores they rest on, and what the missing ones could do to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, NamedTuple, get_args

from judgegraph.answers import Role, answers_of, roles_of, several
from judgegraph.errors import one_line, printable
from judgegraph.runtime.item import Item
from judgegraph.runtime.line import Line
from judgegraph.runtime.notices import Notice, by_count, count_kinds, stepped_down
from judgegraph.runtime.spread import scaled
from judgegraph.shown import Shown
from judgegraph.types import Score

STAGES = ("draft", "final")  # any other is of aspects that were proposed for the sample
ROLES = get_args(Role)
Key = tuple[str, ...]  # criterion, agent, stage, side

__all__ = ["Line", "Summary", "summarise"]


class Mean(NamedTuple):
    """Of samples: each one's answers that are numbers, scaled so that their scale is 0 to 1, count by their mean."""

    value: float
    samples: int

    def with_one(self, value: float) -> Mean:
        """With one more sample."""
        samples = self.samples + 1
        return Mean(self.value + (value - self.value) / samples, samples)


@dataclass
class Summary(Shown):
    """What a run came to.

    Attributes:
        signature: all that the numbers depend on. samples: status -> count of items.
        judged: items with a score, a comparison or an overall answer that could be read. partly: of these, those whose
            graph did not come to its end, so that they count among the failed too. drafts: of these, those with
            drafts alone, whose final scores could not be read.
        lines: per criterion, agent, stage: all scores; `role` says what each is. answers: of these the graph's answers,
            per criterion, agent and side; a criterion that one agent answers in some samples and another in the others
            (a gate was between them) has one line. agents: who answer the same criteria side by side, if any do; their
            numbers are kept apart. headline: agent -> mean of its answers; of all under "" where `agents` is empty.
        verdicts: of pairs, per verdict; "none" where there is none.
        consistent: pairs judged in both orders with one verdict, of `both` such pairs.
        corrections: `Correction.outcome` -> count. suggestions: (kind, criterion) -> count; wordings: the first
            definition given.
        notes: text -> count. notices: kind of note -> its samples and an example, of what was skipped, dropped or not
            applied; `noticed` are their texts among `notes`.
        failures: (status, reason) -> count of samples whose graph did not come to its end.
    """

    signature: str
    samples: Counter[str] = field(default_factory=Counter)
    judged: int = 0
    partly: int = 0
    drafts: int = 0
    lines: dict[tuple[str, ...], Line] = field(default_factory=dict)
    answers: dict[Key, Line] = field(default_factory=dict)
    agents: tuple[str, ...] = ()
    headline: dict[str, Mean] = field(default_factory=dict)
    verdicts: Counter[str] = field(default_factory=Counter)
    consistent: int = 0
    both: int = 0
    corrections: Counter[str] = field(default_factory=Counter)
    suggestions: Counter[tuple[str, str]] = field(default_factory=Counter)
    wordings: dict[tuple[str, str], str] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    notices: dict[str, Notice] = field(default_factory=dict)
    noticed: set[str] = field(default_factory=set)

    def line(self, criterion: str, stage: str = "final") -> Line | None:
        """The line of a criterion at a stage; of several agents the last."""
        found = [x for x in self.lines.values() if x.criterion == criterion and x.stage == stage]
        return found[-1] if found else None

    @property
    def shown(self) -> list[Line]:
        """What sums the run up: the lines of its answers; of a graph that writes none (of metrics, say) all lines."""
        return list(self.answers.values()) or list(self.lines.values())

    @property
    def votes(self) -> list[Line]:
        """The lines of what answers were combined from: the members of a panel."""
        return [line for line in self.lines.values() if line.role == "vote"]

    @property
    def side_by_side(self) -> str:
        """That several agents answer, in words; "" where each criterion has one answer."""
        if not self.agents:
            return ""
        return (
            f"{len(self.agents)} agents answer, and no node joins their scores: {', '.join(self.agents)}; "
            "their numbers are not averaged together"
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        rows, answers = ([_row(x) for x in lines.values()] for lines in (self.lines, self.answers))
        headline = [
            {"agent": agent or None, "mean": m.value, "samples": m.samples} for agent, m in self.headline.items()
        ]
        pairs = {"verdicts": dict(self.verdicts), "both_orders": self.both, "consistent": self.consistent}
        advice = [
            {"kind": k, "criterion": c, "count": n, "definition": self.wordings[k, c]}
            for (k, c), n in self.suggestions.most_common()
        ]
        return {
            "signature": self.signature, "samples": dict(self.samples), "judged": self.judged, "partly": self.partly,
            "headline": headline, "agents": list(self.agents), "answers": answers, "scores": rows, "pairs": pairs,
            "corrections": dict(self.corrections), "suggestions": advice, "notes": dict(self.notes),
            "failures": [{"status": s, "reason": r, "count": n} for (s, r), n in self.failures.most_common()],
            "notices": [notice.to_dict() for notice in by_count(self.notices)],
        }  # fmt: skip

    def __str__(self) -> str:
        rows = [f"{self.signature}", f"samples: {_counts(self.samples)}", *headlines(self)]
        for x in self.lines.values():
            mean = f"{x.mean:.3f}" if x.mean is not None else _counts(x.labels) or "-"
            role = f", {x.role}" if x.role != x.stage and not (x.role == "answer" and x.stage == "final") else ""
            rows.append(f"{x.criterion} ({x.agent}, {x.stage}{role}): n {x.n_ok}/{x.n}, mean {mean}")
        if self.verdicts:
            rows.append(f"verdicts: {_counts(self.verdicts)}")
        rows += [notice.line(self.samples.total()) for notice in by_count(self.notices)]
        return printable("\n".join(rows))


def headlines(summary: Summary) -> list[str]:
    """The mean of the answers in a line, of several agents one for each; none where no answer is a number."""
    found = [
        f"mean of the answers{f' of {agent}' if agent else ''}: {mean.value:.3f} on a scale of 0 to 1, "
        f"{mean.samples:,} sample{'' if mean.samples == 1 else 's'}"
        for agent, mean in summary.headline.items()
    ]
    return [*([summary.side_by_side] if summary.agents else ()), *found]


def _row(x: Line) -> dict[str, Any]:
    """A line as JSON values."""
    return {
        "criterion": x.criterion, "agent": x.agent, "stage": x.stage, "of": x.of, "role": x.role, "n": x.n,
        "n_ok": x.n_ok, "mean": x.mean, "sd": x.sd, "bounds": x.bounds, "labels": dict(x.labels),
        "statuses": dict(x.statuses), "changed": x.changed, "up": x.up, "down": x.down,
        "scale": str(x.scale) if x.scale else None,
    }  # fmt: skip


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


def summarise(items: Iterable[Item], signature: str) -> Summary:
    """Read items once and add them up; a failed sample misses the scores that the others have and it has not."""
    summary, held = Summary(signature), _Held()
    lost: Counter[tuple[str, bool]] = Counter()  # (status, whether the sample is a pair)
    ok: Counter[bool] = Counter()
    unheard = 0  # failed pairs without a comparison
    for item in items:
        summary.samples[item.status] += 1
        summary.judged += item.judged
        summary.partly += item.judged and item.status != "ok"
        summary.drafts += item.judged and _drafts_alone(item)
        pair = item.sample.rival is not None
        if item.status == "ok" and wrote_nothing(item):
            lost["skipped", pair] += 1
        elif item.status == "ok":
            ok[pair] += 1
        else:
            summary.failures[item.status, item.reason] += 1
            lost[item.status, pair] += 1
            unheard += pair and not item.comparisons
        held.add(item)
        _add_pairs(summary, item)
        summary.corrections.update(c.outcome for c in item.corrections)
        for advice in item.suggestions:
            summary.suggestions[advice.kind, advice.criterion] += 1
            summary.wordings.setdefault((advice.kind, advice.criterion), advice.definition)
        summary.notes.update(f"{n.agent}: {n.text}" for n in item.notes)
        summary.noticed.update(f"{n.agent}: {n.text}" for n in item.notes if n.kind)
        count_kinds(summary.notices, item.id, (*item.notes, *stepped_down(item.scores)))
    held.settle(summary)
    for (status, pair), count in lost.items():
        _add_lost(summary, status, pair, count, ok)
    if unheard and summary.verdicts:
        summary.verdicts["none"] += unheard
    return summary


def _drafts_alone(item: Item) -> bool:
    """Whether no answer could be read, nor anything else that comes of a sample."""
    answers = [score.status for score in answers_of(item)]
    others = [comparison.status for comparison in item.comparisons]
    return bool(answers) and "ok" not in answers + others and item.overall is None and item.verdict is None


class _Held:
    """Lines as they fill, a score's role beside what names its line."""

    def __init__(self) -> None:
        self._lines: dict[tuple[Key, Role], Line] = {}
        self._together: dict[tuple[str, str], None] = {}  # what several agents answered in one sample
        self._agents: dict[str, None] = {}
        self._means: dict[str, Mean] = {}

    def add(self, item: Item) -> None:
        """Count the scores of one item."""
        scores, pair, roles = {s.key: s for s in item.scores}, item.sample.rival is not None, roles_of(item)
        written = {criterion.name for criterion in item.branches.values()}
        seen = set()
        for own, score in scores.items():
            key, role = (score.criterion, score.agent, score.stage, score.of), roles[own]
            line = self._lines.setdefault((key, role), Line(*key, role=role))
            line.add(score, item.id)
            line.own |= score.criterion in written or score.stage not in STAGES
            if item.status == "ok":
                line.asked[pair] += 1
                line.samples[pair] += (key, role) not in seen
                seen.add((key, role))
            else:
                line.brought[item.status, pair] += 1
            if draft := scores.get(score.draft or ""):
                line.review(score, draft)
        self._answered([score for key, score in scores.items() if roles[key] == "answer"], pair)

    def _answered(self, answers: list[Score], pair: bool) -> None:
        agents: dict[tuple[str, str], set[str]] = {}
        for score in answers:
            agents.setdefault((score.criterion, score.of), set()).add(score.agent)
        self._together |= dict.fromkeys(place for place, found in agents.items() if len(found) > 1)
        self._agents |= dict.fromkeys(several(answers))
        for agent, value in ({} if pair else means_of(answers)).items():  # of a pair the verdict is the answer
            self._means[agent] = self._means.get(agent, Mean(0.0, 0)).with_one(value)

    def settle(self, summary: Summary) -> None:
        """Give a summary its lines, once all items were added."""
        for (key, _), line in sorted(self._lines.items(), key=lambda one: ROLES.index(one[0][1])):
            if key in summary.lines:
                summary.lines[key] = joined([summary.lines[key], line])
            else:
                summary.lines[key] = line
        summary.lines = {key: summary.lines[key] for key, _ in self._lines}
        groups: dict[Key, list[Line]] = {}
        for (_, role), line in self._lines.items():
            if role == "answer":
                alone = (line.criterion, line.of) in self._together
                groups.setdefault((line.criterion, line.agent if alone else "", line.of, _unit(line)), []).append(line)
        lines = [joined(found) for found in groups.values()]
        summary.answers = {(line.criterion, line.agent, line.of, _unit(line)): line for line in lines}
        for line in {id(line): line for line in (*summary.lines.values(), *lines)}.values():
            line.refuse_mixed()
        mixed = [line for line in lines if len(line.scales) > 1]
        if mixed:
            text = "; ".join(f"{one_line(line.criterion, 60)} on {' and '.join(line.scales)}" for line in mixed[:5])
            sample = list(mixed[0].scales.values())[-1]
            found = Notice(
                "criterion-on-scales", mixed[0].agent, text, "skipped", sample, sum(line.n_ok for line in mixed)
            )
            summary.notices["criterion-on-scales"] = found
        summary.agents = tuple(self._agents)
        summary.headline = {
            agent: mean for agent, mean in self._means.items() if bool(agent) == bool(self._agents)
        }  # fmt: skip


def wrote_nothing(item: Item) -> bool:
    """Whether a graph came to its end and brought no answer of any kind; others of the run may have brought some."""
    return not (item.scores or item.comparisons) and item.overall is None and item.verdict is None


def _unit(line: Line) -> str:
    """What its scores are in: means are of one scale."""
    if line.labels or (line.scale is not None and line.scale.labels):
        return "labels"
    return f"{line.scale.low:g}-{line.scale.high:g}" if line.scale is not None else ""


def means_of(answers: Iterable[Score]) -> dict[str, float]:
    """Agent -> mean of its answers for the output that are numbers, on a scale of 0 to 1; under "" that of all."""
    by: dict[str, list[float]] = {}
    for score in answers:
        if score.of == "output" and (value := scaled(score)) is not None:
            by.setdefault("", []).append(value)
            by.setdefault(score.agent, []).append(value)
    return {agent: fmean(values) for agent, values in by.items()}


def joined(lines: Sequence[Line]) -> Line:
    """One line of several, one or more; it names all their agents."""
    if len(lines) == 1:
        return lines[0]
    whole = deepcopy(lines[0])
    for line in lines[1:]:
        whole.join(line)
    stages = dict.fromkeys(line.stage for line in lines)
    whole.agent = " or ".join(sorted({line.agent for line in lines}))  # whichever sample was finished first
    whole.stage = stages.popitem()[0] if len(stages) == 1 else "final"
    whole.parts = tuple((line.criterion, line.agent, line.stage, line.of) for line in lines)
    return whole


def _add_lost(summary: Summary, status: str, pair: bool, count: int, ok: Counter[bool]) -> None:
    """Which scores a failed sample would have had, beside those it has, is known only when all items were seen."""
    every = {id(line): line for lines in (summary.lines, summary.answers) for line in lines.values()}
    for line in every.values():
        if due := line.due(pair, ok):
            line.lose(status, max(0, due * count - line.brought[status, pair]))


def _add_pairs(summary: Summary, item: Item) -> None:
    """Merged comparisons are told by their agent: a criterion may be named "overall" too.

    A sample that failed has no verdict, whatever its graph made of the part that was judged.
    """
    if not item.comparisons:
        return
    if item.status != "ok":
        summary.verdicts["none"] += 1
        return
    summary.verdicts[item.verdict or "none"] += 1
    merged = {c.order: c.verdict for c in item.comparisons if c.agent.endswith("merge") and c.criterion == "overall"}
    first, second = merged.get("AB"), merged.get("BA")
    if first and second:
        summary.both += 1
        summary.consistent += first == second
