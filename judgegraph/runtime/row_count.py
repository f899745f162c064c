"""How many rows a data file has, without a look at what is in them: for the time that is left of a run."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

from judgegraph.errors import JudgegraphError
from judgegraph.runtime.load_json import list_rows
from judgegraph.runtime.load_table import csv_rows, open_parquet
from judgegraph.runtime.load_text import lines
from judgegraph.runtime.load_value import Fault


class RowCount:
    """Counts in a thread of its own, from now on; nothing is validated and no row is held.

    Args:
        path: of a file that `load` reads. format: as `Samples` has it.
        most: where counting ends, None for the end of the file.
    """

    def __init__(self, path: Path, format: str, most: int | None = None) -> None:
        self._found: int | None = None
        self._thread = threading.Thread(target=self._count, args=(path, format, most), name="row count", daemon=True)
        self._thread.start()

    def within(self, seconds: float) -> int | None:
        """How many rows there are, rows that will be rejected too; None where that is not known in so many seconds."""
        self._thread.join(seconds)
        return self._found

    def _count(self, path: Path, format: str, most: int | None) -> None:
        found = 0
        try:
            with closing(_rows(path, format)) as rows:
                for here in rows:
                    found += here
                    if most is not None and found >= most:
                        break
        except (JudgegraphError, OSError):
            return  # the reader of the rows says so too, and says it better
        self._found = found if most is None else min(found, most)


def _rows(path: Path, format: str) -> Generator[int]:
    """1 for a row, 0 for a blank line; or how many there are, where a file says so itself."""
    if format == "parquet":
        with open_parquet(path) as file:
            yield file.metadata.num_rows
    elif format in ("csv", "tsv"):
        yield from (1 for _ in csv_rows(path, "\t" if format == "tsv" else ","))
    elif format == "json":
        yield from (1 for _ in list_rows(path))
    else:
        yield from (isinstance(line, Fault) or bool(line.strip()) for _, line in lines(path))
