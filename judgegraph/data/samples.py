"""Samples: rows read as they are asked for, checked one by one, and the rows that are none."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sized
from contextlib import closing
from copy import copy
from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal
from hashlib import blake2b, file_digest
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self, TypeAlias, overload

from judgegraph.errors import ConfigError, DataError, ValueRefused, one_line
from judgegraph.evidence import image_problem
from judgegraph.types import Note, Sample, Value, meant, misspelt, sample_of, text_of, words

# From a row of a data file to a sample, or the field and the reason why not.


# What may stand in a row: values that strict JSON can write. Anything else is a fault, named by its field.


MOST_NESTED = 100  # levels of JSON in a row; what walks a value later can rely on it
Rows: TypeAlias = Generator[tuple[int, "dict[str, Any] | Fault"]]  # where a row starts, what stands there


class Fault(Exception):
    """Why a row is no sample: the field it lies in ("" for the whole row), and the reason in one line.

    Attributes:
        lost: about how many rows behind it could not be read for it; None where nobody knows.
    """

    def __init__(self, field: str, reason: str, lost: int | None = 0) -> None:
        super().__init__(reason)
        self.field, self.reason, self.lost = field, reason, lost


def plain(value: Any, field: str) -> Any:
    """A value as strict JSON can write it: dates as text, decimals as numbers.

    Raises:
        Fault: nested too deeply, no finite number, a lone surrogate, or nothing JSON has; its field is the path.
    """
    try:
        return _plain(value, 1)
    except Fault as fault:
        raise Fault(one_line(_path(field, fault.field), 80), fault.reason) from None


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Mapping | list | tuple):
        if depth > MOST_NESTED:
            raise Fault("", f"is nested deeper than {MOST_NESTED} levels")
        return _object(value, depth) if isinstance(value, Mapping) else _list(value, depth)
    if isinstance(value, float | Decimal):
        if not math.isfinite(value):
            raise Fault("", f"{value} is no number that JSON has; leave the value out, or write null")
        return float(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Fault):
        raise value
    raise Fault("", f"expected text, a number or JSON, got {type(value).__name__}")


def _object(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    found = {}
    for key, item in value.items():
        name = _text(str(key))
        try:
            found[name] = _plain(item, depth + 1)
        except Fault as fault:
            raise Fault(_path(name, fault.field), fault.reason) from None
    return found


def _list(value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
    found: list[Any] = []
    for item in value:
        try:
            found.append(_plain(item, depth + 1))
        except Fault as fault:
            raise Fault(_path(f"[{len(found)}]", fault.field), fault.reason) from None
    return found


def _path(outer: str, inner: str) -> str:
    return outer + ("." if inner and not inner.startswith("[") else "") + inner


def _text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            code = ord(text[error.start])
            if 0xDC80 <= code <= 0xDCFF:  # how a byte that is no UTF-8 was read
                raise Fault("", "is not UTF-8; save the file as UTF-8") from None
            raise Fault("", f"holds a lone surrogate (\\u{code:04x}), which is no character") from None
    return text


def kind_of(value: Any) -> str:
    """What a value is, in the words of JSON."""
    if isinstance(value, list):
        return "a list with something else in it" if value else "an empty list"
    if isinstance(value, str):
        return "text" if value else "empty text"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return "an object" if isinstance(value, Mapping) else "a number"


_MATERIAL = "text, a JSON object or a list of objects"
_EXPECTED = {
    "id": "text of one character or more", "query": "text", "source": _MATERIAL, "output": _MATERIAL,
    "rival": _MATERIAL, "reference": f"{_MATERIAL}, or a list of texts", "references": "a list of texts or objects",
    "contexts": "passages: texts, or objects with a text and an id",
    "turns": "a list of messages with role and content", "images": "paths, addresses, data or content parts of images",
    "facts": "an object, a list or a text", "human": "an object of numbers, labels or lists of them",
}  # fmt: skip


# Which column a name is meant for: the one of that name, or the only one that differs by white space around it.


ABSENT = object()


def spelt(name: str, columns: Collection[str]) -> str:
    """A column's name as its file has it; a name that may be none or several of the columns stays as it is."""
    if name in columns:
        return name
    alike = [column for column in columns if column.strip() == name.strip()]
    return alike[0] if len(alike) == 1 else name


def value_at(row: Mapping[str, Any], name: str) -> Any:
    """What a row has in a column ("a.b" is b in the object a), ABSENT where it has none."""
    value: Any = row
    for step in [name] if (name := spelt(name, row)) in row else name.split("."):
        if not isinstance(value, Mapping) or (key := spelt(step, value)) not in value:
            return ABSENT
        value = value[key]
    return value


OWN_TEXTS = ("query", "source", "id")


def grouping_value(sample: Sample, key: str) -> Any:
    """What a sample has under a key of its meta ("a.b" is b in the object a, "meta.a" is a), else its own query,
    source or id of that name: a question's column that was read as `query` still groups. ABSENT where there is none.
    """
    value = value_at(sample.meta, key)
    if value is ABSENT:
        value = value_at(sample.meta, key.removeprefix("meta."))
    if value is ABSENT and key in OWN_TEXTS and (own := getattr(sample, key)):
        return own if isinstance(own, str) else text_of(own)
    return value


def column_list(columns: Iterable[str], most: int) -> str:
    """Names of columns in a line; one with white space around it stands in quotes."""
    return one_line(", ".join(name if name == name.strip() else f"'{name}'" for name in columns), most)


NAMES: Mapping[str, tuple[str, ...]] = {  # field -> what other collections call it, the likeliest first
    "output": ("output", "response", "answer", "completion", "prediction", "generated", "generation", "hypothesis",
               "candidate", "summary", "modeloutput", "modelresponse", "systemoutput", "reply", "translation"),
    "query": ("query", "question", "prompt", "instruction", "request", "userprompt", "input", "task", "userinput"),
    "source": ("source", "document", "article", "context", "passage", "dialogue", "transcript", "retrievedcontext",
               "contexts", "sourcetext", "story", "text"),
    "reference": ("reference", "gold", "groundtruth", "expected", "target", "expectedoutput", "ideal", "goldanswer",
                  "referenceanswer", "highlights"),
    "id": ("id", "uid", "sampleid", "itemid", "exampleid", "docid", "key", "name"),
}  # fmt: skip


def likely_column(field: str, columns: Iterable[str]) -> str:
    """The column that another collection's name for a field is, "" for none."""
    folded = {re.sub(r"[\W_]", "", column).casefold(): column for column in columns}
    return next((folded[name] for name in NAMES.get(field, ()) if name in folded), "")


@dataclass(frozen=True)
class RowReader:
    """Makes samples of rows.

    Attributes:
        fields: a sample's field, or "human.NAME" -> the column that holds it, in dots for nested JSON.
        cells: all values are texts (CSV): an empty rival, reference or human judgement is none, and a
            human judgement that reads as a number is one.
        folder: of the file, where paths of images are looked for first.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    cells: bool = False
    folder: Path | None = None

    def sample(self, row: Mapping[str, Any], spare_id: str) -> Sample:
        """The sample in a row; `spare_id` is its id where the row has no column for one.

        Raises:
            Fault: the row is no sample.
        """
        row = {key: plain(value, key) for key, value in row.items()}
        known, rest = self._sorted(row)
        known.setdefault("id", spare_id)
        if isinstance(known["id"], int) and not isinstance(known["id"], bool):
            known["id"] = str(known["id"])
        if "output" not in known:
            columns = column_list(row, 120) or "nothing"
            near = likely_column("output", row) or next((key for key in row if meant(key) == "output"), "")
            name = f"perhaps it is '{near}': -f output={near}, fields={{'output': '{near}'}}" if near else (
                "if it goes by another name, map it: fields={'output': COLUMN}, or -f output=COLUMN"
            )  # fmt: skip
            raise Fault("output", f"missing; expected {_MATERIAL}; the row has {columns}; {name}")
        try:
            sample = Sample(**known, meta=rest)
        except ValueRefused as error:
            raise _fault(error) from None
        return _with_images_found(sample, self.folder) if sample.images else sample

    def misspelt(self, sample: Sample) -> dict[str, str]:
        """Key of a sample's `meta` -> the field that it may have been meant for, of fields that the row lacks."""
        return {key: near for key, near in misspelt(sample).items() if key not in self.fields.values()}

    def _sorted(self, row: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What belongs to a sample's own fields, and the rest, which is its meta; `meta.NAME` is NAME there."""
        picked = {name: self._pick(row, name, column) for name, column in self.fields.items()}
        taken = {spelt(column, row) for column in self.fields.values()}
        rest = {key: value for key, value in row.items() if key not in taken}
        for key in list(rest):
            if (key in _EXPECTED or key.startswith("human.")) and key not in self.fields:
                picked[key] = rest.pop(key)
        meta = rest.pop("meta", None)
        dotted = {key: rest.pop(key) for key in list(rest) if key.startswith("meta.") and key != "meta."}
        if isinstance(meta, Mapping):
            rest = {**meta, **rest}
        elif meta is not None:
            rest["meta"] = meta
        for key, value in dotted.items():
            name = key.removeprefix("meta.")
            if name in rest:
                raise Fault(key, f"given twice: '{one_line(name, 60)}' is there too; leave one of them out")
            rest[name] = value
        known = {key: value for key, value in picked.items() if key in _EXPECTED}
        if self.cells:
            known = {
                k: v for k, v in known.items() if v != "" or k not in ("rival", "reference", "references", "human")
            }
            if isinstance(several := known.get("references"), str) and several.lstrip().startswith("["):
                known["references"] = _list_of(several)
        human = self._human(known.get("human"), picked)
        return (known if human is None else {**known, "human": human}), rest

    def _pick(self, row: Mapping[str, Any], name: str, column: str) -> Any:
        value = value_at(row, column)
        if value is ABSENT:
            raise Fault(name, f"the row has no column '{one_line(column, 60)}'; it has {column_list(row, 120)}")
        return value

    def _human(self, whole: Any, picked: Mapping[str, Any]) -> Any:
        """People's judgements of the `human` column and of the dotted ones together; empty ones are none."""
        if self.cells and isinstance(whole, str):
            try:
                whole = json.loads(whole)
            except ValueError:
                raise Fault("human", "expected a JSON object; or one column per criterion: human.NAME") from None
        dotted = {k.removeprefix("human."): v for k, v in picked.items() if k.startswith("human.")}
        if not isinstance(whole, Mapping | None):
            return whole
        twice = sorted(set(whole or {}) & set(dotted))
        if twice:
            raise Fault(f"human.{twice[0]}", "given twice, in 'human' and in a column of its own")
        both = {**(whole or {}), **dotted}
        if self.cells:
            both = {name: _number_or_label(value, name) for name, value in both.items()}
        return {name: value for name, value in both.items() if value is not None}


def _list_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise Fault("references", "expected a JSON list of texts") from None


def _with_images_found(sample: Sample, folder: Path | None) -> Sample:
    """With the paths of its images found: beside the data file, or where the command runs.

    Raises:
        Fault: there is no such file, or it is no image.
    """
    images = []
    for at, image in enumerate(sample.images):
        beside = folder / image.path if folder is not None and image.path else None
        found = image.model_copy(update={"path": str(beside)}) if beside is not None and beside.is_file() else image
        if found.path and (problem := image_problem(found.path)):
            raise Fault(f"images[{at}]", problem)
        images.append(found)
    return sample.model_copy(update={"images": tuple(images)})


def _number_or_label(cell: Any, name: str) -> Any:
    if not isinstance(cell, str):
        return cell
    if not cell.strip():
        return None
    try:
        return plain(float(cell), f"human.{name}")
    except ValueError:
        return cell


def _fault(error: ValueRefused) -> Fault:
    """What pydantic found, in the words of a data file."""
    first = error.errors(include_url=False)[0]
    where = first["loc"] or ("",)
    name = str(where[0])
    shown = ".".join(str(part) for part in where[: 2 if name == "human" else 1])
    if name in ("contexts", "turns", "images", "facts", "references"):
        what, place = str(first["msg"]).removeprefix("Value error, "), ".".join(map(str, where))
        return Fault(one_line(place, 80), f"expected {_EXPECTED[name]}: {one_line(what, 200)}")
    expected = "a number, a label, or a list of them" if shown != name else _EXPECTED.get(name, "JSON")
    cure = "; judgements by one criterion: -f human.CRITERION=human" if shown == "human" else ""
    return Fault(one_line(shown), f"expected {expected}, got {kind_of(first['input'])}{cure}")


# Texts in cells of CSV files, marked so that no spreadsheet takes one for a formula, and read back as they were.
#
# A mark is one single quote. It stands before a cell that a spreadsheet may start to calculate: one that begins with
# = + - @, with these in full width, or with a tab, an end of a line or a NUL, also behind white space, invisible
# characters and quotes. Where lists are separated by semicolons or tabs, a spreadsheet cuts our cells anew at those and
# at ends of lines, so a mark stands there too before what would be a formula. Every text has one marked form, and no
# two
# texts have the same: what begins like a marked text gets a mark more.


COLUMNS = (
    "id", "criterion", "agent", "stage", "repeat", "of", "value", "label", "status", "reader", "unseen", "reason",
    "role",
)  # fmt: skip
PAIR_COLUMNS = ("id", "criterion", "agent", "order", "verdict", "score_a", "score_b", "status", "reason")
FORMULA = r"=+\-@\uff1d\uff0b\uff0d\uff20"
CUT = r";\t\r\n"  # where a cell begins that we did not begin
SKIPPED = r"(?:(?![\t\r\n])[\s\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2060\ufeff\"'])*"
_BEGINS = rf"(?={SKIPPED}[{FORMULA}\t\r\n\0])"
_GOES_ON = rf"(?={SKIPPED}[{FORMULA}])"
_UNMARKED = re.compile(rf"\A{_BEGINS}|(?<=[{CUT}]){_GOES_ON}")
_MARKED = re.compile(rf"\A'{_BEGINS}|(?<=[{CUT}])'{_GOES_ON}")


def marked(text: str) -> str:
    """A text as it may stand in a cell."""
    return _UNMARKED.sub("'", text)


def unmarked(cell: str) -> str:
    """The text that `marked` gave this cell for."""
    return _MARKED.sub("", cell)


# Numbers by a digest: a few in memory, many in a temporary file of SQLite's own.


IN_MEMORY = 10_000  # keys; more of them go to disk
_TABLE = "CREATE TABLE numbers (key BLOB PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID"


class DiskIndex:
    """Key (16 bytes) -> a whole number; memory stays flat however many there are. Its file goes when it is closed.

    Raises:
        ConfigError: from all methods: the temporary file cannot be written.
    """

    def __init__(self) -> None:
        self._few: dict[bytes, int] | None = {}
        self._db: sqlite3.Connection | None = None

    def first(self, key: bytes, value: int) -> int:
        """The number that the key was given first; this one, if it had none."""
        if self._few is not None:
            found = self._few.setdefault(key, value)
            if len(self._few) > IN_MEMORY:
                self._move()
            return found
        if self._run("INSERT OR IGNORE INTO numbers VALUES (?, ?)", key, value).rowcount:
            return value
        return int(self._run("SELECT value FROM numbers WHERE key = ?", key).fetchone()[0])

    def put(self, key: bytes, value: int) -> None:
        """The key's number from now on."""
        if self._few is None:
            self._run("INSERT OR REPLACE INTO numbers VALUES (?, ?)", key, value)
            return
        self._few[key] = value
        if len(self._few) > IN_MEMORY:
            self._move()

    def get(self, key: bytes) -> int | None:
        """The key's number, None if it has none."""
        if self._few is not None:
            return self._few.get(key)
        found = self._run("SELECT value FROM numbers WHERE key = ?", key).fetchone()
        return None if found is None else int(found[0])

    def close(self) -> None:
        """Forget all."""
        self._few = {}
        if self._db is not None:
            self._db.close()
            self._db = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _move(self) -> None:
        rows, self._few = self._few or {}, None
        self._db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -256"):
            self._run(f"PRAGMA {setting}")
        self._run(_TABLE)
        self._run("BEGIN")  # never committed: nobody else reads it
        for row in rows.items():
            self._run("INSERT INTO numbers VALUES (?, ?)", *row)

    def _run(self, statement: str, *values: bytes | int) -> sqlite3.Cursor:
        assert self._db is not None
        try:
            return self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise ConfigError(
                f"cannot write the temporary index of ids: {error}; free space in the temporary folder"
            ) from None


MOST_MISSPELT = 20  # columns that are told
Unit: TypeAlias = Literal["line", "row"]


class Rejection(Value):
    """A row that is no sample, and why.

    Attributes:
        file: its name as it was given.
        line: where the row starts, from 1; in a JSON list or in Parquet the row's number (`unit` says which).
        id: the row's id, None where it could not be read.
        field: where the mistake lies, in dots where it is nested; "" for the whole row.
        reason: one printable line: what was expected, what is there.
        lost: about how many rows behind it could not be read for it; None where nobody knows.
    """

    file: str
    line: int
    unit: Unit = "line"
    id: str | None = None
    field: str = ""
    reason: str
    lost: int | None = 0

    def __str__(self) -> str:
        parts = [self.file, f"{self.unit} {self.line}"]
        parts += [f"id '{one_line(self.id, 60)}'"] if self.id is not None else []
        parts += [f"field {self.field}"] if self.field else []
        return f"{', '.join(parts)}: {self.reason}"


class Misspelt(Value):
    """A column that no sample has, nearly spelt as one that a sample has; it went to `meta`.

    Attributes:
        key: as it stands there. meant: the field. line: where it stood first (`unit` as of `Rejection`). rows: with it.
    """

    key: str
    meant: str
    line: int
    unit: Unit = "line"
    rows: int = 1

    def __str__(self) -> str:
        more = f" and {self.rows - 1:,} more" if self.rows > 1 else ""
        where = f"{self.unit} {self.line}{more}"
        return (
            f"'{one_line(self.key, 60)}' ({where}) is no field of a sample and is left in meta: "
            f"did you mean '{one_line(self.meant, 60)}'?"
        )


def unread(rejected: Iterable[Rejection]) -> int:
    """How many rows of a file are no samples, as far as that is known: those rejected, and those they hid."""
    return sum(1 + (row.lost or 0) for row in rejected)


def not_to_its_end(rejected: Iterable[Rejection]) -> Rejection | None:
    """Where reading ended before the end of the file, and nobody knows how many rows are left."""
    return next((row for row in rejected if row.lost is None), None)


class Samples:
    """The samples of a file; each iteration reads it anew, and holds no more than a few rows at a time.

    `samples[0]` and `samples[:5]` read no further than they must. There is no `len`: `count` reads the file.

    Attributes:
        name: of the file, as it was given.
        strict: a bad row raises; else it is left out and listed in `rejected`.
        rejected: the rows that the latest iteration left out so far.
        misspelt: columns that it met and that are nearly spelt as a sample's fields.
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
        self.misspelt: dict[str, Misspelt] = {}
        self.counted: Callable[[], int | None] = lambda: None
        self._rows, self._reader, self._unit, self._limit = rows, reader, unit, limit

    def __iter__(self) -> Iterator[Sample]:
        self.rejected, self.misspelt = [], {}
        return self._samples(self.rejected, self.misspelt)

    @overload
    def __getitem__(self, which: int) -> Sample: ...
    @overload
    def __getitem__(self, which: slice) -> list[Sample]: ...
    def __getitem__(self, which: int | slice) -> Sample | list[Sample]:
        """A sample by its place from 0, or a list of them; they are counted from the start only."""
        with closing(self._samples([], {})) as samples:
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
        found.misspelt = {}
        return found

    def first(self, most: int) -> Generator[tuple[int, str, Sample]]:
        """Of its first rows each one's number, unit and sample, bad rows left out; sets `misspelt` on the way."""
        look = copy(self)
        look._limit, look.strict = most if self._limit is None else min(most, self._limit), False
        self.misspelt = {}
        try:
            for number, sample in look._read([], self.misspelt):
                yield number, self._unit, sample
        except DataError:
            return  # whoever reads it to its end says so

    def __repr__(self) -> str:
        return f"Samples({self.name!r}, strict={self.strict})"

    def _samples(self, rejected: list[Rejection], misspelt: dict[str, Misspelt]) -> Generator[Sample]:
        with closing(self._read(rejected, misspelt)) as rows:
            for _, sample in rows:
                yield sample

    def _read(
        self, rejected: list[Rejection], misspelt: dict[str, Misspelt]
    ) -> Generator[tuple[int, Sample]]:  # fmt: skip
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
                for key, near in self._reader.misspelt(sample).items():
                    self._misspelt(misspelt, key, near, number)
                yield number, sample
                if good == self._limit:
                    return
        if not number:
            raise DataError(f"{self.name}: holds no rows; expected one sample per row")

    def _misspelt(self, found: dict[str, Misspelt], key: str, near: str, number: int) -> None:
        known = found.get(key)
        if known is not None:
            found[key] = known.model_copy(update={"rows": known.rows + 1})
        elif len(found) < MOST_MISSPELT:
            found[key] = Misspelt(key=key, meant=near, line=number, unit=self._unit)

    def _sample(self, number: int, row: dict[str, Any] | Fault, seen: SeenIds) -> Sample:
        if isinstance(row, Fault):
            raise row
        sample = self._reader.sample(row, f"{self._unit}-{number}")
        first = seen.line(sample.id, number)
        if first != number:
            raise Fault("id", f"is the id of {self._unit} {first} too; ids must be unique")
        return sample

    def _rejection(self, number: int, row: dict[str, Any] | Fault, fault: Fault) -> Rejection:
        found = value_at(row, self._reader.fields.get("id", "id")) if isinstance(row, Mapping) else None
        readable = isinstance(found, str | int) and not isinstance(found, bool)
        return Rejection(
            file=self.name, line=number, unit=self._unit, id=one_line(found) if readable else None,
            field=fault.field, reason=fault.reason, lost=fault.lost,
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


def checked(samples: Iterable[Sample | Mapping[str, Any]]) -> Generator[Sample]:
    """The samples, if that is what they are; the first one is read at once, so that a wrong one is told at once.

    Raises:
        DataError: something else stands among them, or an id comes twice; a file's ids were checked as it was read.
    """
    rest = _checked(samples)
    return _begun(list(islice(rest, 1)), rest)


def _begun(first: list[Sample], rest: Generator[Sample]) -> Generator[Sample]:
    with closing(rest):
        yield from first
        yield from rest


def _checked(samples: Iterable[Sample | Mapping[str, Any]]) -> Generator[Sample]:
    with SeenIds() as seen:
        for number, sample in enumerate(samples, 1):
            if isinstance(sample, Mapping):
                sample = _of_mapping(number, sample)
            if not isinstance(sample, Sample):
                raise DataError(
                    f"samples hold a {type(sample).__name__} where a Sample should be; a data file is read by "
                    "judgegraph.load(PATH), one sample is made by Sample(id=..., output=...)"
                )
            if not isinstance(samples, Samples) and (first := seen.line(sample.id, number)) != number:
                raise DataError(
                    f"samples {first} and {number} have the same id '{one_line(sample.id, 80)}'; give each its own"
                )
            yield sample


def _of_mapping(number: int, given: Mapping[str, Any]) -> Sample:
    """A sample that came as a plain mapping of its fields; other keys go to its meta, as those of a file do.

    Raises:
        DataError: it cannot be made one.
    """
    try:
        return sample_of({"sample": given})
    except DataError as error:
        raise DataError(f"sample {number}: {str(error).removeprefix('the state' + chr(39) + 's sample: ')}") from None


def data_of(samples: Any) -> dict[str, Any] | None:
    """What a file of samples is: {"file": its name, "size": bytes, "digest": 16 hex digits, "fields", "format"}.

    None for samples that come from elsewhere. The file is read once, some at a time; its folder does not count.

    Raises:
        DataError: the file cannot be read any more.
    """
    if not isinstance(samples, Samples) or samples.path is None:
        return None
    try:
        with samples.path.open("rb") as file:
            found = file_digest(file, lambda: blake2b(digest_size=8)).hexdigest()
            size = file.tell()
    except OSError as error:
        raise DataError(f"{samples.name}: {error.strerror}") from None
    about = {"file": one_line(samples.path.name), "size": size, "digest": found}
    return {**about, "fields": dict(samples.fields), "format": samples.format}


# Judged text too thin to earn a score: flagged, since some judges give the best one to a colon.


LEAST = 8  # words; a text of fewer is flagged
UNTRUSTED = ("text-empty", "text-opening")  # kinds of notes on texts of which no score can be trusted
LOOKED_AT = 2000  # characters
HEAD = 300  # of these, which settle it for nearly every text: the rest is not worth its time on every sample
_KEYS = re.compile(  # what opens an answer and is none; Zhao et al. 2025, arXiv:2507.08794, has such a list
    "|".join((
        "thought process",
        r"let['\u2019]?s (?:solve|think)(?: (?:about|through|this|it|the|problem))* step[ -]by[ -]step",
        "(?:final |the )?(?:solution|answer)(?: is)?", "respuesta", "l\u00f6sung", "\u89e3(?:\u7b54|\u8aac)?",
        "\u304b\u3044\u305b\u3064", "\u601d\u8003\u8fc7\u7a0b",
    ))
)  # fmt: skip


_NO_LETTERS = re.compile(r"[\W_]+")
_IN_KEYS = ("thought process", "step", "solution", "answer", "respuesta")  # one of these is in whatever `_KEYS` finds
_TO_SPACES = str.maketrans({sign: " " for sign in map(chr, range(128)) if not sign.isalnum()} | {"'": None})


def short_text_notes(sample: Sample) -> list[Note]:
    """Notes on an output, and on a rival, that has fewer than eight words, none, or nothing but an answer's opening."""
    notes = []
    for side, text in (("output", sample.output), ("rival", sample.rival)):
        why, kind = (
            _why((text if isinstance(text, str) else text_of(text))[:LOOKED_AT]) if text is not None else ("", "")
        )
        if why:
            notes.append(Note(agent="sample", text=f"the {side} {why}", kind=kind))
    return notes


def _why(text: str) -> tuple[str, str]:
    """What is wrong with it and the kind of that, "" for nothing."""
    head = text[:HEAD]
    if _plainly_says_more(head) or (len(_left(head)) > HEAD // 5 and len(words(head)) >= LEAST):
        return "", ""
    if not text.strip():
        return "is empty: no score of it can be trusted", "text-empty"
    if not re.search(r"[^\W_]", text):
        return "has no word, signs alone: no score of it can be trusted", "text-empty"
    if not _left(text):
        return (
            "opens an answer and gives none: no score of it can be trusted, as some judges give it the best",
            "text-opening",
        )
    few = len(words(text)) < LEAST
    return (f"has fewer than {LEAST} words: a good score of it says little" if few else ""), ""


def _plainly_says_more(head: str) -> bool:
    """Whether it is more than an opening that was cut there, found out fast for most English texts."""
    if not (plain := head.casefold()).isascii():
        return False
    for key in _IN_KEYS:
        if key in plain:
            return False
    pieces = plain.translate(_TO_SPACES).split()
    return len(pieces) >= LEAST and len("".join(pieces)) > HEAD // 5


def _left(text: str) -> str:
    """Letters and digits that belong to no opening of an answer."""
    if (plain := text.casefold()).isascii() and not _KEYS.search(plain):
        return _NO_LETTERS.sub("", plain)
    return re.sub(r"[\W_]+", "", _KEYS.sub("", text.casefold()))


# How a sample is known again.


class Mark(NamedTuple):
    """A sample that was started: digests of its id and of its content, its place in the dataset.

    `waiting`: for a model's reply, as far as that is told; its own code was not running then.
    """

    id: bytes
    content: bytes
    place: int
    waiting: bool = False


def id_digest(id: str) -> bytes:
    """16 bytes for an id of any length."""
    return blake2b(id.encode(), digest_size=16).digest()


def mark_of(sample: Sample, place: int) -> Mark:
    """A sample by its digests.

    Raises:
        DataError: its `meta` holds what JSON cannot hold.
    """
    try:
        content = blake2b(sample.model_dump_json().encode(), digest_size=8).digest()
    except ValueError as error:
        raise DataError(f"sample '{one_line(sample.id, 80)}' cannot be written as JSON: {one_line(error)}") from None
    return Mark(id_digest(sample.id), content, place)
