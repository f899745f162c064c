"""A run's scores or comparisons as rows: for pandas, and as CSV that a spreadsheet can open without harm."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgegraph.answers import roles_of
from judgegraph.errors import ExtraError
from judgegraph.runtime.inert_cells import COLUMNS, marked
from judgegraph.runtime.item import Item
from judgegraph.runtime.whole_file import write_lines
from judgegraph.shown import Shown
from judgegraph.types import Score

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Table(Shown):
    """Rows of a run.

    Attributes:
        rows: each by its columns. columns: of scores as in `COLUMNS`. what: one row, in a word.
    """

    rows: list[dict[str, Any]]
    columns: Sequence[str] = COLUMNS
    what: str = "score"

    def to_pandas(self) -> pandas.DataFrame:
        """As a DataFrame.

        Raises:
            ExtraError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise ExtraError("to_pandas()", "pandas") from None
        return pandas.DataFrame(self.rows, columns=list(self.columns))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """As a CSV file in UTF-8; our own readers give its texts back as they were.

        A text that a spreadsheet would calculate has a single quote before it (see `inert_cells`); numbers are plain.

        Raises:
            ConfigError: the file cannot be written; one that is there stays as it is then.
        """
        write_csv(Path(path), self.rows, self.columns)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __str__(self) -> str:
        return f"a table of {len(self):,} {self.what}s"


def row_of(id: str, score: Score, role: str = "answer") -> dict[str, Any]:
    """A score of a sample as a row."""
    held = {"id": id, "role": role}
    return {name: held[name] if name in held else getattr(score, name) for name in COLUMNS}


def rows_of(item: Item) -> Iterator[dict[str, Any]]:
    """A row for each score of a sample; `role` says what it is: "answer", "vote", "draft" (`judgegraph.answers`)."""
    roles = roles_of(item)
    yield from (row_of(item.id, score, roles[score.key]) for score in item.scores)


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> int:
    """Write rows as `Table.to_csv` does, one in memory at a time; gives how many."""
    return write_lines(path, _lines(rows, columns), end="") - 1


class _Said:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


def _lines(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    """The head and the rows as RFC 4180 has them; without the mark before them Excel takes UTF-8 for another code."""
    line = csv.writer(_Said(), lineterminator="\r\n").writerow
    yield f"\ufeff{line(columns)}"
    for row in rows:
        yield str(line(marked(cell) if isinstance(cell, str) else cell for cell in map(row.get, columns)))
