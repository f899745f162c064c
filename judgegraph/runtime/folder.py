"""A run's folder: manifest.json, items.jsonl, rejected.json."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from judgegraph.errors import ConfigError, DataError
from judgegraph.runtime.item import Item

MANIFEST, ITEMS, REJECTED = "manifest.json", "items.jsonl", "rejected.json"
LEDGER = "ledger.sqlite"


class Folder:
    """Where a run writes; files are readable by their owner alone.

    Raises:
        ConfigError: from the methods that write: the path is empty, or cannot be written to.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):
            raise ConfigError("a run's folder has a name; got ''")
        self.path = Path(path)
        self._items: IO[str] | None = None

    def check(self) -> None:
        """Refuse a folder that holds a run: one with a finished sample in it."""
        with self._writing():
            try:
                found = (self.path / ITEMS).stat().st_size
            except (FileNotFoundError, NotADirectoryError):
                return
        if found:
            raise ConfigError(f"{self.path} holds a run already; choose another folder or remove it")

    def open(self) -> None:
        """Make the folder and start its items."""
        self.check()
        with self._writing():
            self.path.mkdir(parents=True, exist_ok=True)
            self._items = _private(self.path / ITEMS)

    def add(self, item: Item) -> None:
        """One finished sample, flushed so that a killed run keeps it."""
        if self._items is not None:
            with self._writing():
                self._items.write(item.line() + "\n")
                self._items.flush()

    def close(self) -> None:
        """No more items."""
        items, self._items = self._items, None
        if items is not None:
            with self._writing():
                items.close()

    def write(self, name: str, data: Any) -> None:
        """A whole file at once: the old one or the new one, never half of it."""
        new = self.path / f".{name}.new"
        with self._writing():
            try:
                with _private(new) as file:
                    json.dump(data, file, indent=1, ensure_ascii=False, allow_nan=False)
                    file.write("\n")
                new.replace(self.path / name)
            except OSError:
                new.unlink(missing_ok=True)
                raise

    @contextmanager
    def _writing(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise ConfigError(f"cannot write {error.filename or self.path}: {error.strerror or error}") from None

    def items(self) -> Iterator[Item]:
        """The finished samples, as they finished; a torn last line is left out.

        Raises:
            DataError: there are none to be read, or a line is no item.
        """
        try:
            with (self.path / ITEMS).open(encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if line.endswith("\n"):
                        yield _item(line, f"{self.path / ITEMS}, line {number}")
        except OSError as error:
            raise DataError(f"{self.path} is no run's folder: {error.strerror}") from None

    def manifest(self) -> dict[str, Any]:
        """What was run.

        Raises:
            DataError: this is no run's folder.
        """
        try:
            return dict(json.loads((self.path / MANIFEST).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise DataError(f"{self.path} is no run's folder: {error}") from None


def _item(line: str, where: str) -> Item:
    try:
        return Item.model_validate_json(line)
    except ValueError:
        raise DataError(f"{where}: is no finished sample") from None


def _private(path: Path) -> IO[str]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8")
