"""What is sound of a damaged run's folder or ledger, and a folder made of it with which the same command goes on."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any

from judgegraph.calls.ledger_file import LedgerError
from judgegraph.calls.salvage import Salvage, in_use, looked_at, salvaged
from judgegraph.calls.texts import sound_line, texts_of
from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runtime.claim import ITEMS, JOURNAL, LEDGER, LOCK, MANIFEST, REJECTED, TEXTS, is_manifest
from judgegraph.runtime.disk_index import DiskIndex
from judgegraph.runtime.folder import Folder
from judgegraph.runtime.journal import reader
from judgegraph.runtime.lines import DamagedLine, blank, id_digest, item_of_line
from judgegraph.runtime.read_items import WORDS, Survey, survey
from judgegraph.runtime.spending import ledger_name
from judgegraph.runtime.whole_file import writing
from judgegraph.trace.file import SPANS, journey

Kind = str  # "sound", "damaged", "missing"
BACKUP = "damaged"
NAMED = 1000  # damaged lines of a file that are named
PATIENCE = 0.2  # seconds
SALVAGED = "salvaged-"  # before the names of what cannot be gone on with
Sound = Callable[[bytes, str], str]  # why a line is not sound, "" where it is


@dataclass(frozen=True)
class Part:
    """One file of a run.

    Attributes:
        name: of the file. state: "sound", "damaged" or "missing". sound, lost: lines or rows; None where they cannot be
            counted. what: what is counted. notes: what is damaged, and what becomes of it.
    """

    name: str
    state: Kind
    what: str = ""
    sound: int | None = None
    lost: int | None = None
    notes: tuple[str, ...] = ()


@dataclass
class Repair:
    """What was found, and what was made of it.

    Attributes:
        path: of the folder or ledger. parts: its files. goes_on: whether a run can go on with it.
        written: where what is sound was written. backup: where the damaged files are. None where nothing was written.
    """

    path: Path
    parts: list[Part] = field(default_factory=list)
    goes_on: bool = True
    written: Path | None = None
    backup: Path | None = None

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged or missing."""
        return all(part.state == "sound" for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        places = {name: str(at) if (at := getattr(self, name)) else None for name in ("written", "backup")}
        parts = [asdict(part) for part in self.parts]
        return {"path": str(self.path), "sound": self.sound, "goes_on": self.goes_on, "parts": parts, **places}


def repair(
    path: str | os.PathLike[str], *, out: str | os.PathLike[str] | None = None, in_place: bool = False
) -> Repair:  # fmt: skip
    """Say what is sound of a run's folder, or of a ledger; with `out` or `in_place` write that.

    Args:
        out: a new folder, or of a ledger a new file. in_place: the damaged files go to a folder of their own beside
            those that take their place; a ledger's goes to a file beside it. Where all is sound nothing is written.

    Raises:
        ConfigError: `out` is there, somebody writes to the run, a file of another kind, or it cannot be written.
        DataError: there is no such folder or file.
    """
    here, there = Path(path), Path(out) if out is not None else None
    if there is not None and os.path.lexists(there) and not (there.is_dir() and not any(there.iterdir())):
        raise ConfigError(f"{there} is there; choose a new name for what is salvaged (--out, out=)")
    if not here.exists():
        raise DataError(f"{here}: no such folder of a run, and no ledger")
    with writing(here):
        return _folder(here, there, in_place) if here.is_dir() else _ledger(here, there, in_place)


def _ledger(path: Path, out: Path | None, in_place: bool) -> Repair:
    found = Repair(path, [_part(path.name, looked_at(path))])
    if out is not None:
        salvaged(path, out)
        if (texts := texts_of(path)).is_file():
            _lines(texts, texts_of(out), _text_line)
        found.written = out
    elif in_place and not found.sound:
        _refuse_used(path)
        found.backup = _free(path.with_name(f"{path.name}.{BACKUP}"))
        new = Path(mkdtemp(prefix=f".{path.name[:40]}.", suffix=".repair", dir=path.parent))
        try:
            salvaged(path, new / path.name)
            _swap(new, path.parent, [path.name, f"{path.name}-wal", f"{path.name}-shm"], found.backup)
        finally:
            shutil.rmtree(new, ignore_errors=True)
        found.written = path
    return found


def _folder(path: Path, out: Path | None, in_place: bool) -> Repair:
    if not any((path / name).is_file() for name in (MANIFEST, ITEMS, LEDGER)):
        raise DataError(f"{path} is no run's folder: it holds no {MANIFEST}, {ITEMS} or {LEDGER}")
    if out is None and not in_place:
        return _looked_at(path)
    with _locked(path):
        found = _looked_at(path)
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            _make(path, out, found)
            found.written = out
        elif not found.sound:
            _in_place(path, found)
    return found


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(path / LOCK, timeout=PATIENCE, mode=0o600, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise ConfigError(f"{path} is being written by a run; let it end first") from None
    try:
        yield
    finally:
        lock.release()


def _looked_at(path: Path, to: Path | None = None, *, ledger_too: bool = True) -> Repair:
    """Each file of a folder; with `to` what is sound of those that have lines or rows is written there."""
    found = Repair(path)
    manifest = _manifest(path)
    found.goes_on = manifest is not None
    found.parts.append(_manifest_part(path))
    into = (lambda name: to / (name if manifest is not None else SALVAGED + name)) if to is not None else lambda _: None
    found.parts += _items_part(path, into(ITEMS))
    found.parts += _lines_part(path / SPANS, into(SPANS), _span_line, "journeys")
    ledger = _ledger_of(path, manifest)
    found.parts += _ledger_parts(path, ledger, to) if ledger_too else []
    if ledger == path / LEDGER:
        found.parts += _lines_part(path / TEXTS, to / TEXTS if to is not None else None, _text_line, "texts")
    found.parts += [_journal_part(path), *_rejected_part(path)]
    return found


def _manifest(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if is_manifest(found) and isinstance(found.get("configuration"), dict) else None


def _manifest_part(path: Path) -> Part:
    if _manifest(path) is not None:
        return Part(MANIFEST, "sound")
    lost = (
        "it cannot be salvaged: what was run, by which settings, and what was spent",
        "so no run can go on with these items; the same command begins anew and finds its replies in the ledger",
    )
    return Part(MANIFEST, "damaged" if (path / MANIFEST).exists() else "missing", notes=lost)


def _ledger_of(path: Path, manifest: dict[str, Any] | None) -> Path:
    name = (manifest or {}).get("ledger")
    return path / name if isinstance(name, str) and name and "\0" not in name else path / LEDGER


def _part(name: str, found: Salvage) -> Part:
    notes = [f"SQLite says of it: {one_line(found.problem, 200)}"] if found.problem else []
    notes += ["what else it held cannot be counted, and is asked for again where it is wanted"] if found.problem else []
    state = "sound" if found.sound else "damaged"
    return Part(name, state, "replies", found.replies, found.damaged if not found.problem else None, tuple(notes))


def _ledger_parts(path: Path, ledger: Path, to: Path | None) -> list[Part]:
    name = ledger.name if ledger == path / LEDGER else str(ledger)
    if not ledger.is_file():
        return [Part(name, "missing", "replies", notes=("what the run asks for is paid for again",))]
    if ledger == path / LEDGER and to is not None:
        return [_part(name, salvaged(ledger, to / LEDGER))]
    try:
        part = _part(name, looked_at(ledger))
    except LedgerError as error:
        return [Part(name, "damaged", "replies", notes=(str(error),))]
    if ledger != path / LEDGER and part.state != "sound":
        more = f"other runs may share it: it is left as it is; `judgegraph repair {ledger}` salvages it"
        return [Part(part.name, part.state, part.what, part.sound, part.lost, (*part.notes, more))]
    return [part]


def _journal_part(path: Path) -> Part:
    made = "an index, made again from the items; how often a sample was in flight at a crash is forgotten"
    if not (path / JOURNAL).exists():
        return Part(JOURNAL, "sound", notes=(f"it is not there: {made}",))
    try:
        with closing(reader(path / JOURNAL)) as db:
            said = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
            db.execute("SELECT id, offset, strikes FROM samples LIMIT 1").fetchall()
    except sqlite3.Error as error:
        said = str(error)
    return Part(JOURNAL, "sound") if said == "ok" else Part(JOURNAL, "damaged", notes=(one_line(said, 200), made))


def _rejected_part(path: Path) -> list[Part]:
    if not (path / REJECTED).exists():
        return []
    try:
        sound = isinstance(json.loads((path / REJECTED).read_text(encoding="utf-8")), list)
    except (ValueError, RecursionError):
        sound = False
    return [Part(REJECTED, "sound") if sound else Part(REJECTED, "damaged", notes=("the next run writes it again",))]


def _items_part(path: Path, to: Path | None) -> list[Part]:
    """Lines that no run wrote so are damaged, and so is a file that lacks some."""
    items = path / ITEMS
    with _superseded_by_damage(items) as dropped:
        if not items.is_file():
            return _lines_part(items, to, _item_line(dropped, Survey()), "lines")
        with survey(items, path / JOURNAL) as found:
            (part,) = _lines_part(items, to, _item_line(dropped, found), "lines")
    if found.lost:
        part = replace(part, state="damaged", lost=(part.lost or 0) + found.lost, notes=(*part.notes, found.gone()))
    return [part]


def _lines_part(path: Path, to: Path | None, why: Sound, what: str) -> list[Part]:
    if not path.exists():
        return [Part(path.name, "missing", what)] if path.name == ITEMS else []
    good, bad, notes = _lines(path, to, why)
    more = [f"and {bad - len(notes):,} more"] if bad > len(notes) else []
    return [Part(path.name, "damaged" if bad else "sound", what, good, bad, (*notes, *more))]


def _lines(path: Path, to: Path | None, why: Sound) -> tuple[int, int, list[str]]:
    """(sound lines, others, what is wrong with these); the sound ones are written, as they are."""
    good, bad, notes = 0, 0, list[str]()
    out = _made(to) if to is not None else None
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if blank(line):
                    continue
                problem = why(line, f"line {number}") if line.endswith(b"\n") else f"line {number} is cut off"
                good, bad = good + (not problem), bad + bool(problem)
                if problem and len(notes) < NAMED:
                    notes.append(problem)
                if out is not None and not problem:
                    out.write(line)
        if out is not None:
            out.flush()
            os.fsync(out.fileno())
    finally:
        if out is not None:
            out.close()
    return good, bad, notes


def _made(path: Path) -> IO[bytes]:
    """A new file, its owner's alone."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _superseded_by_damage(path: Path) -> DiskIndex:
    """Digest of an id -> number of its last damaged line: an earlier one is not what was found last."""
    found = DiskIndex()
    if path.is_file():
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    item_of_line(line, "")
                except DamagedLine as error:
                    if error.sample is not None:
                        found.put(id_digest(error.sample), number)
    return found


def _item_line(damaged: DiskIndex, found: Survey) -> Sound:
    def why(line: bytes, where: str) -> str:
        try:
            item = item_of_line(line, where)
        except DataError as error:
            return str(error)
        number = int(where.split()[-1])
        if (damaged.get(id_digest(item.id)) or 0) > number:
            return f"{where}: sample {one_line(item.id, 80)!r} has a later line, which is damaged"
        if kind := found.kind(number):
            return f"{where}: sample {one_line(item.id, 80)!r} {WORDS[kind][1]}"
        return ""

    return why


def _span_line(line: bytes, where: str) -> str:
    return "" if journey(line) is not None else f"{where}: is no journey of a sample"


def _text_line(line: bytes, where: str) -> str:
    return "" if sound_line(line) else f"{where}: is no text of a prompt, or a damaged one"


def _make(path: Path, to: Path, found: Repair, *, ledger_too: bool = True) -> None:
    """A folder of what is sound, indexed; what no run can go on with has another name there."""
    manifest = _manifest(path)
    if manifest is not None:
        ledger = _ledger_of(path, manifest)
        own = ledger == path / LEDGER
        name = manifest.get("ledger") if own else ledger_name(ledger, to)
        Folder(to).write(MANIFEST, {**manifest, "ledger": name})
    _looked_at(path, to, ledger_too=ledger_too)
    if any(part.name == REJECTED and part.state == "sound" for part in found.parts) and manifest is not None:
        with _made(to / REJECTED) as file:
            file.write((path / REJECTED).read_bytes())
    if manifest is not None:
        folder = Folder(to)
        folder.open(0)
        folder.begun()
        folder.close()


def _in_place(path: Path, found: Repair) -> None:
    """Files that are sound stay where they are."""
    parts = {part.name: part.state for part in found.parts}
    wanted = [name for name in (ITEMS, SPANS, LEDGER, TEXTS, REJECTED, JOURNAL) if parts.get(name, "sound") != "sound"]
    if (ITEMS in wanted or not (path / JOURNAL).exists()) and wanted and JOURNAL not in wanted:
        wanted.append(JOURNAL)
    if not found.goes_on:
        wanted = [*{*wanted, MANIFEST, ITEMS, SPANS, REJECTED, JOURNAL}]
    if LEDGER in wanted:
        _refuse_used(path / LEDGER)
    new = Path(mkdtemp(prefix=".repair.", dir=path))
    try:
        _make(path, new, found, ledger_too=LEDGER in wanted)
        made = [name for name in (*wanted, *(SALVAGED + name for name in wanted)) if (new / name).exists()]
        logs = [f"{name}{end}" for name in wanted if name in (LEDGER, JOURNAL) for end in ("-wal", "-shm")]
        if made or any((path / name).exists() for name in wanted):
            found.backup = _free(path / BACKUP)
            _swap(new, path, [*wanted, *logs], found.backup, made)
            found.written = path
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _refuse_used(ledger: Path) -> None:
    if in_use(ledger):
        raise ConfigError(f"{ledger} is in use by a run; let it end first, or write what is sound elsewhere (--out)")


def _free(path: Path) -> Path:
    """The first of NAME-1, NAME-2, ... that is not there."""
    number = 1
    while os.path.lexists(found := path.with_name(f"{path.name}-{number}")):
        number += 1
    return found


def _swap(new: Path, path: Path, old: list[str], backup: Path, made: list[str] | None = None) -> None:
    """The old files go to the backup, then the new ones take their place; nothing is overwritten."""
    backup.mkdir(mode=0o700)
    for name in old:
        if os.path.lexists(path / name):
            (path / name).rename(backup / name)
    for name in made if made is not None else [one for one in old if (new / one).exists()]:
        (new / name).rename(path / name)
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
