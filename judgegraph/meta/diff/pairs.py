"""The samples of two runs, matched by id, as a stream."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from judgegraph.errors import ConfigError
from judgegraph.runtime.item import Item
from judgegraph.runtime.run import Run

_TABLE = "CREATE TABLE waiting (side INTEGER, id TEXT, line TEXT, PRIMARY KEY (side, id)) WITHOUT ROWID"


def pairs(a: Run, b: Run) -> Iterator[tuple[Item | None, Item | None]]:
    """(of A, of B) of each sample, None on the side that lacks it; those that one side lacks come last.

    Both are read in the order of the dataset, by turns. Where they are in step, nothing is kept; an item whose other
    half has not come yet waits in a temporary file, so memory does not grow with the runs, whatever their order.

    Raises:
        DataError: a run has no items to be read. ConfigError: the temporary file cannot be written.
    """
    with closing(_Waiting()) as waiting:
        streams = (_in_order(a), _in_order(b))
        open_sides = [0, 1]
        while open_sides:
            for side in tuple(open_sides):
                item = next(streams[side], None)
                if item is None:
                    open_sides.remove(side)
                elif (other := waiting.take(1 - side, item.id)) is not None:
                    yield (item, other) if side == 0 else (other, item)
                else:
                    waiting.put(side, item)
        yield from ((item, None) for item in waiting.left(0))
        yield from ((None, item) for item in waiting.left(1))


def _in_order(run: Run) -> Iterator[Item]:
    return run.folder.items_by_place() if run.folder else iter(sorted(run.held, key=lambda item: item.place))


class _Waiting:
    """Items whose other half has not come: the latest of each side in memory, the others in SQLite's own file."""

    def __init__(self) -> None:
        self._latest: list[Item | None] = [None, None]
        self._db: sqlite3.Connection | None = None

    def put(self, side: int, item: Item) -> None:
        """It waits; the one before it on its side goes to the file."""
        before, self._latest[side] = self._latest[side], item
        if before is not None:
            self._run("INSERT OR REPLACE INTO waiting VALUES (?, ?, ?)", side, before.id, before.line())

    def take(self, side: int, id: str) -> Item | None:
        """The item of an id, which waits no more."""
        latest = self._latest[side]
        if latest is not None and latest.id == id:
            self._latest[side] = None
            return latest
        if self._db is None:
            return None
        row = self._run("SELECT line FROM waiting WHERE side = ? AND id = ?", side, id).fetchone()
        if row is None:
            return None
        self._run("DELETE FROM waiting WHERE side = ? AND id = ?", side, id)
        return Item.model_validate_json(row[0])

    def left(self, side: int) -> Iterator[Item]:
        """Those without another half."""
        if self._db is not None:
            for (line,) in self._run("SELECT line FROM waiting WHERE side = ?", side):
                yield Item.model_validate_json(line)
        if (latest := self._latest[side]) is not None:
            yield latest

    def close(self) -> None:
        """Its file goes."""
        if self._db is not None:
            self._db.close()

    def _run(self, statement: str, *values: int | str) -> sqlite3.Cursor:
        try:
            if self._db is None:
                self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
                for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -512"):
                    self._db.execute(f"PRAGMA {setting}")
                self._db.execute(_TABLE)
                self._db.execute("BEGIN")  # never committed: nobody else reads it
            return self._db.execute(statement, values)
        except sqlite3.Error as error:
            why = f"cannot write the temporary file of samples: {error}; free space in the temporary folder"
            raise ConfigError(why) from None
