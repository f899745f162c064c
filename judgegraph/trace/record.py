"""Spans: what was done for a sample, with its times; the file of a run's spans; and how they are recorded.

A span is begun and ended where the thing is done; without a recorder that costs one look at a variable.
"""

from __future__ import annotations

import asyncio
import errno
import json
import math
import os
import stat
import threading
import time
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, TypeAlias, cast, get_args
from uuid import UUID

from judgegraph.compiled import updates
from judgegraph.errors import DataError
from judgegraph.shown import Shown, drawn
from judgegraph.types import Score, Status

STATUSES = frozenset(get_args(Status))

Kind: TypeAlias = Literal["graph", "node", "agent", "model", "tool"]
KINDS: tuple[Kind, ...] = ("graph", "node", "agent", "model", "tool")
LATEST = 2e11  # seconds since 1970, near the year 8000


@dataclass(frozen=True)
class Span:
    """One thing that was done.

    Attributes:
        id: its number in the journey, from 0. parent: the number of what it was done for; None of the first.
        name: of the graph, node, agent, judge or assistant.
        start: milliseconds since the journey began. ms: milliseconds that it took.
        status: "ok", or how it failed: a node by what it raised or wrote, a model call by what became of its replies.
        about: ids, counts and addresses, never a text that was judged or generated, but for the names of criteria and
            aspects that a model may have written (a run with `redact` has digests of them). Of a node "reads" (key of
            the state -> how many entries) and "writes" (key -> the entries' own keys, or how many, or a number); of a
            model call "address" (hex, in the ledger), "prompt" ("NAME@DIGEST"), "form", "from" ("paid", "ledger" or
            "joined"), "requests" (those sent), "prompt_tokens", "completion_tokens", "usd", and where it is not the one
            choice of the first time "n" and "repeat". Of what failed "failed" (of a node key -> status -> how many of
            its entries, of a call status -> how many of its choices) and "error", a line of our own.
    """

    id: int
    parent: int | None
    kind: Kind
    name: str
    start: float
    ms: float
    status: Status = "ok"
    about: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_row(cls, row: Any) -> Span:
        """From a line's list; an error of somebody else's may have brought a status of its own, which is "agent_error".

        Raises:
            ValueError: it is none.
        """
        number, parent, kind, name, start, ms, status, about = row
        if (
            kind not in KINDS
            or not isinstance(number, int)
            or not isinstance(about, dict)
            or not _is_numbers_and_names(about)
        ):
            raise ValueError(f"no span: {row!r:.80}")
        known = cast(Status, status) if status in STATUSES else "agent_error"
        return cls(number, parent, cast(Kind, kind), str(name), time_of(start), time_of(ms), known, about)


def time_of(value: Any) -> float:
    """A time, or a number of milliseconds, that can be added up, shown and made a date.

    Raises:
        ValueError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LATEST:
        raise ValueError(f"no time: {value!r:.40}")
    return float(value)


def _is_numbers_and_names(about: Mapping[str, Any]) -> bool:
    """Whether what was written are numbers, and names in lists."""
    writes = about.get("writes", {})
    if not isinstance(writes, dict):
        return False
    names = [name for entry in writes.values() if isinstance(entry, list) for name in entry]
    return all(isinstance(name, str) for name in names)


@dataclass(frozen=True)
class RecordedTrace:
    """One sample's way through a graph.

    Attributes:
        sample: its id. started: seconds since 1970. kept: False where what came of it was not, as of a retry that
            failed. spans: the graph's own first, then in the order in which they began.
    """

    sample: str
    started: float
    spans: tuple[Span, ...]
    kept: bool = True

    def node_path(self, span: Span) -> str:
        """The nodes that a span stands in, such as "weigh/judge", its own included; "" outside of all nodes."""
        names = []
        at: Span | None = span
        while at is not None:
            names += [at.name] if at.kind == "node" else []
            at = self.spans[at.parent] if at.parent is not None else None
        return "/".join(reversed(names))


UNTRACED, LOST = "no spans were recorded", "the last attempt was not recorded"  # why a sample has no steps

# A step: a span with what it wrote and what was said, as every view shows it.


@dataclass(frozen=True)
class Step(Shown):
    """One thing that was done, with all that was done for it.

    Attributes:
        kind, name, start, ms, status, about: as of a `Span`; `about` has "place" too, the nodes that it stands in.
        scores: those that a node or an agent wrote, as they stand in the item.
        messages: (role, text) of what a model was asked; empty where the ledger does not hold it. replies: its answers.
        reasoning: of each reply what the model thought first, "" where nothing; empty where no reply has any. It is
            shown, and never read as an answer.
        steps: what was done for it, in the order in which it began.
    """

    kind: Kind
    name: str
    start: float
    ms: float
    status: Status = "ok"
    about: Mapping[str, Any] = field(default_factory=dict)
    scores: tuple[Score, ...] = ()
    messages: tuple[tuple[str, str], ...] = ()
    replies: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    def walk(self) -> Iterator[Step]:
        """Itself and all below it, each before its own."""
        yield self
        for step in self.steps:
            yield from step.walk()

    def texts(self) -> Iterator[tuple[str, str]]:
        """(who, text) of all that was asked, thought and answered; a thought stands before its reply."""
        yield from self.messages
        for at, reply in enumerate(self.replies):
            if thought := self.thought(at):
                yield "thought", thought
            yield "reply", reply

    def thought(self, at: int) -> str:
        """What was thought before the reply of this number."""
        return self.reasoning[at] if at < len(self.reasoning) else ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values, with all below it; what is empty is left out."""
        told: dict[str, Any] = {"kind": self.kind, "name": self.name, "start": self.start, "ms": self.ms}
        told |= {"status": self.status, "about": dict(self.about)}
        if self.scores:
            told["scores"] = [score.model_dump(mode="json", exclude_defaults=True) for score in self.scores]
        if self.messages:
            told["messages"] = [{"role": role, "text": text} for role, text in self.messages]
        if self.replies:
            told["replies"] = list(self.replies)
        if self.reasoning:
            told["reasoning"] = list(self.reasoning)
        if self.steps:
            told["steps"] = [step.to_dict() for step in self.steps]
        return told

    def __str__(self) -> str:
        """Its tree as plain text; the first lines of each text."""
        return str(drawn(self, "text"))


# The file of spans: a line for each journey, added at the end and never changed.


SPANS = "spans.jsonl"
DEPTH = 200  # of spans within spans; what is deeper was not written by us
LONGEST = 1 << 26  # bytes of a line, a quarter of a million spans; a longer one is passed over
LARGEST = 1 << 40  # of tokens and other counts, so that sums of them stay whole numbers of 64 bits
COUNTS = ("prompt_tokens", "completion_tokens", "requests", "n", "repeat")
NO_FILE = "is not a regular file"


class SpanFile:
    """Open for adding; its owner's alone. What a killed process left of a line is closed off and never read.

    Raises:
        OSError: from all methods.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK, 0o600)
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            os.close(self._file)
            raise OSError(errno.EINVAL, NO_FILE, str(path))
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")

    def add(self, line: bytes) -> None:
        """One line, whole: a torn one would hide the next."""
        written = os.write(self._file, line)
        while written < len(line):
            written += os.write(self._file, line[written:])

    def close(self) -> None:
        """No more is added: the number may be another file's by then."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def recorded_traces(path: Path | None) -> Iterator[RecordedTrace]:
    """All journeys in the order of their ends; a line that holds none is left out. None where there is no file.

    Raises:
        DataError: it cannot be read, or is no regular file.
    """
    for _, line in lines(path):
        if (found := recorded_trace(line)) is not None:
            yield found


def lines(path: Path | None, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of every whole line from a byte on that is not too long. Raises as `journeys`."""
    if path is None or not os.path.lexists(path):
        return
    with _opened(path) as file:
        file.seek(start)
        at, whole = start, True  # whole: what comes next begins a line
        while piece := file.readline(LONGEST):
            ended = piece.endswith(b"\n")
            if whole and ended:
                yield at, piece
            at, whole = at + len(piece), ended


def line_at(path: Path, at: int) -> bytes:
    """The line that begins at an offset. Raises as `journeys`."""
    with _opened(path) as file:
        file.seek(at)
        return file.readline(LONGEST)


def _opened(path: Path) -> IO[bytes]:
    """A pipe would be waited for, and a device has no end."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise DataError(f"{path} {NO_FILE}: it holds no trace")
    return os.fdopen(handle, "rb")


def recorded_trace(line: bytes) -> RecordedTrace | None:
    """What a line holds; None where it is torn, damaged or of another kind."""
    try:
        told: Any = _decoder.decode(line.decode())
        spans = tuple(Span.of_row(row) for row in told["spans"])
        sound = bool(spans) and spans[0].parent is None and _sound(spans)
        return (
            RecordedTrace(str(told["id"]), time_of(told["t"]), spans, told.get("kept") is not False) if sound else None
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def _finite(number: str) -> float:
    if not math.isfinite(found := float(number)):
        raise ValueError(number)
    return found


_decoder = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


def _counted(span: Span) -> bool:
    """Its counts are counts and its price is one, so that all can be added up and shown."""
    counts, usd = [span.about.get(name) for name in COUNTS], span.about.get("usd")
    if not all(one is None or (isinstance(one, int) and 0 <= one <= LARGEST) for one in counts):
        return False
    return usd is None or (isinstance(usd, int | float) and 0 <= usd <= LARGEST)


def _sound(spans: tuple[Span, ...]) -> bool:
    """Each is where its number says, below one that began before it, and not too far down to be drawn."""
    if not all(_counted(span) for span in spans):
        return False
    depths = [0]
    for number, span in enumerate(spans[1:], 1):
        if span.id != number or not isinstance(span.parent, int) or not 0 <= span.parent < number:
            return False
        depths.append(depths[span.parent] + 1)
    return spans[0].id == 0 and max(depths) <= DEPTH


# What is written down as one line of JSON, whatever stands in it, the same with orjson and without.


try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]


def compact(value: Any) -> bytes:
    """A value as JSON without spaces, in UTF-8; what JSON has no word for is written as its `repr`, nan as null.

    Raises:
        Exception: of something foreign in it that can be neither written nor told.
    """
    if orjson is not None:
        try:
            options = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
            return orjson.dumps(value, default=_plain, option=options)
        except TypeError:  # a lone surrogate, a large whole number, a key that is no text: JSON can, orjson cannot
            pass
    try:
        return _ENCODER.encode(value).encode("utf-8", "replace")
    except ValueError:  # nan, which our readers refuse
        return _ENCODER.encode(_finite_in_compact(value)).encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    if isinstance(value, float):  # a number of numpy's, say
        return float(value)
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, UUID) else repr(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain, allow_nan=False)


def _finite_in_compact(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite_in_compact(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite_in_compact(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


# Recording: the spans of one journey, as they come.


LARGE = 1e18
FAILURES = STATUSES - {"ok", "abstained", "skipped"}
ENDED = {  # what a call's span says of a reply that came to nothing: a reply's own words are no part of a span
    "refused": "the model refused", "filtered": "the provider's content filter stopped the reply",
    "truncated": "the reply was cut off at its token limit", "unreadable": "the reply could not be read",
    "provider_error": "the provider stopped the reply with an error",
}  # fmt: skip
_MANY, _NUMBER = (dict, list, tuple), (bool, int, float)
MOST = 64  # entries of one key that are named; of more only their number is kept

STATED = frozenset(  # keys of what has a status of its own; "failure" is of a run in a panel that raised
    ("scores", "rectifications", "findings", "comparisons", "corrections", "notes", "plan", "failure")
)
NAMED = frozenset(  # of other keys, such as "notes" or one of yours, an entry's key may be a text
    ("scores", "rectifications", "findings", "comparisons", "corrections", "branches", "aspects")
)


class Recorder:
    """The spans of one journey, as they come; one for each sample that is judged.

    A span is a list, as it will be written: [id, parent, kind, name, start, ms, status, about].
    """

    __slots__ = ("_bare", "_lock", "_zero", "copies", "sample", "spans", "started")

    def __init__(
        self, sample: str, name: str, *, bare: bool = False, copies: dict[int, tuple[Any, Any]] | None = None
    ) -> None:
        self.sample, self.started, self._zero = sample, time.time(), time.perf_counter()
        self._bare = bare  # no message of an error, and no name that a model may have written
        self.copies = copies if copies is not None else {}  # of graphs, as `trace.watched` makes them: one for a run
        self._lock = threading.Lock()  # a plain function runs in a thread, and may ask from there
        self.spans: list[list[Any]] = [[0, None, "graph", name, 0.0, 0.0, "ok", {}]]

    def begin(self, kind: Kind, name: str, about: dict[str, Any], parent: int | None = None) -> list[Any]:
        """A span that begins now, within the one that this task is in unless another is named."""
        around = within.get() if parent is None else parent
        with self._lock:
            start = int((time.perf_counter() - self._zero) * 1e6) / 1000
            span = [len(self.spans), around, kind, name, start, -1.0, "ok", about]
            self.spans.append(span)
        return span

    def end(self, span: list[Any], status: str = "ok") -> None:
        """It ends now."""
        span[5] = int((time.perf_counter() - self._zero - span[4] / 1000) * 1e6) / 1000
        span[6] = status

    def line(self, status: str, *, kept: bool = True, item_ms: float | None = None) -> bytes:
        """The journey ends: as one line of JSON. What is still open was cut off with it.

        Args:
            item_ms: of the item that came of it, by which the two are known to belong together.
        """
        if item_ms is not None:
            self.spans[0][7]["item_ms"] = item_ms
        for span in reversed(self.spans[1:]):  # what was done for another ends before it
            if span[5] < 0:
                self.end(span, status if status != "ok" else "skipped")
        self.end(self.spans[0], status)
        for span in self.spans if self._bare else ():
            _strip(span[7])
        told = {"id": self.sample, "t": round(self.started, 6), "spans": self.spans}
        if not kept:
            told["kept"] = False
        try:
            return compact(told) + b"\n"
        except Exception:  # of something foreign that stands in a span: no run ends for that
            return compact({**told, "spans": [[*span[:7], {}] for span in self.spans]}) + b"\n"


def _strip(about: dict[str, Any]) -> None:
    about.pop("error", None)
    if isinstance(writes := about.get("writes"), dict):
        named = {key: entry for key, entry in writes.items() if isinstance(entry, list)}
        told = writes | {key: [pseudonym(name) for name in entry] for key, entry in named.items()}
        about["writes"] = {key if key.isidentifier() else pseudonym(key): entry for key, entry in told.items()}


def pseudonym(key: str) -> str:
    """Of an entry's key where no text is kept: it is found again by who has the key."""
    return f"#{blake2b(key.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"


recorder: ContextVar[Recorder | None] = ContextVar("judgegraph_recorder", default=None)
within: ContextVar[int] = ContextVar("judgegraph_within", default=0)
tracer: ContextVar[Any] = ContextVar("judgegraph_tracer", default=None)  # a `traces.record.Tracer`; None in a run
traced: ContextVar[tuple[Recorder, int] | None] = ContextVar("judgegraph_traced", default=None)  # its `within`


def _here() -> tuple[Recorder, int] | None:
    """The journey and the span that this is within, by who traces plain graphs."""
    found = tracer.get()
    here: tuple[Recorder, int] | None = found.here() if found is not None else None
    return here


class span:
    """What is done within is a span, if anybody records: `with span("tool", name) as about:`, which is to be filled.

    A class, since a generator that does the same would cost more, at every call of a model.
    """

    __slots__ = ("_about", "_at", "_begun", "_kind", "_name", "_token", "_variable")

    def __init__(self, kind: Kind, name: str, about: dict[str, Any] | None = None) -> None:
        self._kind, self._name = kind, name
        self._about: dict[str, Any] = about if about is not None else {}

    def __enter__(self) -> dict[str, Any]:
        self._at = at = recorder.get()
        self._variable: ContextVar[Any] = within
        if at is not None:
            self._begun = at.begin(self._kind, self._name, self._about)
            self._token: Token[Any] = within.set(self._begun[0])
        elif (here := _here()) is not None:
            self._at, self._variable = here[0], traced
            self._begun = here[0].begin(self._kind, self._name, self._about, here[1])
            self._token = traced.set((here[0], self._begun[0]))
        return self._about

    @property
    def row(self) -> list[Any] | None:
        """The span as it will be written; None where nobody records."""
        return self._begun if self._at is not None else None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._at is None:
            return
        about = self._about
        self._at.end(self._begun, str(about.pop("status", "ok")) if error is None else failed(about, error))
        self._variable.reset(self._token)


class ReplyStatus:
    """What becomes of one of a call's choices after its span has ended: where none of them can be read, it failed."""

    __slots__ = ("_ended", "_of", "_row")

    def __init__(self, row: list[Any], of: int) -> None:
        self._row, self._of, self._ended = row, of, False

    def end(self, status: str) -> None:
        """It came to nothing; of several statuses of one choice, such as of its answers, the first counts."""
        if self._ended or status not in FAILURES:
            return
        self._ended, about = True, self._row[7]
        counts = about.setdefault("failed", {})
        counts[status] = counts.get(status, 0) + 1
        if sum(counts.values()) >= self._of:
            self._row[6] = max(counts, key=counts.__getitem__)
            about["error"] = ENDED.get(self._row[6], self._row[6])


def failed(about: dict[str, Any], error: BaseException) -> str:
    """The status of what raised; why it did goes to its `about`, in one short line."""
    if isinstance(error, asyncio.CancelledError):
        about["error"] = "it was cut off"
        return "timeout"
    status, why = None, type(error).__name__
    with suppress(Exception):  # an error's text and its attributes may be code too
        why = f"{why}: {error}".removesuffix(": ")
        status = getattr(error, "status", None)
    about["error"] = " ".join(why[:400].split())[:200]
    return status if isinstance(status, str) and status in STATUSES else "agent_error"


def status_of(update: Any, before: Any, about: dict[str, Any]) -> str:
    """The status of a node, by what it wrote; how many failed, by key and status, goes to its `about`.

    Anything that failed is a failure of the node: the commonest status, of equally many the first. What it was handed
    and hands on is not its doing, nor is a vote or draft beside its criterion's final score; notes count where nothing
    else was written. Where nothing is "ok" it abstained, or skipped all.
    """
    try:
        parts = [part for part in _parts(update) if part[0] != "notes"] or list(_parts(update))
        lost = [(key, one) for key, one in parts if one.status in FAILURES]
        if lost:
            handed, answered = set(_handed(before)), {_answered(one) for _, one in parts if one.status == "ok"} - {None}
            lost = [(key, one) for key, one in lost if id(one) not in handed and not _spare(one, answered)]
    except Exception:  # as in `sizes`
        return "ok"
    found: Counter[str] = Counter()
    for key, one in lost:
        counts = about.setdefault("failed", {}).setdefault(key, {})
        counts[one.status] = counts.get(one.status, 0) + 1
        found[one.status] += 1
    if found:
        return found.most_common(1)[0][0]
    statuses = {one.status for _, one in parts} - FAILURES
    return next((status for status in ("ok", "abstained", "skipped") if status in statuses), "ok")


def _parts(update: Any) -> Iterator[tuple[str, Any]]:
    """(key of the state, what stands there) of everything written that has a status."""
    for key, value in updates(update):
        if key in STATED:
            for one in value.values() if isinstance(value, dict) else (value,):
                if getattr(one, "status", None) in STATUSES:
                    yield key, one


def _handed(value: Any, depth: int = 5) -> Iterator[int]:
    """The ids of all that stands in a state, also of what runs of a panel left for their join."""
    for one in value.values() if isinstance(value, Mapping) else ():
        yield id(one)
        if depth:
            yield from _handed(one, depth - 1)


def _answered(one: Any) -> Any:
    """Of a final score what it is of; None of anything else."""
    return (one.criterion, one.of) if isinstance(one, Score) and one.stage == "final" else None


def _spare(one: Any, answered: Container[Any]) -> bool:
    """Whether it is a vote or a draft of what has a final score, or of a panel's member, whose node it failed."""
    if not isinstance(one, Score):
        return False
    return bool(one.member) or (one.stage != "final" and (one.criterion, one.of) in answered)


def sizes(state: Any) -> dict[str, int | None]:
    """Key of a state -> how many entries stand there, None where it holds one value."""
    if not isinstance(state, Mapping):
        return {}
    try:
        return {str(key): len(value) if isinstance(value, _MANY) else None for key, value in state.items()}
    except Exception:  # a value may be code too
        return {}


def written(update: Any, keys: Container[str] | None = None) -> dict[str, Any]:
    """Key that a node wrote -> its entries' keys where these are names, else how many, else the number; no text.

    Args:
        keys: those that are told, None for all: another may be a text that a model wrote.
    """
    try:
        if not isinstance(update, Mapping):  # a command
            given = getattr(update, "update", None)
            update = dict(given) if isinstance(given, list | tuple) else given
        told = update.items() if isinstance(update, Mapping) else ()
        return {str(key): _entry(key, value) for key, value in told if keys is None or key in keys}
    except Exception:  # as in `sizes`
        return {}


def _entry(key: str, value: Any) -> Any:
    if key in NAMED and isinstance(value, dict) and len(value) <= MOST:
        return [str(key) for key in value]
    if isinstance(value, _MANY):
        return len(value)
    return value if isinstance(value, _NUMBER) and abs(value) < LARGE else None  # nan is not either
