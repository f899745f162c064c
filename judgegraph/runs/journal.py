"""The index of a run's folder: which samples are finished, where their lines stand, what they were made from.

`items.jsonl` holds the truth and this file is made from it: a row may lag behind (rows are committed some at a time),
and lines behind the last indexed one are indexed again when the folder is opened. So a removed journal costs nothing
but the time to read the items once.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple
from urllib.parse import quote

from judgegraph.errors import ConfigError

# Which samples are under way: a few bytes of file that outlive a killed process.


RECORD = Struct(">16s8sq?")


class Mark(NamedTuple):
    """A sample that was started: digests of its id and of its content, its place in the dataset.

    `waiting`: for a model's reply, as far as that is told; its own code was not running then.
    """

    id: bytes
    content: bytes
    place: int
    waiting: bool = False


class InFlight:
    """One slot for each worker, in a file that is written in place.

    A write of a few bytes costs far less than a transaction, needs no free disk, and what the system took stays when
    the process is killed. An end in order empties it, so a mark that is found belongs to an unclean exit.

    Raises:
        OSError: from all methods.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def left(self) -> Iterator[Mark]:
        """What was under way when the process before this one ended uncleanly."""
        data = os.pread(self._file, os.fstat(self._file).st_size, 0)
        for values in RECORD.iter_unpack(data[: len(data) // RECORD.size * RECORD.size]):
            if any(values[0]):
                yield Mark(*values)

    def clear(self, slots: int) -> None:
        """So many empty slots."""
        os.pwrite(self._file, bytes(RECORD.size * slots), 0)
        os.ftruncate(self._file, RECORD.size * slots)

    def enter(self, slot: int, mark: Mark) -> None:
        """The worker of this slot begins."""
        os.pwrite(self._file, RECORD.pack(*mark), slot * RECORD.size)

    def leave(self, slot: int) -> None:
        """It has ended, and what came of it is written."""
        os.pwrite(self._file, bytes(RECORD.size), slot * RECORD.size)

    def close(self) -> None:
        """Its marks stay; call `clear` first where the run ended in order."""
        os.close(self._file)


SCHEMA = 1
APPLICATION = 0x6A67726A  # "jgrj": tells our files from other SQLite files
STRIKE, THIRD = 3, 1  # in thirds
EVERY, MOST = 0.25, 500  # seconds and rows between two commits at most
PATIENCE = 10.0  # seconds to wait for a reader
_TABLES = (
    """CREATE TABLE samples (
        id BLOB PRIMARY KEY, place INTEGER NOT NULL, content BLOB NOT NULL,
        status TEXT, failed INTEGER NOT NULL, strikes INTEGER NOT NULL, offset INTEGER
    ) WITHOUT ROWID""",
    'CREATE TABLE state ("end" INTEGER NOT NULL, superseded INTEGER NOT NULL, moving INTEGER NOT NULL)',
    "INSERT INTO state VALUES (0, 0, 0)",
)
_LATER = (  # tables that a journal may lack that was made before they were
    "CREATE TABLE IF NOT EXISTS seen (size INTEGER NOT NULL, time INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS exits (in_flight INTEGER NOT NULL)",
)
_FINISH = "INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?, 0, ?)"
_STRIKE = """INSERT INTO samples VALUES (?, ?, ?, NULL, 0, ?, NULL)
    ON CONFLICT (id) DO UPDATE SET strikes = strikes + excluded.strikes"""
_FORGET = "UPDATE samples SET status = NULL, failed = 0, offset = NULL"


class Known(NamedTuple):
    """What the journal knows of a sample.

    Attributes:
        place: its number in the dataset, from 0. content: digest of the sample.
        status: of its item, None while it has none. failed: parts of the item that failed.
        strikes: for unclean exits it was in flight at since its last progress, in thirds. offset: where its line is.
    """

    place: int
    content: bytes
    status: str | None
    failed: int
    strikes: int
    offset: int | None


@dataclass
class State:
    """What holds of the whole file of items.

    Attributes:
        end: bytes of it that are indexed. superseded: some samples have more than one line, and the last one stands.
        moving: it is being written anew, so that offsets may be those of the old file or of the new one.
    """

    end: int = 0
    superseded: bool = False
    moving: bool = False


class Journal:
    """The journal of one run's folder, for its one writer.

    Raises:
        ConfigError: the file is no journal, is damaged or of a newer version (it is left as it is), or it cannot be
            opened or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = _open(path)
        self._since, self._rows = 0.0, 0
        self._failure: ConfigError | None = None
        self.state = State(*self._run('SELECT "end", superseded, moving FROM state').fetchone())

    def known(self, id: bytes) -> Known | None:
        """What it knows of a sample, by the digest of its id."""
        row = self._run(
            "SELECT place, content, status, failed, strikes, offset FROM samples WHERE id = ?", (id,)
        ).fetchone()
        return None if row is None else Known(*row)

    def finish(self, mark: Mark, status: str, failed: int, offset: int, end: int) -> None:
        """A sample's line stands in the file, from one byte to another; its strikes are forgotten."""
        self._begin()
        self._run(_FINISH, (mark.id, mark.place, mark.content, status, failed, offset))
        self.state.end = end
        self._rows += 1
        if self._rows >= MOST or time.monotonic() - self._since >= EVERY:
            self.commit()

    def count_crash(self, marks: Iterable[Mark]) -> None:
        """These were in flight when the process ended uncleanly; who waited for a reply has a third of a strike."""
        self._begin()
        rows = [(mark.id, mark.place, mark.content, THIRD if mark.waiting else STRIKE) for mark in marks]
        for row in rows:
            self._run(_STRIKE, row)
        self._run("INSERT INTO exits VALUES (?)", (len(rows),))
        self.commit()

    def exits(self) -> int:
        """How often the process ended uncleanly with a sample in flight."""
        return int(self._run("SELECT COUNT(*) FROM exits").fetchone()[0])

    def clear_crashes(self, id: bytes) -> None:
        """A sample has made progress."""
        self._begin()
        self._run("UPDATE samples SET strikes = 0 WHERE id = ?", (id,))
        self.commit()

    def moved(self, id: bytes, *, place: int | None = None, offset: int | None = None) -> None:
        """A sample stands elsewhere in the dataset, or its line elsewhere in the file."""
        self._begin()
        change = "place = coalesce(?, place), offset = coalesce(?, offset)"
        self._run(f"UPDATE samples SET {change} WHERE id = ?", (place, offset, id))

    def forget(self, id: bytes) -> None:
        """As if the sample were not finished."""
        self._begin()
        self._run(f"{_FORGET} WHERE id = ?", (id,))

    def forget_lines(self) -> None:
        """As if no line were indexed."""
        self._begin()
        self._run(_FORGET)
        self.state = State()

    @property
    def failed(self) -> bool:
        """Whether it could not be written once, so that it lacks something."""
        return self._failure is not None

    def empty(self) -> bool:
        """Whether it knows no sample at all, so that nothing need be looked up."""
        return self._run("SELECT 1 FROM samples LIMIT 1").fetchone() is None

    def at_or_after(self, id: bytes) -> tuple[bytes, int] | None:
        """(digest of its id, offset) of the first finished sample from a digest on; None where there is none."""
        row = self._run(
            "SELECT id, offset FROM samples WHERE id >= ? AND offset IS NOT NULL ORDER BY id LIMIT 1", (id,)
        ).fetchone()
        return None if row is None else (row[0], row[1])

    def seen(self) -> tuple[int, int] | None:
        """Bytes and time (nanoseconds) of the file of items when `saw` was told last; None where nothing is known."""
        row = self._run("SELECT size, time FROM seen").fetchone()
        return None if row is None else (row[0], row[1])

    def saw(self, size: int | None = None, time: int | None = None) -> None:
        """What the file of items looks like now that nobody writes it; without arguments: somebody will."""
        self._begin()
        self._run("DELETE FROM seen")
        if size is not None:
            self._run("INSERT INTO seen VALUES (?, ?)", (size, time))
        self.commit()

    def statuses(self) -> list[tuple[str, bool, int]]:
        """(status, whether a part of the item failed, how many) of the finished samples."""
        rows = "SELECT status, failed > 0, COUNT(*) FROM samples WHERE status IS NOT NULL GROUP BY 1, 2"
        return [(status, bool(failed), count) for status, failed, count in self._run(rows)]

    def commit(self) -> None:
        """What was said so far survives a killed process."""
        if self._db.in_transaction:
            state = (self.state.end, self.state.superseded, self.state.moving)
            self._run('UPDATE state SET "end" = ?, superseded = ?, moving = ?', state)
            self._run("COMMIT")

    def note(self, **changes: bool) -> None:
        """Change and commit the state."""
        self._begin()
        for name, value in changes.items():
            setattr(self.state, name, value)
        self.commit()

    def close(self) -> None:
        """Commit what is left; one plain file remains, which is read without a log beside it."""
        try:
            self.commit()
            with suppress(sqlite3.Error):  # somebody reads it at this moment: then the log stays
                self._db.execute("PRAGMA busy_timeout = 0")
                self._db.execute("PRAGMA journal_mode = DELETE").fetchone()
        finally:
            self._db.close()

    def _begin(self) -> None:
        if self._failure is not None:  # nothing may be written behind a gap
            raise self._failure
        if not self._db.in_transaction:
            self._run("BEGIN IMMEDIATE")
            self._since, self._rows = time.monotonic(), 0

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        try:
            return self._db.execute(statement, values)
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                if self._db.in_transaction:  # what is lost is indexed again from the items
                    self._db.execute("ROLLBACK")
            self._failure = ConfigError(f"cannot write {self.path}: {error}")
            self._failure.ends_run = True
            raise self._failure from None


def superseded(path: Path) -> bool | None:
    """Whether some samples have more than one line; None where the journal cannot say."""
    try:
        return bool(_look(path, "SELECT superseded OR moving FROM state")[0][0])
    except (sqlite3.Error, IndexError):
        return None


def _look(path: Path, statement: str) -> list[Any]:
    db = reader(path)
    try:
        return db.execute(statement).fetchall()
    finally:
        db.close()


def reader(path: Path) -> sqlite3.Connection:
    """For one look, also while the run goes on.

    Raises:
        sqlite3.Error: there is none, or it cannot be read.
    """
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None)


def _open(path: Path) -> sqlite3.Connection:
    left = "; it was left as it is"
    db = None
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        db = sqlite3.connect(path, isolation_level=None, timeout=PATIENCE, check_same_thread=False)
        _check(db, path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None
    except sqlite3.OperationalError as error:
        _close(db)
        raise ConfigError(f"cannot write {path}: {error}") from None
    except sqlite3.Error as error:
        _close(db)
        again = "remove it, and it is made again from the items"
        raise ConfigError(f"{path} is no journal, or a damaged one ({error}){left}; {again}") from None
    except ConfigError:
        _close(db)
        raise
    return db


def _close(db: sqlite3.Connection | None) -> None:
    if db is not None:
        db.close()


def _check(db: sqlite3.Connection, path: Path) -> None:
    tables = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    application = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if tables and application != APPLICATION:
        raise ConfigError(f"{path} is a database, but no journal of judgegraph; it was left as it is")
    if version > SCHEMA:
        raise ConfigError(
            f"{path} was written by a newer judgegraph (journal {version}, ours {SCHEMA}); it was left as it is"
        )
    for setting in ("journal_mode = WAL", "synchronous = NORMAL", "cache_size = -400"):
        db.execute(f"PRAGMA {setting}").fetchone()
    if tables:
        for table in _LATER:
            db.execute(table)
    else:
        with db:
            db.execute("BEGIN IMMEDIATE")
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {SCHEMA}")
            for table in (*_TABLES, *_LATER):
                db.execute(table)
