"""Numbers by a digest: a few in memory, many in a temporary file of SQLite's own."""

from __future__ import annotations

import sqlite3
from types import TracebackType
from typing import Self

from judgegraph.errors import ConfigError

IN_MEMORY = 10_000  # keys; more of them go to disk
_TABLE = "CREATE TABLE numbers (key BLOB PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID"


class DiskIndex:
    """Key (16 bytes) -> a whole number; memory stays flat however many there are. Its file goes when it is closed.

    Raises:
        ConfigError: from all methods: the temporary file cannot be written.
    """

    def __init__(self) -> None:
        self._few: dict[bytes, int] | None = {}
        self._db: sqlite3.Connection | None = None

    def first(self, key: bytes, value: int) -> int:
        """The number that the key was given first; this one, if it had none."""
        if self._few is not None:
            found = self._few.setdefault(key, value)
            if len(self._few) > IN_MEMORY:
                self._move()
            return found
        if self._run("INSERT OR IGNORE INTO numbers VALUES (?, ?)", key, value).rowcount:
            return value
        return int(self._run("SELECT value FROM numbers WHERE key = ?", key).fetchone()[0])

    def put(self, key: bytes, value: int) -> None:
        """The key's number from now on."""
        if self._few is None:
            self._run("INSERT OR REPLACE INTO numbers VALUES (?, ?)", key, value)
            return
        self._few[key] = value
        if len(self._few) > IN_MEMORY:
            self._move()

    def get(self, key: bytes) -> int | None:
        """The key's number, None if it has none."""
        if self._few is not None:
            return self._few.get(key)
        found = self._run("SELECT value FROM numbers WHERE key = ?", key).fetchone()
        return None if found is None else int(found[0])

    def close(self) -> None:
        """Forget all."""
        self._few = {}
        if self._db is not None:
            self._db.close()
            self._db = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _move(self) -> None:
        rows, self._few = self._few or {}, None
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -256"):
            self._run(f"PRAGMA {setting}")
        self._run(_TABLE)
        self._run("BEGIN")  # never committed: nobody else reads it
        for row in rows.items():
            self._run("INSERT INTO numbers VALUES (?, ?)", *row)

    def _run(self, statement: str, *values: bytes | int) -> sqlite3.Cursor:
        assert self._db is not None
        try:
            return self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise ConfigError(
                f"cannot write the temporary index of ids: {error}; free space in the temporary folder"
            ) from None
