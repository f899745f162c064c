"""What was asked, in a file beside the replies: each text once, however many calls have it in their prompts.

A message is kept in pieces, which begin where a section of a prompt does (`prompts.template`): criteria, a source or
an output stand in many prompts, and their sections are the same there. Lines are only added, each by one write, so
that several processes may share the file and a killed one loses nothing. It is there for traces alone: no run reads
it to go on, and one that cannot write it goes on without.
"""

from __future__ import annotations

import json
import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from judgegraph.evidence import content_text, image_count
from judgegraph.trace.record import compact

BREAK = "\n\n<"  # before a section
PIECES = 16  # of one message at most: a text may hold any number of such breaks
KNOWN, ROOM = 1024, 2**21  # pieces whose being there is remembered, and their characters
SIZE = 12  # bytes of a digest
_TEXT, _ASKED = b'["text","', b'["asked","'


def texts_of(ledger: Path) -> Path:
    """The file beside a ledger's."""
    return ledger.with_name(f"{ledger.name}.texts")


def digest(data: bytes) -> bytes:
    """Of a piece."""
    return blake2b(data, digest_size=SIZE).digest()


class Texts:
    """The file, open for adding; made when there is something to add, and its owner's alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = -1
        self._known: dict[str, str] = {}  # piece -> its digest, of those that were written
        self._held = 0
        self._there: array[int] | None = None  # what the file held when it was first looked at, ascending
        self._added: set[int] = set()

    def ask(self, address: bytes, messages: Sequence[Any], *, new: bool) -> None:
        """Keep what was asked at an address, once.

        Args:
            messages: LangChain messages. new: nobody asked for it before, as far as is known; it saves a look.
        """
        if not new and self._has(address):
            return
        lines: list[bytes] = []
        said = [(message.type, self._pieces(_content_of(message), lines)) for message in messages]
        lines += (compact(("asked", address.hex(), said)), b"")
        try:
            if self._file < 0:
                self._open()
            _write(self._file, b"\n".join(lines))
        except OSError:  # the disk is full, say: whoever keeps a reply is told
            self._known.clear()

    def _pieces(self, text: str, lines: list[bytes]) -> str:
        found = ""
        for piece in text.split(BREAK, PIECES - 1):
            key = self._known.get(piece)
            if key is None:
                self._held += len(piece)
                if len(self._known) >= KNOWN or self._held > ROOM:
                    self._known.clear()
                    self._held = len(piece)
                key = self._known[piece] = digest(piece.encode("utf-8", "replace")).hex()
                lines.append(compact(("text", key, piece)))
            found += key
        return found

    def _open(self) -> None:
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        size = os.fstat(self._file).st_size
        if size and os.pread(self._file, 1, size - 1) != b"\n":
            os.write(self._file, b"\n")

    def _has(self, address: bytes) -> bool:
        short = _short(address)
        if self._there is None:
            with suppress(OSError):
                self._there = array("Q", sorted(_short(key) for kind, key, _ in entries(self.path) if kind == "asked"))
        there = self._there or array("Q")
        at = bisect_left(there, short)
        if short in self._added or (at < len(there) and there[at] == short):
            return True
        self._added.add(short)
        return False

    def close(self) -> None:
        """No more is added."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class ReadOnlyTexts:
    """The file, to be read; there may be none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def asked(self, address: bytes) -> tuple[tuple[str, str], ...]:
        """(kind, text) of the messages asked at an address; () where they were not kept, or are damaged."""
        told = self._line(address)
        try:
            said = [(str(kind), self._joined(str(keys))) for kind, keys in told[2]] if told else []
        except (ValueError, TypeError, IndexError):
            return ()
        whole = tuple((kind, text) for kind, text in said if text is not None)
        return whole if len(whole) == len(said) else ()

    def _joined(self, keys: str) -> str | None:
        pieces = []
        for at in range(0, len(keys), 2 * SIZE):
            key = bytes.fromhex(keys[at : at + 2 * SIZE])
            told = self._line(key)
            if told is None or digest(str(told[2]).encode("utf-8", "replace")) != key:
                return None
            pieces.append(str(told[2]))
        return BREAK.join(pieces)

    def _line(self, key: bytes) -> list[Any] | None:
        """The entry of a key; those whose first bytes are the same lie side by side in the index."""
        shorts, offsets = self._index
        at = bisect_left(shorts, short := _short(key))
        while at < len(shorts) and shorts[at] == short:
            if self._file is None:
                self._file = open(self.path, "rb")  # noqa: SIM115 - as long as this object
            self._file.seek(offsets[at])
            with suppress(ValueError):
                told = json.loads(self._file.readline())
                if told[1] == key.hex():
                    return list(told)
            at += 1
        return None

    @cached_property
    def _index(self) -> tuple[array[int], array[int]]:
        """First bytes of the keys, ascending, and where their lines begin."""
        import numpy

        shorts, offsets = array("Q"), array("Q")
        with suppress(OSError):
            for _, key, at in entries(self.path):
                shorts.append(_short(key))
                offsets.append(at)
        order = numpy.argsort(numpy.frombuffer(shorts, dtype=numpy.uint64), kind="stable") if shorts else ()
        return array("Q", (shorts[i] for i in order)), array("Q", (offsets[i] for i in order))

    def close(self) -> None:
        """Let the file go."""
        if self._file is not None:
            self._file.close()


def sound_line(line: bytes) -> bool:
    """Whether a line of the file is what was written, as far as that can be told: a piece has its digest as its key."""
    try:
        kind, key, what = json.loads(line)
        if kind == "text":
            return bool(digest(str(what).encode("utf-8", "replace")).hex() == key)
        return kind == "asked" and len(bytes.fromhex(key)) == 16 and isinstance(what, list)
    except (ValueError, TypeError, RecursionError):
        return False


def entries(path: Path) -> Iterator[tuple[str, bytes, int]]:
    """(kind, key, offset) of every whole line that has a key.

    Raises:
        OSError: there is no such file.
    """
    with open(path, "rb") as file:
        at = 0
        for line in file:
            kind, start, size = ("text", len(_TEXT), SIZE) if line.startswith(_TEXT) else ("asked", len(_ASKED), 16)
            if line.endswith(b"\n") and (kind == "text" or line.startswith(_ASKED)):
                with suppress(ValueError):
                    yield kind, bytes.fromhex(line[start : start + 2 * size].decode("ascii", "replace")), at
            at += len(line)


def _content_of(message: Any) -> str:
    """A message's content, and the tools that it calls."""
    pictured = image_count(message.content)
    text: str = (
        message.content if isinstance(message.content, str)
        else content_text(message.content) if pictured else compact(message.content).decode()
    )  # fmt: skip
    if message.type not in ("human", "system") and (calls := getattr(message, "tool_calls", None)):
        named = [f"calls {call.get('name')}({compact(call.get('args') or {}).decode()})" for call in calls]
        return "\n".join([text, *named] if text else named)
    return text


def _short(key: bytes) -> int:
    return int.from_bytes(key[:8], "big")


def _write(file: int, data: bytes) -> None:
    written = os.write(file, data)
    while written < len(data):
        written += os.write(file, data[written:])
