"""People's judgements and metrics from any table: CSV, TSV, JSON, JSON Lines or Parquet."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

from judgegraph.errors import DataError, one_line
from judgegraph.meta.cells import empty
from judgegraph.meta.columns import Columns, refuse_unknown
from judgegraph.meta.judgements import Judgements
from judgegraph.meta.raw import Raw
from judgegraph.runtime.load import READERS, format_of
from judgegraph.runtime.load_value import Fault, plain

_ABSENT = object()
Row = dict[str, Any]


def read_table(path: str | os.PathLike[str], columns: Columns | None = None, /, **named: Any) -> list[Judgements]:
    """The judgements in a table, one `Judgements` per criterion.

    Args:
        path: as for `jg.load`; text files may be gzipped.
        columns: which columns hold what; `named` are its fields one by one (`human=("a1", "a2")`).

    Returns:
        In the order in which the criteria are met; one, named "", where there is no column for them.

    Raises:
        DataError: no such file or column, a row or a judgement that cannot be read; names file and line.
        ConfigError: it cannot be told what the answers are.
    """
    chosen = columns or Columns(**named)
    path = Path(path)
    file, format = one_line(path), format_of(path)
    unit = "row" if format in ("json", "parquet") else "line"
    rows = _rows(path, format, file, unit)
    first = next(rows, None)
    if first is None:
        raise DataError(f"{file}: holds no rows; expected one item per row")
    known = list(first[1])
    chosen = chosen.completed(known, file)
    if format in ("csv", "tsv"):  # where a column that the first row lacks is nowhere
        refuse_unknown(chosen.named, known, known, file)
    found = _read(chain([first], rows), chosen, known, file)
    return [
        raw.judgements(chosen.kind, chosen.verdicts, chosen.order, chosen.swap_back) for raw in found.values()
    ]  # fmt: skip


def _read(rows: Iterator[tuple[str, Row]], columns: Columns, known: list[str], file: str) -> dict[str, Raw]:
    """Criterion -> its cells.

    Raises:
        DataError: a row without an id, group, system or criterion, or a column that no row has.
    """
    met: set[str] = set()
    found: dict[str, Raw] = {}
    for place, row in rows:
        known = known if len(known) >= len(row) else list(row)
        cells = {name: _cell(row, name) for name in columns.named}
        here = {name for name, cell in cells.items() if cell is not _ABSENT}
        refuse_unknown(columns.texts, here, row, place, "row")
        met |= here
        _add(found, cells, columns, place, file)
    refuse_unknown(columns.named, met, known, file)
    return found


def _rows(path: Path, format: str, file: str, unit: str) -> Iterator[tuple[str, Row]]:
    """(place, row); the first that is none ends it.

    Raises:
        DataError: it is none.
    """
    for number, row in READERS[format](path):
        place = f"{file}, {unit} {number}"
        if isinstance(row, Fault):
            raise DataError(f"{place}{', column ' + row.field if row.field else ''}: {row.reason}")
        yield place, row


def _cell(row: Mapping[str, Any], name: str) -> Any:
    if name in row:
        return row[name]
    value: Any = row
    for step in name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return _ABSENT
        value = value[step]
    return value


def _add(found: dict[str, Raw], cells: Row, columns: Columns, place: str, file: str) -> None:
    """Put one row's cells to its criterion."""

    def text(name: str | None, otherwise: str) -> str:
        return otherwise if name is None else _text(cells[name], name, place)

    criterion = text(columns.criterion, "")
    raw = found.get(criterion) or found.setdefault(criterion, _started(criterion, columns, file))
    raw.places.append(place)
    raw.ids.append(text(columns.id, place))
    human: list[Any] = []
    for name in columns.human:
        cell = _value(cells, name, place)
        human += cell if isinstance(cell, list) else [cell]
    raw.human.append(human)
    for name in columns.metrics:
        raw.metrics[name].append(_value(cells, name, place))
    for name, column in columns.exchanged.items():
        raw.exchanged[name].append(_value(cells, column, place))
    if raw.groups is not None:
        raw.groups.append(text(columns.group, ""))
    if raw.systems is not None:
        raw.systems.append(text(columns.system, ""))


def _started(criterion: str, columns: Columns, file: str) -> Raw:
    return Raw(
        criterion, file, metrics={name: [] for name in columns.metrics},
        exchanged={name: [] for name in columns.exchanged},
        groups=None if columns.group is None else [], systems=None if columns.system is None else [],
    )  # fmt: skip


def _value(cells: Row, name: str, place: str) -> Any:
    """A cell; one that is not there is empty."""
    return None if cells[name] is _ABSENT else _plain(_written(cells[name]), name, place)


def _written(cell: Any) -> Any:
    """Numbers that JSON has not as a CSV file would hold them: nan is no answer, inf is one that cannot be read."""
    if isinstance(cell, list):
        return [_written(one) for one in cell]
    if not isinstance(cell, float | Decimal) or math.isfinite(cell):
        return cell
    return None if math.isnan(cell) else str(cell)


def _plain(cell: Any, name: str, place: str) -> Any:
    try:
        return plain(cell, name)
    except Fault as fault:
        raise DataError(f"{place}, column {fault.field}: {fault.reason}") from None


def _text(cell: Any, name: str, place: str) -> str:
    """An id, group, system or criterion.

    Raises:
        DataError: it is empty, or neither text nor a whole number.
    """
    where = f"{place}, column {one_line(name, 60)}"
    if empty(cell):
        raise DataError(f"{where}: expected text or a whole number, got nothing")
    said = None if isinstance(cell, bool | float | list | dict) else _plain(cell, name, place)
    if not isinstance(said, str | int):
        raise DataError(f"{where}: expected text or a whole number, got {type(cell).__name__}")
    return str(said).strip()
