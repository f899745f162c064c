"""People's judgements in a file of their own: `judgegraph view` writes it, `judgegraph meta --labels` reads it."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runs.item import Item
from judgegraph.runs.run import Run

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
