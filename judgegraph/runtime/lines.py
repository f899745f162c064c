"""The lines of `items.jsonl`: read one by one, the last one of a sample stands.

A line is the item's JSON with a checksum of it as the last key. It is of the text, so that nearly every line is
checked by hashing it; of a line that somebody wrote in another form (`jq`, say) the item is written as we would write
it, and that is checked. Lines of older versions have no checksum and are taken as they are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from hashlib import blake2b
from json import JSONDecoder
from pathlib import Path
from typing import IO

from judgegraph.errors import DataError, one_line
from judgegraph.runtime.inflight import Mark
from judgegraph.runtime.item import Item, failures
from judgegraph.runtime.journal import Journal
from judgegraph.types import Sample

BLOCK = 65_536  # bytes read at once in search of the last line's start
_START = b'{"sample":{"id":'  # as we write it
CHECKSUM = "checksum"
_SEAL = b',"checksum":"'  # then 16 hex digits, a quotation mark and a brace
_SEALED = len(_SEAL) + 18
CHANGED = "is not what was written: its line was changed or damaged (the checksum differs)"
_decoder = JSONDecoder()
Skipped = Callable[[str], None]  # is told where a line stands that holds no item, and so is left out


class DamagedLine(DataError):
    """A line that holds no item, or another one than was written.

    Attributes:
        sample: the id that stands there, None where none can be read.
    """

    sample: str | None = None


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


def sealed(text: str) -> bytes:
    """A line of the file: an item's JSON, with a checksum of it as its last key."""
    data = text.encode()
    return b'%b%b%b"}\n' % (data[:-1], _SEAL, _checksum(data))


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).hexdigest().encode()


def _unsealed(line: bytes) -> tuple[bytes, bytes | None]:
    """(the item's JSON, its checksum); None where the line does not end as we write it."""
    data = line.rstrip(b"\r\n")
    at = len(data) - _SEALED
    if at > 0 and data.startswith(_SEAL, at):
        return data[:at] + b"}", data[at + len(_SEAL) : -2]
    return data, None


def intact(path: Path, end: int) -> bool:
    """Whether every line up to a byte has its own checksum, as far as it has one; nothing else of it is looked at."""
    with path.open("rb") as file:
        for _, line in lines(file, 0, end):
            data, check = _unsealed(line)
            if check is not None and _checksum(data) != check:
                return False
    return True


def has_checksum(line: bytes) -> bool:
    """Whether a line says what its checksum is; whether it is right is not looked at."""
    if _unsealed(line)[1] is not None:
        return True
    if b'"checksum"' not in line:
        return False
    try:
        return CHECKSUM in json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return False


def item_of_line(line: bytes, where: str) -> Item:
    """The item that a line holds.

    Raises:
        DamagedLine: it holds none, or not the one that was written; the message says where, and of which sample.
    """
    data, check = _unsealed(line)
    if check is None or _checksum(data) == check:
        try:
            return Item.model_validate_json(data)
        except ValueError:
            pass
    return _rewritten(line, where)


def _rewritten(line: bytes, where: str) -> Item:
    """The item of a line that is not as we write it, if its checksum is that of the item."""
    problem = DamagedLine(f"{where}: is no finished sample")
    try:
        found = json.loads(line)
        check = found.pop(CHECKSUM, None)
        problem.sample = str(found["sample"]["id"])
        if check is not None:
            problem.args = (f"{where}: sample {one_line(problem.sample, 80)!r} {CHANGED}",)
            item = Item.model_validate_json(json.dumps(found))
            if _checksum(item.line().encode()).decode() == check:
                return item
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        if (name := _name_of(line)) is not None:
            problem.sample = name
            problem.args = (f"{where}: sample {one_line(name, 80)!r}: its line is damaged, and is no finished sample",)
    raise problem from None


def _name_of(line: bytes) -> str | None:
    """The id that a damaged line begins with."""
    if not line.startswith(_START):
        return None
    try:
        return str(_decoder.raw_decode(line.decode(errors="replace"), len(_START))[0])
    except ValueError:
        return None


def id_of_line(line: bytes, where: str) -> bytes:
    """The digest of its sample's id, without reading the rest where it looks like one of ours. Raises as above."""
    if line.startswith(_START):
        try:
            return id_digest(str(_decoder.raw_decode(line.decode(), len(_START))[0]))
        except ValueError:
            pass
    try:
        return id_digest(item_of_line(line, where).id)
    except DamagedLine as error:
        if error.sample is None:
            raise
        return id_digest(error.sample)


def index(
    journal: Journal, path: Path, skipped: Skipped = lambda where: None, added: Callable[[int], bool] = lambda _: False
) -> int:  # fmt: skip
    """Enter the lines that stand behind the last one that the journal knows.

    Args:
        skipped: is told of each line that holds no item.
        added: whether the line of a number is no run's, so that its sample has another one that stands.

    Returns:
        How many of them hold no item: they stay where they are, and their samples are not finished.
    """
    damaged, number = 0, _lines_before(path, journal.state.end)
    with path.open("rb") as file:
        for at, line in lines(file, journal.state.end):
            number += 1
            if added(number):
                journal.state.end = at + len(line)
                journal.note(superseded=True)
                continue
            try:
                item = item_of_line(line, f"{path}, line {number}")
                mark = mark_of(item.sample, item.place)
            except DataError as error:
                if not blank(line):
                    damaged += 1
                    skipped(str(error))
                    _forget(journal, getattr(error, "sample", None))
                journal.state.end = at + len(line)
                continue
            known = journal.known(mark.id)
            if known is not None and known.status is not None and not journal.state.superseded:
                journal.note(superseded=True)
            journal.finish(mark, item.status, failures(item), at, at + len(line))
    journal.note()
    return damaged


def _forget(journal: Journal, sample: str | None) -> None:
    """The sample of a damaged line is not finished, and the line leaves when it is judged again."""
    if sample is not None:
        journal.forget(id_digest(sample))
        journal.note(superseded=True)


def _lines_before(path: Path, end: int) -> int:
    if not end:
        return 0
    with path.open("rb") as file:
        return sum(1 for _ in lines(file, 0, end))


def blank(line: bytes) -> bool:
    """Whether it holds nothing, so that nothing is lost with it."""
    return not line.strip()
