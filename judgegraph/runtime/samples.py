"""Samples read from a file as they are asked for, and the rows that are none."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sized
from contextlib import closing
from copy import copy
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

from judgegraph.errors import DataError, one_line
from judgegraph.runtime.disk_index import DiskIndex
from judgegraph.runtime.load_row import RowReader
from judgegraph.runtime.load_value import Fault, Rows
from judgegraph.types import Sample, Value

Unit: TypeAlias = Literal["line", "row"]


class Rejection(Value):
    """A row that is no sample, and why.

    Attributes:
        file: its name as it was given.
        line: where the row starts, from 1; in a JSON list or in Parquet the row's number (`unit` says which).
        id: the row's id, None where it could not be read.
        field: where the mistake lies, in dots where it is nested; "" for the whole row.
        reason: one printable line: what was expected, what is there.
    """

    file: str
    line: int
    unit: Unit = "line"
    id: str | None = None
    field: str = ""
    reason: str

    def __str__(self) -> str:
        parts = [self.file, f"{self.unit} {self.line}"]
        parts += [f"id '{one_line(self.id, 60)}'"] if self.id is not None else []
        parts += [f"field {self.field}"] if self.field else []
        return f"{', '.join(parts)}: {self.reason}"


class Samples:
    """The samples of a file; each iteration reads it anew, and holds no more than a few rows at a time.

    `samples[0]` and `samples[:5]` read no further than they must. There is no `len`: `count` reads the file.

    Attributes:
        name: of the file, as it was given.
        strict: a bad row raises; else it is left out and listed in `rejected`.
        rejected: the rows that the latest iteration left out so far.
        path: of the file, None where the rows come from elsewhere. format: "jsonl", "json", "csv", "tsv" or "parquet".
        fields: a sample's field -> the column it was read from, as they were renamed.
        counted: how many samples there are, as far as somebody counted them; None where nobody did.
    """

    def __init__(
        self, name: str, rows: Callable[[], Rows], reader: RowReader, *,
        unit: Unit = "line", limit: int | None = None, strict: bool = True, path: Path | None = None, format: str = "",
    ) -> None:  # fmt: skip
        self.name, self.strict, self.path, self.format = name, strict, path, format
        self.fields: dict[str, str] = dict(reader.fields)
        self.rejected: list[Rejection] = []
        self.counted: Callable[[], int | None] = lambda: None
        self._rows, self._reader, self._unit, self._limit = rows, reader, unit, limit

    def __iter__(self) -> Iterator[Sample]:
        self.rejected = []
        return self._read(self.rejected)

    @overload
    def __getitem__(self, which: int) -> Sample: ...
    @overload
    def __getitem__(self, which: slice) -> list[Sample]: ...
    def __getitem__(self, which: int | slice) -> Sample | list[Sample]:
        """A sample by its place from 0, or a list of them; they are counted from the start only."""
        with closing(self._read([])) as samples:
            if isinstance(which, slice):
                return list(islice(samples, which.start, which.stop, which.step))
            if which < 0:
                raise IndexError("samples are counted from the start; for the last one: list(samples)[-1]")
            for sample in islice(samples, which, None):
                return sample
        raise IndexError(f"{self.name} has no sample {which}")

    def count(self) -> int:
        """How many samples there are; reads the file to its end and sets `rejected`.

        Raises:
            DataError: the first bad row, where `strict`.
        """
        found = sum(1 for _ in self)
        self.counted = lambda: found
        return found

    def whole(self) -> Samples:
        """The file as it is, however many were asked for; bad rows are left out, and listed in its own `rejected`."""
        found = copy(self)
        found._limit, found.strict, found.rejected, found.counted = None, False, [], lambda: None
        return found

    def __repr__(self) -> str:
        return f"Samples({self.name!r}, strict={self.strict})"

    def _read(self, rejected: list[Rejection]) -> Generator[Sample]:
        good, number = 0, 0
        if self._limit == 0:
            return
        with SeenIds() as seen, closing(self._rows()) as rows:
            for number, row in rows:
                try:
                    sample = self._sample(number, row, seen)
                except Fault as fault:
                    rejection = self._rejection(number, row, fault)
                    if self.strict:
                        raise DataError(str(rejection)) from None
                    rejected.append(rejection)
                    continue
                good += 1
                yield sample
                if good == self._limit:
                    return
        if not number:
            raise DataError(f"{self.name}: holds no rows; expected one sample per row")

    def _sample(self, number: int, row: dict[str, Any] | Fault, seen: SeenIds) -> Sample:
        if isinstance(row, Fault):
            raise row
        sample = self._reader.sample(row, f"{self._unit}-{number}")
        first = seen.line(sample.id, number)
        if first != number:
            raise Fault("id", f"is the id of {self._unit} {first} too; ids must be unique")
        return sample

    def _rejection(self, number: int, row: dict[str, Any] | Fault, fault: Fault) -> Rejection:
        found = row.get(self._reader.fields.get("id", "id")) if isinstance(row, Mapping) else None
        readable = isinstance(found, str | int) and not isinstance(found, bool)
        return Rejection(
            file=self.name, line=number, unit=self._unit, id=one_line(found) if readable else None,
            field=fault.field, reason=fault.reason,
        )  # fmt: skip


def how_many(samples: Iterable[Sample]) -> int | None:
    """How many there are, None where that is not known without reading them."""
    if isinstance(samples, Samples):
        return samples.counted()
    return len(samples) if isinstance(samples, Sized) else None


class SeenIds(DiskIndex):
    """Which ids were seen, and where: 16 bytes of digest each, so that long ids cost no more than short ones.

    Ids are compared as they are written: two Unicode forms of one name are two ids. Many are kept on disk.
    """

    def line(self, id: str, line: int) -> int:
        """The line where this id was seen first; this line, if it was not seen before."""
        return self.first(blake2b(id.encode(), digest_size=16).digest(), line)
