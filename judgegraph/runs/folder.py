"""A run's folder: manifest.json, items.jsonl, rejected.json, the ledger and the journal; one process writes it.

It hides how files are written whole or not at all, what outlives a killed process (which samples were under way), and
how superseded lines leave the folder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from struct import Struct
from tempfile import mkstemp
from typing import Any

from judgegraph.calls.budget import in_numbers, priced
from judgegraph.calls.texts import texts_of
from judgegraph.data.samples import DiskIndex, Mark
from judgegraph.errors import ConfigError, DataError, counted, damaged_lines, one_line
from judgegraph.runs.item import Item, failed_item, failures, relabelled
from judgegraph.runs.lines import (
    Journal,
    Known,
    Skipped,
    blank,
    end_of_lines,
    holds_item,
    id_of_line,
    ignored,
    index,
    intact,
    item_of_line,
    lines,
    read_in_order,
    read_items,
    sealed,
    survey,
)
from judgegraph.trace.record import SPANS, Recorder, SpanFile
from judgegraph.types import Sample

# Whether a folder may be a run's: what others put there is left alone, and a refused start leaves nothing behind.


PAID_FOR = ("spent", "spent_before", "calls")  # of a manifest
MANIFEST, ITEMS, REJECTED = "manifest.json", "items.jsonl", "rejected.json"
NOTES = "notes.sqlite"  # what `tracing` writes down of calls; no run is answered from there
LEDGER, JOURNAL, IN_FLIGHT, LOCK = "ledger.sqlite", "journal.sqlite", ".inflight", ".lock"
TEXTS, LEASES = f"{LEDGER}.texts", f"{LEDGER}.leases"  # as `texts_of` and `leases_of` name them
FILES = (
    MANIFEST,
    ITEMS,
    REJECTED,
    SPANS,
    TEXTS,
    LEASES,
    IN_FLIGHT,
    LOCK,
    *(f"{n}{e}" for n in (LEDGER, JOURNAL) for e in ("", "-wal", "-shm")),
)
LITTER = tuple(name for name in FILES if name not in (MANIFEST, REJECTED))


def is_manifest(data: Any) -> bool:
    """Whether it is a manifest that a run of ours wrote."""
    return isinstance(data, dict) and all(isinstance(data.get(key), str) for key in ("judgegraph", "signature"))


def refuse_others(path: Path, manifest: dict[str, Any]) -> None:
    """Look before anything is written.

    Args:
        manifest: what is there and can be read, else empty.

    Raises:
        ConfigError: the folder holds files of these names that no run of ours wrote, or lost what says of which.
    """
    if is_manifest(manifest) and isinstance(manifest.get("configuration"), dict):
        return
    ledger = path / LEDGER
    save = f"; with --ledger {ledger} (ledger=) what was paid for is not paid again" if ledger.is_file() else ""
    advice = f"; it was left as it is: choose another folder (--out, out=){save}; `judgegraph repair` salvages it"
    if _there(path / MANIFEST):
        raise ConfigError(f"{path / MANIFEST} is no manifest of a run, or a damaged one{advice}")
    for name in (ITEMS, REJECTED):
        if _there(path / name) and (name != ITEMS or _size(path / name)):
            raise ConfigError(f"{path / name} is there, but no manifest that says of which configuration{advice}")
    if _there(path / NOTES) or _size(path / SPANS):
        raise ConfigError(f"{path} holds traces of plain runs (jg.tracing), and no run{advice}")


def _there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


class Traces:
    """What a start adds to a folder, until the run has begun: taken away again where it is refused."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._made = [folder for folder in (path, *path.parents) if not _there(folder)]
        self._files = [path / LOCK] if not _there(path / LOCK) else []

    def look(self) -> None:
        """Which files are not there yet; from here on nobody else makes them."""
        self._files += [self._path / name for name in LITTER if not _there(self._path / name)]

    def keep(self) -> None:
        """The run has begun."""
        self._made, self._files = [], []

    def remove_files(self) -> None:
        """While the folder is still locked."""
        with suppress(OSError):
            for file in self._files:
                file.unlink(missing_ok=True)

    def remove_folders(self) -> None:
        """Those that hold nothing, which another may have put there meanwhile."""
        with suppress(OSError):
            for folder in self._made:
                folder.rmdir()


# Whether `items.jsonl` is still the file that the journal was made from: somebody may have sorted or edited it.


PROBES = range(0, 256, 16)  # first bytes of digests, which fall anywhere in the file


def same_items(journal: Journal, path: Path) -> bool:
    """As far as can be told without reading all of it.

    After a clean end, its size and time of change must be what they were then. After another, some samples' lines must
    stand where the journal says.
    """
    about = path.stat()
    if journal.state.moving or journal.state.end > about.st_size:  # a power cut took lines it knew
        return False
    if (seen := journal.seen()) is not None:
        return seen == (about.st_size, about.st_mtime_ns)
    with path.open("rb") as file:
        for first in PROBES:
            found = journal.at_or_after(bytes([first]))
            if found is None:
                break
            id, offset = found
            file.seek(max(0, offset - 1))
            if offset and file.read(1) != b"\n":
                return False
            try:
                if id_of_line(file.readline(), "") != id:
                    return False
            except DataError:
                return False
    return True


def stamp(journal: Journal, handle: int, path: Path) -> None:
    """All that was written is on the disk, and what the file looks like now is what it must look like later."""
    os.fsync(handle)
    journal.commit()
    about = path.stat()
    if journal.state.end == about.st_size:
        journal.saw(about.st_size, about.st_mtime_ns)


# Files that are written whole: the old one or the new one, never half of it.


SUFFIX = ".new"
NAMED = 40  # characters of a file's name in that of its new version: a system may take no more than 255 bytes
STALE = 3600.0  # seconds without a write, after which nobody writes it any more


@contextmanager
def writing(path: Path) -> Generator[None]:
    """What the system says of a write is told in one line."""
    try:
        yield
    except OSError as error:
        raise unwritable(error, path) from None


def unwritable(error: OSError, path: Path) -> ConfigError:
    """What the system says of a write, in one line; it would meet every sample alike."""
    found = ConfigError(f"cannot write {error.filename or path}: {error.strerror or error}")
    found.ends_run = True
    return found


def write_lines(path: Path, lines: Iterable[str], end: str = "\n") -> int:
    """A whole file at once, which a power cut cannot leave empty either: it is on the disk before it has its name.

    Args:
        end: what is written behind each line, the same on every system.

    Returns:
        How many lines.

    Raises:
        ConfigError: it cannot be written.
    """
    count = 0
    with writing(path):
        _sweep(path)
        handle, new = _made(path)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                for line in lines:
                    file.write(f"{line}{end}")
                    count += 1
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        except BaseException as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            if isinstance(error, OSError) and error.filename == str(new):
                error.filename = None  # it means nothing to anybody, the file that was asked for does
            raise
    return count


def _made(path: Path) -> tuple[int, Path]:
    """A new file beside it, of a name that nobody can foresee: a link laid there would lead the write elsewhere."""
    try:
        handle, name = mkstemp(prefix=_prefix(path), suffix=SUFFIX, dir=path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror) from None
    return handle, Path(name)


def _sweep(path: Path) -> None:
    """What killed processes left; what is still being written was touched just now."""
    with suppress(OSError), os.scandir(path.parent) as there:
        for one in there:
            ours = one.name.startswith(_prefix(path)) and one.name.endswith(SUFFIX)
            if ours and one.is_file(follow_symlinks=False) and time.time() - one.stat().st_mtime > STALE:
                with suppress(OSError):
                    os.unlink(one)


def _prefix(path: Path) -> str:
    return f".{path.name[:NAMED]}."


PATIENCE = 0.2  # seconds


class Folder:
    """Where a run writes; files are readable by their owner alone.

    `open` takes the folder for this process and puts it in order after an unclean exit: a torn last line is cut off,
    lines that the journal lacks are entered, and samples that were in flight get a strike. Until `begun` is called,
    `close` leaves a folder that held no run as it was.

    Attributes:
        damaged: lines found by `open` that hold no item. read_all: whether it read them all, not the latest only.
        left_out: what is to be told of lines that hold no item or another than was written, that are a copy, are gone
            or lack their checksum; each once.
        is_run: whether this process has begun. relabelled: finished samples whose human labels it changed.

    Raises:
        ConfigError: the path is none; from the methods that write: what lies there is no run's, another process writes
            there, or it cannot be written to.
    """

    journal: Journal
    in_flight: InFlight
    _spans: SpanFile

    def __init__(self, path: str | os.PathLike[str]) -> None:
        name = os.fspath(path) if isinstance(path, str | os.PathLike) else None
        if not isinstance(name, str) or not name or "\0" in name:
            raise ConfigError(f"a run's folder has a name; got {one_line(repr(path), 80)}")
        self.path = Path(name)
        self.damaged, self.relabelled, self.read_all, self.is_run = 0, 0, False, False
        self.left_out: dict[str, None] = {}
        self._items, self._end = -1, 0
        self._held = ExitStack()

    def open(self, slots: int, *, spans: bool = False) -> None:
        """Make the folder, or take up what is there; `slots` samples may be in flight.

        Args:
            spans: open their file too, for `tell`.
        """
        try:
            with self._writing():
                refuse_others(self.path, self.earlier())
                self._traces = Traces(self.path)
                self.path.mkdir(parents=True, exist_ok=True)
                self._held.callback(self._traces.remove_folders)
                self._lock()
                self._traces.look()
                self._held.callback(self._traces.remove_files)
                refuse_others(self.path, self.earlier())
                self._items = os.open(self.path / ITEMS, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
                self._held.callback(os.close, self._items)
                self.in_flight = InFlight(self.path / IN_FLIGHT)
                self._held.callback(self.in_flight.close)
                if spans:
                    self._spans = SpanFile(self.path / SPANS)
                    self._held.callback(self._spans.close)
            self.journal = Journal(self.path / JOURNAL)
            self._held.callback(self.journal.close)
            self._held.callback(self._force)
            with self._writing():
                self._recover(slots)
        except BaseException:
            with suppress(ConfigError, OSError):
                self.close()
            raise

    def _lock(self) -> None:
        """The system frees the lock when the process ends, however it does."""
        from filelock import FileLock, Timeout

        # who looks whether a run is under way (`unfinished`) holds it for a moment
        lock = FileLock(self.path / LOCK, timeout=PATIENCE, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            who = f" (process {pid})" if (pid := self.earlier().get("process")) else ""
            raise ConfigError(f"{self.path} is being written by another run{who}") from None
        self._held.callback(lock.release)

    def _recover(self, slots: int) -> None:
        items, self._end = self.path / ITEMS, end_of_lines(self._items)
        known = self.journal.state.end
        with survey(items, self.path / JOURNAL) as found:
            for what in found.in_words(items):
                self.leave_out(what)
            odd = bool(found.odd or found.lost)
            if known > self._end or odd or not same_items(self.journal, items) or not intact(items, known):
                self.journal.forget_lines()
            self.journal.saw()
            if self._end < os.fstat(self._items).st_size:
                os.ftruncate(self._items, self._end)
            self.read_all = self.journal.state.end == 0
            self.damaged = index(
                self.journal, items, lambda where: self.leave_out(f"judged again: {where}"), found.added
            )  # fmt: skip
        if marks := list(self.in_flight.left()):
            self.journal.count_crash(marks)
        self.in_flight.clear(slots)

    def begun(self) -> None:
        """Its manifest is written: from now on it is a run's folder."""
        self.is_run = True
        self._traces.keep()

    def _force(self) -> None:
        if not self.journal.failed:
            stamp(self.journal, self._items, self.path / ITEMS)

    def enter(self, slot: int, mark: Mark) -> None:
        """A worker begins with a sample."""
        try:  # not `_writing`, which is dear: this is done for every sample
            self.in_flight.enter(slot, mark)
        except OSError as error:
            raise unwritable(error, self.path) from None

    def add(
        self, slot: int, item: Item, mark: Mark, before: Known | None, journey: Recorder | None = None
    ) -> Item:  # fmt: skip
        """One finished sample, written so that a killed run keeps it, after its journey; gives it as it was written."""
        if before is not None and before.status is not None and not self.journal.state.superseded:
            self.journal.note(superseded=True)  # told before it is so: readers ask for it
        item, line = _written(item)
        if journey is not None:
            self.tell(journey.line(item.status, item_ms=item.ms))
        start, self._end = self._end, self._end + self._write(line)
        self.journal.finish(mark, item.status, failures(item), start, self._end)
        self.leave(slot)
        return item

    def only_labels(self, sample: Sample, known: Known) -> bool:
        """Whether a sample that was judged differs from what it was by people's labels alone."""
        if (item := self.item_of(known)) is None:
            return False
        return item.sample.model_copy(update={"human": sample.human}) == sample

    def relabel(self, sample: Sample, known: Known, mark: Mark) -> Known:
        """Take the labels that people give it now; its results stay as they are. Gives what is known of it then."""
        item = self.item_of(known)
        if item is None or known.status is None:
            return known
        if not self.journal.state.superseded:
            self.journal.note(superseded=True)  # as in `add`
        item, line = _written(relabelled(item, sample))
        start, self._end = self._end, self._end + self._write(line)
        self.journal.finish(mark, item.status, failures(item), start, self._end)
        self.relabelled += 1
        return Known(mark.place, mark.content, item.status, failures(item), 0, start)

    def item_of(self, known: Known) -> Item | None:
        """The item that stands for a sample; None where it has none, or its line cannot be read."""
        if known.offset is None:
            return None
        try:
            with (self.path / ITEMS).open("rb") as file:
                file.seek(known.offset)
                return item_of_line(file.readline(), "")
        except (OSError, DataError):
            return None

    def tell(self, line: bytes) -> None:
        """The journey of a sample that has come to its end, before its item: no item is without."""
        try:
            self._spans.add(line)
        except OSError as error:
            raise unwritable(error, self.path) from None

    def leave(self, slot: int) -> None:
        """A worker has ended with its sample."""
        try:
            self.in_flight.leave(slot)
        except OSError as error:
            raise unwritable(error, self.path) from None

    def _write(self, line: bytes) -> int:
        try:
            written = os.write(self._items, line)
            while written < len(line):  # the disk is nearly full: the rest, or the error
                written += os.write(self._items, line[written:])
        except OSError as error:
            with self._writing():
                os.ftruncate(self._items, self._end)
            raise unwritable(error, self.path) from None
        return len(line)

    def settle(self) -> None:
        """The run ends in order: nothing is in flight, and superseded lines leave."""
        with self._writing():
            self.in_flight.clear(0)
        self.journal.commit()
        if many := self.relabelled:
            who = counted(many, "sample has", "samples have")
            self.leave_out(f"labels: {who} other human labels than before; the new ones stand, nothing is asked again")
        compact(self.journal, self.path / ITEMS)

    def close(self) -> None:
        """No more is written; the folder is free for another process."""
        with self._writing():
            self._held.close()

    @property
    def has_begun(self) -> bool:
        """Whether a run has a manifest there."""
        return (self.path / MANIFEST).exists()

    @property
    def ledger(self) -> Path:
        """Its own ledger, where a run is given no other."""
        return self.path / LEDGER

    @property
    def lock(self) -> Path:
        """Held by whoever writes there."""
        return self.path / LOCK

    def write_manifest(self, data: Mapping[str, Any]) -> None:
        """What is run, and how far it came; an amount with calls of unknown price is null there, and never 0.0."""
        self._write_json(MANIFEST, _amounts(data, priced))

    def write_rejected(self, rows: Sequence[Any]) -> None:
        """Rows of the data that were no samples."""
        self._write_json(REJECTED, rows)

    def rejected(self) -> Any:
        """What `write_rejected` wrote; None where it is not there or no JSON."""
        try:
            return json.loads((self.path / REJECTED).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None

    def _write_json(self, name: str, data: Any) -> None:
        """A whole file at once: the old one or the new one, never half of it."""
        text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
        write_lines(self.path / name, text.split("\n"))

    @contextmanager
    def _writing(self) -> Generator[None]:
        with writing(self.path):
            yield

    def items(self, skipped: Skipped = ignored) -> Iterator[Item]:
        """The finished samples, each once, as they finished; a torn last line is left out.

        Args:
            skipped: is told of each whole line that holds no item, or not the one that was written, and so is left out.

        Raises:
            DataError: there are none to be read.
        """
        return read_items(self.path / ITEMS, self.path / JOURNAL, self._skipping(skipped), self.leave_out)

    def items_in_order(self, skipped: Skipped = ignored) -> Iterator[Item]:
        """The same in the order of the dataset."""
        return read_in_order(self.path / ITEMS, self.path / JOURNAL, self._skipping(skipped), self.leave_out)

    def _skipping(self, skipped: Skipped) -> Skipped:
        def both(where: str) -> None:
            self.leave_out(f"left out: {where}")
            skipped(where)

        return both

    def leave_out(self, what: str) -> None:
        """Keep it to be told, here and by whoever reads run folders just now."""
        self.left_out[what] = None
        if (told := damaged_lines.get()) is not None:
            told[what] = None

    def owns(self, path: str | os.PathLike[str], ledger: object = None) -> bool:
        """Whether a path is of a file that the run needs; `ledger` is what its manifest says of it."""
        own = [self.path / name for name in FILES]
        own += [self.path / ledger, texts_of(self.path / ledger)] if isinstance(ledger, str) and ledger else []
        return os.path.realpath(path) in map(os.path.realpath, own)

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
            found = json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))
        except OSError as error:
            why = f"{MANIFEST}: {error.strerror or one_line(error)}"
            raise DataError(f"{self.path} is no run's folder: {why}") from None
        except (ValueError, RecursionError) as error:
            raise DataError(f"{self.path} is no run's folder: {MANIFEST} is no JSON: {one_line(error)}") from None
        if not is_manifest(found):
            raise DataError(f"{self.path} is no run's folder: {MANIFEST} is no manifest of a run")
        return _amounts(found, in_numbers)


def _amounts(manifest: Mapping[str, Any], told: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """The manifest with what it says of money told in another way."""
    counts = {key: told(one) for key in PAID_FOR if isinstance(one := manifest.get(key), Mapping)}
    return {**manifest, **counts}


def _written(item: Item) -> tuple[Item, bytes]:
    """The item and its line; what a graph of yours found may be no JSON, or no text that a file can hold."""
    try:
        return item, sealed(item.line())
    except ValueError as error:
        why = f"its result cannot be written: {one_line(error)}"
        failed = failed_item(item.sample, "agent_error", why, item.ms, item.place)
        return failed, sealed(failed.line())


# Superseded lines leave `items.jsonl` when a run ends in order.


def compact(journal: Journal, path: Path) -> None:
    """Write the file anew with the last line of each sample, and put it in the old one's place at once.

    The journal says so before and until all offsets are those of the new file: a process that is killed in between
    leaves the old file or the new one, each whole, and whoever opens the folder next indexes all its lines again.
    Where there is no room for a second file, the old one stays as it is, which reads the same. So it does where the
    new one would lack a sample that is finished. Lines that hold no item are taken along, unless their sample was
    judged again.
    """
    if not journal.state.superseded:
        return
    new = path.with_name(f".{path.name}.new")
    with DiskIndex() as starts:
        try:
            whole = _write(journal, path, new, starts) or _written_again(journal, path, new, starts)
        except OSError:
            whole = False
        if not whole:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            return
        journal.note(moving=True)
        try:
            new.replace(path)
        except OSError:
            journal.note(moving=False)
            return
        _move(journal, path, starts)


def _written_again(journal: Journal, path: Path, new: Path, starts: DiskIndex) -> bool:
    """Somebody changed the file beneath the journal, which is made anew from it."""
    journal.forget_lines()
    index(journal, path)
    return _write(journal, path, new, starts)


def _write(journal: Journal, path: Path, new: Path, starts: DiskIndex) -> bool:
    """Whether every finished sample's line was written; `starts` gets where each begins."""
    finished, end = sum(count for _, _, count in journal.statuses()), 0
    new.unlink(missing_ok=True)  # of a process that was killed; a link that somebody laid there is not followed
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with path.open("rb") as old, os.fdopen(handle, "wb") as out:
        for at, line in lines(old):
            try:
                id = id_of_line(line, "")
            except DataError:
                end += 0 if blank(line) else out.write(line)
                continue
            known = journal.known(id)
            if known is not None and known.offset == at:
                starts.put(id, end)
                end += out.write(line)
                finished -= 1
            elif not holds_item(line) and not (known is not None and known.offset is not None and known.offset > at):
                end += out.write(line)  # of a sample that was not judged again since
        out.flush()
        os.fsync(out.fileno())
    return finished == 0


def _move(journal: Journal, path: Path, starts: DiskIndex) -> None:
    end = 0
    with path.open("rb") as file:
        for at, line in lines(file):
            end = at + len(line)
            with suppress(DataError):
                if starts.get(id := id_of_line(line, "")) == at:
                    journal.moved(id, offset=at)
    journal.state.end = end
    journal.note(superseded=False, moving=False)


# Which samples are under way: a few bytes of file that outlive a killed process.


RECORD = Struct(">16s8sq?")


class InFlight:
    """One slot for each worker, in a file that is written in place.

    A write of a few bytes costs far less than a transaction, needs no free disk, and what the system took stays when
    the process is killed. An end in order empties it, so a mark that is found belongs to an unclean exit.

    Raises:
        OSError: from all methods.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def left(self) -> Iterator[Mark]:
        """What was under way when the process before this one ended uncleanly."""
        data = os.pread(self._file, os.fstat(self._file).st_size, 0)
        for values in RECORD.iter_unpack(data[: len(data) // RECORD.size * RECORD.size]):
            if any(values[0]):
                yield Mark(*values)

    def clear(self, slots: int) -> None:
        """So many empty slots."""
        os.pwrite(self._file, bytes(RECORD.size * slots), 0)
        os.ftruncate(self._file, RECORD.size * slots)

    def enter(self, slot: int, mark: Mark) -> None:
        """The worker of this slot begins."""
        os.pwrite(self._file, RECORD.pack(*mark), slot * RECORD.size)

    def leave(self, slot: int) -> None:
        """It has ended, and what came of it is written."""
        os.pwrite(self._file, bytes(RECORD.size), slot * RECORD.size)

    def close(self) -> None:
        """Its marks stay; call `clear` first where the run ended in order."""
        os.close(self._file)
