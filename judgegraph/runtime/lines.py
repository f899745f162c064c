"""The lines of `items.jsonl`: read one by one, the last one of a sample stands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from json import JSONDecoder
from pathlib import Path
from typing import IO

from judgegraph.errors import DataError, one_line
from judgegraph.runtime.disk_index import DiskIndex
from judgegraph.runtime.inflight import Mark
from judgegraph.runtime.item import Item, failures
from judgegraph.runtime.journal import Journal
from judgegraph.types import Sample

BLOCK = 65_536  # bytes read at once in search of the last line's start
_START = b'{"sample":{"id":'  # as we write it
_decoder = JSONDecoder()


def id_digest(id: str) -> bytes:
    """16 bytes for an id of any length."""
    return blake2b(id.encode(), digest_size=16).digest()


def mark_of(sample: Sample, place: int) -> Mark:
    """A sample by its digests.

    Raises:
        DataError: its `meta` holds what JSON cannot hold.
    """
    try:
        content = blake2b(sample.model_dump_json().encode(), digest_size=8).digest()
    except ValueError as error:
        raise DataError(f"sample '{one_line(sample.id, 80)}' cannot be written as JSON: {one_line(error)}") from None
    return Mark(id_digest(sample.id), content, place)


def lines(file: IO[bytes], start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of every whole line; a torn last one is left out.

    Args:
        end: byte at which to end, None for the end of the file.
    """
    file.seek(start)
    at = start
    for line in file:
        if not line.endswith(b"\n") or (end is not None and at + len(line) > end):
            return
        yield at, line
        at += len(line)


def end_of_lines(handle: int) -> int:
    """Where the last whole line of an open file ends."""
    at = os.fstat(handle).st_size
    while at:
        start = max(0, at - BLOCK)
        found = os.pread(handle, at - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        at = start
    return 0


def item_of_line(line: bytes, where: str) -> Item:
    """The item that a line holds.

    Raises:
        DataError: it holds none; the message says where.
    """
    try:
        return Item.model_validate_json(line)
    except ValueError:
        raise DataError(f"{where}: is no finished sample") from None


def id_of_line(line: bytes, where: str) -> bytes:
    """The digest of its sample's id, without reading the rest where it looks like one of ours."""
    if line.startswith(_START):
        try:
            return id_digest(str(_decoder.raw_decode(line.decode(), len(_START))[0]))
        except ValueError:
            pass
    return id_digest(item_of_line(line, where).id)


def index(journal: Journal, path: Path) -> int:
    """Enter the lines that stand behind the last one that the journal knows.

    Returns:
        How many of them hold no item: they stay where they are, and their samples are not finished.
    """
    damaged = 0
    with path.open("rb") as file:
        for at, line in lines(file, journal.state.end):
            try:
                item = item_of_line(line, "")
                mark = mark_of(item.sample, item.place)
            except DataError:
                damaged += not blank(line)
                journal.state.end = at + len(line)
                continue
            known = journal.known(mark.id)
            if known is not None and known.status is not None and not journal.state.superseded:
                journal.note(superseded=True)
            journal.finish(mark, item.status, failures(item), at, at + len(line))
    journal.note()
    return damaged


def blank(line: bytes) -> bool:
    """Whether it holds nothing, so that nothing is lost with it."""
    return not line.strip()


def latest(file: IO[bytes], end: int, where: str) -> DiskIndex:
    """Digest of an id -> where its last line starts; lines that hold no item are passed over."""
    found = DiskIndex()
    try:
        for at, line in lines(file, 0, end):
            with suppress(DataError):
                found.put(id_of_line(line, where), at)
    except BaseException:
        found.close()
        raise
    return found
