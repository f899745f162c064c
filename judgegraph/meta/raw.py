"""What stands in a table or a run, before it is known to be numbers, labels or verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.meta.cells import SWAPPED, answer, kind_of, known_labels, said, verdict_words
from judgegraph.meta.judgements import Answer, Judgements, Kind
from judgegraph.meta.vocabulary import listed, notes, refuse_other
from judgegraph.types import Verdict

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
            said = answer(cell, found, words)
            return None if order and found == "label" and said not in words.values() else said

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
            found = [read(cell) if said(cell, words) else UNSAID for cell in cells]
            if None in found:
                cell = one_line(cells[found.index(None)], 40)
                known = {"number": "a number", "label": listed(words)}.get(kind)
                wanted = known or "A, B, tie or the like (--verdicts A=WORD, or B=WORD, tie=WORD, says more words)"
                raise DataError(f"{place}: people's judgement '{cell}' cannot be read; expected {wanted}")
            judged = any(value is not UNSAID for value in found)
            yield tuple(value for value in found if value is not None) if judged else ()

    def _notes(self, kind: Kind, order: Sequence[str], words: Mapping[str, Answer]) -> tuple[str, ...]:
        if kind != "label":
            return ()
        return tuple(notes(self.criterion, self.human, {} if order else self.metrics, words))

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
            if said(cell, words)
            else "missing"
            for a, status, cell in zip(answers, given, self.metrics[name], strict=True)
        )
