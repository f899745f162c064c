"""What is sound of a damaged run's folder or ledger, and a folder made of it with which the same command goes on."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import IO, Any
from urllib.parse import quote

from judgegraph.calls.ledger import APPLICATION, SCHEMA, LedgerError, ledger_name, opened, sound_payment, text_of, whole
from judgegraph.calls.texts import sound_line, texts_of
from judgegraph.data.samples import DiskIndex, id_digest
from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runs.folder import (
    ITEMS,
    JOURNAL,
    LEDGER,
    LOCK,
    MANIFEST,
    REJECTED,
    TEXTS,
    Folder,
    is_manifest,
    writing,
)
from judgegraph.runs.lines import WORDS, DamagedLine, Survey, blank, item_of_line, reader, survey
from judgegraph.trace.record import SPANS, recorded_trace

# What is sound of a damaged ledger: every row has a checksum bound to its address, so a row that fits is a true one.
#
# What SQLite can still read comes first. Rows that it cannot reach, as a page above them is damaged, the file is cut
# off
# or its head is gone, are taken from the pages themselves: of the file and of its log. The layout of pages, cells and
# records is that of https://sqlite.org/fileformat2.html.


try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

MAGIC, PAGE = b"SQLite format 3\0", 4096
LEAF, INNER = 0x0A, 0x02  # pages of tables without row ids, which all of a ledger's are
IN_USE = 128  # the byte of the -shm file that each process which has the database open holds a lock on
LONGEST = 1 << 30  # bytes of a row
_REPLIES = "SELECT address, body, sum, model, prompt, completion, usd FROM replies"
_PAYMENTS = "SELECT run, model, sum, calls, prompt, completion, usd, estimated, unpriced FROM payments"
_KEEP_REPLY = "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)"
_KEEP_PAYMENT = """INSERT INTO payments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, model) DO
    UPDATE SET sum = excluded.sum, calls = excluded.calls, prompt = excluded.prompt, usd = excluded.usd,
    completion = excluded.completion, estimated = excluded.estimated, unpriced = excluded.unpriced
    WHERE excluded.calls > payments.calls"""
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Salvage:
    """What is sound of a ledger.

    Attributes:
        replies, payments: sound rows. damaged: rows that can be seen and are not what was written. problem: what SQLite
            says of the file, "" where nothing; rows may be lost then that nobody can count.
    """

    replies: int
    payments: int
    damaged: int = 0
    problem: str = ""

    @property
    def sound(self) -> bool:
        """Whether nothing is lost."""
        return not self.damaged and not self.problem


def looked_at(path: Path) -> Salvage:
    """What is sound of a ledger; nothing is written beside it.

    Raises:
        LedgerError: the file is a database of another kind or a newer ledger. OSError: it cannot be read.
    """
    with _read(path) as db:
        replies, damaged, problem = _count(db, _REPLIES, sound_reply)
        payments, more, other = _count(db, _PAYMENTS, sound_payment)
        problem = problem or other or _integrity(db)
    found = Salvage(replies, payments, damaged + more, problem)
    if found.sound:
        return found
    with TemporaryDirectory() as folder:
        return salvaged(path, Path(folder) / "ledger.sqlite")


def salvaged(path: Path, into: Path) -> Salvage:
    """Write what is sound of a ledger as a new one.

    Raises: as `looked_at`; LedgerError: the new one cannot be written.
    """
    problem, damaged = "", 0
    with closing(opened(into)) as new:
        new.execute("BEGIN")
        with _read(path) as db:
            for statement, sound, keep in (
                (_REPLIES, sound_reply, _KEEP_REPLY), (_PAYMENTS, sound_payment, _KEEP_PAYMENT),
            ):  # fmt: skip
                for row in (rows := _Rows(db, statement)):
                    if sound(row):
                        new.execute(keep, row)
                    else:
                        damaged += 1
                problem = problem or rows.problem
            problem = problem or _integrity(db)
        if problem:
            for row in carved(path):
                new.execute(_KEEP_REPLY if len(row) == 7 else _KEEP_PAYMENT, row)
        new.execute("COMMIT")
        replies, payments = (new.execute(f"SELECT COUNT(*) FROM {t}").fetchone()[0] for t in ("replies", "payments"))
        new.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Salvage(replies, payments, damaged, problem)


def sound_reply(row: Row) -> bool:
    """Whether a row of `replies` is what was written."""
    address, *rest = row
    return isinstance(address, bytes) and 0 < len(address) <= 64 and whole(address, tuple(rest))


def in_use(path: Path) -> bool:
    """Whether a process has the ledger open, as far as that can be seen."""
    shared = Path(f"{path}-shm")
    if fcntl is None or not shared.is_file():
        return False
    with shared.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, IN_USE)
        except OSError:
            return True
    return False


@contextmanager
def _read(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Open without writing anything beside it: a copy where a log belongs to it; None where it is no database any more.

    Raises:
        LedgerError: it is another's database, or a newer ledger.
    """
    log = Path(f"{path}-wal")
    with TemporaryDirectory() as folder:
        there = path
        if log.is_file() and log.stat().st_size:
            there = Path(folder) / path.name
            shutil.copyfile(path, there)
            shutil.copyfile(log, f"{there}-wal")
        mode = "rwc" if there is not path else "ro&immutable=1"
        with closing(sqlite3.connect(f"file:{quote(str(there.absolute()))}?mode={mode}", uri=True)) as db:
            db.text_factory = text_of
            yield db if _ours(db, path) else None


def _ours(db: sqlite3.Connection, path: Path) -> bool:
    try:
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        tables = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.Error:
        return False
    if tables and application != APPLICATION:
        raise LedgerError(f"{path} is a database, but no ledger of judgegraph")
    if version > SCHEMA:
        raise LedgerError(f"{path} was written by a newer judgegraph (ledger {version}, ours {SCHEMA})")
    return True


class _Rows:
    """The rows of a table from either end, up to what SQLite cannot read. Attributes: problem: why it could not."""

    def __init__(self, db: sqlite3.Connection | None, statement: str) -> None:
        self._db, self._statement = db, statement
        self.problem = "" if db is not None else "it is no database any more"

    def __iter__(self) -> Iterator[Row]:
        for order in ("ASC", "DESC"):
            if self._db is None or (order == "DESC" and not self.problem):
                return
            try:
                yield from self._db.execute(f"{self._statement} ORDER BY 1 {order}")
            except (sqlite3.Error, ValueError) as error:
                self.problem = str(error)


def _count(db: sqlite3.Connection | None, statement: str, sound: Any) -> tuple[int, int, str]:
    """(sound rows, others, what kept it from reading all)."""
    good = bad = 0
    for row in (rows := _Rows(db, statement)):
        if sound(row):
            good += 1
        else:
            bad += 1
    return good, bad, rows.problem


def _integrity(db: sqlite3.Connection | None) -> str:
    if db is None:
        return "it is no database any more"
    try:
        found = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else " ".join(found.split())


def carved(path: Path) -> Iterator[Row]:
    """Sound rows of both tables, from the pages themselves: of the log the latest first, then of the file."""
    pages = _Pages(path)
    try:
        for page, offset in pages:
            for cell in _cells(page, offset):
                with suppress(ValueError, IndexError, struct.error):
                    row = _record(pages.payload(page, cell))
                    if (len(row) == 7 and sound_reply(row)) or (len(row) == 9 and sound_payment(row)):
                        yield row
    finally:
        pages.close()


class _Pages:
    """The pages of a ledger's file and of its log."""

    def __init__(self, path: Path) -> None:
        self._file, log = path.open("rb"), Path(f"{path}-wal")
        self._log = log.open("rb") if log.is_file() else None
        head = self._file.read(100)
        size, reserved = PAGE, 0
        if head.startswith(MAGIC):
            size, reserved = int.from_bytes(head[16:18], "big"), head[20]
        elif self._log is not None and len(start := self._log.read(32)) == 32:
            size = int.from_bytes(start[8:12], "big")
        size = 65536 if size == 1 else size
        self._size = size if 512 <= size <= 65536 and not size & (size - 1) else PAGE
        self.usable = self._size - (reserved if reserved < self._size // 4 else 0)
        self._frames = list(self._logged())
        self._latest = dict(self._frames)

    def _logged(self) -> Iterator[tuple[int, int]]:
        """(page, offset of its content in the log)."""
        at = 32
        while self._log is not None:
            self._log.seek(at)
            head = self._log.read(24)
            if len(head) < 24:
                return
            yield int.from_bytes(head[:4], "big"), at + 24
            at += 24 + self._size

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        """(page, where its head begins)."""
        for number, at in reversed(self._frames):
            assert self._log is not None
            self._log.seek(at)
            yield self._log.read(self._size), 100 if number == 1 else 0
        number = 0
        while True:
            self._file.seek(number * self._size)
            if not (page := self._file.read(self._size)):
                return
            yield page, 0 if number else 100
            number += 1

    def _page(self, number: int) -> bytes:
        if number in self._latest and self._log is not None:
            self._log.seek(self._latest[number])
            return self._log.read(self._size)
        self._file.seek((number - 1) * self._size)
        return self._file.read(self._size)

    def payload(self, page: bytes, at: int) -> bytes:
        """What a cell holds, with what stands of it on other pages."""
        length, at = _varint(page, at)
        if length > LONGEST:
            raise ValueError(length)
        most, least = (self.usable - 12) * 64 // 255 - 23, (self.usable - 12) * 32 // 255 - 23
        here = length
        if length > most:
            here = least + (length - least) % (self.usable - 4)
            here = here if here <= most else least
        found = bytearray(page[at : at + here])
        number = int.from_bytes(page[at + here : at + here + 4], "big") if here < length else 0
        while len(found) < length and number:
            more = self._page(number)
            if len(more) < self.usable:
                break
            found += more[4 : self.usable]
            number = int.from_bytes(more[:4], "big")
        return bytes(found[:length])

    def close(self) -> None:
        self._file.close()
        if self._log is not None:
            self._log.close()


def _cells(page: bytes, offset: int) -> Iterator[int]:
    """Where the cells of a page have their lengths; none on a page of another kind."""
    if len(page) < offset + 12 or page[offset] not in (LEAF, INNER):
        return
    inner = page[offset] == INNER
    start = offset + (12 if inner else 8)
    for number in range(int.from_bytes(page[offset + 3 : offset + 5], "big")):
        at = int.from_bytes(page[start + 2 * number : start + 2 * number + 2], "big")
        if start <= at < len(page):
            yield at + 4 if inner else at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for turn in range(9):
        byte = data[at + turn]
        if turn == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value, at + turn + 1


def _record(data: bytes) -> Row:
    """The columns of a record; a number where a REAL stands is a float, as SQLite gives it."""
    size, at = _varint(data, 0)
    kinds, place, row = [], size, []
    while at < size:
        kind, at = _varint(data, at)
        kinds.append(kind)
    if len(kinds) not in (7, 9):
        raise ValueError("another table's")
    for kind in kinds:
        value, place = _value(data, kind, place)
        row.append(value)
    usd = 6  # in both tables
    row[usd] = float(row[usd]) if isinstance(row[usd], int) else row[usd]
    return tuple(row)


def _value(data: bytes, kind: int, at: int) -> tuple[Any, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    width = (0, 1, 2, 3, 4, 6, 8, 8)[kind] if kind < 8 else (kind - 12) // 2
    if kind in (10, 11) or at + width > len(data):
        raise ValueError("cut off")
    piece = data[at : at + width]
    if kind == 7:
        return struct.unpack(">d", piece)[0], at + width
    if kind < 7:
        return int.from_bytes(piece, "big", signed=True), at + width
    return (piece if kind % 2 == 0 else text_of(piece)), at + width


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
        gone: how many of the lost ones are not in the file any more.
    """

    name: str
    state: Kind
    what: str = ""
    sound: int | None = None
    lost: int | None = None
    notes: tuple[str, ...] = ()
    gone: int = 0


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
            _replace_damaged(path, found)
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
        lost, notes = (part.lost or 0) + found.lost, (*part.notes, found.gone())
        part = replace(part, state="damaged", lost=lost, gone=found.lost, notes=notes)
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
    return "" if recorded_trace(line) is not None else f"{where}: is no journey of a sample"


def _text_line(line: bytes, where: str) -> str:
    return "" if sound_line(line) else f"{where}: is no text of a prompt, or a damaged one"


def _make(path: Path, to: Path, found: Repair, *, ledger_too: bool = True) -> None:
    """A folder of what is sound, indexed; what no run can go on with has another name there."""
    manifest = _manifest(path)
    if manifest is not None:
        ledger = _ledger_of(path, manifest)
        own = ledger == path / LEDGER
        name = manifest.get("ledger") if own else ledger_name(ledger, to)
        Folder(to).write_manifest({**manifest, "ledger": name})
    _looked_at(path, to, ledger_too=ledger_too)
    if any(part.name == REJECTED and part.state == "sound" for part in found.parts) and manifest is not None:
        with _made(to / REJECTED) as file:
            file.write((path / REJECTED).read_bytes())
    if manifest is not None:
        folder = Folder(to)
        folder.open(0)
        folder.begun()
        folder.close()


def _replace_damaged(path: Path, found: Repair) -> None:
    """Damaged files are made anew from what is sound of them; the others stay where they are."""
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
