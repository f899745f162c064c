"""People's judgements in a file of their own: `judgegraph view` writes it, `judgegraph meta --labels` reads it."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from judgegraph.answers import answers_of
from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run
from judgegraph.types import Scale

Given = float | str


@dataclass
class Labels:
    """The file: a line for each time a sample was marked, `{"id": ..., "human": {criterion: value}}`; the last counts.

    A value of null takes back what was given.
    """

    path: Path
    given: dict[str, dict[str, Given]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Labels:
        """What a file holds; nothing where there is none yet.

        Raises:
            DataError: it cannot be read, or a line is no such object; the message says which.
        """
        found = cls(Path(path))
        try:
            text = found.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return found
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: {error}") from None
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                found._take(*_entry(line, f"{path}, line {number}"))
        return found

    def _take(self, id: str, human: Mapping[str, Given | None]) -> None:
        own = self.given.setdefault(id, {})
        for criterion, value in human.items():
            if value is None:
                own.pop(criterion, None)
            else:
                own[criterion] = value

    def add(self, id: str, human: Mapping[str, Given | None]) -> None:
        """Append what was given for a sample.

        Raises:
            ConfigError: the file cannot be written.
        """
        line = json.dumps({"id": id, "human": dict(human)}, ensure_ascii=False)
        with self._lock:
            try:
                handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)  # as all files of a run
                with os.fdopen(handle, "a", encoding="utf-8") as file:
                    file.write(f"{line}\n")
            except OSError as error:
                raise ConfigError(f"{self.path}: {error.strerror or error}") from None
            self._take(id, human)


def _entry(line: str, where: str) -> tuple[str, dict[str, Given | None]]:
    wanted = f'{where}: expected {{"id": "...", "human": {{"criterion": value}}}}'
    try:
        found = json.loads(line)
        name, human = found["id"], found["human"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DataError(f"{wanted}, got {one_line(line, 80)}") from None
    if not isinstance(name, str) or not isinstance(human, dict):
        raise DataError(f"{wanted}, got {one_line(line, 80)}")
    for criterion, value in human.items():
        if value is not None and not _sound(value):
            raise DataError(f"{where}: the value of {one_line(criterion, 60)!r} is no number and no text")
    return name, human


def _sound(value: Any) -> bool:
    """Whether it is a finite number or a text."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return isinstance(value, str)
    return math.isfinite(value)


LOOKED_AT = 2_000  # samples in which people's scale is looked for


@dataclass(frozen=True)
class OwnScale:
    """People's judgements by a criterion that they did not judge on its scale: the scale, their least and greatest."""

    scale: Scale
    low: float
    high: float


def of_another_scale(items: Iterable[Item]) -> dict[str, OwnScale]:
    """Criterion -> people's own scale, of the criteria that most of them judged on another than the judge's."""
    scales: dict[str, Scale] = {}
    people: dict[str, list[float]] = {}
    for item in islice(items, LOOKED_AT):
        for score in answers_of(item):
            if score.scale is not None and score.scale.low is not None:
                scales.setdefault(score.criterion, score.scale)
        for criterion, given in item.sample.human.items():
            values = given if isinstance(given, list | tuple) else [given]
            people.setdefault(criterion, []).extend(v for v in values if isinstance(v, int | float))
    off = {name: sum(not _within(v, scales[name]) for v in values) for name, values in people.items() if name in scales}
    return {
        name: OwnScale(scales[name], min(people[name]), max(people[name]))
        for name, count in off.items() if count * 2 > len(people[name])
    }  # fmt: skip


def _within(value: float, scale: Scale) -> bool:
    """Whether it lies between the ends of a numeric scale; means of several people lie between its points."""
    return scale.low is None or scale.high is None or scale.low <= value <= scale.high


@dataclass(frozen=True)
class LabelledRun(Run):
    """A run whose samples have the judgements of a labels file; where the data had one too, that of the file counts.

    Attributes:
        labels: id -> criterion -> value. unknown: how many of these ids are of no sample of the run.
    """

    labels: Mapping[str, Mapping[str, Given]] = field(default_factory=dict)
    unknown: int = 0

    @classmethod
    def of(cls, run: Run, labels: Labels) -> LabelledRun:
        """Of a run and what was marked.

        Raises:
            DataError: no label is of a sample of the run.
        """
        given = {id: human for id, human in labels.given.items() if human}
        unknown = given.keys() - {item.id for item in run.items}
        if given and len(unknown) == len(given):
            raise DataError(f"{labels.path}: no label is of a sample of {run.folder.path if run.folder else 'the run'}")
        for criterion, people in (of_another_scale(run.items) if given else {}).items():
            marks = [human[criterion] for human in given.values() if criterion in human]
            if marks and all(isinstance(mark, str) or _within(mark, people.scale) for mark in marks):
                raise DataError(
                    f"{labels.path}: {one_line(criterion, 60)} is marked on {people.scale}, and the data's judgements "
                    f"of it go from {people.low:g} to {people.high:g}: two scales in one criterion. Mark it on theirs, "
                    "or take theirs out of the data"
                )
        return cls(run.manifest, run.held, run.folder, given, len(unknown))

    @property
    def items(self) -> Iterator[Item]:
        """The finished samples, in the order of finishing."""
        return map(self._labelled, super().items)

    def _in_order(self) -> Iterator[Item]:
        return map(self._labelled, super()._in_order())

    def _labelled(self, item: Item) -> Item:
        given: Any = self.labels.get(item.id)
        if not given:
            return item
        sample = item.sample.model_copy(update={"human": {**item.sample.human, **given}})
        return item.model_copy(update={"sample": sample})
