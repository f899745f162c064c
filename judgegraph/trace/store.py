"""The file of spans: a line for each journey, added at the end and never changed."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from enum import Enum
from math import isfinite
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from judgegraph.errors import DataError
from judgegraph.trace.span import RecordedTrace, Span, time_of

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


def lines(path: Path | None) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of every whole line that is not too long. Raises as `journeys`."""
    if path is None or not os.path.lexists(path):
        return
    with _opened(path) as file:
        at, whole = 0, True  # whole: what comes next begins a line
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
