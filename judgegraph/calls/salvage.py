"""What is sound of a damaged ledger: every row has a checksum bound to its address, so a row that fits is a true one.

What SQLite can still read comes first. Rows that it cannot reach, as a page above them is damaged, the file is cut off
or its head is gone, are taken from the pages themselves: of the file and of its log. The layout of pages, cells and
records is that of https://sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from judgegraph.calls.ledger_file import APPLICATION, SCHEMA, LedgerError, opened, text_of, whole
from judgegraph.calls.payments import sound_payment

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

MAGIC, PAGE = b"SQLite format 3\0", 4096
LEAF, INNER = 0x0A, 0x02  # pages of tables without row ids, which all of a ledger's are
IN_USE = 128  # the byte of the -shm file that each process which has the database open holds a lock on
LONGEST = 1 << 30  # bytes of a row
_REPLIES = "SELECT address, body, sum, model, prompt, completion, usd FROM replies"
_PAYMENTS = "SELECT run, model, sum, calls, prompt, completion, usd, estimated, unpriced FROM payments"
_KEEP_REPLY = "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)"
_KEEP_PAYMENT = """INSERT INTO payments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, model) DO
    UPDATE SET sum = excluded.sum, calls = excluded.calls, prompt = excluded.prompt, usd = excluded.usd,
    completion = excluded.completion, estimated = excluded.estimated, unpriced = excluded.unpriced
    WHERE excluded.calls > payments.calls"""
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Salvage:
    """What is sound of a ledger.

    Attributes:
        replies, payments: sound rows. damaged: rows that can be seen and are not what was written. problem: what SQLite
            says of the file, "" where nothing; rows may be lost then that nobody can count.
    """

    replies: int
    payments: int
    damaged: int = 0
    problem: str = ""

    @property
    def sound(self) -> bool:
        """Whether nothing is lost."""
        return not self.damaged and not self.problem


def looked_at(path: Path) -> Salvage:
    """What is sound of a ledger; nothing is written beside it.

    Raises:
        LedgerError: the file is a database of another kind or a newer ledger. OSError: it cannot be read.
    """
    with _read(path) as db:
        replies, damaged, problem = _count(db, _REPLIES, sound_reply)
        payments, more, other = _count(db, _PAYMENTS, sound_payment)
        problem = problem or other or _integrity(db)
    found = Salvage(replies, payments, damaged + more, problem)
    if found.sound:
        return found
    with TemporaryDirectory() as folder:
        return salvaged(path, Path(folder) / "ledger.sqlite")


def salvaged(path: Path, into: Path) -> Salvage:
    """Write what is sound of a ledger as a new one.

    Raises: as `looked_at`; LedgerError: the new one cannot be written.
    """
    problem, damaged = "", 0
    with closing(opened(into)) as new:
        new.execute("BEGIN")
        with _read(path) as db:
            for statement, sound, keep in (
                (_REPLIES, sound_reply, _KEEP_REPLY), (_PAYMENTS, sound_payment, _KEEP_PAYMENT),
            ):  # fmt: skip
                for row in (rows := _Rows(db, statement)):
                    if sound(row):
                        new.execute(keep, row)
                    else:
                        damaged += 1
                problem = problem or rows.problem
            problem = problem or _integrity(db)
        if problem:
            for row in carved(path):
                new.execute(_KEEP_REPLY if len(row) == 7 else _KEEP_PAYMENT, row)
        new.execute("COMMIT")
        replies, payments = (new.execute(f"SELECT COUNT(*) FROM {t}").fetchone()[0] for t in ("replies", "payments"))
        new.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Salvage(replies, payments, damaged, problem)


def sound_reply(row: Row) -> bool:
    """Whether a row of `replies` is what was written."""
    address, *rest = row
    return isinstance(address, bytes) and 0 < len(address) <= 64 and whole(address, tuple(rest))


def in_use(path: Path) -> bool:
    """Whether a process has the ledger open, as far as that can be seen."""
    shared = Path(f"{path}-shm")
    if fcntl is None or not shared.is_file():
        return False
    with shared.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, IN_USE)
        except OSError:
            return True
    return False


@contextmanager
def _read(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Open without writing anything beside it: a copy where a log belongs to it; None where it is no database any more.

    Raises:
        LedgerError: it is another's database, or a newer ledger.
    """
    log = Path(f"{path}-wal")
    with TemporaryDirectory() as folder:
        there = path
        if log.is_file() and log.stat().st_size:
            there = Path(folder) / path.name
            shutil.copyfile(path, there)
            shutil.copyfile(log, f"{there}-wal")
        mode = "rwc" if there is not path else "ro&immutable=1"
        with closing(sqlite3.connect(f"file:{quote(str(there.absolute()))}?mode={mode}", uri=True)) as db:
            db.text_factory = text_of
            yield db if _ours(db, path) else None


def _ours(db: sqlite3.Connection, path: Path) -> bool:
    try:
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        tables = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.Error:
        return False
    if tables and application != APPLICATION:
        raise LedgerError(f"{path} is a database, but no ledger of judgegraph")
    if version > SCHEMA:
        raise LedgerError(f"{path} was written by a newer judgegraph (ledger {version}, ours {SCHEMA})")
    return True


class _Rows:
    """The rows of a table from either end, up to what SQLite cannot read. Attributes: problem: why it could not."""

    def __init__(self, db: sqlite3.Connection | None, statement: str) -> None:
        self._db, self._statement = db, statement
        self.problem = "" if db is not None else "it is no database any more"

    def __iter__(self) -> Iterator[Row]:
        for order in ("ASC", "DESC"):
            if self._db is None or (order == "DESC" and not self.problem):
                return
            try:
                yield from self._db.execute(f"{self._statement} ORDER BY 1 {order}")
            except (sqlite3.Error, ValueError) as error:
                self.problem = str(error)


def _count(db: sqlite3.Connection | None, statement: str, sound: Any) -> tuple[int, int, str]:
    """(sound rows, others, what kept it from reading all)."""
    good = bad = 0
    for row in (rows := _Rows(db, statement)):
        if sound(row):
            good += 1
        else:
            bad += 1
    return good, bad, rows.problem


def _integrity(db: sqlite3.Connection | None) -> str:
    if db is None:
        return "it is no database any more"
    try:
        found = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else " ".join(found.split())


def carved(path: Path) -> Iterator[Row]:
    """Sound rows of both tables, from the pages themselves: of the log the latest first, then of the file."""
    pages = _Pages(path)
    try:
        for page, offset in pages:
            for cell in _cells(page, offset):
                with suppress(ValueError, IndexError, struct.error):
                    row = _record(pages.payload(page, cell))
                    if (len(row) == 7 and sound_reply(row)) or (len(row) == 9 and sound_payment(row)):
                        yield row
    finally:
        pages.close()


class _Pages:
    """The pages of a ledger's file and of its log."""

    def __init__(self, path: Path) -> None:
        self._file, log = path.open("rb"), Path(f"{path}-wal")
        self._log = log.open("rb") if log.is_file() else None
        head = self._file.read(100)
        size, reserved = PAGE, 0
        if head.startswith(MAGIC):
            size, reserved = int.from_bytes(head[16:18], "big"), head[20]
        elif self._log is not None and len(start := self._log.read(32)) == 32:
            size = int.from_bytes(start[8:12], "big")
        size = 65536 if size == 1 else size
        self._size = size if 512 <= size <= 65536 and not size & (size - 1) else PAGE
        self.usable = self._size - (reserved if reserved < self._size // 4 else 0)
        self._frames = list(self._logged())
        self._latest = dict(self._frames)

    def _logged(self) -> Iterator[tuple[int, int]]:
        """(page, offset of its content in the log)."""
        at = 32
        while self._log is not None:
            self._log.seek(at)
            head = self._log.read(24)
            if len(head) < 24:
                return
            yield int.from_bytes(head[:4], "big"), at + 24
            at += 24 + self._size

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        """(page, where its head begins)."""
        for number, at in reversed(self._frames):
            assert self._log is not None
            self._log.seek(at)
            yield self._log.read(self._size), 100 if number == 1 else 0
        number = 0
        while True:
            self._file.seek(number * self._size)
            if not (page := self._file.read(self._size)):
                return
            yield page, 0 if number else 100
            number += 1

    def _page(self, number: int) -> bytes:
        if number in self._latest and self._log is not None:
            self._log.seek(self._latest[number])
            return self._log.read(self._size)
        self._file.seek((number - 1) * self._size)
        return self._file.read(self._size)

    def payload(self, page: bytes, at: int) -> bytes:
        """What a cell holds, with what stands of it on other pages."""
        length, at = _varint(page, at)
        if length > LONGEST:
            raise ValueError(length)
        most, least = (self.usable - 12) * 64 // 255 - 23, (self.usable - 12) * 32 // 255 - 23
        here = length
        if length > most:
            here = least + (length - least) % (self.usable - 4)
            here = here if here <= most else least
        found = bytearray(page[at : at + here])
        number = int.from_bytes(page[at + here : at + here + 4], "big") if here < length else 0
        while len(found) < length and number:
            more = self._page(number)
            if len(more) < self.usable:
                break
            found += more[4 : self.usable]
            number = int.from_bytes(more[:4], "big")
        return bytes(found[:length])

    def close(self) -> None:
        self._file.close()
        if self._log is not None:
            self._log.close()


def _cells(page: bytes, offset: int) -> Iterator[int]:
    """Where the cells of a page have their lengths; none on a page of another kind."""
    if len(page) < offset + 12 or page[offset] not in (LEAF, INNER):
        return
    inner = page[offset] == INNER
    start = offset + (12 if inner else 8)
    for number in range(int.from_bytes(page[offset + 3 : offset + 5], "big")):
        at = int.from_bytes(page[start + 2 * number : start + 2 * number + 2], "big")
        if start <= at < len(page):
            yield at + 4 if inner else at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for turn in range(9):
        byte = data[at + turn]
        if turn == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value, at + turn + 1


def _record(data: bytes) -> Row:
    """The columns of a record; a number where a REAL stands is a float, as SQLite gives it."""
    size, at = _varint(data, 0)
    kinds, place, row = [], size, []
    while at < size:
        kind, at = _varint(data, at)
        kinds.append(kind)
    if len(kinds) not in (7, 9):
        raise ValueError("another table's")
    for kind in kinds:
        value, place = _value(data, kind, place)
        row.append(value)
    usd = 6  # in both tables
    row[usd] = float(row[usd]) if isinstance(row[usd], int) else row[usd]
    return tuple(row)


def _value(data: bytes, kind: int, at: int) -> tuple[Any, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    width = (0, 1, 2, 3, 4, 6, 8, 8)[kind] if kind < 8 else (kind - 12) // 2
    if kind in (10, 11) or at + width > len(data):
        raise ValueError("cut off")
    piece = data[at : at + width]
    if kind == 7:
        return struct.unpack(">d", piece)[0], at + width
    if kind < 7:
        return int.from_bytes(piece, "big", signed=True), at + width
    return (piece if kind % 2 == 0 else text_of(piece)), at + width
