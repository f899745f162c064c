"""The traces of a run: its spans joined with what its items and its ledger hold, sample by sample."""

from __future__ import annotations

import difflib
import json
import math
import os
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields
from itertools import islice
from json import JSONDecoder
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

from judgegraph.answers import doubt, means_of, moved_by, scaled, several
from judgegraph.calls.budget import priced
from judgegraph.calls.ledger import ReadOnlyLedger
from judgegraph.calls.types import Choice, unpacked
from judgegraph.data.samples import UNTRUSTED, DiskIndex, id_digest
from judgegraph.errors import DataError, one_line
from judgegraph.replies.reply import parts
from judgegraph.runs.folder import ITEMS, JOURNAL, LEDGER, NOTES, Folder
from judgegraph.runs.item import FINE, LISTED, Item, answers, failures, has_status
from judgegraph.runs.lines import DamagedLine, id_of_line, item_of_line, lines_that_stand
from judgegraph.shown import Shown, drawn
from judgegraph.trace.record import (
    LOST,
    SPANS,
    UNTRACED,
    RecordedTrace,
    Span,
    Step,
    line_at,
    lines,
    pseudonym,
    recorded_trace,
    recorded_traces,
)
from judgegraph.traces.redact import Names, known_names, redacted_item, redacted_root
from judgegraph.types import Comparison, Finding, Score, Status, Verdict

# All journeys of a file of spans, each with whether it stands: of a sample's several the last that was kept.


_START = b'{"id":'  # as we write it
_decoder = JSONDecoder()


def latest_traces(path: Path | None) -> Iterator[tuple[RecordedTrace, bool]]:
    """(journey, whether it stands) in the order of their ends; a line that holds none is left out.

    A sample that was taken up again has several: the last whose item was kept stands, else its last. The file is read
    twice, as a stream; memory stays flat. Nothing where there is no file, or `path` is None.
    """
    if path is None:
        return
    with DiskIndex() as offsets:
        end = _index(path, offsets)
        for at, line in lines(path):
            if at >= end:  # came meanwhile
                return
            if (found := recorded_trace(line)) is not None:
                yield found, offsets.get(id_digest(found.sample)) == at


def belongs(found: RecordedTrace, item: Item) -> bool:
    """Whether the item came of this journey: the last attempt may have left none, as without spans.

    Its milliseconds are the item's own. Older lines do not say them: they end as the item does, and what they wrote
    stands in it.
    """
    root = found.spans[0]
    if (ms := root.about.get("item_ms")) is not None:
        return bool(ms == item.ms)
    if root.status != item.status:
        return False
    writes = [span.about.get("writes") for span in found.spans if span.parent == 0 and span.kind == "node"]
    wrote = [one.get("scores") for one in writes if isinstance(one, dict)]
    keys = {str(key) for one in wrote if isinstance(one, list) for key in one}
    return item.status != "ok" or keys <= {score.key for score in item.scores}


def indexed(path: Path) -> DiskIndex:
    """Digest of a sample's id -> where the line of its journey that stands begins; to be closed."""
    offsets = DiskIndex()
    try:
        _index(path, offsets)
    except BaseException:
        offsets.close()
        raise
    return offsets


def _index(path: Path, offsets: DiskIndex) -> int:
    """Gives where the file ended."""
    end = 0
    for at, line in lines(path):
        _look(path, offsets, at, line)
        end = at + len(line)
    return end


def _look(path: Path, offsets: DiskIndex, at: int, line: bytes) -> None:
    """Nearly every sample has one line, whose id is all that is read here."""
    if (name := id_of(line)) is None:
        return
    key = id_digest(name)
    if (before := offsets.first(key, at)) == at:
        return
    found, earlier = recorded_trace(line), recorded_trace(line_at(path, before))
    if found is not None and (found.kept or earlier is None or not earlier.kept):
        offsets.put(key, at)


def id_of(line: bytes) -> str | None:
    """The sample that a line is of, by its first bytes; None where they are none of ours."""
    if not line.startswith(_START):
        return None
    try:
        return str(_decoder.raw_decode(line.decode(), len(_START))[0])
    except (ValueError, RecursionError):
        return None


# From a journey to steps: spans as a tree, each with the scores it wrote and what its model was asked and said.


ROLES = {"human": "user", "ai": "assistant"}


def tree(journey: RecordedTrace, item: Item | None, agents: Mapping[str, Any], ledger: ReadOnlyLedger) -> Step:
    """The graph's step with all below it.

    Args:
        item: what came of the sample, None where that is not known. agents: node -> what the run's manifest says of its
            agent. ledger: where the run's replies lie.
    """
    return _Tree(journey, item, agents, ledger).root()


@dataclass
class _Tree:
    journey: RecordedTrace
    item: Item | None
    agents: Mapping[str, Any]
    ledger: ReadOnlyLedger
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)  # of what failed: key of the state, entry's key

    def root(self) -> Step:
        self.reasons = _reasons(self.item)
        below: dict[int, list[Span]] = defaultdict(list)
        for span in self.journey.spans[1:]:
            below[span.parent or 0].append(span)
        scores = {score.key: score for score in self.item.scores} if self.item else {}
        scores |= {pseudonym(key): score for key, score in scores.items()}  # where no text was kept
        return self._step(self.journey.spans[0], below, scores)

    def _step(self, span: Span, below: Mapping[int, list[Span]], scores: Mapping[str, Score]) -> Step:
        steps = tuple(self._step(one, below, scores) for one in below.get(span.id, ()))
        place = self.journey.node_path(span)
        about = {**span.about, **({"place": place} if place else {})}
        if span.kind != "model" and isinstance(lost := about.get("failed"), Mapping) and "error" not in about:
            about["error"] = self._why(lost, about.get("writes"))
        mine = _written(span, scores)
        if span.kind == "model":
            return self._call(span, about)
        if span.kind == "node" and isinstance(agent := self.agents.get(place), Mapping):
            settings = {"place": place, "class": agent.get("agent"), **{k: v for k, v in agent.items() if k != "agent"}}
            inner = Step(
                "agent", str(agent.get("agent")), span.start, span.ms, span.status, settings, mine, steps=steps
            )
            steps = (inner,)
        return Step(span.kind, span.name, span.start, span.ms, span.status, about, mine, steps=steps)

    def _why(self, lost: Mapping[str, Any], writes: Any) -> str:
        """What of a node's writing failed, such as "2 of 4 scores: 2 unreadable", and the first reason."""
        wrote = writes if isinstance(writes, Mapping) else {}
        reasons, first = [], ""
        for key, counts in lost.items():
            by_status = Counter({str(s): n for s, n in counts.items() if isinstance(n, int)} if counts else {})
            names = wrote.get(key)
            many = len(names) if isinstance(names, list) else names
            of = f" of {many}" if isinstance(many, int) else ""
            statuses = ", ".join(f"{n} {status}" for status, n in by_status.items())
            reasons.append(f"{by_status.total()}{of} {key}: {statuses}")
            given = [self.reasons.get((key, str(name)), "") for name in names] if isinstance(names, list) else []
            first = first or next((reason for reason in given if reason), "")
        return one_line("; ".join(reasons) + (f" ({first})" if first else ""), 400)

    def _call(self, span: Span, about: dict[str, Any]) -> Step:
        address = _address(about)
        paid = self.ledger.get(address) if address else None
        if paid is not None and about.get("usd") is None and not about.get("prompt_tokens"):
            about |= {"prompt_tokens": paid.prompt, "completion_tokens": paid.completion, "usd": paid.usd}
        choices = unpacked(paid.body) if paid is not None else []
        if paid is not None:
            about["finish"] = [choice.finish for choice in choices]
        replies, thoughts = _replies(choices)
        messages = tuple((ROLES.get(kind, kind), text) for kind, text in self.ledger.asked(address)) if address else ()
        return Step(
            "model", span.name, span.start, span.ms, span.status, about,
            messages=messages, replies=replies, reasoning=thoughts,
        )  # fmt: skip


def _written(span: Span, scores: Mapping[str, Score]) -> tuple[Score, ...]:
    writes = span.about.get("writes")
    keys = writes.get("scores") if isinstance(writes, Mapping) else None
    return tuple(scores[key] for key in keys if key in scores) if isinstance(keys, list) else ()


def _reasons(item: Item | None) -> dict[tuple[str, str], str]:
    """(key of the state, entry's key) -> why it failed; the key as it stands where no text was kept, too."""
    found: dict[tuple[str, str], str] = {}
    for key in LISTED if item is not None else ():
        for part in getattr(item, key):
            if getattr(part, "status", "ok") not in FINE and (reason := getattr(part, "reason", "")):
                name = part.assistant if isinstance(part, Finding) else str(part.key)
                found[key, name] = found[key, pseudonym(name)] = one_line(reason)
    return found


def _address(about: Mapping[str, Any]) -> bytes | None:
    try:
        return bytes.fromhex(str(about.get("address", "")))
    except ValueError:
        return None


def _replies(choices: Iterable[Choice]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The answer of each choice, of one that calls tools or refuses, that; and what each thought first, if any did."""
    found, thoughts = [], []
    for choice in choices:
        calls = [f"calls {call.get('name')}({json.dumps(call.get('args') or {})})" for call in choice.tool_calls]
        refusal = [f"refuses: {choice.refusal}"] if choice.refusal else []
        texts = parts(choice.text)
        found.append("\n".join([*([texts.answer_text] if texts.answer_text else []), *refusal, *calls]))
        thoughts.append("\n".join(filter(None, (choice.reasoning, texts.reasoning))))
    return tuple(found), tuple(thoughts) if any(thoughts) else ()


LOOKED_AT = 20_000


class RunRecord(Protocol):
    """What a trace is read from: a run."""

    @property
    def manifest(self) -> dict[str, Any]: ...
    @property
    def folder(self) -> Folder | None: ...
    @property
    def items(self) -> Iterator[Item]: ...
    @property
    def signature(self) -> str: ...


@dataclass(frozen=True)
class SampleTrace(Shown):
    """What was done for one sample.

    Attributes:
        item: what came of it. root: the graph's step with all below it; None where no spans were recorded of the
            attempt that it came of.
        attempts: journeys that came to an end, 1 unless the sample was taken up again; 0 where none was recorded.
        journey: the spans behind `root`, where whoever read them kept them.
    """

    item: Item
    root: Step | None
    attempts: int = 0
    journey: RecordedTrace | None = None

    @property
    def untraced(self) -> str:
        """Why there is no root, "" where there is one."""
        return "" if self.root is not None else LOST if self.attempts else UNTRACED

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; a step's own steps stand in it."""
        item = self.item.model_dump(mode="json", exclude_defaults=True)
        values = {"attempts": self.attempts, "item": item, "root": self.root.to_dict() if self.root else None}
        return values | ({"untraced": self.untraced} if self.untraced else {})

    def __str__(self) -> str:
        """Its tree as plain text; the first lines of each text."""
        return str(drawn(self, "text"))


def trace_of(run: RunRecord, sample: str, *, redact: bool = False) -> SampleTrace:
    """The trace of one sample.

    Args:
        redact: texts that were judged or generated are replaced by their length, and names that the run was not set up
            with by numbers.

    Raises:
        DataError: the run has no such sample; the run's folder or its ledger cannot be read.
    """
    for found in traces_of(run, [sample], redact=redact):
        return found
    for what in run.folder.left_out if run.folder else ():
        if f"sample {one_line(sample, 80)!r}" in what:
            raise DataError(what)
    raise DataError(f"the run has no sample {one_line(sample, 80)!r}{near(sample, (item.id for item in run.items))}")


def near(name: str, names: Iterable[str]) -> str:
    """For an error: which names may have been meant, else which there are; of very many the first are looked at."""
    known = list(dict.fromkeys(islice(names, LOOKED_AT)))
    asked = name.casefold()
    same = [one for one in known if one.casefold() == asked]
    holding = [one for one in known if asked and asked in one.casefold()]
    if like := same or difflib.get_close_matches(name, known, 3, 0.5) or holding[:3]:
        return f"; did you mean {' or '.join(map(_named, like))}?"
    more = f" and {len(known) - 3:,} more" if len(known) > 3 else ""
    return f"; there {'is' if len(known) == 1 else 'are'} {', '.join(map(_named, known[:3]))}{more}" if known else ""


def _named(name: str) -> str:
    return repr(one_line(name, 60))


def traces_of(run: RunRecord, samples: Iterable[str], *, redact: bool | Names = False) -> Iterator[SampleTrace]:
    """The traces of some samples, in the order asked for; those that the run has not are left out.

    The run's files are read once; `redact` may be the names of a whole run. Raises as `trace_of`.
    """
    wanted = dict.fromkeys(samples)
    items = _items(run, wanted)
    found, attempts = _lines_by_sample(run, items)
    with closing(ReadOnlyLedger(ledger_of(run))) as ledger:
        agents = run.manifest.get("nodes") or {}
        known = redact if isinstance(redact, Names) else known_names(run.manifest) if redact else frozenset()
        for sample in wanted:
            if (item := items.get(sample)) is None:
                continue
            stored = recorded_trace(found[sample]) if sample in found else None
            root = tree(stored, item, agents, ledger) if stored is not None else None
            if redact:
                root = redacted_root(root, known, item) if root is not None else None
                item = redacted_item(item, known)
            yield SampleTrace(item, root, attempts[sample])


def _items(run: RunRecord, wanted: Collection[str]) -> dict[str, Item]:
    """Those of some samples; of the others' lines only the beginning is read, which is far quicker."""
    if run.folder is None:
        return {item.id: item for item in run.items if item.id in wanted}
    digests = {id_digest(name) for name in wanted}
    found: dict[str, Item] = {}
    path = run.folder.path / ITEMS
    damaged: dict[str, str] = {}
    for number, line in lines_that_stand(path, run.folder.path / JOURNAL, run.folder.leave_out):
        try:
            if id_of_line(line, "") in digests:
                item = item_of_line(line, f"{path}, line {number}")
                found[item.id] = item  # the latest line of a sample stands
                damaged.pop(item.id, None)
        except DamagedLine as error:
            if error.sample is not None and error.sample in wanted:
                found.pop(error.sample, None)
                damaged[error.sample] = str(error)
    for where in damaged.values():
        run.folder.leave_out(f"left out: {where}")
    return found


def _lines_by_sample(run: RunRecord, items: Mapping[str, Item]) -> tuple[dict[str, bytes], Counter[str]]:
    """Of each sample the line of the journey that its item came of, if that was recorded; and how many it has."""
    found: dict[str, bytes] = {}
    attempts: Counter[str] = Counter()
    seen: set[str] = set()
    for _, line in lines(spans_of(run)):
        stored = recorded_trace(line) if id_of(line) in items else None
        if stored is not None:
            attempts[stored.sample] += 1
            if belongs(stored, items[stored.sample]) and (stored.kept or stored.sample not in seen):
                found[stored.sample] = line
                seen |= {stored.sample} if stored.kept else set()
    return found, attempts


def spans_of(run: RunRecord) -> Path | None:
    """Where a run's spans lie; there may be no such file. None for a run in memory, which has none."""
    return run.folder.path / SPANS if run.folder else None


def ledger_of(run: RunRecord) -> Path | None:
    """The ledger that a run used, None if it was none that is a file."""
    name: Any = run.manifest.get("ledger")
    if not isinstance(name, str) or run.folder is None:
        return None
    return run.folder.path / name


# What each sample asked for and paid, by its spans.


@dataclass(frozen=True)
class Usage:
    """Model calls asked for; of those paid for: how many, tokens, USD (None where none has a price), the unpriced."""

    calls: int | None
    paid: int | None
    tokens: int | None
    usd: float | None
    unpriced: int


_TABLE = (
    "CREATE TABLE bills (id BLOB PRIMARY KEY, calls INT, paid INT, tokens INT, usd REAL, unpriced INT) WITHOUT ROWID"
)
_ADD = """INSERT INTO bills VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    calls = calls + excluded.calls, paid = paid + excluded.paid, tokens = tokens + excluded.tokens,
    usd = usd + excluded.usd, unpriced = unpriced + excluded.unpriced"""


class UsageBySample:
    """Id of a sample -> its bill over all its journeys, in a temporary file of SQLite's own where they are many."""

    def __init__(self, journeys: Iterable[RecordedTrace]) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute(_TABLE)
        self._db.execute("BEGIN")
        for one in journeys:
            self._db.execute(_ADD, (id_digest(one.sample), *usage_of(one)))

    def get(self, id: str) -> Usage | None:
        """None where no journey of it was recorded."""
        row = self._db.execute("SELECT * FROM bills WHERE id = ?", (id_digest(id),)).fetchone()
        if row is None:
            return None
        _, calls, paid, tokens, usd, unpriced = row
        return Usage(calls, paid, tokens, None if unpriced == paid and (paid or tokens) and not usd else usd, unpriced)

    def close(self) -> None:
        """Forget all."""
        self._db.close()


def untold(manifest: Mapping[str, Any], paid: int | None) -> int:
    """How many calls a run paid for beyond those of its spans; 0 where there are no spans, or that is not known.

    A journey is written at its sample's end: what was paid for a sample by a process that was killed then stands in
    the ledger and the manifest alone.
    """
    spent = manifest.get("spent")
    calls = spent.get("calls") if isinstance(spent, Mapping) else None
    return max(0, calls - paid) if isinstance(calls, int) and paid is not None else 0


def usage_of(journey: RecordedTrace) -> tuple[int, int, int, float, int]:
    """Calls, those paid for, tokens and USD of all that was sent, and paid ones without a price."""
    calls = [span for span in journey.spans if span.kind == "model"]
    sent = [span.about for span in calls if span.about.get("prompt_tokens") is not None]
    paid = [span.about for span in calls if span.about.get("prompt_tokens") is not None and _answered(span)]
    usd = sum(about["usd"] for about in sent if isinstance(about.get("usd"), int | float))
    tokens = sum(_whole(about, "prompt_tokens") + _whole(about, "completion_tokens") for about in sent)
    unpriced = sum(not isinstance(about.get("usd"), int | float) for about in paid)
    return len(calls), len(paid), tokens, float(usd), unpriced


def _answered(span: Span) -> bool:
    """Whether a reply came, one that could not be read included."""
    return span.status == "ok" or "failed" in span.about


def _whole(about: Mapping[str, Any], name: str) -> int:
    value = about.get(name)
    return value if isinstance(value, int) else 0


# Traces of many samples: which stand out, what each node took, and those of a folder that no run wrote.


@dataclass(frozen=True)
class RankedSample:
    """One sample in short.

    Attributes:
        id, place, status, ms, verdict: of its item.
        value: mean of its answers (`judgegraph.answers`), each scaled so that its scale is 0 to 1; of a pair, those of
            both outputs. Of several agents that answer side by side the lowest mean, and by_agent has each one's. None
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
    thin: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return priced(asdict(self))


UNKNOWN = Usage(None, None, None, None, 0)
Key = Callable[[RankedSample], tuple[float, ...]]
ORDERS: Mapping[str, Key] = {  # name -> what the first of them has least of
    "score": lambda one: (one.thin, math.inf if one.value is None else one.value),
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
    run: RunRecord, *, status: str | None = None, criterion: str | None = None,
    watch: Callable[[Item], None] | None = None,
) -> Iterator[RankedSample]:  # fmt: skip
    """Every sample of a run, in the order of finishing; its files are read as streams.

    Args:
        status: only samples that ended so, or that have a final score or comparison that did. criterion: only samples
            with a score of it; value, change, doubt, answers, and those that have the status, are of it alone.
        watch: is shown each item, in the same reading.

    Raises:
        DataError: the run's folder cannot be read.
    """
    with closing(UsageBySample(recorded_traces(spans_of(run)))) as bills:
        for item in run.items:
            if watch is not None:
                watch(item)
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
    pair = bool(item.comparisons) or item.verdict is not None
    means = {} if pair else means_of(finals)
    sides = [value for score in finals if (value := scaled(score)) is not None] if pair else []
    by_agent = {agent: means[agent] for agent in several(finals) if agent in means}
    doubts = [(x, s.criterion) for s in finals or asked if (x := doubt(s)) is not None]
    widest, doubted = max(doubts, key=lambda one: one[0], default=(None, None))
    scales = {s.scale.unit if s.scale else "" for s in finals if s.value is not None}
    cause, reason = _why_lost(item, given)
    return RankedSample(
        id=item.id, place=item.place, status=item.status, change=change,
        value=min(by_agent.values()) if by_agent else fmean(sides) if sides else means.get(""),
        by_agent=by_agent or None,
        changed_criterion=final.criterion if final else None, changed_from=draft.answer if draft else None,
        changed_to=final.answer if final else None, doubt=widest, doubt_criterion=doubted, ms=item.ms,
        failures=failures(item), verdict=item.verdict, answers=len(given),
        lost=sum(one.status != "ok" for one in given), cause=cause, reason=reason,
        scale=scales.pop() if len(scales) == 1 else "", thin=any(note.kind in UNTRUSTED for note in item.notes),
        **asdict(bill or UNKNOWN),
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
        bill = Usage(calls, paid, tokens, None if unpriced == paid and (paid or tokens) and not usd else usd, unpriced)
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
        return priced({**told, "median": self.median})

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
        self.paid += sent and _answered(span)
        unpaid = told.get("from") if _answered(span) else None
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
