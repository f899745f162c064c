"""The items of a run's folder, read as a stream, also while the run goes on; what is odd about its lines is told."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from judgegraph.errors import DataError, one_line
from judgegraph.runtime.disk_index import DiskIndex
from judgegraph.runtime.item import Item
from judgegraph.runtime.journal import reader, superseded
from judgegraph.runtime.lines import DamagedLine, Skipped, blank, has_checksum, id_of_line, item_of_line, lines

COPY, SECOND, UNVERIFIED = 1, 2, 3  # what a line is that no run of ours wrote so
WORDS = {  # what was done with it, and why
    COPY: ("counted once", "is there a second time: the line is a copy"),
    SECOND: ("left out", "has an earlier line, and no run judged it again"),
    UNVERIFIED: ("not verified", "has no checksum, though other lines have one"),
}
NAMED = 5  # lines of a kind that are named


@dataclass
class Survey:
    """What is odd about the lines of an `items.jsonl`, each of which may be sound by itself.

    Attributes:
        last: digest of a sample's id -> where the line starts that stands. one_each: each sample should have one line.
        samples: how many have a line.
        odd: kind of a line -> how many there are, and named the first of them as told.
        missing: numbers in the data (from 1) of the first samples that were finished and have no line, or none where
            nobody knows them; lost: how many samples have none.
    """

    last: DiskIndex = field(default_factory=DiskIndex)
    one_each: bool = False
    samples: int = 0
    odd: Counter[int] = field(default_factory=Counter)
    named: dict[int, list[str]] = field(default_factory=dict)
    missing: list[int] = field(default_factory=list)
    lost: int = 0
    _kinds: DiskIndex = field(default_factory=DiskIndex)

    def kind(self, number: int) -> int:
        """COPY, SECOND or UNVERIFIED for the line of a number from 1; 0 for any other."""
        return (self._kinds.get(number.to_bytes(16)) or 0) if self.odd else 0

    def added(self, number: int) -> bool:
        """Whether the line of a number is no run's, so that its sample has another one that stands."""
        return self.kind(number) in (COPY, SECOND)

    def mark(self, number: int, kind: int, line: bytes) -> None:
        """Keep what a line is."""
        self.odd[kind] += 1
        self._kinds.put(number.to_bytes(16), kind)
        if len(found := self.named.setdefault(kind, [])) < NAMED:
            found.append(f"line {number}: sample {one_line(_id(line), 80)!r}")

    def told(self, path: Path) -> list[str]:
        """All of it in words, nothing of lines that are as they were written."""
        said = []
        for kind, found in self.named.items():
            done, why = WORDS[kind]
            said += [f"{done}: {path}, {where} {why}" for where in found]
            more = self.odd[kind] - len(found)
            said += [f"{done}: {path}: {more:,} more line{'' if more == 1 else 's'} of this kind"] if more else []
        return [*said, *([f"missing: {path}: {self.gone()}"] if self.lost else [])]

    def gone(self) -> str:
        """How many finished samples have no line, and which."""
        one = self.lost == 1
        shown = ", ".join(f"{number:,}" for number in self.missing)
        more = f" and {self.lost - len(self.missing):,} more" if self.missing and self.lost > len(self.missing) else ""
        where = f" (number{'' if one else 's'} {shown}{more} of the data)" if shown else ""
        said = f"{self.lost:,} finished sample{'' if one else 's'}{where} {'has' if one else 'have'} no line any more"
        return f"{said}; the same `judgegraph run` command judges {'it' if one else 'them'} again, from the ledger"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.last.close()
        self._kinds.close()


def survey(path: Path, journal: Path) -> Survey:
    """Look at all lines of a file of items that nobody writes, and at what its journal or manifest says of them.

    Raises:
        DataError: there is no such file.
    """
    file, end, one_each = _opened(path, journal)
    with file:
        return _surveyed(file, end, one_each, path, journal)


def _surveyed(file: IO[bytes], end: int, one_each: bool, path: Path, journal: Path) -> Survey:
    found = Survey(one_each=one_each)
    try:
        nameless = _look(file, end, found)
        with suppress(OSError):
            _miss(file, end, found, path, journal, nameless)
    except BaseException:
        found.__exit__(None, None, None)
        raise
    return found


def _look(file: IO[bytes], end: int, found: Survey) -> int:
    """Read the lines once, twice where some lack a checksum; gives how many hold neither an item nor an id."""
    nameless = bare = sealed = 0
    for number, (at, line) in enumerate(lines(file, 0, end), 1):
        if has_checksum(line):
            sealed += 1
        elif not blank(line):
            bare += 1
        try:
            id = id_of_line(line, "")
        except DataError:
            nameless += not blank(line)
            continue
        before = found.last.get(id)
        if before is None:
            found.last.put(id, at)
            found.samples += 1
        elif os.pread(file.fileno(), len(line), before) == line:
            found.mark(number, COPY, line)
        elif not found.one_each:
            found.last.put(id, at)
        elif _sound(line):
            found.mark(number, SECOND, line)
    for number, (_, line) in enumerate(lines(file, 0, end) if bare and sealed else (), 1):
        if not has_checksum(line) and not found.kind(number) and _sound(line):
            found.mark(number, UNVERIFIED, line)
    return nameless


def _miss(file: IO[bytes], end: int, found: Survey, path: Path, journal: Path, nameless: int) -> None:
    """Samples that were finished and have no line; a line without an id may have been one's."""
    before = os.fstat(file.fileno())
    told = _finished_missing(found, journal)
    if told is None:
        lost = _told_by_manifest(path) - found.samples
    else:
        for _, line in lines(file, end):  # what was finished meanwhile
            with suppress(DataError):
                told.pop(id_of_line(line, ""), None)
        lost = len(told)
    if lost > nameless and os.stat(path).st_ino == before.st_ino:  # else the journal is another file's by now
        found.lost = lost - nameless
        found.missing = sorted((told or {}).values())[:NAMED] if not nameless else []


def _finished_missing(found: Survey, journal: Path) -> dict[bytes, int] | None:
    """Digest of an id -> number in the data, of samples that the journal has as finished; None: it cannot say."""
    try:
        with closing(reader(journal)) as db:
            rows = db.execute("SELECT id, place FROM samples WHERE status IS NOT NULL")
            return {id: place + 1 for id, place in rows if found.last.get(id) is None}
    except sqlite3.Error:
        return None


def _told_by_manifest(path: Path) -> int:
    """How many samples a run that ended says it finished; 0 where nobody says."""
    try:
        told = json.loads(path.with_name("manifest.json").read_text(encoding="utf-8"))
        done = told["samples"]["done"] if told["state"] != "running" else 0
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return 0
    return done if isinstance(done, int) else 0


def _sound(line: bytes) -> bool:
    try:
        item_of_line(line, "")
    except DataError:
        return False
    return True


def _id(line: bytes) -> str:
    try:
        return item_of_line(line, "").id
    except DamagedLine as error:
        return error.sample or ""


def ignored(where: str) -> None:
    """For those who do not ask."""


def read_items(path: Path, journal: Path, skipped: Skipped = ignored, told: Skipped = ignored) -> Iterator[Item]:
    """Each finished sample once, by its latest line.

    Args:
        skipped: is told of each line that holds no item. told: of all else that is odd, as `Survey.told` says it.

    Raises:
        DataError: there is no such file.
    """
    for number, line in lines_that_stand(path, journal, told):
        if not blank(line):
            try:
                item = item_of_line(line, f"{path}, line {number}")
            except DataError as error:
                skipped(str(error))
            else:
                yield item


def lines_that_stand(path: Path, journal: Path, told: Skipped = ignored) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line) of each sample's latest line, and of those that no sample can be found in.

    Raises:
        DataError: there is no such file.
    """
    file, end, one_each = _opened(path, journal)
    with file, _surveyed(file, end, one_each, path, journal) as found:
        for what in found.told(path):
            told(what)
        for number, _, line in _latest_lines(file, end, found):
            yield number, line


def read_by_place(path: Path, journal: Path, skipped: Skipped = ignored, told: Skipped = ignored) -> Iterator[Item]:
    """The same items in the order of the dataset; places and offsets are sorted on disk.

    The journal knows best where a sample stands; a line knows where it stood when it was written. Offsets are those
    of the one file that is open here, whatever takes its place meanwhile.
    """
    file, end, one_each = _opened(path, journal)
    with file, closing(sqlite3.connect("", isolation_level=None)) as order:
        order.execute("CREATE TABLE lines (place INTEGER, number INTEGER, at INTEGER)")
        order.execute("PRAGMA journal_mode = OFF")
        order.execute("BEGIN")
        with _surveyed(file, end, one_each, path, journal) as found:
            for what in found.told(path):
                told(what)
            for row in _places(file, end, found, journal, f"{path}, line", skipped):
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
    file: IO[bytes], end: int, found: Survey, journal: Path, where: str, skipped: Skipped
) -> Iterator[tuple[int, int, int]]:
    """(place, line number, offset) of each sample's latest line."""
    try:
        db = reader(journal)
    except sqlite3.Error:
        db = sqlite3.connect(":memory:")
    with closing(db):
        for number, at, line in _latest_lines(file, end, found):
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


def _latest_lines(file: IO[bytes], end: int, found: Survey) -> Iterator[tuple[int, int, bytes]]:
    """(number from 1, offset, line) of each sample's latest line, and of those that no sample can be found in."""
    for number, (at, line) in enumerate(lines(file, 0, end), 1):
        if not found.added(number) if found.one_each else _stands(line, at, found.last):
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
