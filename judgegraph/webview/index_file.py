"""Where the index of a run lies: beside a large run, so that it is made once; else in a temporary file of its own."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # a system without such locks keeps no index
    fcntl = None  # type: ignore[assignment]

KEPT_FROM = 20_000_000  # bytes of a run's items; of fewer an index is made in seconds
FORMAT = 1  # of the index: what was kept in another is not read
TAIL = 4_096  # bytes before an end that tell whether a file still begins as it did
SIDES = ("-wal", "-shm", "-journal")  # what SQLite lays beside a file


class IndexFile:
    """A SQLite file with the tables of an index, open to one process alone.

    It is kept as `.RUN.view.sqlite` beside the run's folder where the run's items are large, readable to its owner
    alone. What is there already is taken only where it is a plain file of this user that nobody else may open, where it
    has these very tables and no others, and where the run's files still begin with what was read; else it is made anew
    in its place, or in the folder for temporary files where its place is another's.

    Args:
        run: the run's folder. items: its file of items. tables: the statements that make the tables.

    Attributes:
        path: the file. kept: whether it stays when it is closed. found: what `keep` was given last, empty in a new one.
    """

    def __init__(self, run: Path, items: Path, tables: str) -> None:
        self._tables = f"{tables}CREATE TABLE state (known TEXT);"
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._handle = -1
        self.found: dict[str, Any] = {}
        run = run.resolve()
        self.path = run.parent / f".{run.name}.view.sqlite"
        self.kept = False
        self.kept = _size(items) >= KEPT_FROM and self._held()
        if self.kept:
            self.found = self._known()
        else:
            self._folder = tempfile.TemporaryDirectory(prefix="judgegraph-view-")
            self.path = Path(self._folder.name, "samples.sqlite")
        if not self.found:
            self.clear()

    def clear(self) -> None:
        """Make the tables anew."""
        for path in self._sides():
            path.unlink(missing_ok=True)
        if self._handle >= 0:
            os.truncate(self._handle, 0)
        with closing(sqlite3.connect(self.path)) as db:
            db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;" + self._tables)

    def close(self) -> None:
        """Let others have it, or remove it."""
        if self._folder is not None:
            self._folder.cleanup()
        if self._handle >= 0:
            if self.kept:  # whoever may write and is the last to close it removes what lies beside it
                with suppress(sqlite3.Error), closing(sqlite3.connect(self.path)) as db:
                    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            os.close(self._handle)
            self._handle = -1

    def keep(self, db: sqlite3.Connection, known: Mapping[str, Any]) -> None:
        """What the rows of a transaction are of, to go on from there."""
        db.execute("DELETE FROM state")
        db.execute("INSERT INTO state VALUES (?)", (json.dumps({"format": FORMAT, **known}),))

    def _sides(self) -> Iterator[Path]:
        return (self.path.with_name(self.path.name + side) for side in SIDES)

    def _held(self) -> bool:
        """Whether the file beside the run is there now, is ours, and no other process has it."""
        if fcntl is None:
            return False
        try:
            # it stays open to the end: closing any handle of a file frees SQLite's locks on it
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            self._handle = os.open(self.path, flags, 0o600)
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = [os.fstat(self._handle), *(os.lstat(path) for path in self._sides() if os.path.lexists(path))]
            if all(map(_is_own, found)):
                return True
        except OSError:  # a link, a folder that may not be written, another process that looks at the run
            pass
        self.close()
        return False

    def _known(self) -> dict[str, Any]:
        """What the file says that its rows are of; nothing of one that is empty, damaged or made by others."""
        with suppress(sqlite3.Error, ValueError, TypeError), closing(sqlite3.connect(self.path)) as db:
            db.executescript("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;")
            with closing(sqlite3.connect(":memory:")) as made:
                made.executescript(self._tables)
                if _schema(db) != _schema(made):
                    return {}
            known = json.loads(db.execute("SELECT known FROM state").fetchone()[0])
            if isinstance(known, dict) and known.pop("format", None) == FORMAT:
                return known
        return {}


def _schema(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    return db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _is_own(found: os.stat_result) -> bool:
    """A plain file of this user under one name, which nobody else may open."""
    plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
    return plain and found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077


def mark_of_file(path: Path, end: int) -> list[Any]:
    """What tells a file that was read to a byte from another: its inode, times and the bytes before; JSON values."""
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        file.seek(max(0, end - TAIL))
        tail = blake2b(file.read(min(end, TAIL)), digest_size=16).hexdigest()
    return [found.st_ino, end, tail, found.st_mtime_ns if found.st_size == end else 0]


def still_begins(path: Path, mark: object) -> bool:
    """Whether a file is the one that a mark was made of, as it was or with more behind."""
    if not isinstance(mark, list) or len(mark) != 4 or not isinstance(mark[1], int):
        return False
    try:
        inode, end, tail, changed = mark_of_file(path, mark[1])
    except (OSError, ValueError):
        return False
    grown = _size(path) > end  # of one that grew since the time is another
    return [inode, end, tail] == mark[:3] and (grown or changed == mark[3]) and _size(path) >= end
