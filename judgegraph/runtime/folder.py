"""A run's folder: manifest.json, items.jsonl, rejected.json."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from judgegraph.errors import ConfigError, DataError
from judgegraph.runtime.item import Item

MANIFEST, ITEMS, REJECTED = "manifest.json", "items.jsonl", "rejected.json"


class Folder:
    """Where a run writes; files are readable by their owner alone."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._items: IO[str] | None = None

    def open(self) -> None:
        """Make the folder and start its items.

        Raises:
            ConfigError: it holds a run already, or cannot be written.
        """
        if (self.path / ITEMS).exists():
            raise ConfigError(f"{self.path} holds a run already; choose another --out or remove it")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._items = _private(self.path / ITEMS)
        except OSError as error:
            raise ConfigError(f"cannot write {self.path}: {error.strerror}") from None

    def add(self, item: Item) -> None:
        """One finished sample, flushed so that a killed run keeps it."""
        if self._items is not None:
            self._items.write(item.line() + "\n")
            self._items.flush()

    def close(self) -> None:
        """No more items."""
        if self._items is not None:
            self._items.close()
            self._items = None

    def write(self, name: str, data: Any) -> None:
        """A whole file at once: the old one or the new one, never half of it."""
        new = self.path / f".{name}.new"
        with _private(new) as file:
            json.dump(data, file, indent=1, ensure_ascii=False, allow_nan=False)
            file.write("\n")
        new.replace(self.path / name)

    def items(self) -> Iterator[Item]:
        """The finished samples, as they finished; a torn last line is left out."""
        with (self.path / ITEMS).open(encoding="utf-8") as file:
            for line in file:
                if line.endswith("\n"):
                    yield Item.model_validate_json(line)

    def manifest(self) -> dict[str, Any]:
        """What was run.

        Raises:
            DataError: this is no run's folder.
        """
        try:
            return dict(json.loads((self.path / MANIFEST).read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise DataError(f"{self.path} is no run's folder: {error}") from None


def _private(path: Path) -> IO[str]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8")
