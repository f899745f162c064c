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
from judgegraph.runtime.lines import id_of_line, item_of_line, latest, lines


def read_items(path: Path, journal: Path) -> Iterator[Item]:
    """Each finished sample once, by its latest line.

    Raises:
        DataError: there is no such file, or a line is no item.
    """
    for number, _, line in _latest_lines(path, journal):
        yield item_of_line(line, f"{path}, line {number}")


def read_by_place(path: Path, journal: Path) -> Iterator[Item]:
    """The same in the order of the dataset; places and offsets are sorted on disk.

    The journal knows best where a sample stands; a line knows where it stood when it was written.
    """
    with closing(sqlite3.connect("", isolation_level=None)) as order, path.open("rb") as file:
        order.execute("CREATE TABLE lines (place INTEGER, number INTEGER, at INTEGER)")
        order.execute("PRAGMA journal_mode = OFF")
        order.execute("BEGIN")
        for row in _places(path, journal):
            order.execute("INSERT INTO lines VALUES (?, ?, ?)", row)
        for number, at in order.execute("SELECT number, at FROM lines ORDER BY place, number"):
            file.seek(at)
            yield item_of_line(file.readline(), f"{path}, line {number}")


def _places(path: Path, journal: Path) -> Iterator[tuple[int, int, int]]:
    """(place, line number, offset) of each sample's latest line."""
    try:
        db = reader(journal)
    except sqlite3.Error:
        db = sqlite3.connect(":memory:")
    with closing(db):
        for number, at, line in _latest_lines(path, journal):
            where = f"{path}, line {number}"
            try:
                row = db.execute("SELECT place FROM samples WHERE id = ?", (id_of_line(line, where),)).fetchone()
            except sqlite3.Error:
                row = None
            yield (row[0] if row else item_of_line(line, where).place), number, at


def _latest_lines(path: Path, journal: Path) -> Iterator[tuple[int, int, bytes]]:
    """(number from 1, offset, line) of each sample's latest line."""
    try:
        file, end, one_each = _opened(path, journal)
    except OSError as error:
        raise DataError(f"{path.parent} is no run's folder: {error.strerror}") from None
    with file, DiskIndex() if one_each else latest(file, end, str(path)) as last:
        for number, (at, line) in enumerate(lines(file, 0, end), 1):
            if one_each or last.get(id_of_line(line, f"{path}, line {number}")) == at:
                yield number, at, line


def _opened(path: Path, journal: Path) -> tuple[IO[bytes], int, bool]:
    """(file, its end, whether it has one line for each sample); a writer may be at work in this moment.

    The end is taken before the journal is asked, which is told before a second line is written; a file that was
    replaced meanwhile is not the one that the journal speaks of.
    """
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
