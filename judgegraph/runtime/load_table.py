"""Rows of tables: CSV and TSV as texts, Parquet with its types."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judgegraph.errors import DataError, ExtraError, one_line
from judgegraph.runtime.inert_cells import COLUMNS, PAIR_COLUMNS, unmarked
from judgegraph.runtime.load_text import CUT, FREE_UNPACKED, MOST_LINE, MOST_RATIO, bomb, lines
from judgegraph.runtime.load_value import Fault, Rows

MOST_ROWS = 1_000_000  # a Parquet file may always declare; beyond, no more than it has bytes: each row has an id
BATCH = 64  # rows of a Parquet file in memory at a time


def column_names(path: Path, format: str) -> list[str]:
    """The columns of a table: "csv", "tsv" or "parquet".

    Raises:
        ExtraError, DataError: as `parquet_rows` and `csv_rows`.
    """
    if format == "parquet":
        with open_parquet(path) as file:
            return list(file.schema_arrow.names)
    return _head(path, _texts(path), "\t" if format == "tsv" else ",")[0]


def csv_rows(path: Path, separator: str) -> Rows:
    """Rows of texts by the names in the first line, each with the line it starts in; blank lines are skipped.

    A comma-separated file whose first line has semicolons and no comma is read by its semicolons. A file with all
    columns of a run's scores, or of its comparisons, is taken for one that we wrote: their texts lose the marks that
    `Table.to_csv` gave them.

    Raises:
        DataError: no first line of distinct names.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MOST_LINE))  # one for the whole process: only widened
    texts = _texts(path)
    names, separator = _head(path, texts, separator)
    written = {name for ours in (COLUMNS, PAIR_COLUMNS) if set(ours) <= set(names) for name in ours}
    reader, ended = csv.reader(texts, delimiter=separator, strict=True), False
    while not ended:
        line = reader.line_num + 2
        try:
            cells = next(reader, None)
            ended = cells is None
            if cells and len(cells) != len(names):
                yield line, Fault("", f"expected {len(names)} cells as in line 1, got {len(cells)}")
            elif cells:
                row = zip(names, cells, strict=True)
                yield line, {name: unmarked(cell) if name in written else cell for name, cell in row}
        except csv.Error as error:
            open_quote = "end of data" in str(error) or "field limit" in str(error)
            hint = f"a quote opened here is never closed{CUT}" if open_quote else one_line(error)
            yield line, Fault("", f"is no row of a table: {hint}")
        except Fault as fault:
            yield line, Fault("", f"{fault.reason}{CUT}")
            return


def _head(path: Path, texts: Iterator[str], separator: str) -> tuple[list[str], str]:
    """Names of the columns, of the first line; and what separates them."""
    try:
        head = next(texts, "")
    except Fault as fault:
        raise DataError(f"{one_line(path)}, line 1: {fault.reason}") from None
    if separator == "," and "," not in head and ";" in head:
        separator = ";"
    return _names(path, next(csv.reader([head], delimiter=separator), [])), separator


def _texts(path: Path) -> Iterator[str]:
    """Lines as text; bytes that are no UTF-8 become lone surrogates, which the row's own check names."""
    for number, line in lines(path):
        if isinstance(line, Fault):
            raise line
        text = line.decode("utf-8", "surrogateescape")
        yield text.removeprefix("\ufeff") if number == 1 else text


def _names(path: Path, head: list[str]) -> list[str]:
    """Names of the columns; one without a name (an index that was written along) is called by its place."""
    names = [name.strip() or f"column {place}" for place, name in enumerate(head, 1)]
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice or not names:
        said = f"column '{one_line(twice[0], 60)}' is there twice" if twice else "expected the columns' names"
        raise DataError(f"{one_line(path)}, line 1: {said}")
    return names


def parquet_rows(path: Path) -> Rows:
    """Rows with their types, some at a time; a cell that cannot be read is a fault of its row.

    Raises:
        ExtraError: pyarrow is not installed.
        DataError: no Parquet file, columns of one name, or absurdly many rows, values or bytes declared.
    """
    with open_parquet(path) as file:
        number = 0
        try:
            for batch in file.iter_batches(batch_size=BATCH):
                small = sum(map(_unpacked, batch.columns)) <= MOST_LINE
                for place in range(batch.num_rows):
                    number += 1
                    yield number, (None if small else _too_long(batch, place)) or _cells(batch, place)
        except (OSError, ValueError, NotImplementedError) as error:  # pyarrow's errors are of these kinds
            yield number + 1, Fault("", f"the file is damaged here: {one_line(error)}{CUT}")


def _too_long(batch: Any, place: int) -> Fault | None:
    """A row that takes more memory than a line may; Parquet keeps a value once, however often it occurs."""
    sizes = {name: _unpacked(batch.column(at).slice(place, 1)) for at, name in enumerate(batch.schema.names)}
    if sum(sizes.values()) <= MOST_LINE:
        return None
    largest = max(sizes, key=lambda name: sizes[name])
    return Fault(one_line(largest, 60), f"is {sizes[largest]:,} bytes; a row may have {MOST_LINE:,} in all")


def _unpacked(array: Any) -> int:
    """Bytes of an Arrow array with each value written out where it occurs."""
    from pyarrow import compute, types

    kind = array.type
    if types.is_dictionary(kind):
        lengths = compute.binary_length(array.dictionary).take(array.indices)
        return int(compute.sum(lengths.cast("int64")).as_py() or 0)
    if types.is_map(kind):
        start, end = array.offsets[0].as_py(), array.offsets[len(array)].as_py()
        return sum(_unpacked(part.slice(start, end - start)) for part in (array.keys, array.items))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _unpacked(array.flatten())
    if types.is_struct(kind):
        return sum(_unpacked(part) for part in array.flatten())
    return int(array.nbytes)


def _cells(batch: Any, place: int) -> dict[str, Any] | Fault:
    row: dict[str, Any] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            row[name] = column[place].as_py()
        except (ValueError, OverflowError) as error:  # bytes that are no UTF-8, a date beyond Python's
            return Fault(one_line(name, 60), f"cannot be read: {one_line(error)}")
    return row


def open_parquet(path: Path) -> Any:
    """An open Parquet file whose own description is credible: see `parquet_rows`.

    Texts are read as dictionaries, each value once: a value of 60 MB that a million rows share is 60 MB.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise ExtraError("reading Parquet", "parquet") from None
    try:
        about = parquet.read_metadata(path)
        leaves = [about.schema.column(at) for at in range(len(about.schema))]
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        file = parquet.ParquetFile(path, metadata=about, read_dictionary=texts)
    except (ArrowException, OSError) as error:
        reason = getattr(error, "strerror", None) or f"is no Parquet file: {one_line(error, 120)}"
        raise DataError(f"{one_line(path)}: {reason}") from None
    size = path.stat().st_size
    most = max(FREE_UNPACKED, MOST_RATIO * size)
    try:
        if about.num_rows > max(MOST_ROWS, size):
            raise DataError(f"{one_line(path)}: declares {about.num_rows:,} rows in {size:,} bytes")
        if _declared(about, leaves) > most:
            raise bomb(path)
        _names(path, file.schema_arrow.names)
    except DataError:
        file.close()
        raise
    return file


def _declared(about: Any, leaves: list[Any]) -> int:
    """Bytes that a Parquet file says it unpacks to: of its pages, or of its lists' and fixed-size values if more."""
    pages = written_out = 0
    for at in range(about.num_row_groups):
        group = about.row_group(at)
        pages += group.total_byte_size
        for place, leaf in enumerate(leaves):
            if leaf.max_repetition_level:
                written_out += 8 * group.column(place).num_values
            if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY":
                written_out += leaf.length * group.column(place).num_values
    return max(pages, written_out)
