"""The lines of `items.jsonl` and their index: read one by one, the last one of a sample stands.

A line is the item's JSON with a checksum of it as the last key. It is of the text, so that nearly every line is
checked by hashing it; of a line that somebody wrote in another form (`jq`, say) the item is written as we would write
it, and that is checked. Lines of older versions have no checksum and are taken as they are. A manifest says whether
each line of its folder was written with one, so that it is told of where they are all taken away.

The index (`journal.sqlite`) is made from the lines, which hold the truth: a row may lag behind (rows are committed some
at a time), and lines behind the last indexed one are indexed again when the folder is opened. So a removed journal
costs nothing but the time to read the items once.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from json import JSONDecoder
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self
from urllib.parse import quote

from judgegraph.data.samples import DiskIndex, Mark, id_digest, mark_of
from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.runs.item import CHECKSUMS, STRIKE, THIRD, Item, failures

BLOCK = 65_536  # bytes read at once in search of the last line's start
_START = b'{"sample":{"id":'  # as we write it
CHECKSUM = "checksum"
_SEAL = b',"checksum":"'  # then 16 hex digits, a quotation mark and a brace
_SEALED = len(_SEAL) + 18
CHANGED = "is not what was written: its line was changed or damaged (the checksum differs)"
_decoder = JSONDecoder()
Skipped = Callable[[str], None]  # is told where a line stands that holds no item, and so is left out


class DamagedLine(DataError):
    """A line that holds no item, or another one than was written.

    Attributes:
        sample: the id that stands there, None where none can be read.
    """

    sample: str | None = None


def lines(file: IO[bytes], start: int = 0, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """(offset, line) of every whole line; a torn last one is left out.

    Args:
        end: byte at which to end, None for the end of the file.
    """
    file.seek(start)
    at = start
    for line in file:
        if not line.endswith(b"\n") or (end is not None and at + len(line) > end):
            return
        yield at, line
        at += len(line)


def end_of_lines(handle: int) -> int:
    """Where the last whole line of an open file ends."""
    at = os.fstat(handle).st_size
    while at:
        start = max(0, at - BLOCK)
        found = os.pread(handle, at - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        at = start
    return 0


def sealed(text: str) -> bytes:
    """A line of the file: an item's JSON, with a checksum of it as its last key."""
    data = text.encode()
    return b'%b%b%b"}\n' % (data[:-1], _SEAL, _checksum(data))


def _checksum(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).hexdigest().encode()


def _unsealed(line: bytes) -> tuple[bytes, bytes | None]:
    """(the item's JSON, its checksum); None where the line does not end as we write it."""
    data = line.rstrip(b"\r\n")
    at = len(data) - _SEALED
    if at > 0 and data.startswith(_SEAL, at):
        return data[:at] + b"}", data[at + len(_SEAL) : -2]
    return data, None


def intact(path: Path, end: int) -> bool:
    """Whether every line up to a byte has its own checksum, as far as it has one; nothing else of it is looked at."""
    with path.open("rb") as file:
        for _, line in lines(file, 0, end):
            data, check = _unsealed(line)
            if check is not None and _checksum(data) != check:
                return False
    return True


def has_checksum(line: bytes) -> bool:
    """Whether a line says what its checksum is; whether it is right is not looked at."""
    if _unsealed(line)[1] is not None:
        return True
    if b'"checksum"' not in line:
        return False
    try:
        return CHECKSUM in json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return False


def item_of_line(line: bytes, where: str) -> Item:
    """The item that a line holds.

    Raises:
        DamagedLine: it holds none, or not the one that was written; the message says where, and of which sample.
    """
    data, check = _unsealed(line)
    if check is None or _checksum(data) == check:
        try:
            return Item.model_validate_json(data)
        except ValueError:
            pass
    return _rewritten(line, where)


def _rewritten(line: bytes, where: str) -> Item:
    """The item of a line that is not as we write it, if its checksum is that of the item."""
    problem = DamagedLine(f"{where}: is no finished sample")
    try:
        found = json.loads(line)
        check = found.pop(CHECKSUM, None)
        problem.sample = str(found["sample"]["id"])
        if check is not None:
            problem.args = (f"{where}: sample {one_line(problem.sample, 80)!r} {CHANGED}",)
            item = Item.model_validate_json(json.dumps(found))
            if _checksum(item.line().encode()).decode() == check:
                return item
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        if (name := _name_of(line)) is not None:
            problem.sample = name
            problem.args = (f"{where}: sample {one_line(name, 80)!r}: its line is damaged, and is no finished sample",)
    raise problem from None


def _name_of(line: bytes) -> str | None:
    """The id that a damaged line begins with."""
    if not line.startswith(_START):
        return None
    try:
        return str(_decoder.raw_decode(line.decode(errors="replace"), len(_START))[0])
    except ValueError:
        return None


def id_of_line(line: bytes, where: str) -> bytes:
    """The digest of its sample's id, without reading the rest where it looks like one of ours. Raises as above."""
    if line.startswith(_START):
        try:
            return id_digest(str(_decoder.raw_decode(line.decode(), len(_START))[0]))
        except ValueError:
            pass
    try:
        return id_digest(item_of_line(line, where).id)
    except DamagedLine as error:
        if error.sample is None:
            raise
        return id_digest(error.sample)


def index(
    journal: Journal, path: Path, skipped: Skipped = lambda where: None, added: Callable[[int], bool] = lambda _: False
) -> int:  # fmt: skip
    """Enter the lines that stand behind the last one that the journal knows.

    Args:
        skipped: is told of each line that holds no item.
        added: whether line N is a stray copy, to be passed over: its sample has another line.

    Returns:
        How many of them hold no item: they stay where they are, and their samples are not finished.
    """
    damaged, number = 0, _lines_before(path, journal.state.end)
    with path.open("rb") as file:
        for at, line in lines(file, journal.state.end):
            number += 1
            if added(number):
                journal.state.end = at + len(line)
                journal.note(superseded=True)
                continue
            try:
                item = item_of_line(line, f"{path}, line {number}")
                mark = mark_of(item.sample, item.place)
            except DataError as error:
                if not blank(line):
                    damaged += 1
                    skipped(str(error))
                    _forget(journal, getattr(error, "sample", None))
                journal.state.end = at + len(line)
                continue
            known = journal.known(mark.id)
            if known is not None and known.status is not None and not journal.state.superseded:
                journal.note(superseded=True)
            journal.finish(mark, item.status, failures(item), at, at + len(line))
    journal.note()
    return damaged


def _forget(journal: Journal, sample: str | None) -> None:
    """The sample of a damaged line is not finished, and the line leaves when it is judged again."""
    if sample is not None:
        journal.forget(id_digest(sample))
        journal.note(superseded=True)


def _lines_before(path: Path, end: int) -> int:
    if not end:
        return 0
    with path.open("rb") as file:
        return sum(1 for _ in lines(file, 0, end))


def blank(line: bytes) -> bool:
    """Whether it holds nothing, so that nothing is lost with it."""
    return not line.strip()


# The items of a run's folder, read as a stream, also while the run goes on; what is odd about its lines is told.


COPY, SECOND, UNVERIFIED = 1, 2, 3  # what a line is that no run of ours wrote so
WORDS = {  # what was done with it, and why
    COPY: ("counted once", "is there a second time: the line is a copy"),
    SECOND: ("left out", "has an earlier line, and no run judged it again"),
    UNVERIFIED: ("not verified", "has no checksum, though the run wrote one"),
}
NAMED = 5  # lines of a kind that are named


@dataclass
class Survey:
    """What is odd about the lines of an `items.jsonl`, each of which may be sound by itself.

    Attributes:
        last: digest of a sample's id -> where the line starts that stands. one_each: each sample should have one line.
        samples: how many have a line.
        odd: kind of a line -> how many there are, and named the first of them as told.
        missing: numbers in the data (from 1) of the first samples that were finished and have no line, or none where
            nobody knows them; lost: how many samples have none.
    """

    last: DiskIndex = field(default_factory=DiskIndex)
    one_each: bool = False
    samples: int = 0
    odd: Counter[int] = field(default_factory=Counter)
    named: dict[int, list[str]] = field(default_factory=dict)
    missing: list[int] = field(default_factory=list)
    lost: int = 0
    _kinds: DiskIndex = field(default_factory=DiskIndex)

    def kind(self, number: int) -> int:
        """COPY, SECOND or UNVERIFIED for the line of a number from 1; 0 for any other."""
        return (self._kinds.get(number.to_bytes(16)) or 0) if self.odd else 0

    def added(self, number: int) -> bool:
        """Whether line `number` is a stray copy, to be passed over: its sample has another line."""
        return self.kind(number) in (COPY, SECOND)

    def mark(self, number: int, kind: int, line: bytes) -> None:
        """Keep what a line is."""
        self.odd[kind] += 1
        self._kinds.put(number.to_bytes(16), kind)
        if len(found := self.named.setdefault(kind, [])) < NAMED:
            found.append(f"line {number}: sample {one_line(_id(line), 80)!r}")

    def in_words(self, path: Path) -> list[str]:
        """All of it in words, nothing of lines that are as they were written."""
        said = []
        for kind, found in self.named.items():
            done, why = WORDS[kind]
            said += [f"{done}: {path}, {where} {why}" for where in found]
            more = self.odd[kind] - len(found)
            said += [f"{done}: {path}: {more:,} more line{'' if more == 1 else 's'} of this kind"] if more else []
        return [*said, *([f"missing: {path}: {self.gone()}"] if self.lost else [])]

    def gone(self) -> str:
        """How many finished samples have no line, and which."""
        one = self.lost == 1
        shown = ", ".join(f"{number:,}" for number in self.missing)
        more = f" and {self.lost - len(self.missing):,} more" if self.missing and self.lost > len(self.missing) else ""
        where = f" (number{'' if one else 's'} {shown}{more} of the data)" if shown else ""
        said = f"{self.lost:,} finished sample{'' if one else 's'}{where} {'has' if one else 'have'} no line any more"
        return f"{said}; the same `judgegraph run` command judges {'it' if one else 'them'} again, from the ledger"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.last.close()
        self._kinds.close()


def survey(path: Path, journal: Path) -> Survey:
    """Look at all lines of a file of items that nobody writes, and at what its journal or manifest says of them.

    Raises:
        DataError: there is no such file.
    """
    file, end, one_each = _opened(path, journal)
    with file:
        return _surveyed(file, end, one_each, path, journal)


def _surveyed(file: IO[bytes], end: int, one_each: bool, path: Path, journal: Path) -> Survey:
    found = Survey(one_each=one_each)
    try:
        nameless = _look(file, end, found, sealed=_manifest_of(path).get(CHECKSUMS) is True)
        with suppress(OSError):
            _miss(file, end, found, path, journal, nameless)
    except BaseException:
        found.__exit__(None, None, None)
        raise
    return found


def _look(file: IO[bytes], end: int, found: Survey, *, sealed: bool) -> int:
    """Read the lines once, twice where some lack a checksum; gives how many hold neither an item nor an id.

    Args:
        sealed: whether the manifest says that each had one; else it is seen by the others.
    """
    nameless = bare = 0
    for number, (at, line) in enumerate(lines(file, 0, end), 1):
        if has_checksum(line):
            sealed = True
        elif not blank(line):
            bare += 1
        try:
            id = id_of_line(line, "")
        except DataError:
            nameless += not blank(line)
            continue
        before = found.last.get(id)
        if before is None:
            found.last.put(id, at)
            found.samples += 1
        elif os.pread(file.fileno(), len(line), before) == line:
            found.mark(number, COPY, line)
        elif not found.one_each:
            found.last.put(id, at)
        elif holds_item(line):
            found.mark(number, SECOND, line)
    for number, (_, line) in enumerate(lines(file, 0, end) if bare and sealed else (), 1):
        if not has_checksum(line) and not found.kind(number) and holds_item(line):
            found.mark(number, UNVERIFIED, line)
    return nameless


def _miss(file: IO[bytes], end: int, found: Survey, path: Path, journal: Path, nameless: int) -> None:
    """Samples that were finished and have no line; a line without an id may have been one's."""
    before = os.fstat(file.fileno())
    told = _finished_missing(found, journal)
    if told is None:
        lost = _samples_by_manifest(path) - found.samples
    else:
        for _, line in lines(file, end):  # what was finished meanwhile
            with suppress(DataError):
                told.pop(id_of_line(line, ""), None)
        lost = len(told)
    if lost > nameless and os.stat(path).st_ino == before.st_ino:  # else the journal is another file's by now
        found.lost = lost - nameless
        found.missing = sorted((told or {}).values())[:NAMED] if not nameless else []


def _finished_missing(found: Survey, journal: Path) -> dict[bytes, int] | None:
    """Digest of an id -> number in the data, of samples that the journal has as finished; None: it cannot say."""
    try:
        with closing(reader(journal)) as db:
            rows = db.execute("SELECT id, place FROM samples WHERE status IS NOT NULL")
            return {id: place + 1 for id, place in rows if found.last.get(id) is None}
    except sqlite3.Error:
        return None


def _samples_by_manifest(path: Path) -> int:
    """How many samples a run that ended says it finished; 0 where nobody says."""
    told = _manifest_of(path)
    try:
        done = told["samples"]["done"] if told["state"] != "running" else 0
    except (TypeError, KeyError):
        return 0
    return done if isinstance(done, int) else 0


def _manifest_of(path: Path) -> dict[str, Any]:
    """Of the folder of a file of items; empty where there is none, or it cannot be read."""
    try:
        found = json.loads(path.with_name("manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def holds_item(line: bytes) -> bool:
    """Whether a line can be read as an item, as it was written."""
    try:
        item_of_line(line, "")
    except DataError:
        return False
    return True


def _id(line: bytes) -> str:
    try:
        return item_of_line(line, "").id
    except DamagedLine as error:
        return error.sample or ""


def ignored(where: str) -> None:
    """For those who do not ask."""


def read_items(path: Path, journal: Path, skipped: Skipped = ignored, told: Skipped = ignored) -> Iterator[Item]:
    """Each finished sample once, by its latest line.

    Args:
        skipped: is told of each line that holds no item. told: of all else that is odd, as `Survey.in_words` says it.

    Raises:
        DataError: there is no such file.
    """
    for number, line in lines_that_stand(path, journal, told):
        if not blank(line):
            try:
                item = item_of_line(line, f"{path}, line {number}")
            except DataError as error:
                skipped(str(error))
            else:
                yield item


def lines_that_stand(path: Path, journal: Path, told: Skipped = ignored) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line) of each sample's latest line, and of those that no sample can be found in.

    Raises:
        DataError: there is no such file.
    """
    file, end, one_each = _opened(path, journal)
    with file, _surveyed(file, end, one_each, path, journal) as found:
        for what in found.in_words(path):
            told(what)
        for number, _, line in _latest_lines(file, end, found):
            yield number, line


def read_in_order(path: Path, journal: Path, skipped: Skipped = ignored, told: Skipped = ignored) -> Iterator[Item]:
    """The same items in the order of the dataset; places and offsets are sorted on disk.

    The journal knows best where a sample stands; a line knows where it stood when it was written. Offsets are those
    of the one file that is open here, whatever takes its place meanwhile.
    """
    file, end, one_each = _opened(path, journal)
    with file, closing(sqlite3.connect("", isolation_level=None)) as order:
        order.execute("CREATE TABLE lines (place INTEGER, number INTEGER, at INTEGER)")
        order.execute("PRAGMA journal_mode = OFF")
        order.execute("BEGIN")
        with _surveyed(file, end, one_each, path, journal) as found:
            for what in found.in_words(path):
                told(what)
            for row in _places(file, end, found, journal, f"{path}, line", skipped):
                order.execute("INSERT INTO lines VALUES (?, ?, ?)", row)
        for number, at in order.execute("SELECT number, at FROM lines ORDER BY place, number"):
            file.seek(at)
            try:
                item = item_of_line(file.readline(), f"{path}, line {number}")
            except DataError as error:
                skipped(str(error))
            else:
                yield item


def _places(
    file: IO[bytes], end: int, found: Survey, journal: Path, where: str, skipped: Skipped
) -> Iterator[tuple[int, int, int]]:
    """(place, line number, offset) of each sample's latest line."""
    try:
        db = reader(journal)
    except sqlite3.Error:
        db = sqlite3.connect(":memory:")
    with closing(db):
        for number, at, line in _latest_lines(file, end, found):
            try:
                yield _number_of(db, line, f"{where} {number}"), number, at
            except DataError as error:
                if not blank(line):
                    skipped(str(error))


def _number_of(db: sqlite3.Connection, line: bytes, where: str) -> int:
    id = id_of_line(line, where)
    try:
        row = db.execute("SELECT place FROM samples WHERE id = ?", (id,)).fetchone()
    except sqlite3.Error:
        row = None
    return row[0] if row else item_of_line(line, where).place


def _latest_lines(file: IO[bytes], end: int, found: Survey) -> Iterator[tuple[int, int, bytes]]:
    """(number from 1, offset, line) of each sample's latest line, and of those that no sample can be found in."""
    for number, (at, line) in enumerate(lines(file, 0, end), 1):
        if not found.added(number) if found.one_each else _is_latest(line, at, found.last):
            yield number, at, line


def _is_latest(line: bytes, at: int, last: DiskIndex) -> bool:
    try:
        return last.get(id_of_line(line, "")) == at
    except DataError:
        return True


def _opened(path: Path, journal: Path) -> tuple[IO[bytes], int, bool]:
    """(file, its end, whether it has one line for each sample); a writer may be at work in this moment.

    The end is taken before the journal is asked, which is told before a second line is written; a file that was
    replaced meanwhile is not the one that the journal speaks of.

    Raises:
        DataError: there is no such file.
    """
    try:
        while True:
            file = path.open("rb")
            try:
                seen = os.fstat(file.fileno())
                one_each = superseded(journal) is False
                if os.stat(path).st_ino == seen.st_ino:
                    return file, seen.st_size, one_each
            except BaseException:
                file.close()
                raise
            file.close()
    except OSError as error:
        raise DataError(f"{path.parent} is no run's folder: {path.name}: {error.strerror}") from None


# The index of the lines: which samples are finished, where their lines stand, what they were made from.


SCHEMA = 1
APPLICATION = 0x6A67726A  # "jgrj": tells our files from other SQLite files
EVERY, MOST = 0.25, 500  # seconds and rows between two commits at most
PATIENCE = 10.0  # seconds to wait for a reader
_TABLES = (
    """CREATE TABLE samples (
        id BLOB PRIMARY KEY, place INTEGER NOT NULL, content BLOB NOT NULL,
        status TEXT, failed INTEGER NOT NULL, strikes INTEGER NOT NULL, offset INTEGER
    ) WITHOUT ROWID""",
    'CREATE TABLE state ("end" INTEGER NOT NULL, superseded INTEGER NOT NULL, moving INTEGER NOT NULL)',
    "INSERT INTO state VALUES (0, 0, 0)",
)
_LATER = (  # tables that a journal may lack that was made before they were
    "CREATE TABLE IF NOT EXISTS seen (size INTEGER NOT NULL, time INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS exits (in_flight INTEGER NOT NULL)",
)
_FINISH = "INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?, 0, ?)"
_STRIKE = """INSERT INTO samples VALUES (?, ?, ?, NULL, 0, ?, NULL)
    ON CONFLICT (id) DO UPDATE SET strikes = strikes + excluded.strikes"""
_FORGET = "UPDATE samples SET status = NULL, failed = 0, offset = NULL"


class Known(NamedTuple):
    """What the journal knows of a sample.

    Attributes:
        place: its number in the dataset, from 0. content: digest of the sample.
        status: of its item, None while it has none. failed: parts of the item that failed.
        strikes: for unclean exits it was in flight at since its last progress, in thirds. offset: where its line is.
    """

    place: int
    content: bytes
    status: str | None
    failed: int
    strikes: int
    offset: int | None


@dataclass
class State:
    """What holds of the whole file of items.

    Attributes:
        end: bytes of it that are indexed. superseded: some samples have more than one line, and the last one stands.
        moving: it is being written anew, so that offsets may be those of the old file or of the new one.
    """

    end: int = 0
    superseded: bool = False
    moving: bool = False


class Journal:
    """The journal of one run's folder, for its one writer.

    Raises:
        ConfigError: the file is no journal, is damaged or of a newer version (it is left as it is), or it cannot be
            opened or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = _open(path)
        self._since = 0.0
        self._finished: list[tuple[Any, ...]] = []  # rows that are written with the next statement
        self._failure: ConfigError | None = None
        self.state = State(*self._run('SELECT "end", superseded, moving FROM state').fetchone())

    def known(self, id: bytes) -> Known | None:
        """What it knows of a sample, by the digest of its id."""
        row = self._run(
            "SELECT place, content, status, failed, strikes, offset FROM samples WHERE id = ?", (id,)
        ).fetchone()
        return None if row is None else Known(*row)

    def finish(self, mark: Mark, status: str, failed: int, offset: int, end: int) -> None:
        """A sample's line stands in the file, from one byte to another; its strikes are forgotten."""
        if not self._finished:
            self._begin()
        self._finished.append((mark.id, mark.place, mark.content, status, failed, offset))
        self.state.end = end
        if len(self._finished) >= MOST or time.monotonic() - self._since >= EVERY:
            self.commit()

    def count_crash(self, marks: Iterable[Mark]) -> None:
        """These were in flight when the process ended uncleanly; who waited for a reply has a third of a strike."""
        self._begin()
        rows = [(mark.id, mark.place, mark.content, THIRD if mark.waiting else STRIKE) for mark in marks]
        for row in rows:
            self._run(_STRIKE, row)
        self._run("INSERT INTO exits VALUES (?)", (len(rows),))
        self.commit()

    def exits(self) -> int:
        """How often the process ended uncleanly with a sample in flight."""
        return int(self._run("SELECT COUNT(*) FROM exits").fetchone()[0])

    def clear_crashes(self, id: bytes) -> None:
        """A sample has made progress."""
        self._begin()
        self._run("UPDATE samples SET strikes = 0 WHERE id = ?", (id,))
        self.commit()

    def moved(self, id: bytes, *, place: int | None = None, offset: int | None = None) -> None:
        """A sample stands elsewhere in the dataset, or its line elsewhere in the file."""
        self._begin()
        change = "place = coalesce(?, place), offset = coalesce(?, offset)"
        self._run(f"UPDATE samples SET {change} WHERE id = ?", (place, offset, id))

    def forget(self, id: bytes) -> None:
        """As if the sample were not finished."""
        self._begin()
        self._run(f"{_FORGET} WHERE id = ?", (id,))

    def forget_lines(self) -> None:
        """As if no line were indexed."""
        self._begin()
        self._run(_FORGET)
        self.state = State()

    @property
    def failed(self) -> bool:
        """Whether it could not be written once, so that it lacks something."""
        return self._failure is not None

    def empty(self) -> bool:
        """Whether it knows no sample at all, so that nothing need be looked up."""
        return self._run("SELECT 1 FROM samples LIMIT 1").fetchone() is None

    def at_or_after(self, id: bytes) -> tuple[bytes, int] | None:
        """(digest of its id, offset) of the first finished sample from a digest on; None where there is none."""
        row = self._run(
            "SELECT id, offset FROM samples WHERE id >= ? AND offset IS NOT NULL ORDER BY id LIMIT 1", (id,)
        ).fetchone()
        return None if row is None else (row[0], row[1])

    def seen(self) -> tuple[int, int] | None:
        """Bytes and time (nanoseconds) of the file of items when `saw` was told last; None where nothing is known."""
        row = self._run("SELECT size, time FROM seen").fetchone()
        return None if row is None else (row[0], row[1])

    def saw(self, size: int | None = None, time: int | None = None) -> None:
        """What the file of items looks like now that nobody writes it; without arguments: somebody will."""
        self._begin()
        self._run("DELETE FROM seen")
        if size is not None:
            self._run("INSERT INTO seen VALUES (?, ?)", (size, time))
        self.commit()

    def statuses(self) -> list[tuple[str, bool, int]]:
        """(status, whether a part of the item failed, how many) of the finished samples."""
        rows = "SELECT status, failed > 0, COUNT(*) FROM samples WHERE status IS NOT NULL GROUP BY 1, 2"
        return [(status, bool(failed), count) for status, failed, count in self._run(rows)]

    def commit(self) -> None:
        """What was said so far survives a killed process."""
        if self._db.in_transaction:
            state = (self.state.end, self.state.superseded, self.state.moving)
            self._run('UPDATE state SET "end" = ?, superseded = ?, moving = ?', state)
            self._run("COMMIT")

    def note(self, **changes: bool) -> None:
        """Change and commit the state."""
        self._begin()
        for name, value in changes.items():
            setattr(self.state, name, value)
        self.commit()

    def close(self) -> None:
        """Commit what is left; one plain file remains, which is read without a log beside it."""
        try:
            self.commit()
            with suppress(sqlite3.Error):  # somebody reads it at this moment: then the log stays
                self._db.execute("PRAGMA busy_timeout = 0")
                self._db.execute("PRAGMA journal_mode = DELETE").fetchone()
        finally:
            self._db.close()

    def _begin(self) -> None:
        if self._failure is not None:  # nothing may be written behind a gap
            raise self._failure
        if not self._db.in_transaction:
            self._run("BEGIN IMMEDIATE")
            self._since = time.monotonic()

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        try:
            if self._finished:
                finished, self._finished = self._finished, []
                self._db.executemany(_FINISH, finished)
            return self._db.execute(statement, values)
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                if self._db.in_transaction:  # what is lost is indexed again from the items
                    self._db.execute("ROLLBACK")
            self._failure = ConfigError(f"cannot write {self.path}: {error}")
            self._failure.ends_run = True
            raise self._failure from None


def superseded(path: Path) -> bool | None:
    """Whether some samples have more than one line; None where the journal cannot say."""
    try:
        return bool(_rows(path, "SELECT superseded OR moving FROM state")[0][0])
    except (sqlite3.Error, IndexError):
        return None


def _rows(path: Path, statement: str) -> list[Any]:
    db = reader(path)
    try:
        return db.execute(statement).fetchall()
    finally:
        db.close()


def reader(path: Path) -> sqlite3.Connection:
    """For one look, also while the run goes on.

    Raises:
        sqlite3.Error: there is none, or it cannot be read.
    """
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, isolation_level=None)


def _open(path: Path) -> sqlite3.Connection:
    left = "; it was left as it is"
    db = None
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        db = sqlite3.connect(path, isolation_level=None, timeout=PATIENCE, check_same_thread=False)
        _check(db, path)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from None
    except sqlite3.OperationalError as error:
        _close(db)
        raise ConfigError(f"cannot write {path}: {error}") from None
    except sqlite3.Error as error:
        _close(db)
        again = "remove it, and it is made again from the items"
        raise ConfigError(f"{path} is no journal, or a damaged one ({error}){left}; {again}") from None
    except ConfigError:
        _close(db)
        raise
    return db


def _close(db: sqlite3.Connection | None) -> None:
    if db is not None:
        db.close()


def _check(db: sqlite3.Connection, path: Path) -> None:
    tables = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    application = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if tables and application != APPLICATION:
        raise ConfigError(f"{path} is a database, but no journal of judgegraph; it was left as it is")
    if version > SCHEMA:
        raise ConfigError(
            f"{path} was written by a newer judgegraph (journal {version}, ours {SCHEMA}); it was left as it is"
        )
    for setting in ("journal_mode = WAL", "synchronous = NORMAL", "cache_size = -400"):
        db.execute(f"PRAGMA {setting}").fetchone()
    if tables:
        for table in _LATER:
            db.execute(table)
    else:
        with db:
            db.execute("BEGIN IMMEDIATE")
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {SCHEMA}")
            for table in (*_TABLES, *_LATER):
                db.execute(table)
