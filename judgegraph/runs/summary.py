"""Aggregates that say how many scores they rest on, and what the missing ones could do to them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from difflib import get_close_matches
from statistics import fmean
from typing import Any, NamedTuple, get_args

from judgegraph.answers import (
    METRIC,
    UNTOUCHED,
    Mean,
    Role,
    answers_of,
    drafts_alone,
    is_escalation,
    lead_of,
    means_of,
    roles_of,
    scaled,
    several,
)
from judgegraph.data.samples import UNTRUSTED
from judgegraph.errors import counted, one_line, printable
from judgegraph.runs.item import (
    FAILED,
    FINE,
    NUMBERS,
    Item,
    Notice,
    by_count,
    count_kinds,
    fallbacks,
    without_details,
)
from judgegraph.shown import Shown
from judgegraph.types import Scale, Score, Status

# One line of a summary: how many scores, how many could be read, their mean, and what the others could do to it.


_NUMBERS = re.compile(NUMBERS)
FEW_OWN = 5  # samples; fewer that share a criterion of their own do not show that others would have it too
SERVER: tuple[Status, ...] = ("provider_error", "timeout")  # the text is not to blame: asked later it may be judged


@dataclass
class Line:
    """One criterion by one agent at one stage.

    Attributes:
        role: what its scores are: "answer", "vote", "draft" and so on (`judgegraph.answers`); of several roles the
            first. parts: keys of the lines that it was put together from; empty of a line by itself.
        n: scores asked for, and those that the samples whose graph did not come to its end would have had.
        statuses: status -> count.
        values: how many values could be read. mean: of these, in the units of the scale; None without any.
        labels: label -> count. draft: key of the line whose scores these ones rectify.
        heard: finals about whose draft a critic, or a stronger judge, was asked; idle: those that it was not asked of;
            kept: of those heard the ones that stayed as they were.
        reviewed: finals that could be read beside their draft. changed, up, down: those that differ from it.
        escalated: of the finals with a draft, those behind which a stronger judge stood, and no critic.
        paired: finals with a value whose draft has one. before, after: means of these drafts and of these finals.
        lost: status -> count of scores of the samples whose graph did not come to its end; `statuses` holds them too.
        samples: whether it is a pair -> samples that have scores here. asked: the same -> their scores.
        brought: (status, whether it is a pair) -> scores here of samples that ended so, which a budget does to some.
        abstained: why the first of its scores was abstained from, "" of none; abstained_else: how many for others.
        own: the criterion was written for the sample.
        scales: as its scores have them, written out -> id of the first sample with it; of several there is no mean.
    """

    criterion: str
    agent: str
    stage: str
    of: str
    scale: Scale | None = None
    n: int = 0
    values: int = 0
    mean: float | None = None
    statuses: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    samples: Counter[bool] = field(default_factory=Counter)
    asked: Counter[bool] = field(default_factory=Counter)
    brought: Counter[tuple[str, bool]] = field(default_factory=Counter)
    own: bool = False
    scales: dict[str, str] = field(default_factory=dict)
    role: Role = "other"
    parts: tuple[tuple[str, ...], ...] = ()
    draft: tuple[str, ...] | None = None
    heard: int = 0
    idle: int = 0
    kept: int = 0
    reviewed: int = 0
    up: int = 0
    down: int = 0
    changed: int = 0
    paired: int = 0
    before: float = 0.0
    after: float = 0.0
    escalated: int = 0
    abstained: str = ""
    abstained_else: int = 0
    _squares: float = 0.0  # of the distances from the mean, kept as the values come (Welford 1962)

    @property
    def n_ok(self) -> int:
        """Scores that could be read."""
        return self.statuses["ok"]

    @property
    def sd(self) -> float | None:
        """Standard deviation (n - 1) of the values that could be read, None below two."""
        return math.sqrt(self._squares / (self.values - 1)) if self.values > 1 else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The mean if every missing score were the scale's least, and if it were its greatest."""
        if self.scale is None or self.scale.low is None or self.scale.high is None or not self.n:
            return None
        mean, missing = self.mean or 0.0, (self.n - self.values) / self.n
        return mean + missing * (self.scale.low - mean), mean + missing * (self.scale.high - mean)

    def add(self, score: Score, sample: str = "") -> None:
        """Count one score."""
        self.n += 1
        if score.scale is not None and score.status == "ok":
            self.scales.setdefault(score.scale.unit, sample)
        self.scale = self.scale or score.scale
        self.statuses[score.status] += 1
        if score.status == "abstained" and score.reason:
            self.abstained = self.abstained or one_line(score.reason)
            self.abstained_else += without_details(one_line(score.reason)) != without_details(self.abstained)
        if score.value is not None:
            self._see(score.value)
        if score.label is not None:
            self.labels[score.label] += 1

    def review(self, score: Score, draft: Score) -> None:
        """Count a final score's moves from the score that it rectifies."""
        self.draft = (draft.criterion, draft.agent, draft.stage, draft.of)
        self.escalated += is_escalation(score, draft)
        untouched = any(score.notes.count(note) > draft.notes.count(note) for note in UNTOUCHED)
        self.idle += untouched and "ok" in (score.status, draft.status)
        self.heard += not untouched and "ok" in (score.status, draft.status)
        if score.status == draft.status == "ok":
            self.reviewed += 1
            self.kept += not untouched and score.answer == draft.answer
            self.changed += score.answer != draft.answer
        if score.value is not None and draft.value is not None:
            self.up += score.value > draft.value
            self.down += score.value < draft.value
            self.paired += 1
            self.before += (draft.value - self.before) / self.paired
            self.after += (score.value - self.after) / self.paired

    @property
    def is_of_pairs(self) -> bool:
        """Whether all its scores are of pairs."""
        return bool(self.asked[True]) and not self.asked[False]

    def due(self, pair: bool, ok: Counter[bool]) -> int:
        """Scores that a failed sample would have had here, by those that came to their end (`ok`, by pair or not).

        A criterion that samples brought of their own is due only where all that came to their end brought it, and
        they are not few: else nobody knows what a failed one would have brought (`covered` counts them together). Of a
        kind (pair or single) that came to its end nowhere, the other kind tells.
        """
        if self.of == "rival" and not pair:
            return 0
        kind = pair if ok[pair] else not pair
        if not self.samples[kind] or (self.own and not FEW_OWN <= self.samples[kind] == ok[kind]):
            return 0
        return round(self.asked[kind] / self.samples[kind])

    def refuse_mixed(self) -> None:
        """Numbers on several scales have no mean, no spread and no bounds."""
        if len(self.scales) > 1:
            self.mean, self.values, self._squares, self.scale = None, 0, 0.0, None

    def lose(self, status: str, count: int) -> None:
        """Count scores of samples whose graph did not come to its end."""
        self.n += count
        self.statuses[status] += count
        self.lost[status] += count

    def join(self, other: Line) -> None:
        """Take another line's scores in; they lie on one scale, or are told by this one's."""
        values, gap = self.values + other.values, (other.mean or 0.0) - (self.mean or 0.0)
        if other.values:
            self._squares += other._squares + gap * gap * self.values * other.values / values
            self.mean = (self.mean or 0.0) + gap * other.values / values
        if paired := self.paired + other.paired:
            self.before += (other.before - self.before) * other.paired / paired
            self.after += (other.after - self.after) * other.paired / paired
        self.abstained = self.abstained or other.abstained
        for name in (
            "n",
            "values",
            "abstained_else",
            "heard",
            "idle",
            "kept",
            "reviewed",
            "up",
            "down",
            "changed",
            "paired",
            "escalated",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("statuses", "labels", "lost", "samples", "asked", "brought"):
            getattr(self, name).update(getattr(other, name))
        self.scales = other.scales | self.scales
        self.scale, self.draft, self.own = self.scale or other.scale, self.draft or other.draft, self.own or other.own

    def _see(self, value: float) -> None:
        self.values += 1
        before = self.mean or 0.0
        self.mean = before + (value - before) / self.values
        self._squares += (value - before) * (value - self.mean)


STAGES = ("draft", "final")  # any other is of aspects that were proposed for the sample
ROLES = get_args(Role)
NEAR = 0.8  # how alike two names of criteria are that may be one, of 1
Key = tuple[str, ...]  # criterion, agent, stage, side


@dataclass
class Summary(Shown):
    """What a run came to.

    Attributes:
        signature: all that the numbers depend on. samples: status -> count of items.
        answered: items with an answer that could be read. judged: items with a score, a comparison or an overall
            answer that could be read. partly: of these, those whose graph did not come to its end, so that they count
            among the failed too. drafts: of these, those with drafts alone, whose final scores could not be read.
        lines: per criterion, agent, stage: all scores; `role` says what each is. answers: of these the graph's answers,
            per criterion, agent and side; a criterion that one agent answers in some samples and another in the others
            (a gate was between them) has one line. agents: who answer the same criteria side by side, if any do; their
            numbers are kept apart. headline: agent -> mean of its answers; of all under "" where `agents` is empty.
        weighted: the mean of the samples' weighted overall scores, None where no criterion has a weight.
        trusted: as `headline` -> mean of the samples whose text gives something to judge, where others are in the mean:
            of what is empty, or opens an answer and gives none, no score can be trusted.
        lacking: as `headline` -> how many of its samples have no number for some criterion that others have.
        verdicts: of pairs, per verdict; "none" where there is none.
        consistent: pairs judged in both orders with one verdict, of `both` such pairs.
        findings: assistant -> (findings with a value, all findings). corrections: `Correction.outcome` -> count.
        suggestions: (kind, criterion) -> count; wordings: the first definition given.
        notes: text -> count. notices: kind of note -> its samples and an example, of what was skipped, dropped or not
            applied; `noticed` are their texts among `notes`.
        failures: (status, reason) -> count of samples whose graph did not come to its end; of reasons that differ in
            numbers alone the first is told. failed_first: the same -> id of the first such sample.
        unread: (status, reason) -> samples that have scores, comparisons or other parts which failed for it. What a
            method says of a part that failed for another's reason, and quotes, is left out.
    """

    signature: str
    samples: Counter[str] = field(default_factory=Counter)
    judged: int = 0
    answered: int = 0
    partly: int = 0
    drafts: int = 0
    lines: dict[tuple[str, ...], Line] = field(default_factory=dict)
    answers: dict[Key, Line] = field(default_factory=dict)
    agents: tuple[str, ...] = ()
    headline: dict[str, Mean] = field(default_factory=dict)
    trusted: dict[str, Mean] = field(default_factory=dict)
    lacking: dict[str, int] = field(default_factory=dict)
    weighted: Mean | None = None
    verdicts: Counter[str] = field(default_factory=Counter)
    consistent: int = 0
    both: int = 0
    findings: dict[str, tuple[int, int]] = field(default_factory=dict)
    corrections: Counter[str] = field(default_factory=Counter)
    suggestions: Counter[tuple[str, str]] = field(default_factory=Counter)
    wordings: dict[tuple[str, str], str] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    failed_first: dict[tuple[str, str], str] = field(default_factory=dict)
    notices: dict[str, Notice] = field(default_factory=dict)
    noticed: set[str] = field(default_factory=set)
    unread: dict[tuple[str, str], Notice] = field(default_factory=dict)

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
            {
                "agent": agent or None, "mean": m.value, "samples": m.samples,
                **({"lacking": self.lacking[agent]} if agent in self.lacking else {}),
                **self._untrusted(agent),
            }
            for agent, m in self.headline.items()
        ]  # fmt: skip
        lead = lead_of(self.verdicts)
        pairs = {"verdicts": dict(self.verdicts), "both_orders": self.both, "consistent": self.consistent}
        pairs |= {"lead": lead._asdict()} if lead else {}
        advice = [
            {"kind": k, "criterion": c, "count": n, "definition": self.wordings[k, c]}
            for (k, c), n in self.suggestions.most_common()
        ]
        return {
            "signature": self.signature, "samples": dict(self.samples), "judged": self.judged, "partly": self.partly,
            "headline": headline, "agents": list(self.agents), "answers": answers, "scores": rows, "pairs": pairs,
            "findings": {name: {"n": n, "ok": ok} for name, (ok, n) in self.findings.items()},
            "corrections": dict(self.corrections), "suggestions": advice, "notes": dict(self.notes),
            "failures": [{"status": s, "reason": r, "count": n} for (s, r), n in self.failures.most_common()],
            "notices": [notice.to_dict() for notice in by_count(self.notices)],
            "unread": [notice.to_dict() for notice in by_count(self.unread)],
        }  # fmt: skip

    def _untrusted(self, agent: str) -> dict[str, Any]:
        """Samples in a mean whose scores cannot be trusted, and the mean without them; {} where there are none."""
        if agent not in self.trusted:
            return {}
        value, samples = self.trusted[agent]
        return {
            "untrusted": self.headline[agent].samples - samples, "mean_without_untrusted": value if samples else None
        }  # fmt: skip

    def untrusted_line(self, agent: str) -> str:
        """Such as "3 of these of texts that give nothing to judge: 0.712 without them"; "" where there are none."""
        if not (found := self._untrusted(agent)):
            return ""
        value = found["mean_without_untrusted"]
        left = f"{value:.3f} without them" if value is not None else "none without them"
        return f"{found['untrusted']:,} of these of texts that give nothing to judge: {left}"

    def __str__(self) -> str:
        rows = [f"{self.signature}", f"samples: {_counts(self.samples)}", *headlines(self)]
        for x in self.lines.values():
            mean = f"{x.mean:.3f}" if x.mean is not None else _counts(x.labels) or "-"
            role = f", {x.role}" if x.role != x.stage and not (x.role == "answer" and x.stage == "final") else ""
            side = f", {x.of}" if x.of != "output" else ""
            rows.append(f"{x.criterion} ({x.agent}{side}, {x.stage}{role}): n {x.n_ok}/{x.n}, mean {mean}")
        if self.verdicts:
            rows.append(f"verdicts: {_counts(self.verdicts)}")
            rows += [line] if (line := lead_line(self)) else []
        if self.findings:
            rows.append("findings read: " + ", ".join(f"{a} {ok} of {n}" for a, (ok, n) in self.findings.items()))
        told = [*by_count(self.notices), *by_count(self.unread)]
        rows += [notice.line(self.samples.total()) for notice in told]
        return printable("\n".join(rows))


def lead_line(summary: Summary) -> str:
    """Such as "A (output) wins 23 of 27 pairs with a winner, 85 % [68 %, 94 %], sign test p 0.002; 23 ties apart"."""
    if (lead := lead_of(summary.verdicts)) is None:
        return ""
    n = lead.won + lead.lost
    who = {"A": "A (output) wins", "B": "B (rival) wins", "": "each of the two wins"}[lead.side]
    share = f"{100 * lead.won / n:.0f} % [{100 * lead.low:.0f} %, {100 * lead.high:.0f} %]"
    p = f"p {lead.p:.3f}" if lead.p >= 0.0005 else "p < 0.001"
    said = f"{'' if lead.is_real else 'no lead for sure: '}{who} {lead.won:,} of {counted(n, 'pair')} with a winner, "
    said += f"{share}, sign test {p}" + (f"; {counted(lead.ties, 'tie')} apart" if lead.ties else "")
    return said if summary.both else f"{said}; judged in one order alone, which a judge may favour"


def headlines(summary: Summary) -> list[str]:
    """The mean of the answers in a line, of several agents one for each; none where no answer is a number.

    Of criteria with weights the weighted overall comes first.
    """
    found = [
        f"mean of the answers{f' of {agent}' if agent else ''}: {mean.value:.3f} on a scale of 0 to 1, "
        f"{mean.samples:,} sample{'' if mean.samples == 1 else 's'}"
        + (" without a rival (of a pair the verdict is the answer)" if summary.verdicts else "")
        + (f", {few:,} of these without some criterion" if (few := summary.lacking.get(agent)) else "")
        + (f", {thin}" if (thin := summary.untrusted_line(agent)) else "")
        for agent, mean in summary.headline.items()
    ]
    if summary.weighted is not None:
        value, count = summary.weighted
        left = sum(summary.samples.values()) - count
        rest = f", {left:,} without: a criterion has no answer there" if left else ""
        said = f"weighted overall: {value:.3f} on a scale of 0 to 1, {count:,} sample{'' if count == 1 else 's'}{rest}"
        found.insert(0, said if count else "weighted overall: none, as no sample has an answer by every criterion")
    return [*([summary.side_by_side] if summary.agents else ()), *found]


def moves_of(line: Line, whole: bool = False) -> str:
    """How often the critic changed a score, and which way, and how often it was asked; "" without a draft to review.

    Args:
        whole: "kept all" where it kept each; else how many.
    """
    if line.idle and not line.heard:
        return "not asked"
    other = line.changed - line.down - line.up
    said = [f"{n:,} {way}" for n, way in ((line.down, "down"), (line.up, "up"), (other, "changed")) if n]
    if not said and line.kept:
        said = ["kept all" if whole and line.kept == line.n else f"kept {line.kept:,}"]
    return ", ".join([f"asked {line.heard:,} of {line.heard + line.idle:,}", *said] if line.idle else said)


def _row(x: Line) -> dict[str, Any]:
    """A line as JSON values."""
    return {
        "criterion": x.criterion, "agent": x.agent, "stage": x.stage, "of": x.of, "role": x.role, "n": x.n,
        "n_ok": x.n_ok, "mean": x.mean, "sd": x.sd, "bounds": x.bounds, "labels": dict(x.labels),
        "statuses": dict(x.statuses), "changed": x.changed, "up": x.up, "down": x.down,
        "asked": x.heard if x.draft else None,
        "scale": str(x.scale) if x.scale else None,
    }  # fmt: skip


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


def summarise(
    items: Iterable[Item], signature: str, criteria: Iterable[str] = (), *, weighted: bool = False
) -> Summary:  # fmt: skip
    """Read items once and add them up; a failed sample misses the scores that the others have and it has not.

    Args:
        criteria: names of those that the run was given, which are no sample's own: a name that is spelt nearly so is
            told.
        weighted: criteria have weights, so that samples have a weighted overall.
    """
    given = set(criteria)
    summary, held = Summary(signature, weighted=Mean(0.0, 0) if weighted else None), _Held(given)
    alike: dict[tuple[str, str], tuple[str, str]] = {}  # reasons that differ in numbers alone are one
    lost: Counter[tuple[str, bool]] = Counter()  # (status, whether the sample is a pair)
    ok: Counter[bool] = Counter()
    unheard = 0  # failed pairs without a comparison
    for item in items:
        summary.samples[item.status] += 1
        summary.judged += item.judged
        summary.partly += item.judged and item.status != "ok"
        summary.drafts += item.judged and drafts_alone(item)
        pair = item.sample.rival is not None
        if item.status == "ok" and wrote_nothing(item):
            lost["skipped", pair] += 1
        elif item.status == "ok":
            ok[pair] += 1
        else:
            kind = alike.setdefault((item.status, _NUMBERS.sub("#", item.reason)), (item.status, item.reason))
            summary.failures[kind] += 1
            summary.failed_first.setdefault(kind, item.id)
            lost[item.status, pair] += 1
            unheard += pair and not item.comparisons
        held.add(item)
        if summary.weighted is not None and item.overall is not None:
            summary.weighted = summary.weighted.with_one(item.overall)
        _add_pairs(summary, item)
        for one in item.findings:
            known, asked = summary.findings.get(one.assistant, (0, 0))
            summary.findings[one.assistant] = known + (one.status == "ok"), asked + 1
        summary.corrections.update(c.outcome for c in item.corrections)
        for advice in item.suggestions:
            summary.suggestions[advice.kind, advice.criterion] += 1
            summary.wordings.setdefault((advice.kind, advice.criterion), advice.definition)
        summary.notes.update(f"{n.agent}: {n.text}" for n in item.notes)
        summary.noticed.update(f"{n.agent}: {n.text}" for n in item.notes if n.kind)
        _count_unread(summary.unread, item)
        count_kinds(summary.notices, item.id, (*item.notes, *fallbacks(item.scores)))
    held.settle(summary)
    summary.answered = held.answered
    _astray(summary, given)
    for (status, pair), count in lost.items():
        _add_lost(summary, status, pair, count, ok)
    if unheard and summary.verdicts:
        summary.verdicts["none"] += unheard
    return summary


def _count_unread(found: dict[tuple[str, str], Notice], item: Item) -> None:
    """Count why parts of one item failed, each reason once; why the item itself did is told elsewhere."""
    parts = [(kind, part) for kind in FAILED for part in getattr(item, kind)]
    failed = [(kind, part) for kind, part in parts if part.status not in (*FINE, item.status) and part.reason]
    seen: set[tuple[str, str]] = set()
    for kind, part in sorted(failed, key=lambda one: len(one[1].reason)):  # who quotes a reason says more
        reason = _NUMBERS.sub("#", part.reason)
        if not any(part.status == status and known in reason for status, known in seen):
            seen.add((part.status, reason))
            who = getattr(part, "agent", "") or getattr(part, "assistant", "")
            new = Notice(kind, who, part.reason, part.status, item.id)
            found.setdefault((part.status, reason), new).count(part.reason)


def criteria_names(manifest: Mapping[str, Any]) -> list[str]:
    """Of the criteria that a run was given, by its manifest."""
    told = manifest.get("criteria")
    return [str(one["name"]) for one in told if isinstance(one, Mapping) and "name" in one] if told else []


def has_weights(manifest: Mapping[str, Any]) -> bool:
    """Whether a criterion that a run was given has another weight than 1, by its manifest."""
    told = manifest.get("criteria")
    return any(isinstance(one, Mapping) and "weight" in one for one in told) if told else False


def _astray(summary: Summary, given: set[str]) -> None:
    """A notice of answers by a criterion that nobody gave, spelt nearly as one that was given."""
    folded = {name.casefold(): name for name in given}
    found: list[tuple[Line, str]] = []
    for line in summary.answers.values():
        if given and not line.own and line.criterion not in given:
            near = get_close_matches(line.criterion.casefold(), folded, 1, NEAR)
            found += [(line, folded[near[0]])] if near else []
    if found:
        said = "; ".join(
            f"'{one_line(line.criterion, 60)}' by '{one_line(line.agent, 60)}' (did you mean '{one_line(meant, 60)}'?)"
            for line, meant in found[:5]
        )
        first = found[0][0]
        sample, many = next(iter(first.scales.values()), ""), max(line.n_ok for line, _ in found)
        text = f"{said}: it has a line of its own, and counts in the mean of the answers"
        summary.notices["criterion-unknown"] = Notice("criterion-unknown", first.agent, text, "skipped", sample, many)


class _Held:
    """Lines as they fill, a score's role beside what names its line."""

    def __init__(self, given: Collection[str]) -> None:
        self._given = given  # to the whole run: what a method writes of these is no sample's own
        self._lines: dict[tuple[Key, Role], Line] = {}
        self._together: dict[tuple[str, str], None] = {}  # what several agents answered in one sample
        self._agents: dict[str, None] = {}
        self._means: dict[str, Mean] = {}
        self._trusted: dict[str, Mean] = {}
        self.answered = 0
        self._judged: dict[str, Counter[int]] = {}  # agent, "" for all -> criteria of a sample in its mean -> samples

    def add(self, item: Item) -> None:
        """Count the scores of one item."""
        scores, pair, roles = {s.key: s for s in item.scores}, item.sample.rival is not None, roles_of(item)
        written = item.written(self._given)
        seen = set()
        for own, score in scores.items():
            key, role = (score.criterion, score.agent, score.stage, score.of), roles[own]
            if (line := self._lines.get((key, role))) is None:  # made once: a line has a dozen counters
                line = self._lines[key, role] = Line(*key, role=role)
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
        answers = [score for key, score in scores.items() if roles[key] == "answer"]
        said = item.verdict is not None or item.overall is not None
        self.answered += said or any(score.status == "ok" for score in answers)
        self._answered(answers, pair, any(note.kind in UNTRUSTED for note in item.notes))

    def _answered(self, answers: list[Score], pair: bool, untrusted: bool) -> None:
        agents: dict[tuple[str, str], set[str]] = {}
        for score in answers:
            agents.setdefault((score.criterion, score.of), set()).add(score.agent)
        self._together |= dict.fromkeys(place for place, found in agents.items() if len(found) > 1)
        self._agents |= dict.fromkeys(several(answers))
        for agent, value in ({} if pair else means_of(answers)).items():  # of a pair the verdict is the answer
            self._means[agent] = self._means.get(agent, Mean(0.0, 0)).with_one(value)
            before = self._trusted.get(agent, Mean(0.0, 0))
            self._trusted[agent] = before if untrusted else before.with_one(value)
            met = {
                s.criterion for s in answers if agent in ("", s.agent) and s.of == "output" and scaled(s) is not None
            }
            self._judged.setdefault(agent, Counter())[len(met)] += 1

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
            many = max(line.samples.total() for line in mixed)  # as many at least, whatever others the rest are of
            found = Notice("criterion-on-scales", mixed[0].agent, text, "skipped", sample, many)
            summary.notices["criterion-on-scales"] = found
        summary.agents = tuple(self._agents)
        summary.headline = {
            agent: mean for agent, mean in self._means.items()
            if bool(agent) == bool(self._agents) and not any(agent in ("", line.agent) for line in mixed)
        }  # fmt: skip
        summary.trusted = {
            agent: self._trusted[agent]
            for agent, mean in summary.headline.items() if self._trusted[agent].samples < mean.samples
        }  # fmt: skip
        for agent in summary.headline if not any(line.own for line in lines) else ():
            wanted = {x.criterion for x in lines if x.values and x.of == "output" and (not agent or x.agent == agent)}
            few = sum(count for met, count in self._judged[agent].items() if met < len(wanted))
            summary.lacking |= {agent: few} if few else {}


def wrote_nothing(item: Item) -> bool:
    """Whether a graph came to its end and brought no answer of any kind; others of the run may have brought some."""
    return not (item.scores or item.comparisons) and item.overall is None and item.verdict is None


def _unit(line: Line) -> str:
    """What its scores are in: means are of one scale."""
    if line.labels or (line.scale is not None and line.scale.labels):
        return "labels"
    return f"{line.scale.low:g}-{line.scale.high:g}" if line.scale is not None else ""


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
    if any(line.draft for line in lines):  # a gate stood between: what has no draft was never under review
        whole.idle += sum(line.n_ok for line in lines if not line.draft)
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
    if not item.comparisons and item.verdict is None:
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


# How much of what was asked for could be read: the share that a gate such as `--coverage 0.98` looks at.


OWN = "criteria of the samples' own"
PAIRS, ALL, NO_ANSWER = "verdicts", "samples", "answers"


@dataclass(frozen=True)
class _Part:
    """Something that was asked of many samples: `ok` of `n` could be read, `each` of one sample."""

    name: str
    ok: int
    n: int
    each: int = 1


class Covered(NamedTuple):
    """The least share of what could be read.

    Attributes:
        share: 0 to 1. name: what it is the share of. ok: how many could be read. n: of how many; absent of these are
            of rows that were rejected and of samples that were not judged, which no table of scores counts; rejected:
            of the former alone.
    """

    share: float
    name: str
    ok: int
    n: int
    absent: int = 0
    rejected: int = 0

    @property
    def counts(self) -> str:
        """Such as "12 of 16 scores", with what of these no table counts."""
        kinds = {"of rejected rows": self.rejected, "of samples not judged": self.absent - self.rejected}
        lost = " and ".join(f"{count:,} {what}" for what, count in kinds.items() if count)
        unit = "" if self.name in (PAIRS, ALL, NO_ANSWER) else " score" if self.n == 1 else " scores"
        return f"{self.ok:,} of {self.n:,}{unit}" + (f", {lost} among these, which no table counts" if lost else "")


def coverage(summary: Summary, rejected: int = 0, unjudged: int = 0) -> tuple[float, str]:
    """`covered`'s share and name."""
    return covered(summary, rejected, unjudged)[:2]


def covered(summary: Summary, rejected: int = 0, unjudged: int = 0) -> Covered:
    """The least share, over all that a run was asked for, of what could be read, and what it is the share of.

    Each line of answers (`judgegraph.answers`) has the share n_ok / n; of pairs that were compared it is the share
    that got a verdict, a tie too, and scores of their sides count nowhere else: a judge may give a verdict alone.
    Only "ok" counts: an abstention is no score, and neither is one that was refused, not readable, or not paid for.
    A sample whose graph failed misses its scores in every line; a row that was rejected does too, and so does a
    sample that was never judged: nobody knows what they would have brought. Criteria that were written for single
    samples are one line, or a criterion of one sample would be the weakest of all. Where drafts or votes are all
    there is, nothing is covered; a graph of metrics alone is asked for its metrics. Without lines it is the share
    of samples for which anything could be read.

    Args:
        rejected: rows of the data that are no samples. unjudged: samples of the data without an item.

    Returns:
        Share 0 for a run without samples.
    """
    lines = [line for line in summary.shown if not (summary.verdicts and line.is_of_pairs)]
    shared: list[Line] = []
    own: list[Line] = []
    for line in lines:
        (own if line.own and line.stage != METRIC else shared).append(line)
    parts = [*_shared(shared), *_written(own, summary.samples)]
    if summary.verdicts:
        pairs = summary.verdicts.total()
        parts.append(_Part(PAIRS, pairs - summary.verdicts["none"], pairs))
    if parts and (summary.answers or summary.verdicts):  # a sample without any answer misses one
        parts.append(_Part(ALL, summary.answered, summary.samples.total()))
    steps = any(line.stage != METRIC for line in lines)  # drafts or votes, of which nobody makes an answer
    if steps and not summary.answers and not summary.verdicts:
        parts = [_Part(NO_ANSWER, 0, summary.samples.total())]
    if not parts:
        parts = [_Part(ALL, summary.judged, summary.samples.total())]
    absent = rejected + unjudged
    found = []
    for part in parts:
        lost = absent * part.each
        whole = part.n + lost
        found.append(Covered(part.ok / whole if whole else 0.0, part.name, part.ok, whole, lost, rejected * part.each))
    return min(found, key=lambda one: one.share)


def _shared(lines: Iterable[Line]) -> Iterator[_Part]:
    """A part for each line, named by its criterion, and by its agent where several judged it."""
    lines = list(lines)
    agents = Counter((x.criterion, x.of) for x in lines)
    for x in lines:
        side = " (rival)" if x.of == "rival" else ""
        agent = f" ({x.agent})" if agents[x.criterion, x.of] > 1 else ""
        yield _Part(f"{x.criterion}{side}{agent}", x.n_ok, x.n, _each(x.asked.total(), x.samples.total()))


def _written(lines: Iterable[Line], samples: Counter[str]) -> Iterator[_Part]:
    """One part for each agent and side: what it scored of the criteria that came with a sample."""
    kinds: dict[tuple[str, str], list[Line]] = {}
    for x in lines:
        kinds.setdefault((x.agent, x.of), []).append(x)
    for (agent, _), found in kinds.items():
        ok, n, known, asked = (sum(x) for x in zip(*map(_sums, found), strict=True))
        each = _each(asked, samples["ok"])
        missing = max(0, (samples.total() - samples["ok"]) * each - known)
        yield _Part(OWN if len(kinds) == 1 else f"{OWN} ({agent})", ok, n + missing, each)


def _sums(line: Line) -> tuple[int, int, int, int]:
    """Scores that could be read, all that are counted, those of failed samples among them, those of the others."""
    return line.n_ok, line.n, line.brought.total() + line.lost.total(), line.asked.total()


def _each(scores: int, samples: int) -> int:
    return max(1, round(scores / samples)) if samples else 1


# Which samples have the lowest scores: one rule for terminal, notebook and page.


class LowScore(NamedTuple):
    """A sample's mean, 0 to 1 of its scales. scale: of all these answers, None where they have several."""

    value: float
    place: int
    item: Item
    scale: Scale | None


class LowestScores:
    """The samples whose answers have the least mean; of several agents side by side the lowest of their means counts.

    A run that compares is asked for its pairs, by the answers for both outputs. Left out are samples that failed,
    texts that give nothing to judge, and rows without a rival among pairs.
    """

    def __init__(self, most: int = 1) -> None:
        self._most = most
        self._held: dict[bool, list[LowScore]] = {True: [], False: []}  # pairs, single outputs
        self._met: Counter[bool] = Counter()
        self._untrusted: Counter[bool] = Counter()

    def add(self, item: Item) -> None:
        """Count one; those that are held are few."""
        if item.status != "ok":
            return
        pair = bool(item.comparisons) or item.verdict is not None
        self._met[pair] += 1
        known = [(scaled(s), s) for s in answers_of(item) if pair or s.of == "output"]
        read = [(value, score) for value, score in known if value is not None]
        if not read:
            return
        if any(note.kind in UNTRUSTED for note in item.notes):
            self._untrusted[pair] += 1
            return
        means = means_of(score for _, score in read)
        apart = [means[agent] for agent in several(s for _, s in read) if agent in means] if not pair else []
        value = min(apart) if apart else fmean(value for value, _ in read)
        scales = {score.scale.unit if score.scale else "": score.scale for _, score in read}
        held = self._held[pair]
        held.append(LowScore(value, item.place, item, scales.popitem()[1] if len(scales) == 1 else None))
        if len(held) > 2 * self._most + 8:
            self._held[pair] = sorted(held, key=lambda one: one[:2])[: self._most]

    @property
    def of_pairs(self) -> bool:
        """Whether the run compared."""
        return self._met[True] > 0

    def found(self) -> list[LowScore]:
        """The lowest first, of equal ones the earlier in the dataset."""
        return sorted(self._held[self.of_pairs], key=lambda one: one[:2])[: self._most]

    @property
    def left_out(self) -> str:
        """Such as "3 texts that give nothing to judge and 1 row without a rival"; "" where nothing was."""
        thin, alone = self._untrusted[self.of_pairs], self._met[False] if self.of_pairs else 0
        said = [f"{thin:,} {'text that gives' if thin == 1 else 'texts that give'} nothing to judge"] if thin else []
        said += [f"{alone:,} row{'' if alone == 1 else 's'} without a rival"] if alone else []
        return " and ".join(said)
