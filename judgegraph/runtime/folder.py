"""A run's folder: manifest.json, items.jsonl, rejected.json, the ledger and the journal; one process writes it."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runtime.compact import compact
from judgegraph.runtime.inflight import InFlight, Mark
from judgegraph.runtime.item import Item, failed_item, failures
from judgegraph.runtime.journal import Journal, Known
from judgegraph.runtime.lines import end_of_lines, index
from judgegraph.runtime.read_items import read_by_place, read_items

MANIFEST, ITEMS, REJECTED = "manifest.json", "items.jsonl", "rejected.json"
LEDGER, JOURNAL, IN_FLIGHT, LOCK = "ledger.sqlite", "journal.sqlite", ".inflight", ".lock"


class Folder:
    """Where a run writes; files are readable by their owner alone.

    `open` takes the folder for this process and puts it in order after an unclean exit: a torn last line is cut off,
    lines that the journal lacks are entered, and samples that were in flight get a strike.

    Raises:
        ConfigError: from the methods that write: the path is empty, another process writes there, or it cannot be
            written to.
    """

    journal: Journal
    in_flight: InFlight

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):
            raise ConfigError("a run's folder has a name; got ''")
        self.path = Path(path)
        self._items, self._end = -1, 0
        self._held = ExitStack()

    def open(self, slots: int) -> None:
        """Make the folder, or take up what is there; `slots` samples may be in flight."""
        try:
            with self._writing():
                self.path.mkdir(parents=True, exist_ok=True)
                self._lock()
                self._items = os.open(self.path / ITEMS, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
                self._held.callback(os.close, self._items)
                self.in_flight = InFlight(self.path / IN_FLIGHT)
                self._held.callback(self.in_flight.close)
            self.journal = Journal(self.path / JOURNAL)
            self._held.callback(self.journal.close)
            with self._writing():
                self._recover(slots)
        except BaseException:
            with suppress(ConfigError, OSError):
                self.close()
            raise

    def _lock(self) -> None:
        """The system frees the lock when the process ends, however it does."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / LOCK, timeout=0, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            who = f" (process {pid})" if (pid := self.earlier().get("process")) else ""
            raise ConfigError(f"{self.path} is being written by another run{who}") from None
        self._held.callback(lock.release)

    def _recover(self, slots: int) -> None:
        if os.fstat(self._items).st_size and not isinstance(self.earlier().get("configuration"), dict):
            raise ConfigError(
                f"{self.path / ITEMS} is there, but no manifest that says of which configuration; choose another folder"
            )
        self._end = end_of_lines(self._items)
        os.ftruncate(self._items, self._end)
        if self.journal.state.moving or self.journal.state.end > self._end:  # a power cut took lines it knew
            self.journal.forget_lines()
        index(self.journal, self.path / ITEMS)
        if marks := list(self.in_flight.left()):
            self.journal.strike(marks)
        self.in_flight.clear(slots)

    def enter(self, slot: int, mark: Mark) -> None:
        """A worker begins with a sample."""
        with self._writing():
            self.in_flight.enter(slot, mark)

    def add(self, slot: int, item: Item, mark: Mark, before: Known | None) -> Item:
        """One finished sample, written so that a killed run keeps it; gives it as it was written."""
        if before is not None and before.status is not None and not self.journal.state.superseded:
            self.journal.note(superseded=True)  # told before it is so: readers ask for it
        item, line = _written(item)
        start, self._end = self._end, self._end + self._write(line)
        self.journal.finish(mark, item.status, failures(item), start, self._end)
        self.leave(slot)
        return item

    def leave(self, slot: int) -> None:
        """A worker has ended with its sample."""
        with self._writing():
            self.in_flight.leave(slot)

    def _write(self, line: bytes) -> int:
        with self._writing():
            try:
                written = os.write(self._items, line)
                while written < len(line):  # the disk is nearly full: the rest, or the error
                    written += os.write(self._items, line[written:])
            except OSError:
                os.ftruncate(self._items, self._end)
                raise
        return len(line)

    def settle(self) -> None:
        """The run ends in order: nothing is in flight, and superseded lines leave."""
        with self._writing():
            self.in_flight.clear(0)
        self.journal.commit()
        compact(self.journal, self.path / ITEMS)

    def close(self) -> None:
        """No more is written; the folder is free for another process."""
        with self._writing():
            self._held.close()

    def write(self, name: str, data: Any) -> None:
        """A whole file at once: the old one or the new one, never half of it."""
        text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
        write_lines(self.path / name, text.split("\n"))

    @contextmanager
    def _writing(self) -> Generator[None]:
        with writing(self.path):
            yield

    def items(self) -> Iterator[Item]:
        """The finished samples, each once, as they finished; a torn last line is left out.

        Raises:
            DataError: there are none to be read, or a line is no item.
        """
        return read_items(self.path / ITEMS, self.path / JOURNAL)

    def items_by_place(self) -> Iterator[Item]:
        """The same in the order of the dataset."""
        return read_by_place(self.path / ITEMS, self.path / JOURNAL)

    def earlier(self) -> dict[str, Any]:
        """The manifest as it is there; empty where there is none, or it cannot be read."""
        try:
            return self.manifest()
        except DataError:
            return {}

    def manifest(self) -> dict[str, Any]:
        """What was run.

        Raises:
            DataError: this is no run's folder.
        """
        try:
            return dict(json.loads((self.path / MANIFEST).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise DataError(f"{self.path} is no run's folder: {error}") from None


def _written(item: Item) -> tuple[Item, bytes]:
    """The item and its line; what a graph of yours found may be no JSON, or no text that a file can hold."""
    try:
        return item, item.line().encode() + b"\n"
    except ValueError as error:
        why = f"its result cannot be written: {one_line(error)}"
        failed = failed_item(item.sample, "agent_error", why, item.ms, item.place)
        return failed, failed.line().encode() + b"\n"


@contextmanager
def writing(path: Path) -> Generator[None]:
    """What the system says of a write is told in one line."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot write {error.filename or path}: {error.strerror or error}") from None


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """A whole file at once: the old one or the new one, never half of it.

    Raises:
        ConfigError: it cannot be written.
    """
    new = path.with_name(f".{path.name}.new")
    with writing(path):
        try:
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
            new.replace(path)
        except BaseException:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise
