"""People's judgements and metrics from any table: CSV, TSV, JSON, JSON Lines or Parquet."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

from judgegraph.data.load import READERS, format_of
from judgegraph.data.samples import ABSENT, Fault, plain, value_at
from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.meta.answers import listed, notes, refuse_other
from judgegraph.meta.cells import (
    SWAPPED,
    Answer,
    Columns,
    Judgements,
    Kind,
    answer,
    empty,
    is_given,
    kind_of,
    known_labels,
    refuse_unknown,
    verdict_words,
    word,
)
from judgegraph.types import Verdict

# What stands in a table or a run, before it is known to be numbers, labels or verdicts.


UNSAID = math.nan  # an annotator's place that is empty


@dataclass
class Raw:
    """One criterion, cell by cell; all lists are of equal length.

    Attributes:
        source: what messages begin with. places: where each item stands, for messages.
        human: per item one cell per annotator. statuses: of metrics whose cells do not tell why they are empty.
    """

    criterion: str
    source: str
    places: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    human: list[list[Any]] = field(default_factory=list)
    metrics: dict[str, list[Any]] = field(default_factory=dict)
    exchanged: dict[str, list[Any]] = field(default_factory=dict)
    statuses: dict[str, list[str]] = field(default_factory=dict)
    groups: list[str] | None = None
    systems: list[str] | None = None

    def judgements(
        self, kind: Kind | None = None, verdicts: Mapping[str, Verdict] | None = None, order: Sequence[str] = (),
        swap_back: bool = False,
    ) -> Judgements:  # fmt: skip
        """As answers.

        Raises:
            DataError: a judgement of people that cannot be read, with its place.
            ConfigError: it cannot be told what the answers are.
        """
        where = f"{self.source}, {one_line(self.criterion, 60)}" if self.criterion else self.source
        given = verdicts or {}
        found = kind or self._kind(bool(given), bool(order), where)
        words = self._words(found, given, order, where)

        def read(cell: Any) -> Answer | None:
            found_answer = answer(cell, found, words)
            return None if order and found == "label" and found_answer not in words.values() else found_answer

        human = tuple(self._human(found, read, words))
        metrics = {name: tuple(map(read, cells)) for name, cells in self.metrics.items()}
        for name, answers in metrics.items():
            refuse_other(name, self.metrics[name], answers, found, words, self.places, where)
        exchanged = {name: tuple(map(read, cells)) for name, cells in self.exchanged.items()}
        if swap_back:
            exchanged = {m: tuple(a and SWAPPED.get(a, a) for a in answers) for m, answers in exchanged.items()}
        statuses = {name: self._statuses(name, answers, words) for name, answers in metrics.items()}
        return Judgements(
            criterion=self.criterion, kind=found, ids=tuple(self.ids), human=human, metrics=metrics,
            exchanged=exchanged, statuses=statuses, groups=None if self.groups is None else tuple(self.groups),
            systems=None if self.systems is None else tuple(self.systems),
            label_order=tuple(map(str, words.values())) if order else (), notes=self._notes(found, order, words),
        )  # fmt: skip

    def _kind(self, verdicts: bool, order: bool, where: str) -> Kind:
        if verdicts or self.exchanged:
            return "verdict"
        return "label" if order else self.kind_of_people(where)

    def kind_of_people(self, where: str, *, of_run: bool = False) -> Kind:
        """What people's cells are, by how they are written; ConfigError where that cannot be told."""
        cells = ((cell, place) for place, cells in zip(self.places, self.human, strict=True) for cell in cells)
        return kind_of(cells, where, of_run=of_run)

    def _people(self) -> Iterator[Any]:
        return (cell for cells in self.human for cell in cells)

    def _words(
        self, kind: Kind, given: Mapping[str, Verdict], order: Sequence[str], where: str
    ) -> dict[str, Answer]:  # fmt: skip
        if order and kind != "label":
            raise ConfigError(f"{where}: an order is of labels, and these are {kind}s")
        if kind == "verdict":
            read = [cell for cells in (*self.metrics.values(), *self.exchanged.values()) for cell in cells]
            return verdict_words(given, [*self._people(), *read], where)
        if kind == "label":
            return known_labels(order, self._people())
        if given:
            raise ConfigError(f"{where}: words are of verdicts, and these are numbers")
        return {}

    def _human(
        self, kind: Kind, read: Callable[[Any], Answer | None], words: Mapping[str, Answer]
    ) -> Iterator[tuple[Answer, ...]]:  # fmt: skip
        for place, cells in zip(self.places, self.human, strict=True):
            found = [read(cell) if is_given(cell, words) else UNSAID for cell in cells]
            if None in found:
                cell = one_line(cells[found.index(None)], 40)
                known = {"number": "a number", "label": listed(words)}.get(kind)
                wanted = known or "A, B, tie or the like (--verdicts A=WORD, or B=WORD, tie=WORD, says more words)"
                raise DataError(f"{place}: people's judgement '{cell}' cannot be read; expected {wanted}")
            judged = any(value is not UNSAID for value in found)
            yield tuple(value for value in found if value is not None) if judged else ()

    def _notes(self, kind: Kind, order: Sequence[str], words: Mapping[str, Answer]) -> tuple[str, ...]:
        if kind == "verdict":
            return self._as_verdicts(words)
        if kind != "label":
            return ()
        return tuple(notes(self.criterion, self.human, {} if order else self.metrics, words))

    def _as_verdicts(self, words: Mapping[str, Answer]) -> tuple[str, ...]:
        """Which words were read as which verdict, where they do not say it themselves."""
        met: Counter[str] = Counter()  # how often people wrote a word, or the first metric that did
        for cells in ([*self._people()], *self.metrics.values()):
            given = Counter(word(cell) for cell in cells if is_given(cell, words) and not isinstance(cell, list | dict))
            met |= Counter({said: count for said, count in given.items() if said not in met})
        shown = [
            f"'{one_line(said, 30)}' as {words[said.casefold()]} ({count:,})"
            for said, count in met.most_common()
            if said.casefold() in words and said.casefold() != str(words[said.casefold()]).casefold()
        ]
        of = f"{one_line(self.criterion, 60)}: " if self.criterion else ""
        return (f"{of}verdicts were read so: {', '.join(shown[:8])}",) if shown else ()

    def _statuses(
        self, name: str, answers: Sequence[Answer | None], words: Mapping[str, Answer]
    ) -> tuple[str, ...]:  # fmt: skip
        given = self.statuses.get(name) or [""] * len(answers)
        return tuple(
            "ok"
            if a is not None
            else status
            if status not in ("", "ok")
            else "unreadable"
            if is_given(cell, words)
            else "missing"
            for a, status, cell in zip(answers, given, self.metrics[name], strict=True)
        )


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
    chosen = chosen.spelt(known).completed(known, file)
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
        cells = {name: value_at(row, name) for name in columns.named}
        here = {name for name, cell in cells.items() if cell is not ABSENT}
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
    return None if cells[name] is ABSENT else _plain(_written(cells[name]), name, place)


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
    plain = None if isinstance(cell, bool | float | list | dict) else _plain(cell, name, place)
    if not isinstance(plain, str | int):
        raise DataError(f"{where}: expected text or a whole number, got {type(cell).__name__}")
    return str(plain).strip()
