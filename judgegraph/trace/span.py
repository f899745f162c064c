"""A span: what was done for a sample, with its times; a sample's way through a graph; and the file of spans."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import isfinite
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias, cast, get_args
from uuid import UUID

from judgegraph.errors import DataError
from judgegraph.shown import Shown, drawn
from judgegraph.types import Score, Status

Kind: TypeAlias = Literal["graph", "node", "agent", "model", "tool"]
KINDS: tuple[Kind, ...] = ("graph", "node", "agent", "model", "tool")
LATEST = 2e11  # seconds since 1970, near the year 8000
STATUSES = frozenset(get_args(Status))


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
MOST = 1 << 40  # of tokens and other counts, so that sums of them stay whole numbers of 64 bits
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
    if not all(one is None or (isinstance(one, int) and 0 <= one <= MOST) for one in counts):
        return False
    return usd is None or (isinstance(usd, int | float) and 0 <= usd <= MOST)


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
