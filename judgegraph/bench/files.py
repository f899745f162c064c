"""A collection's files: JSON and JSON lines, plain or gzipped; whatever is wrong in them is told with its place."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from judgegraph.errors import DataError, one_line
from judgegraph.types import Sample

LARGEST = 1 << 29  # bytes of a file when unpacked: more is no collection that we know
LARGEST_NUMBER = 1e300  # nan is no smaller, and a whole number may be too long for a float
Kind = TypeVar("Kind")
_KINDS = {str: "text", dict: "an object", list: "a list", bool: "true or false"}


def stored(path: Path) -> Path | None:
    """The file as it lies there: with or without ".gz"; None where there is neither."""
    other = path.with_suffix("") if path.suffix == ".gz" else path.with_name(path.name + ".gz")
    return next((found for found in (path, other) if found.is_file()), None)


def present(path: Path) -> bool:
    """Whether there is such a file, with or without ".gz"."""
    return stored(path) is not None


def read_text(path: Path) -> str:
    """A file's text, unpacked where its name ends in ".gz".

    Raises:
        DataError: no such file, one that cannot be unpacked, or is no UTF-8 text.
    """
    found = stored(path)
    if found is None:
        raise DataError(
            f"no {path}; `judgegraph bench` lists the files of each collection, and where the originals are"
        )
    try:
        with gzip.open(found) if found.suffix == ".gz" else found.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{found}: cannot be read: {one_line(error)}") from None
    if len(raw) > LARGEST:
        raise DataError(f"{found}: larger than {LARGEST >> 20} MiB; expected a file of the collection")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"{found}, line {line}: no UTF-8 text; a pickle is never read, save it as JSON") from None


def read_json(path: Path) -> Any:
    """The one JSON value of a file.

    Raises:
        DataError: as `read_text` does, or no JSON; with line and column.
    """
    return _parsed(read_text(path), str(stored(path) or path), 1)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines; empty lines are passed over.

    Raises:
        DataError: as `read_text` does, or a line that is no JSON object.
    """
    rows, name = [], str(stored(path) or path)
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            row = _parsed(line, name, number)
            if not isinstance(row, dict):
                raise DataError(f"{name}, line {number}: expected a JSON object, got {type(row).__name__}")
            rows.append(row)
    return rows


def _parsed(text: str, name: str, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        at = f"line {line + error.lineno - 1}, column {error.colno}"
        raise DataError(f"{name}, {at}: no JSON: {error.msg}") from None
    except (RecursionError, ValueError) as error:
        raise DataError(f"{name}, line {line}: no JSON that we read: {one_line(error, 80)}") from None


def rows_of(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Place and object of each row of a JSON list, or of each value of a JSON object.

    Raises:
        DataError: as `read_json` does, or the file holds something else.
    """
    whole, name = read_json(path), str(stored(path) or path)
    if isinstance(whole, Mapping):
        pairs = [(f"{name}, {one_line(key, 60)!r}", row) for key, row in whole.items()]
    elif isinstance(whole, list):
        pairs = [(f"{name}, item {number}", row) for number, row in enumerate(whole, 1)]
    else:
        raise DataError(f"{name}: expected a list of objects, got {type(whole).__name__}")
    for where, row in pairs:
        if not isinstance(row, dict):
            raise DataError(f"{where}: expected an object, got {type(row).__name__}")
    return pairs


def distinct(path: Path, ids: Iterable[tuple[str, str]]) -> None:
    """Refuses two rows of one id.

    Args:
        ids: of each row its place, for messages, and its id.

    Raises:
        DataError: there are two; with file and both places.
    """
    seen: dict[str, str] = {}
    for where, id in ids:
        if (first := seen.setdefault(id, where)) != where:
            name, here = one_line(id, 60), where.rpartition(", ")[2]
            raise DataError(
                f"{stored(path) or path}, {here}: the id '{name}' again, as {first.rpartition(', ')[2]} has it; "
                "keep one of the two rows"
            )


def field(row: Mapping[str, Any], key: str, where: str, kind: type[Kind]) -> Kind:
    """The value of a key, of the kind that it has to be.

    Raises:
        DataError: no such key, or another kind of value.
    """
    value = row.get(key)
    if isinstance(value, kind):
        return value
    got = "nothing" if key not in row else type(value).__name__
    raise DataError(f"{where}, key {key!r}: expected {_KINDS.get(kind, kind.__name__)}, got {got}")


def number(row: Mapping[str, Any], key: str, where: str) -> float:
    """The finite number of a key.

    Raises:
        DataError: no such key, or no finite number.
    """
    value = row.get(key)
    fits = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER
    if not fits:
        got = "nothing" if key not in row else one_line(repr(value), 40)
        raise DataError(f"{where}, key {key!r}: expected a finite number, got {got}")
    return float(value)  # type: ignore[arg-type]  # `fits` has seen to it


def numbers(row: Mapping[str, Any], key: str, where: str, names: Sequence[str]) -> dict[str, float]:
    """The named numbers of an object under a key."""
    held = field(row, key, where, dict)
    return {name: number(held, name, f"{where}, {key}") for name in names}


def sample_of(where: str, **fields: Any) -> Sample:
    """A sample of what a row holds.

    Raises:
        DataError: the values make none.
    """
    try:
        return Sample(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(f"{where}: no sample: {'.'.join(map(str, first['loc']))}: {one_line(first['msg'])}") from None
