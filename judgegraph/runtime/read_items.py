"""The items of a run's folder, read as a stream, also while the run goes on."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

from judgegraph.errors import DataError
from judgegraph.runtime.disk_index import DiskIndex
from judgegraph.runtime.item import Item
from judgegraph.runtime.journal import reader, superseded
from judgegraph.runtime.lines import Skipped, blank, id_of_line, item_of_line, latest, lines


def ignored(where: str) -> None:
    """For those who do not ask."""


def read_items(path: Path, journal: Path, skipped: Skipped = ignored) -> Iterator[Item]:
    """Each finished sample once, by its latest line.

    Raises:
        DataError: there is no such file.
    """
    file, end, one_each = _opened(path, journal)
    with file:
        for number, _, line in _latest_lines(file, end, one_each):
            if not blank(line):
                try:
                    item = item_of_line(line, f"{path}, line {number}")
                except DataError as error:
                    skipped(str(error))
                else:
                    yield item


def read_by_place(path: Path, journal: Path, skipped: Skipped = ignored) -> Iterator[Item]:
    """The same in the order of the dataset; places and offsets are sorted on disk.

    The journal knows best where a sample stands; a line knows where it stood when it was written. Offsets are those
    of the one file that is open here, whatever takes its place meanwhile.
    """
    file, end, one_each = _opened(path, journal)
    with file, closing(sqlite3.connect("", isolation_level=None)) as order:
        order.execute("CREATE TABLE lines (place INTEGER, number INTEGER, at INTEGER)")
        order.execute("PRAGMA journal_mode = OFF")
        order.execute("BEGIN")
        for row in _places(file, end, one_each, journal, f"{path}, line", skipped):
            order.execute("INSERT INTO lines VALUES (?, ?, ?)", row)
        for number, at in order.execute("SELECT number, at FROM lines ORDER BY place, number"):
            file.seek(at)
            try:
                item = item_of_line(file.readline(), f"{path}, line {number}")
            except DataError as error:
                skipped(str(error))
            else:
                yield item


def _places(
    file: IO[bytes], end: int, one_each: bool, journal: Path, where: str, skipped: Skipped
) -> Iterator[tuple[int, int, int]]:
    """(place, line number, offset) of each sample's latest line."""
    try:
        db = reader(journal)
    except sqlite3.Error:
        db = sqlite3.connect(":memory:")
    with closing(db):
        for number, at, line in _latest_lines(file, end, one_each):
            try:
                yield _place(db, line, f"{where} {number}"), number, at
            except DataError as error:
                if not blank(line):
                    skipped(str(error))


def _place(db: sqlite3.Connection, line: bytes, where: str) -> int:
    id = id_of_line(line, where)
    try:
        row = db.execute("SELECT place FROM samples WHERE id = ?", (id,)).fetchone()
    except sqlite3.Error:
        row = None
    return row[0] if row else item_of_line(line, where).place


def _latest_lines(file: IO[bytes], end: int, one_each: bool) -> Iterator[tuple[int, int, bytes]]:
    """(number from 1, offset, line) of each sample's latest line, and of those that no sample can be found in."""
    with DiskIndex() if one_each else latest(file, end, "") as last:
        for number, (at, line) in enumerate(lines(file, 0, end), 1):
            if one_each or _stands(line, at, last):
                yield number, at, line


def _stands(line: bytes, at: int, last: DiskIndex) -> bool:
    try:
        return last.get(id_of_line(line, "")) == at
    except DataError:
        return True


def _opened(path: Path, journal: Path) -> tuple[IO[bytes], int, bool]:
    """(file, its end, whether it has one line for each sample); a writer may be at work in this moment.

    The end is taken before the journal is asked, which is told before a second line is written; a file that was
    replaced meanwhile is not the one that the journal speaks of.

    Raises:
        DataError: there is no such file.
    """
    try:
        while True:
            file = path.open("rb")
            try:
                seen = os.fstat(file.fileno())
                one_each = superseded(journal) is False
                if os.stat(path).st_ino == seen.st_ino:
                    return file, seen.st_size, one_each
            except BaseException:
                file.close()
                raise
            file.close()
    except OSError as error:
        raise DataError(f"{path.parent} is no run's folder: {path.name}: {error.strerror}") from None
