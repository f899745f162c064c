"""Load a data file: JSON Lines, JSON, CSV, TSV or Parquet."""

from __future__ import annotations

import csv
import difflib
import gzip
import json
import os
import re
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, BinaryIO, TypeAlias

from judgegraph.data.samples import (
    COLUMNS,
    PAIR_COLUMNS,
    Fault,
    RowReader,
    Rows,
    Samples,
    Unit,
    column_list,
    kind_of,
    spelt,
    unmarked,
)
from judgegraph.errors import ConfigError, DataError, ExtraError, JudgegraphError, counted, one_line, settings_checked
from judgegraph.prompts.criteria import CriteriaLike, CriteriaSet, criteria_set, same_key
from judgegraph.types import EXEMPLAR_CHARS, MOST_EXEMPLARS, Criterion, Exemplar, Sample, text_of

# Rows of JSON Lines files, and of JSON files that hold one list.


# The lines of a text file, gzipped or not, in bounded memory.


Line: TypeAlias = tuple[int, bytes | Fault]  # its number from 1, and what stands there

MOST_LINE = 16 * 2**20  # bytes; no model reads more
FREE_UNPACKED, MOST_RATIO = 64 * 2**20, 100  # bytes a gzip file may always unpack to; beyond: times its size
CUT = "; rows after it cannot be read"


def lines(path: Path) -> Iterator[Line]:
    """The lines of a file; one that is too long is a fault, and the next is read.

    Raises:
        DataError: no readable file, UTF-16, or a gzip file that unpacks to far more than its size.
    """
    number, left = 0, most_unpacked(path)
    with opened(path) as file:
        while True:
            number += 1
            try:
                line = file.readline(MOST_LINE + 1)
                left -= len(line)
                whole = len(line) <= MOST_LINE or line.endswith(b"\n")
                rest = not whole
                while rest and left >= 0:
                    part = file.readline(MOST_LINE)
                    left -= len(part)
                    rest = bool(part) and not part.endswith(b"\n")
            except (EOFError, gzip.BadGzipFile, zlib.error):
                yield number, Fault("", f"the gzip file is damaged or cut off here{CUT}", None)
                return
            if left < 0:
                raise bomb(path)
            if not line:
                return
            if number == 1 and line[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise DataError(f"{one_line(path)}: is UTF-16; save the file as UTF-8")
            yield number, line if whole else Fault("", f"is longer than {MOST_LINE:,} bytes")


def opened(path: Path) -> BinaryIO | gzip.GzipFile:
    """The file for reading, unpacked on the way where it is gzip (by its first bytes, whatever its name)."""
    try:
        file = path.open("rb")
        if file.read(2) == b"\x1f\x8b":
            file.close()
            return gzip.open(path)
    except OSError as error:
        raise DataError(f"{one_line(path)}: {error.strerror}") from None
    file.seek(0)
    return file


def most_unpacked(path: Path) -> int:
    """How many bytes may be read: all of a plain file (it may grow), of a gzip file what its size makes likely.

    The size that a gzip file declares is not asked: where the file is cut off, other bytes stand in its place.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe would be waited for, and cannot be read twice
        raise DataError(f"{one_line(path)}: is no file, but a pipe or a device; save what it gives to a file first")
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            size = file.seek(0, 2)
    except OSError as error:
        raise DataError(f"{one_line(path)}: {error.strerror}") from None
    return max(FREE_UNPACKED, MOST_RATIO * size) if packed else sys.maxsize


def bomb(path: Path) -> DataError:
    """The error for a file that unpacks to far more than its size."""
    return DataError(
        f"{one_line(path)}: unpacks to over {MOST_RATIO} times its size and {FREE_UNPACKED:,} bytes; "
        "unpack it yourself if you trust it"
    )


def decoded(raw: bytes) -> str:
    """UTF-8 text, without a byte order mark before it.

    Raises:
        Fault: it is not UTF-8.
    """
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise Fault("", f"is not UTF-8 (byte {byte:#x} at {error.start}); save the file as UTF-8") from None


MOST_LIST = 64 * 2**20  # bytes of a JSON file that holds one list: it is read whole
BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(r"[ \t\r\n]*")


def jsonl_rows(path: Path) -> Rows:
    """One JSON object per line; blank lines are skipped, a byte order mark before a line is ignored."""
    for number, line in lines(path):
        if isinstance(line, Fault):
            yield number, line
        elif line.strip():
            try:
                yield number, _only(decoded(line.rstrip(b"\r\n")))
            except Fault as fault:
                torn = fault.lost is None and not line.endswith(b"\n")  # the last line, and it stops within a value
                reason = f"{fault.reason}; the file is cut off here" if torn else fault.reason
                yield number, Fault(fault.field, reason, None if torn else 0)


def is_list(path: Path) -> bool:
    """Whether a JSON file holds one list, rather than an object per line."""
    starts = (line if isinstance(line, Fault) else line.removeprefix(BOM).lstrip() for _, line in lines(path))
    first = next((start for start in starts if start), b"")
    return not isinstance(first, Fault) and first.startswith(b"[")


def list_rows(path: Path) -> Rows:
    """The objects of one list, numbered from 1. The file is read whole.

    Raises:
        DataError: it is larger than MOST_LIST.
    """
    with opened(path) as file:
        raw = file.read(MOST_LIST + 1)
    if len(raw) > MOST_LIST:
        limit = f"is one JSON list of over {MOST_LIST:,} bytes"
        raise DataError(f"{one_line(path)}: {limit}; write one object per line, in a .jsonl file")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        yield 1, Fault("", f"line {line} is not UTF-8; save the file as UTF-8{CUT}", None)
        return
    number, at = 1, _skipped(text, text.index("[") + 1)
    start = at
    while number > 1 or not text.startswith("]", at):
        try:
            value, end = _parsed(text, at)
            yield number, _object(value)
            number, at = number + 1, _skipped(text, end)
            if text.startswith("]", at):
                return
            if not text.startswith(",", at):
                raise Fault("", "is not JSON: expected ',' or ']'")
            at = _skipped(text, at + 1)
        except Fault as fault:
            line = text.count("\n", 0, at) + 1
            whole = number > 1 and text.rstrip().endswith("]")
            lost = round((len(text) - at) * (number - 1) / max(1, at - start)) - 1 if whole else None
            reason = f"{fault.reason} (from line {line}){CUT}{_lost_in_words(lost, f'{len(text) - at:,} characters')}"
            yield number, Fault(fault.field, reason, lost if lost is None else max(0, lost))
            return


def _lost_in_words(lost: int | None, left: str) -> str:
    """How much was not read, in words; lost: rows."""
    about = f", about {lost:,} more {'row' if lost == 1 else 'rows'}" if lost and lost > 0 else ""
    return f"; {left} were not read{about}"


def _skipped(text: str, at: int) -> int:
    """The place of the next character that is no white space."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too


def _only(text: str) -> dict[str, Any] | Fault:
    """The one object in a line."""
    value, end = _parsed(text, _skipped(text, 0))
    end = _skipped(text, end)
    if end < len(text):
        comma = " (a comma; JSON Lines has none between its lines)" if text[end:].strip() == "," else ""
        raise Fault("", f"is not JSON: more text behind the value, at character {end + 1}{comma}")
    return _object(value)


def _parsed(text: str, at: int) -> tuple[Any, int]:
    """One JSON value and where it ends; doubled keys and huge numbers stand in it as faults."""
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        said = error.msg.removesuffix(" at")
        torn = error.msg.startswith("Unterminated") or not text[error.pos :].strip()
        raise Fault("", f"is not JSON: {said} at character {error.pos - at + 1}", None if torn else 0) from None
    except RecursionError:
        raise Fault("", "is nested too deeply") from None


def _object(value: Any) -> dict[str, Any] | Fault:
    if isinstance(value, dict | Fault):
        return value
    return Fault("", f"expected a JSON object, got {kind_of(value)}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any] | Fault:
    """An object; one that gives a key twice could mean either, so it is a fault."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            return Fault(one_line(name, 60), "the key is given twice in one object")
        found[name] = value
    return found


def _whole(digits: str) -> int | Fault:
    """A whole number that a float can hold; int() itself takes quadratic time, and refuses 4,300 digits."""
    return int(digits) if len(digits) <= 308 else Fault("", "is a whole number of over 308 digits")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_int=_whole)


# Rows of tables: CSV and TSV as texts, Parquet with its types.


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
    good = tall = 0  # rows that were read, and the lines they took

    def hidden(lines_: int) -> int:
        """About how many rows stand in so many lines beside the one that is at fault."""
        return max(0, round(lines_ * good / tall) - 1) if tall else max(0, lines_ - 1)

    while not ended:
        line = reader.line_num + 2
        try:
            cells = next(reader, None)
            ended = cells is None
            took = reader.line_num + 2 - line
            if cells and len(cells) != len(names):
                more = _lost_in_words(lost, f"the {took:,} lines that it takes up") if (lost := hidden(took)) else ""
                more = f"{more}: is a quote not closed?" if more else ""
                yield (
                    line,
                    Fault("", f"expected {counted(len(names), 'cell')} as in line 1, got {len(cells)}{more}", lost),
                )
            elif cells:
                good, tall = good + 1, tall + took
                row = zip(names, cells, strict=True)
                yield line, {name: unmarked(cell) if name in written else cell for name, cell in row}
        except csv.Error as error:
            open_quote = "end of data" in str(error) or "field limit" in str(error)
            took = reader.line_num + 2 - line
            lost = hidden(took)
            hint = f"a quote opened here is never closed{CUT}" if open_quote else one_line(error)
            more = _lost_in_words(lost, f"{took:,} lines") if took > 1 else ""
            yield line, Fault("", f"is no row of a table: {hint}{more}", lost)
        except Fault as fault:
            left = None if fault.lost is None else sum(1 for number, _ in lines(path) if number > line)
            lost_ = left if left is None else hidden(left + 1)
            more = _lost_in_words(lost_, f"{counted(left, 'line')} behind it") if left else ""
            yield line, Fault("", f"{fault.reason}{CUT}{more}", lost_)
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
            lost = max(0, file.metadata.num_rows - number - 1)
            told = _lost_in_words(lost, f"{lost + 1:,} of {file.metadata.num_rows:,} rows")
            yield number + 1, Fault("", f"the file is damaged here: {one_line(error)}{CUT}{told}", lost)


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
            row[name] = _without_nulls(column[place].as_py())
        except (ValueError, OverflowError) as error:  # bytes that are no UTF-8, a date beyond Python's
            return Fault(one_line(name, 60), f"cannot be read: {one_line(error)}")
    return row


def _without_nulls(value: Any) -> Any:
    """An object of a column without its nulls: all objects of a column have the keys of all, as null where absent."""
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


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


TRACED = "trajectories.jsonl"  # in a folder of `jg.tracing`
ENDINGS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv",
    ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
OUTPUTS = ("output", "response", "answer", "completion", "summary", "reply", "prediction", "generated", "candidate")
READERS: dict[str, Callable[[Path], Rows]] = {
    "jsonl": jsonl_rows, "json": list_rows, "parquet": parquet_rows,
    "csv": partial(csv_rows, separator=","), "tsv": partial(csv_rows, separator="\t"),
}  # fmt: skip


@settings_checked
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
    others go to `meta` by their names, `meta.NAME` as NAME. Without an id column, "line-7" ("row-7" in a JSON list or
    in Parquet) is the id of what stands there, and changes when rows are put before it. A whole number as id is read
    as text. In CSV and TSV every cell is text, also one that starts like JSON; an empty rival, reference or human
    judgement is none. Quotes that keep spreadsheets from calculating are taken off in tables of a run's scores
    alone, told by their columns: in data of yours a ' is a '.

    Args:
        path: .jsonl, .ndjson, .json (one list, or an object per line), .csv, .tsv, .parquet, .pq; text files
            may be gzipped. Or a folder of `jg.tracing`: the runs that it recorded.
        fields: field of a sample ("references", "contexts", "turns", "images" and "facts" among them), or "human.NAME"
            -> its column, which every row must have ("a.b" is b in the object a).
        limit: at most so many samples, None for all.
        strict: a bad row raises; else it is left out and listed in `Samples.rejected`.
        format: "jsonl", "json", "csv", "tsv" or "parquet", whatever the file's name; or a format of agents' runs:
            "openai", "langchain", "langsmith", "otel", "openinference", "langfuse", "atif" (`jg.trajectories`).

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
    if path.is_dir() and (path / TRACED).is_file():
        path, format = path / TRACED, "jsonl"
    if format is not None and format not in ENDINGS.values() and format in _formats_of_agents():
        return _runs_of_agents(path, format, fields or {}, limit, strict)
    fields = fields or {}
    _check_fields(fields)
    found = format_of(path, format)
    if found in ("csv", "tsv", "parquet"):
        columns = column_names(path, found)
        fields = {name: spelt(column, columns) for name, column in fields.items()}
        _check_columns(one_line(path), columns, fields)
    reader = RowReader(dict(fields), cells=found in ("csv", "tsv"), folder=path.parent)
    unit: Unit = "row" if found in ("json", "parquet") else "line"
    rows = partial(READERS[found], path)
    return Samples(one_line(path), rows, reader, unit=unit, limit=limit, strict=strict, path=path, format=found)


def _formats_of_agents() -> Sequence[str]:
    from judgegraph.agent_runs.formats import FORMATS  # here, as most data holds no runs of agents

    return [*FORMATS]


def _trajectories(path: Path, format: str) -> Iterator[Sample]:
    from judgegraph.agent_runs.formats import read_trajectories

    return read_trajectories(path, format)


def _runs_of_agents(
    path: Path, format: str, fields: Mapping[str, str], limit: int | None, strict: bool
) -> Samples:  # fmt: skip
    """Samples of a file of agents' runs, which name their fields themselves."""
    if fields:
        raise DataError(f"fields: a run in the format {format} has no columns; leave -f and fields= out")

    def rows() -> Rows:
        for at, sample in enumerate(_trajectories(path, format), 1):
            yield at, sample.model_dump(mode="json")

    return Samples(one_line(path), rows, RowReader(), unit="row", limit=limit, strict=strict, path=path, format=format)


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
    known = column_list(columns, 300)
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
        of_agents = _formats_of_agents()
        if found in of_agents:
            return found
        what = f"'{one_line(format or ending)}' is no format" if format or ending else "has no ending"
        known = "jsonl, json, csv, tsv or parquet as its ending (or format=, from Python)"
        runs = f"for runs of agents name their format: {', '.join(of_agents)}"
        raise DataError(f"{one_line(path)}: {what} of data; expected {known}; {runs}")
    return found


def _check_fields(fields: Mapping[str, str]) -> None:
    known = [name for name in Sample.model_fields if name != "meta"]
    for name in fields:
        if name not in known and not (name.startswith("human.") and len(name) > len("human.")):
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else "."
            shown = ", ".join([*known, "human.NAME"])
            if name.startswith("meta."):
                what = name.removeprefix("meta.")
                option = "--system" if what == "system" else "--rival" if what == "rival_system" else "--group"
                where = {"--system": "meta or rank", "--rival": "rank"}.get(option, "compare, meta, rank or report")
                hint = (
                    ": columns that are no field go to meta by their own names. Leave it out, and name the column "
                    f"where it is used: {option} {one_line(fields[name], 60)} of {where}."
                )
            raise DataError(f"fields: '{one_line(name, 60)}' is no field of a sample{hint} Known: {shown}")


# How many rows a data file has, without a look at what is in them: for the time that is left of a run.


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
    elif format == "jsonl":
        yield from (isinstance(line, Fault) or bool(line.strip()) for _, line in lines(path))
    else:
        yield from (1 for _ in _trajectories(path, format))


# Examples of how a scale is used, drawn from samples that people judged.


@settings_checked
def with_examples(criteria: CriteriaLike, samples: Iterable[Sample], *, count: int = 3, seed: int = 0) -> CriteriaSet:
    """Criteria with examples of their own, drawn from samples that people judged by them.

    Those of a criterion are spread over the values that people gave, and no text comes twice. A judge is never shown an
    example whose text is the one it judges, so the same samples may be judged by what comes of it.

    Args:
        criteria: a set, by its name or file, or criteria. samples: with `human`; those without are passed over.
        count: examples for each criterion, 1 to 8. seed: of the draw.

    Raises:
        ConfigError: a count out of range, or no sample has a judgement by any of the criteria. CriteriaError: no such
            criteria.
    """
    if not 1 <= count <= MOST_EXEMPLARS:
        raise ConfigError(f"with_examples: count is 1 to {MOST_EXEMPLARS}, got {count}")
    chosen = criteria_set(criteria)
    known = [sample for sample in samples if sample.human and 0 < len(text_of(sample.output).strip()) <= EXEMPLAR_CHARS]
    made = tuple(_drawn(one, known, count, Random(f"{seed}/{one.name}")) for one in chosen.criteria)
    if not any(one.examples for one in made):
        names = ", ".join(one.name for one in chosen.criteria)
        raise ConfigError(f"with_examples: no sample has a judgement of people by {names}, on its scale")
    return chosen.model_copy(update={"criteria": made})


def _drawn(criterion: Criterion, samples: Sequence[Sample], count: int, draw: Random) -> Criterion:
    by_score: dict[float | str, dict[str, None]] = {}
    for sample in samples:
        score = _score(criterion, sample)
        if score is not None:
            by_score.setdefault(score, {})[text_of(sample.output)] = None
    scores = sorted(by_score, key=lambda score: (isinstance(score, str), score))
    if len(scores) > count:  # both ends, and what lies evenly between them
        scores = [scores[round(at * (len(scores) - 1) / max(1, count - 1))] for at in range(count)]
    left = {score: draw.sample([*by_score[score]], len(by_score[score])) for score in dict.fromkeys(scores)}
    found: dict[str, float | str] = {}
    while len(found) < count and any(left.values()):
        for score, texts in left.items():
            text = texts.pop() if texts and len(found) < count else None
            if text is not None:
                found.setdefault(text, score)
    examples = tuple(Exemplar(output=text, score=score) for text, score in found.items())
    return criterion.model_copy(update={"examples": examples}) if examples else criterion


def _score(criterion: Criterion, sample: Sample) -> float | str | None:
    """What people gave: of several numbers the mean, of several labels the one that all gave; None off the scale."""
    given = next((value for name, value in sample.human.items() if same_key(name) == same_key(criterion.name)), None)
    values = given if isinstance(given, list) else [] if given is None else [given]
    try:
        if criterion.scale.labels:
            labels = {criterion.scale.check_label(value) for value in values}
            return labels.pop() if len(labels) == 1 else None
        return criterion.scale.check(fmean(float(value) for value in values)) if values else None
    except (ValueError, TypeError):
        return None
