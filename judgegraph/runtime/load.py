"""Load a data file: JSON Lines, JSON, CSV, TSV or Parquet."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runtime.load_json import is_list, jsonl_rows, list_rows
from judgegraph.runtime.load_row import RowReader
from judgegraph.runtime.load_table import column_names, csv_rows, open_parquet, parquet_rows
from judgegraph.runtime.load_text import most_unpacked
from judgegraph.runtime.load_value import Rows
from judgegraph.runtime.samples import Rejection, Samples, Unit
from judgegraph.types import Sample

__all__ = ["Rejection", "Samples", "load"]

ENDINGS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv",
    ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
OUTPUTS = ("output", "response", "answer", "completion", "summary", "reply", "prediction", "generated", "candidate")
READERS: dict[str, Callable[[Path], Rows]] = {
    "jsonl": jsonl_rows, "json": list_rows, "parquet": parquet_rows,
    "csv": partial(csv_rows, separator=","), "tsv": partial(csv_rows, separator="\t"),
}  # fmt: skip


def load(
    path: str | os.PathLike[str],
    *,
    fields: Mapping[str, str] | None = None,
    limit: int | None = None,
    strict: bool = True,
    format: str | None = None,
) -> Samples:
    """The samples of a data file.

    A row's columns named as a `Sample`'s fields fill them; `human.NAME` columns are people's judgements; all
    others go to `meta`. Without an id column, "line-7" ("row-7" in a JSON list or in Parquet) is the id of what
    stands there, and changes when rows are put before it. A whole number as id is read as text. In CSV and TSV
    every cell is text, also one that starts like JSON; an empty rival, reference or human judgement is none. Quotes
    that keep spreadsheets from calculating are taken off in tables of a run's scores alone, told by their columns:
    in data of yours a ' is a '.

    Args:
        path: .jsonl, .ndjson, .json (one list, or an object per line), .csv, .tsv, .parquet, .pq; text files
            may be gzipped.
        fields: field of a sample, or "human.NAME" -> its column, which every row must have ("a.b" is b in the
            object a).
        limit: at most so many samples, None for all.
        strict: a bad row raises; else it is left out and listed in `Samples.rejected`.
        format: "jsonl", "json", "csv", "tsv" or "parquet", whatever the file's name.

    Returns:
        Samples, which can be iterated any number of times. Iterating raises DataError for a bad row where
        strict, for a file without rows, and for one that unpacks to absurdly more than its size.

    Raises:
        DataError: no such file, no format for its name, a key of `fields` that no sample has, or a column that the
            table lacks.
        ExtraError: Parquet without the extra `parquet`.
        ConfigError: a negative limit.
    """
    path = Path(path)
    if limit is not None and limit < 0:
        raise ConfigError(f"limit: expected 0 or more, got {limit}")
    _check_fields(fields or {})
    found = format_of(path, format)
    if found in ("csv", "tsv", "parquet"):
        _check_columns(one_line(path), column_names(path, found), fields or {})
    reader = RowReader(dict(fields or {}), cells=found in ("csv", "tsv"))
    unit: Unit = "row" if found in ("json", "parquet") else "line"
    rows = partial(READERS[found], path)
    return Samples(one_line(path), rows, reader, unit=unit, limit=limit, strict=strict, path=path, format=found)


def format_of(path: Path, format: str | None = None) -> str:
    """How a data file is read: "jsonl", "json" (one list), "csv", "tsv" or "parquet"; by its name, or as given.

    Raises:
        DataError: no such file, or no format for its name. ExtraError: Parquet without the extra `parquet`.
    """
    found = _format(path, format)
    most_unpacked(path)  # is there, and may be read
    if found == "parquet":
        open_parquet(path).close()
    return "jsonl" if found == "json" and not is_list(path) else found


def _check_columns(file: str, columns: Sequence[str], fields: Mapping[str, str]) -> None:
    """A column that a table lacks is a mistake of the whole file, and named once.

    Raises:
        DataError: one of `fields`, or none that holds the output.
    """
    known = one_line(", ".join(columns), 300)
    for name, column in fields.items():
        if column not in columns and column.partition(".")[0] not in columns:
            near = [c for c in columns if c.casefold() == column.casefold()] or _alike([column], columns)
            hint = f"; did you mean '{one_line(near[0], 60)}'?" if near else "."
            raise DataError(f"{file}, line 1: no column '{one_line(column, 60)}' for {name}{hint} The file has {known}")
    if "output" not in fields and "output" not in columns:
        near = _alike(OUTPUTS, columns)
        shown = f"'{one_line(near[0], 60)}'" if near else "COLUMN"
        cure = f"fields={{'output': {shown}}}, or -f output={shown}"
        raise DataError(
            f"{file}, line 1: no column 'output', which holds what is judged; name it: {cure}; the file has {known}"
        )


def _alike(wanted: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Columns that may be meant: nearly the same, or with one of the words in their names."""
    folded = {column.casefold(): column for column in columns}
    near = [match for word in wanted for match in difflib.get_close_matches(word.casefold(), folded, 1)]
    near += [name for word in wanted for name in folded if word.casefold() in name]
    return [folded[name] for name in dict.fromkeys(near)]


def _format(path: Path, format: str | None) -> str:
    ending = Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()
    found = format or ENDINGS.get(ending, "")
    if found not in ENDINGS.values():
        what = f"'{one_line(format or ending)}' is no format" if format or ending else "has no ending"
        known = "jsonl, json, csv, tsv or parquet"
        raise DataError(f"{one_line(path)}: {what} of data; expected {known} as its ending (or format=, from Python)")
    return found


def _check_fields(fields: Mapping[str, str]) -> None:
    known = [name for name in Sample.model_fields if name != "meta"]
    for name in fields:
        if name not in known and not (name.startswith("human.") and len(name) > len("human.")):
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else "."
            shown = ", ".join([*known, "human.NAME"])
            raise DataError(f"fields: '{one_line(name, 60)}' is no field of a sample{hint} Known: {shown}")
