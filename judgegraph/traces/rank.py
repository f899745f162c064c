"""Traces of many samples: which stand out, what each node took, and those of a folder that no run wrote."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from judgegraph.answers import doubt, means_of, moved_by, several
from judgegraph.calls.ledger import ReadOnlyLedger
from judgegraph.errors import DataError
from judgegraph.runs.folder import LEDGER, NOTES
from judgegraph.runs.item import FINE, Item, answers, failures, has_status
from judgegraph.shown import Shown, drawn
from judgegraph.trace.span import SPANS, RecordedTrace, Span, Step, recorded_traces
from judgegraph.traces.read import RunRecord, Usage, UsageBySample, latest_traces, spans_of, tree, usage_of
from judgegraph.traces.redact import known_names, redacted_root
from judgegraph.types import Comparison, Score, Status, Verdict


@dataclass(frozen=True)
class RankedSample:
    """One sample in short.

    Attributes:
        id, place, status, ms, verdict: of its item.
        value: mean of its answers (`judgegraph.answers`), each scaled so that its scale is 0 to 1; of a pair, those of
            `output`. Of several agents that answer side by side the lowest mean, and by_agent has each one's. None
            where no number was read.
        change: the most that a critic moved a score, as a share of its scale's width; a changed label is 1. None where
            no final score stands beside a draft. changed_criterion, changed_from, changed_to: the one
            that moved so, its draft and its final answer; None where none did.
        doubt: the widest distribution of a score, 0 (one point or label holds all) to 1 (the widest that its scale
            allows: half at either end, all labels alike): see `spread.doubt`. None without any. doubt_criterion: the
            one that it is of.
        calls: model calls asked for, retaken samples' earlier attempts included. paid: those that were sent and paid
            for; the others lay in the ledger, or a neighbour had asked them. tokens: prompt and completion tokens of
            the paid ones. usd: what they cost, as far as they have a price; None where none has. unpriced: paid calls
            without a price. All None, and unpriced 0, where no spans were recorded.
        failures: parts of it that failed, itself included.
        answers: its answers and comparisons. lost: those of them without an answer, abstentions among them.
        cause: how it failed, or why it has no answer at all: a status, else ""; reason: in words, with who said it.
        scale: of all its answers that are numbers, "" where they have several.
    """

    id: str
    place: int
    status: Status
    value: float | None
    change: float | None
    changed_criterion: str | None
    changed_from: float | str | None
    changed_to: float | str | None
    doubt: float | None
    calls: int | None
    paid: int | None
    tokens: int | None
    usd: float | None
    unpriced: int
    ms: float
    failures: int
    verdict: Verdict | None
    doubt_criterion: str | None = None
    answers: int = 0
    lost: int = 0
    by_agent: dict[str, float] | None = None
    cause: str = ""
    reason: str = ""
    scale: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


UNKNOWN = Usage(None, None, None, None, 0)
Key = Callable[[RankedSample], tuple[float, ...]]
ORDERS: Mapping[str, Key] = {  # name -> what the first of them has least of
    "score": lambda one: (math.inf if one.value is None else one.value,),
    "change": lambda one: (_most(one.change),),
    "doubt": lambda one: (_most(one.doubt),),
    "cost": lambda one: (-(one.usd or 0.0), _most(one.tokens)),  # the free ones and those without a price by tokens
    "time": lambda one: (_most(one.ms),),
    "failures": lambda one: (not one.cause, _most(one.failures), one.status == "ok"),
    "place": lambda one: (),
    "lost": lambda one: (not one.cause,),
}


def _most(value: float | None) -> float:
    """The greatest first, what is not known last."""
    return math.inf if value is None else -value


def ranked_samples(
    run: RunRecord, *, status: str | None = None, criterion: str | None = None
) -> Iterator[RankedSample]:
    """Every sample of a run, in the order of finishing; its files are read as streams.

    Args:
        status: only samples that ended so, or that have a final score or comparison that did. criterion: only samples
            with a score of it; value, change, doubt, answers, and those that have the status, are of it alone.

    Raises:
        DataError: the run's folder cannot be read.
    """
    with closing(UsageBySample(recorded_traces(spans_of(run)))) as bills:
        for item in run.items:
            asked = criterion is None or any(score.criterion == criterion for score in item.scores)
            if asked and (status is None or has_status(item, status, criterion)):
                yield ranked_sample(item, bills.get(item.id), criterion)


def top(
    run: RunRecord, order: str, n: int, *, status: str | None = None, criterion: str | None = None
) -> list[RankedSample]:
    """The first n samples in an order of `ORDERS`; those that have nothing to be ordered by stand last.

    Raises:
        KeyError: no such order. DataError: as `standings`.
    """
    return tops(run, {order: n}, status=status, criterion=criterion)[order]


def tops(
    run: RunRecord, wanted: Mapping[str, int], *, status: str | None = None, criterion: str | None = None
) -> dict[str, list[RankedSample]]:
    """Order -> its first samples, several orders in one reading. Raises as `top`."""
    return firsts_of(ranked_samples(run, status=status, criterion=criterion), wanted)


def firsts_of(found: Iterable[RankedSample], wanted: Mapping[str, int]) -> dict[str, list[RankedSample]]:
    """Order -> how many, as order -> the first of them."""
    firsts = {order: _First(ORDERS[order], n) for order, n in wanted.items()}
    for one in found:
        for first in firsts.values():
            first.add(one)
    return {order: first.sorted() for order, first in firsts.items()}


class _First:
    """The n first by a key, the earlier in the dataset first; a little more than n are held."""

    def __init__(self, key: Key, n: int) -> None:
        self._key, self._n = key, max(0, n)
        self._held: list[RankedSample] = []

    def add(self, one: RankedSample) -> None:
        self._held.append(one)
        if len(self._held) > 2 * self._n + 64:
            self._held = self.sorted()

    def sorted(self) -> list[RankedSample]:
        return sorted(self._held, key=lambda one: (*self._key(one), one.place))[: self._n]


def ranked_sample(item: Item, bill: Usage | None = None, criterion: str | None = None) -> RankedSample:
    """One item's; `bill` is None where it is not known. Of a criterion alone, as `standings`."""
    asked = [s for s in item.scores if criterion is None or s.criterion == criterion]
    given = [one for one in answers(item) if criterion in (None, one.criterion)]
    finals = [one for one in given if isinstance(one, Score)]
    change, draft, final = _change(finals, {s.key: s for s in item.scores})
    means = means_of(finals)
    by_agent = {agent: means[agent] for agent in several(finals) if agent in means}
    doubts = [(x, s.criterion) for s in finals or asked if (x := doubt(s)) is not None]
    widest, doubted = max(doubts, key=lambda one: one[0], default=(None, None))
    scales = {str(s.scale or "") for s in finals if s.value is not None}
    cause, reason = _why_lost(item, given)
    return RankedSample(
        id=item.id, place=item.place, status=item.status, change=change,
        value=min(by_agent.values()) if by_agent else means.get(""), by_agent=by_agent or None,
        changed_criterion=final.criterion if final else None, changed_from=draft.answer if draft else None,
        changed_to=final.answer if final else None, doubt=widest, doubt_criterion=doubted, ms=item.ms,
        failures=failures(item), verdict=item.verdict, answers=len(given),
        lost=sum(one.status != "ok" for one in given), cause=cause, reason=reason,
        scale=scales.pop() if len(scales) == 1 else "", **asdict(bill or UNKNOWN),
    )  # fmt: skip


def _why_lost(item: Item, given: Sequence[Score | Comparison]) -> tuple[str, str]:
    """(status, words) of a sample that failed or has no answer; nothing of one that has some."""
    if item.status != "ok":
        return item.status, item.reason
    lost = [one for one in given if one.status != "ok"]
    if not given or len(lost) < len(given) or item.verdict is not None or item.overall is not None:
        return "", ""
    return lost[0].status, f"{lost[0].agent}: {lost[0].reason}"


def _change(finals: list[Score], scores: Mapping[str, Score]) -> tuple[float | None, Score | None, Score | None]:
    """How much moved most, its draft and its final score; neither where nothing moved."""
    pairs = [(draft, s) for s in finals if (draft := scores.get(s.draft or "")) is not None]
    found = [(moved, draft, s) for draft, s in pairs if (moved := moved_by(draft, s)) is not None]
    if not found:
        return None, None, None
    most, draft, final = max(found, key=lambda one: one[0])
    return (most, draft, final) if most else (most, None, None)


# Journeys of a folder that no run wrote, such as one of `tracing`: spans and a ledger, without items.


@dataclass(frozen=True)
class FolderTrace(Shown):
    """What was done for one sample, as `SampleTrace` without an item.

    Attributes:
        number: of the journey in its folder, from 1. sample: its id. started: seconds since 1970.
    """

    number: int
    sample: str
    started: float
    root: Step

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {"number": self.number, "sample": self.sample, "started": self.started, "root": self.root.to_dict()}

    def __str__(self) -> str:
        """Its tree as plain text; the first lines of each text."""
        return str(drawn(self, "text"))


def traces_in(
    path: str | os.PathLike[str], sample: str | None = None, *, redact: bool = False
) -> Iterator[FolderTrace]:
    """Every journey of a folder, or those of one sample, in the order of their ends; read as a stream.

    Raises:
        DataError: the folder holds no spans. LedgerError: its ledger cannot be read.
    """
    known = known_names({})
    with closing(ReadOnlyLedger(_notes(Path(path)))) as ledger:
        for number, told in enumerate(_recorded(path), 1):
            if sample is None or told.sample == sample:
                root = tree(told, None, {}, ledger)
                yield FolderTrace(number, told.sample, told.started, redacted_root(root, known) if redact else root)


def ranked_traces(path: str | os.PathLike[str]) -> Iterator[RankedSample]:
    """Every journey in short; its place is its number, and of scores nothing is known. Raises as `traces_in`."""
    for number, told in enumerate(_recorded(path), 1):
        calls, paid, tokens, usd, unpriced = usage_of(told)
        bill = Usage(calls, paid, tokens, None if paid and paid == unpriced else usd, unpriced)
        failed, root = sum(span.status not in FINE for span in told.spans), told.spans[0]
        yield RankedSample(
            id=told.sample, place=number, status=root.status, value=None, change=None, changed_criterion=None,
            changed_from=None, changed_to=None, doubt=None, ms=root.ms, failures=failed, verdict=None,
            cause="" if root.status in FINE else root.status, **asdict(bill),
        )  # fmt: skip


def _notes(path: Path) -> Path:
    """A run's folder that lost its manifest has its ledger still."""
    return path / NOTES if (path / NOTES).exists() else path / LEDGER


def _recorded(path: str | os.PathLike[str]) -> Iterator[RecordedTrace]:
    if not (Path(path) / SPANS).exists():
        raise DataError(f"{os.fspath(path)} holds no trace: no {SPANS} lies in it")
    yield from recorded_traces(Path(path) / SPANS)


# What each node of a run took, and what it asked for: visits, milliseconds, calls, tokens, money.


STEP = math.log(1.05)  # between two classes of milliseconds: a median is told within 2.5 %


@dataclass
class NodeTime:
    """One node.

    Visits and their times are of the journeys that stand: of a sample that was taken up again, the last that was kept.
    What was asked for is of all attempts, because all of it was paid.

    Attributes:
        visits: times that it ran. failures: those that raised, or wrote anything that failed; statuses: of these.
        ms: their sum; visits may run side by side, so that it can exceed the run's own time. slowest: the longest.
        calls: model calls made in it, not in nodes within it. paid: those sent and paid for; found: those that lay in
            the ledger; shared: those that another sample had under way. failed_calls: those that failed; tools:
            assistants asked.
            requests: sent, retries included. unsent: calls that were refused before, as by a budget.
        prompt_tokens, completion_tokens, usd: of the paid ones. unpriced: paid ones without a price.
    """

    visits: int = 0
    failures: int = 0
    ms: float = 0.0
    slowest: float = 0.0
    calls: int = 0
    paid: int = 0
    found: int = 0
    shared: int = 0
    failed_calls: int = 0
    requests: int = 0
    tools: int = 0
    unsent: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    _classes: Counter[int] = field(default_factory=Counter, repr=False)

    @property
    def median(self) -> float | None:
        """The median of the visits' milliseconds, within 2.5 %; None without any."""
        left = (self.visits + 1) / 2
        for step in sorted(self._classes):
            left -= self._classes[step]
            if left <= 0:
                return min(math.exp(step * STEP), self.slowest)
        return None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        told = {one.name: getattr(self, one.name) for one in fields(self) if not one.name.startswith("_")}
        return {**told, "median": self.median}

    def visit(self, span: Span) -> None:
        """Count a visit."""
        self.visits += 1
        if span.status not in FINE:
            self.failures += 1
            self.statuses[span.status] += 1
        self.ms += span.ms
        self.slowest = max(self.slowest, span.ms)
        self._classes[round(math.log(max(span.ms, 0.001)) / STEP)] += 1

    def call(self, span: Span) -> None:
        """Count a model call."""
        told = span.about
        sent = told.get("prompt_tokens") is not None
        self.calls += 1
        self.paid += sent
        answered = span.status == "ok" or "failed" in told  # a reply that could not be read was one
        unpaid = told.get("from") if answered else None
        self.found += unpaid == "ledger"
        self.shared += unpaid == "joined"
        self.unsent += not (sent or unpaid in ("ledger", "joined") or _number(told, "requests"))
        self.failed_calls += span.status not in FINE
        self.requests += _number(told, "requests")
        self.prompt_tokens += _number(told, "prompt_tokens")
        self.completion_tokens += _number(told, "completion_tokens")
        if sent:
            usd = told.get("usd")
            self.usd += usd if isinstance(usd, int | float) else 0.0
            self.unpriced += usd is None


def node_times(run: RunRecord) -> dict[str, NodeTime]:
    """Place of a node, such as "weigh/judge" -> what it took, in the order of first visits; one reading, flat memory.

    Calls that were made outside of all nodes stand under "". Empty where no spans were recorded.
    """
    found: dict[str, NodeTime] = {}
    for journey, stands in latest_traces(spans_of(run)):
        add_times(found, journey, stands)
    return found


def times_of_sample(journey: RecordedTrace) -> dict[str, NodeTime]:
    """The same of one sample's journey."""
    found: dict[str, NodeTime] = {}
    add_times(found, journey, True)
    return found


def add_times(found: dict[str, NodeTime], journey: RecordedTrace, stands: bool) -> None:
    """Count what a journey took; of one that another took the place of, its calls alone."""
    places = places_of(journey)
    for span in journey.spans:
        if span.kind == "node" and stands:
            found.setdefault(places[span.id], NodeTime()).visit(span)
        elif span.kind == "model":
            found.setdefault(places[span.id], NodeTime()).call(span)
        elif span.kind == "tool":
            found.setdefault(places[span.id], NodeTime()).tools += 1


def places_of(journey: RecordedTrace) -> list[str]:
    """The place of each span, by its number; every parent stands before its own."""
    places: list[str] = []
    for span in journey.spans:
        around = places[span.parent] if span.parent is not None else ""
        if span.kind == "node":
            around = f"{around}/{span.name}" if around else span.name
        places.append(around)
    return places


def within(times: Mapping[str, NodeTime], place: str) -> NodeTime:
    """A node with what the nodes within it asked for; visits and times stay its own."""
    own = times.get(place, NodeTime())
    total = NodeTime(own.visits, own.failures, own.ms, own.slowest, statuses=own.statuses, _classes=own._classes)
    inner = [one for name, one in times.items() if name == place or name.startswith(f"{place}/") or not place]
    for name in ("calls", "paid", "found", "shared", "failed_calls", "requests", "tools", "unsent", "prompt_tokens",
                 "completion_tokens", "usd", "unpriced"):  # fmt: skip
        setattr(total, name, sum(getattr(one, name) for one in inner))
    return total


def _number(told: Mapping[str, Any], name: str) -> int:
    value = told.get(name)
    return value if isinstance(value, int) else 0
