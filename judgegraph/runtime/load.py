"""Load a data file: JSON Lines, JSON, CSV, TSV or Parquet."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runtime.load_json import is_list, jsonl_rows, list_rows
from judgegraph.runtime.load_row import RowReader
from judgegraph.runtime.load_table import csv_rows, open_parquet, parquet_rows
from judgegraph.runtime.load_text import most_unpacked
from judgegraph.runtime.load_value import Rows
from judgegraph.runtime.samples import Rejection, Samples, Unit
from judgegraph.types import Sample

__all__ = ["Rejection", "Samples", "load"]

ENDINGS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv",
    ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
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
        DataError: no such file, no format for its name, or a key of `fields` that no sample has.
        ExtraError: Parquet without the extra `parquet`.
        ConfigError: a negative limit.
    """
    path = Path(path)
    if limit is not None and limit < 0:
        raise ConfigError(f"limit: expected 0 or more, got {limit}")
    found = _format(path, format)
    _check_fields(fields or {})
    most_unpacked(path)  # is there, and may be read
    if found == "parquet":
        open_parquet(path).close()
    if found == "json" and not is_list(path):
        found = "jsonl"
    reader = RowReader(dict(fields or {}), cells=found in ("csv", "tsv"))
    unit: Unit = "row" if found in ("json", "parquet") else "line"
    rows = partial(READERS[found], path)
    return Samples(one_line(path), rows, reader, unit=unit, limit=limit, strict=strict, path=path, format=found)


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
