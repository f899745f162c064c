"""The traces of a run: its spans joined with what its items and its ledger hold, sample by sample."""

from __future__ import annotations

import difflib
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from json import JSONDecoder
from pathlib import Path
from typing import Any, Protocol

from judgegraph.calls.ledger import ReadOnlyLedger
from judgegraph.calls.types import Choice, unpacked
from judgegraph.data.samples import DiskIndex
from judgegraph.errors import DataError, one_line
from judgegraph.replies.quotation import parts
from judgegraph.runs.folder import ITEMS, JOURNAL, Folder
from judgegraph.runs.item import FINE, LISTED, Item
from judgegraph.runs.lines import DamagedLine, id_digest, id_of_line, item_of_line, lines_that_stand
from judgegraph.shown import Shown, drawn
from judgegraph.trace.record import pseudonym
from judgegraph.trace.span import SPANS, RecordedTrace, Span, Step, line_at, lines, recorded_trace
from judgegraph.traces.redact import Names, known_names, redacted_item, redacted_root
from judgegraph.types import Finding, Score

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


UNTRACED, LOST = "no spans were recorded", "the last attempt was not recorded"
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
        return Usage(calls, paid, tokens, None if paid and unpriced == paid else usd, unpriced)

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
    """Calls, those paid for, their tokens, their USD, those of them without a price."""
    calls = [span.about for span in journey.spans if span.kind == "model"]
    paid = [about for about in calls if about.get("prompt_tokens") is not None]
    priced = [about["usd"] for about in paid if isinstance(about.get("usd"), int | float)]
    tokens = sum(_whole(about, "prompt_tokens") + _whole(about, "completion_tokens") for about in paid)
    return len(calls), len(paid), tokens, float(sum(priced)), len(paid) - len(priced)


def _whole(about: Mapping[str, Any], name: str) -> int:
    value = about.get(name)
    return value if isinstance(value, int) else 0
