"""The samples of a run in a table on disk that is searched, filtered and sorted, and follows a run under way."""

from __future__ import annotations

import json
import math
import os
import re
import sqlite3
import stat
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from judgegraph.answers import answers_of, doubt, moved_by, scaled
from judgegraph.calls.ledger import ReadOnlyLedger
from judgegraph.errors import DataError, status_text
from judgegraph.runs.folder import ITEMS
from judgegraph.runs.item import Item
from judgegraph.runs.lines import DamagedLine, item_of_line, lines
from judgegraph.runs.run import Run
from judgegraph.trace.record import line_at, recorded_trace
from judgegraph.trace.record import lines as span_lines
from judgegraph.traces.read import SampleTrace, belongs, id_of, ledger_of, ranked_sample, spans_of, tree
from judgegraph.types import Sample, text_of
from judgegraph.views.blocks import number_text
from judgegraph.views.trace import head_of

PAGE = 50  # rows of a page of the table
BATCH = 500  # samples that are written at once, so that the table grows while it is looked at
SEARCHED = 20_000  # characters of each text, and of all reasons together, that are searched
WORDS = 12  # of what is searched for
TOTALS = 200  # queries whose totals are kept
ORDERS = {  # what a table is sorted by -> its column, and whether the greatest stand first
    "data": ("place", False), "least": ("score", False), "best": ("score", True), "moved": ("change", True),
    "doubt": ("doubt", True), "time": ("ms", True), "failed": ("failures", True), "id": ("id", False),
}  # fmt: skip
BESIDE = {  # and of two runs, by the other's score less this one's
    "apart": ("abs(difference)", True), "rose": ("difference", True), "fell": ("difference", False),
}  # fmt: skip
ANY = "1"  # no condition
MATCHED = "n IN matched"  # the samples that hold the words, found once for count and page
UNANSWERED = "unanswered"  # a status that is asked for: failed, or without any answer
OF_CRITERION = {"score": "share", "change": "change", "doubt": "doubt"}  # what an answer has of its own
LACKING = {  # of an order, where no sample has what it goes by
    "least": "no number to sort by", "best": "no number to sort by", "moved": "no critic moved a score",
    "doubt": "no answer has a distribution", **dict.fromkeys(BESIDE, "no sample has a number in both runs"),
}  # fmt: skip
_TABLES = """
CREATE TABLE samples (
    n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, place INTEGER, status TEXT, head TEXT, cause TEXT, reason TEXT,
    verdict TEXT, score REAL, change REAL, changed TEXT, doubt REAL, ms REAL, failures INTEGER, people INTEGER,
    at INTEGER
);
CREATE INDEX by_place ON samples (place IS NULL, place);
CREATE INDEX by_score ON samples (score IS NULL, score, place);
CREATE INDEX by_best ON samples (score IS NULL, score DESC, place);
CREATE INDEX by_change ON samples (change IS NULL, change DESC, place);
CREATE INDEX by_doubt ON samples (doubt IS NULL, doubt DESC, place);
CREATE INDEX by_status ON samples (status, cause);
CREATE TABLE answers (
    n INTEGER, key TEXT, criterion TEXT, share REAL, value REAL, label TEXT, status TEXT, change REAL, changed TEXT,
    doubt REAL, least INTEGER, PRIMARY KEY (n, key)
) WITHOUT ROWID;
CREATE INDEX by_criterion ON answers (criterion, value, n);
CREATE INDEX by_least ON answers (criterion, share IS NULL, share, n) WHERE least;
CREATE INDEX by_greatest ON answers (criterion, share IS NULL, share DESC, n) WHERE least;
CREATE INDEX by_move ON answers (criterion, change IS NULL, change DESC, n) WHERE least;
CREATE INDEX by_width ON answers (criterion, doubt IS NULL, doubt DESC, n) WHERE least;
CREATE INDEX by_answer ON answers (status, n);
CREATE VIRTUAL TABLE words USING fts5 (text, content = '', detail = none, prefix = '2', tokenize = 'unicode61');
CREATE TABLE gone (n INTEGER PRIMARY KEY);
CREATE TABLE traces (id TEXT, at INTEGER);
CREATE INDEX by_trace ON traces (id);
"""
LET_GO = 2.0  # seconds for which the reading waits at most while pages are asked for
FAILED = 1_000_000  # added to the failures of a sample that failed, or has no answer: it stands before others
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Query:
    """Which samples are shown, and in which order.

    Attributes:
        text: words that each sample holds, in its id, its texts or its reasons; the last may be the beginning of one.
        status: how samples ended, or answers of theirs; "unanswered": failed, or without any answer; "" for all.
        criterion: one by which a sample is judged; `low` and `high` bound its value then, else the mean as a share of
            its scale. order: of `ORDERS`, beside another run of `BESIDE` too. page: from 1.
        beside: the number of a run that is looked at too: the samples that both have.
    """

    text: str = ""
    status: str = ""
    criterion: str = ""
    low: float | None = None
    high: float | None = None
    order: str = "data"
    page: int = 1
    beside: int | None = None


@dataclass(frozen=True)
class Listed:
    """A page of samples: rows by their columns, how many there are in all, and their answers by criterion.

    Attributes:
        unordered: why they stand in the order of the data where another was asked for, "" where they do not.
        theirs: the answers of another run, beside which these stand; a row has `one`, `other` and `difference` then.
    """

    rows: list[dict[str, Any]]
    total: int
    answers: dict[str, dict[str, str]]
    unordered: str = ""
    theirs: dict[str, dict[str, str]] = field(default_factory=dict)


class Pause:
    """Lets pages be made before more is read: a reader takes turns with them at every row of a table otherwise."""

    def __init__(self) -> None:
        self._pages, self._since = 0, 0.0
        self._changed = threading.Condition()

    @contextmanager
    def page(self) -> Iterator[None]:
        """While a page is made."""
        with self._changed:
            self._since = self._since if self._pages else time.monotonic()
            self._pages += 1
        try:
            yield
        finally:
            with self._changed:
                self._pages -= 1
                self._changed.notify_all()

    def wait(self) -> None:
        """Until no page is asked for, or they have been for a while."""
        if self._pages:
            with self._changed:
                left = self._since + LET_GO - time.monotonic()
                self._changed.wait_for(lambda: not self._pages, max(0.0, left))


class SampleIndex:
    """A run's samples on disk; it is filled by a thread, and filled further where the run goes on.

    Where the file lies, and when it is kept for the next time, `IndexFile` says; nothing is written to the run.

    Args:
        pause: what the reading gives way to.
    """

    def __init__(self, run: Run, pause: Pause | None = None) -> None:
        if run.folder is None:
            raise DataError("a run in memory has no folder to look at")
        self.run = run
        self.path: Path = run.folder.path
        self.read = 0  # samples so far
        self.damaged = 0
        self.filled = threading.Event()  # all lines that there were have been read
        self.failed = ""  # why the reading ended
        self._pause = pause or Pause()
        self._items_end = self._spans_end = self._inode = 0
        self._criteria: dict[str, None] = {}
        self._lock = threading.Lock()
        self._changes = 0  # of the table: what was counted before one is counted anew
        self._statuses: tuple[int, Counter[str]] = (-1, Counter())
        self._totals: dict[tuple[Any, ...], int] = {}  # of queries, since the last change
        self._closed = self._damaged_file = False
        self.file = IndexFile(self.path, self.path / ITEMS, _TABLES)
        if self.file.found and not self._resumed(self.file.found):
            self.file.clear()

    def _resumed(self, known: Mapping[str, Any]) -> bool:
        """Whether the run is as it was when its kept index was made, or went on since."""
        spans = spans_of(self.run)
        if not still_begins(self.path / ITEMS, known.get("items")):
            return False
        if known.get("spans") is not None and (spans is None or not still_begins(spans, known["spans"])):
            return False
        self._inode, self._items_end = known["items"][:2]
        self._spans_end = known["spans"][1] if known.get("spans") else 0
        self.damaged, self._criteria = int(known.get("damaged", 0)), dict.fromkeys(map(str, known.get("criteria", ())))
        try:
            with closing(sqlite3.connect(self.file.path)) as db:
                self._count(db)
        except sqlite3.DatabaseError:
            self._forget()
            return False
        return True

    def close(self) -> None:
        """End the reading, and remove the file where it is not kept."""
        self._closed = True
        with self._lock:
            self.file.close()

    @property
    def done(self) -> bool:
        """Whether all that there was has been read."""
        return self.filled.is_set()

    def fill(self) -> None:
        """Read what has come since the last time.

        Raises:
            OSError, sqlite3.Error: the run's files cannot be read, or there is no room for the index.
        """
        if not self._lock.acquire(blocking=False):
            return
        try:
            if not self._closed:
                if self._damaged_file:
                    self.file.clear()
                    self._forget()
                    self._damaged_file = False
                with self._sound(), closing(sqlite3.connect(self.file.path)) as db:
                    self._begin_anew(db)
                    self._fill_items(db)
                    self._fill_traces(db)
                    self._commit(db)
                self.filled.set()
        finally:
            self._lock.release()

    def changed(self) -> bool:
        """Whether the run's items or traces are not those that were read: more came, or they were written again."""
        with suppress(OSError):
            found = (self.path / ITEMS).stat()
            if found.st_ino != self._inode or found.st_size != self._items_end:
                return True
            spans = spans_of(self.run)
            return spans is not None and spans.stat().st_size > self._spans_end
        return False

    def _begin_anew(self, db: sqlite3.Connection) -> None:
        """A resumed run writes its items again, one line for each sample: then what was read lies elsewhere."""
        with suppress(OSError):
            found = (self.path / ITEMS).stat()
            if self._inode and (found.st_ino != self._inode or found.st_size < self._items_end):
                for table in ("samples", "answers", "gone", "traces", "state"):
                    db.execute(f"DELETE FROM {table}")
                db.execute("INSERT INTO words (words) VALUES ('delete-all')")
                self._forget()
            self._inode = found.st_ino

    def _forget(self) -> None:
        self._items_end = self._spans_end = self._inode = self.damaged = 0
        self.filled.clear()

    def _fill_items(self, db: sqlite3.Connection) -> None:
        with suppress(FileNotFoundError), (self.path / ITEMS).open("rb") as file:
            for number, (at, line) in enumerate(lines(file, self._items_end), 1):
                self._pause.wait()
                if self._closed:
                    break
                self._items_end = at + len(line)
                if line.strip():
                    self._add(db, at, line)
                if number % BATCH == 0:
                    self._commit(db)
        self._commit(db)

    def _commit(self, db: sqlite3.Connection) -> None:
        """What was read so far is to be seen, and to be gone on from."""
        spans = spans_of(self.run)
        with suppress(OSError):
            items = mark_of_file(self.path / ITEMS, self._items_end)
            self.file.keep(db, {
                "items": items if items[0] == self._inode else None, "damaged": self.damaged,
                "spans": mark_of_file(spans, self._spans_end) if spans is not None and self._spans_end else None,
                "criteria": [*self._criteria],
            })  # fmt: skip
        db.commit()
        self._count(db)

    def _count(self, db: sqlite3.Connection) -> None:
        self.read = db.execute("SELECT count(*) FROM samples").fetchone()[0]
        self._changes += 1

    def _add(self, db: sqlite3.Connection, at: int, line: bytes) -> None:
        try:
            item = item_of_line(line, "")
        except DamagedLine:
            self.damaged += 1
            return
        if known := db.execute("SELECT n FROM samples WHERE id = ?", (item.id,)).fetchone():  # the later line stands
            for table in ("answers", "samples"):
                db.execute(f"DELETE FROM {table} WHERE n = ?", known)
            db.execute("INSERT INTO gone VALUES (?)", known)
        one = ranked_sample(item)
        changed = f"{one.changed_criterion} {shown(one.changed_from)} → {shown(one.changed_to)}" if one.change else ""
        added = db.execute(
            f"INSERT INTO samples VALUES (NULL, {', '.join('?' * 15)})",
            (item.id, item.place, item.status, head_of(item), one.cause, one.reason, item.verdict, one.value,
             one.change, changed, one.doubt, item.ms, one.failures + FAILED * bool(one.cause), len(item.sample.human),
             at),
        )  # fmt: skip
        db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (added.lastrowid, _searched(item)))
        answers = [(added.lastrowid, *answer) for answer in _answers(item)]
        db.executemany(f"INSERT OR REPLACE INTO answers VALUES ({', '.join('?' * 11)})", answers)
        self._criteria.update(dict.fromkeys(answer[2] for answer in answers))

    def _fill_traces(self, db: sqlite3.Connection) -> None:
        path = spans_of(self.run)
        if path is None or not path.is_file():
            return
        for at, line in span_lines(path, self._spans_end):
            self._pause.wait()
            if self._closed:
                return
            self._spans_end = at + len(line)
            if name := id_of(line):
                db.execute("INSERT INTO traces VALUES (?, ?)", (name, at))

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """A file that turns out to be damaged is made anew by the next filling."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # busy, full and the like
                raise
            self._damaged_file = True
            self.filled.clear()
            raise DataError("what was read of the run is damaged and is read anew: look once more in a while") from None

    @contextmanager
    def _reading(self, words: str = "") -> Iterator[sqlite3.Connection]:
        """The tables, to be read; `matched` holds the samples with the words that are searched for."""
        with self._sound(), closing(sqlite3.connect(f"{self.file.path.as_uri()}?mode=ro", uri=True)) as db:
            db.executescript("PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY;")
            db.row_factory = sqlite3.Row
            if words:
                db.execute("CREATE TEMP TABLE matched (n INTEGER PRIMARY KEY)")
                found = "SELECT rowid FROM words WHERE words MATCH ? AND rowid NOT IN (SELECT n FROM gone)"
                db.execute(f"INSERT INTO matched {found}", (words,))
            yield db

    def statuses(self) -> Counter[str]:
        """How many samples ended how, and under "unanswered" how many failed or have no answer."""
        known, found = self._statuses
        if known == self._changes:
            return found
        changes, found = self._changes, self._counted_statuses()
        self._statuses = (changes, found)
        return found

    def _counted_statuses(self) -> Counter[str]:
        with self._reading() as db:
            found = Counter(dict(db.execute("SELECT status, count(*) FROM samples GROUP BY status").fetchall()))
            found[UNANSWERED] = db.execute("SELECT count(*) FROM samples WHERE cause != ''").fetchone()[0]
        return found

    def criteria(self) -> list[str]:
        """Names of criteria that samples were judged by, in the order of their names."""
        return sorted(self._criteria.copy())

    def listed(self, query: Query, size: int = PAGE) -> Listed:
        """One page of the samples that a query asks for."""
        column, greatest = ORDERS.get(query.order, ORDERS["data"])
        own = bool(query.criterion) and column in OF_CRITERION and query.status != UNANSWERED
        where, values = _where(query, own)
        table = counted = "samples"
        more, last, chosen = list[Any](), "place", "samples.*"
        if own:  # a sample with several answers by the criterion counts by the least
            table = "answers CROSS JOIN samples USING (n)"
            counted = "answers" if where == ANY else table  # nothing is asked of the samples themselves
            column, last, where = f"answers.{OF_CRITERION[column]}", "n", f"least AND criterion = ? AND {where}"
            more, chosen = [query.criterion], "samples.*, answers.changed AS moved"
        order = f"{column} IS NULL, {column}{' DESC' if greatest else ''}, {last}"
        words = _matched(query.text)
        with self._reading(words) as db:
            asked = f"SELECT count(*) FROM {counted} WHERE {where}"
            if where == f"{ANY} AND {MATCHED}":  # words alone
                asked = "SELECT count(*) FROM matched"
            total = self._total(db, asked, (*more, *values), words)
            rows = db.execute(
                f"SELECT {chosen}, {column} AS goes_by FROM {table} WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",
                (*more, *values, size, (query.page - 1) * size),
            ).fetchall()
            answers = {row["id"]: _shown_answers(db, row["n"]) for row in rows}
        lacking = bool(rows) and query.page == 1 and rows[0]["goes_by"] is None
        found = [dict(row) for row in rows]
        for one in found:
            one["changed"] = one.get("moved", one["changed"])
        return Listed(found, total, answers, LACKING.get(query.order, "") if lacking else "")

    def compared(self, query: Query, other: SampleIndex, shares: bool = True, size: int = PAGE) -> Listed:
        """One page of the samples that this run and another have, of those of this run that a query asks for.

        Args:
            shares: whether differences are of shares of the scale, as where two runs' scales differ; else of values.
        """
        column, greatest = {**ORDERS, **BESIDE}.get(query.order, ORDERS["data"])
        where, values = _where(query, False)
        value = "share" if shares else "value"
        chosen, table, more = "samples.score AS one, theirs.score AS other, NULL AS differ", "", list[Any]()
        if query.criterion:
            chosen = f"mine.{value} AS one, its.{value} AS other, mine.label != its.label AS differ"
            table = "".join(
                f" LEFT JOIN {run}answers AS {name} ON {name}.n = {whose}.n AND {name}.criterion = ? AND {name}.least"
                for run, name, whose in (("", "mine", "samples"), ("other.", "its", "theirs"))
            )
            more = [query.criterion, query.criterion]
        both = f"(SELECT * FROM samples WHERE {where}) AS samples JOIN other.samples AS theirs USING (id)"
        sorted_by = ORDERS.get(query.order, ORDERS["data"])[0]
        narrow = f"samples.n, id, samples.place, samples.{sorted_by} AS own, theirs.n AS their_n"
        asked = f"SELECT {narrow}, {chosen} FROM {both}{table}"
        # labels have no difference: those that are not the same stand where the greatest differences do
        told = f"SELECT *, coalesce(other - one, differ) AS difference FROM ({asked})"
        if query.order in ORDERS:
            column = "one" if query.criterion and column == "score" else "own"
        order = f"{column} IS NULL, {column}{' DESC' if greatest else ''}, place"
        words = _matched(query.text)
        with self._reading(words) as db:
            db.execute("ATTACH ? AS other", (f"{other.file.path.as_uri()}?mode=ro",))
            total = self._total(db, f"SELECT count(*) FROM {both}", tuple(values), words, other)
            rows = db.execute(
                f"SELECT *, {column} AS goes_by FROM ({told}) ORDER BY {order} LIMIT ? OFFSET ?",
                (*values, *more, size, (query.page - 1) * size),
            ).fetchall()
            answers = {row["id"]: _shown_answers(db, row["n"]) for row in rows}
            theirs = {row["id"]: _shown_answers(db, row["their_n"], "other.") for row in rows}
        lacking = bool(rows) and query.page == 1 and rows[0]["goes_by"] is None
        lack = LACKING.get(query.order, "") if lacking else ""
        return Listed([dict(row) for row in rows], total, answers, lack, theirs)

    def _total(
        self, db: sqlite3.Connection, query: str, values: tuple[Any, ...], words: str, other: SampleIndex | None = None
    ) -> int:
        """How many samples a query is of; counted once for all of its pages."""
        key = (self._changes, query, values, words, other and (other.file.path, other._changes))
        if key not in self._totals:
            if len(self._totals) >= TOTALS:
                self._totals.clear()
            self._totals[key] = int(db.execute(query, values).fetchone()[0])
        return self._totals[key]

    def neighbours(
        self, query: Query, id: str, listed: Callable[[Query], Listed] | None = None
    ) -> tuple[str | None, str | None]:
        """The samples before and behind one, in the order of a query's page and of those next to it.

        Args:
            listed: what makes pages, where they are not of this run alone.
        """
        names: list[str] = []
        for page in (query.page - 1, query.page, query.page + 1):
            if page > 0:
                names += [row["id"] for row in (listed or self.listed)(replace(query, page=page)).rows]
        if id not in names:
            return None, None
        at = names.index(id)
        return (names[at - 1] if at else None), (names[at + 1] if at + 1 < len(names) else None)

    def item(self, id: str) -> Item:
        """One sample.

        Raises:
            DataError: there is none, or its line is damaged by now.
        """
        with self._reading() as db:
            row = db.execute("SELECT at FROM samples WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise DataError("no such sample")
        with (self.path / ITEMS).open("rb") as file:
            file.seek(row["at"])
            found = item_of_line(file.readline(), f"{self.path / ITEMS}, byte {row['at']}")
        if found.id != id:
            raise DataError("the run's items were written again just now: look once more")
        return found

    def trace(self, item: Item) -> SampleTrace:
        """What was done for a sample, as far as it was recorded: as `traces.read.trace_of`, without a whole reading."""
        path = spans_of(self.run)
        with self._reading() as db:
            places = [row["at"] for row in db.execute("SELECT at FROM traces WHERE id = ? ORDER BY at", (item.id,))]
        found = None
        if path is not None and places:
            for at in places:
                stored = recorded_trace(line_at(path, at))
                if stored is not None and belongs(stored, item) and (found is None or stored.kept):
                    found = stored
        with closing(ReadOnlyLedger(ledger_of(self.run))) as ledger:
            root = tree(found, item, self.run.manifest.get("nodes") or {}, ledger) if found is not None else None
        return SampleTrace(item, root, len(places), found)

    @property
    def size(self) -> int:
        """Bytes of the run's items, to tell how far the reading has come."""
        with suppress(OSError):
            return os.path.getsize(self.path / ITEMS)
        return 0

    @property
    def share(self) -> float:
        """How much of the run's items has been read, 0 to 1."""
        return min(1.0, self._items_end / self.size) if self.size else 1.0


def shown(value: float | str | None) -> str:
    """A number with two digits behind the point, a label as it is."""
    if isinstance(value, int | float):
        return number_text(value)
    return value or ""


def _searchable(sample: Sample) -> tuple[Any, ...]:
    beside = sample.shown_evidence().values()
    return sample.query, sample.output, sample.rival, sample.reference, sample.source, *beside


def _searched(item: Item) -> str:
    sample = item.sample
    texts = [text_of(one)[:SEARCHED] for one in _searchable(sample) if one]
    judged: list[Any] = [*item.scores, *item.comparisons, *item.rectifications]
    reasons = " ".join(one.reason for one in judged if one.reason)
    return spaced("\n".join([item.id, *texts, item.reason, reasons[:SEARCHED]]))


def spaced(text: str) -> str:
    """The text with blanks around each sign of scripts that are written without them, so that words of these are found:
    a search for several signs finds texts that hold all of them.
    """
    return text if text.isascii() else _UNSPACED.sub(r" \g<0> ", text)


def _answers(item: Item) -> Iterator[tuple[Any, ...]]:
    seen: set[str] = set()
    held = {score.key: score for score in item.scores}
    answers = [(score, scaled(score)) for score in answers_of(item)]
    for score, share in sorted(answers, key=lambda one: math.inf if one[1] is None else one[1]):
        name = score.criterion + (" (rival)" if score.of == "rival" else "")
        draft = held.get(score.draft or "")
        change = moved_by(draft, score) if draft is not None else None
        moved = f"{name} {shown(draft.answer)} → {shown(score.answer)}" if change and draft is not None else ""
        said = (score.value, score.label, score.status, change, moved, doubt(score))
        yield score.key, name, share, *said, name not in seen
        seen.add(name)


def _shown_answers(db: sqlite3.Connection, n: int, run: str = "") -> dict[str, str]:
    """Criterion -> its answers on a sample, one beside another where there are several, or why there is none."""
    found: dict[str, list[str]] = {}
    asked = f"SELECT criterion, value, label, status FROM {run}answers WHERE n = ? ORDER BY key"
    for row in db.execute(asked, (n,)):
        said = shown(row["label"] if row["value"] is None else row["value"]) or status_text(row["status"])
        found.setdefault(row["criterion"], []).append(said)
    return {criterion: ", ".join(said) for criterion, said in found.items()}


def _where(query: Query, own: bool) -> tuple[str, list[Any]]:
    """What is asked of samples; `own`: that they have an answer by the criterion is asked already."""
    parts: list[str] = [ANY]
    values: list[Any] = []
    if _matched(query.text):
        parts.append(MATCHED)
    elif query.text.strip():  # signs alone: they stand in ids
        parts.append("instr(id, ?)")
        values.append(query.text.strip())
    if query.criterion and query.status == UNANSWERED:  # a sample that failed has no answer by it either
        parts.append("(cause != '' OR n IN (SELECT n FROM answers WHERE criterion = ? AND status != 'ok'))")
        values.append(query.criterion)
    elif query.criterion and query.status:  # of its own answers
        parts.append("n IN (SELECT n FROM answers WHERE criterion = ? AND status = ?)")
        values += [query.criterion, query.status]
    elif query.status == UNANSWERED:
        parts.append("cause != ''")
    elif query.status:
        parts.append("(samples.status = ? OR n IN (SELECT n FROM answers WHERE status = ?))")
        values += [query.status, query.status]
    bounds = [("value", sign, end) for sign, end in ((">=", query.low), ("<=", query.high)) if end is not None]
    if query.criterion and (bounds or not (own or query.status == UNANSWERED)):
        inner = "".join(f" AND {column} {sign} ?" for column, sign, _ in bounds)
        parts.append(f"n IN (SELECT n FROM answers WHERE criterion = ?{inner})")
        values += [query.criterion, *(end for _, _, end in bounds)]
    elif not query.criterion:
        for _, sign, end in bounds:
            parts.append(f"score {sign} ?")
            values.append(end)
    return " AND ".join(parts), values


def _matched(text: str) -> str:
    """What is searched for as FTS5 takes it: each word quoted, the last one as the beginning of a word."""
    found: Sequence[str] = _WORD.findall(spaced(text))[:WORDS]
    return " ".join(f'"{word}"' for word in found) + "*" if found else ""


def bound(text: str) -> float | None:
    """A number as it was typed, "0,5" too; None of what is none."""
    with suppress(ValueError):
        value = float(text.strip().replace(",", "."))
        return value if math.isfinite(value) else None
    return None


# Where the index of a run lies: beside a large run, so that it is made once; else in a temporary file of its own.


try:
    import fcntl
except ImportError:  # a system without such locks keeps no index
    fcntl = None  # type: ignore[assignment]

KEPT_FROM = 20_000_000  # bytes of a run's items; of fewer an index is made in seconds
FORMAT = 1  # of the index: what was kept in another is not read
TAIL = 4_096  # bytes before an end that tell whether a file still begins as it did
SIDES = ("-wal", "-shm", "-journal")  # what SQLite lays beside a file


class IndexFile:
    """A SQLite file with the tables of an index, open to one process alone.

    It is kept as `.RUN.view.sqlite` beside the run's folder where the run's items are large, readable to its owner
    alone. What is there already is taken only where it is a plain file of this user that nobody else may open, where it
    has these very tables and no others, and where the run's files still begin with what was read; else it is made anew
    in its place, or in the folder for temporary files where its place is another's.

    Args:
        run: the run's folder. items: its file of items. tables: the statements that make the tables.

    Attributes:
        path: the file. kept: whether it stays when it is closed. found: what `keep` was given last, empty in a new one.
    """

    def __init__(self, run: Path, items: Path, tables: str) -> None:
        self._tables = f"{tables}CREATE TABLE state (known TEXT);"
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._handle = -1
        self.found: dict[str, Any] = {}
        run = run.resolve()
        self.path = run.parent / f".{run.name}.view.sqlite"
        self.kept = False
        self.kept = _size(items) >= KEPT_FROM and self._held()
        if self.kept:
            self.found = self._known()
        else:
            self._folder = tempfile.TemporaryDirectory(prefix="judgegraph-view-")
            self.path = Path(self._folder.name, "samples.sqlite")
        if not self.found:
            self.clear()

    def clear(self) -> None:
        """Make the tables anew."""
        for path in self._sides():
            path.unlink(missing_ok=True)
        if self._handle >= 0:
            os.truncate(self._handle, 0)
        with closing(sqlite3.connect(self.path)) as db:
            db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;" + self._tables)

    def close(self) -> None:
        """Let others have it, or remove it."""
        if self._folder is not None:
            self._folder.cleanup()
        if self._handle >= 0:
            if self.kept:  # whoever may write and is the last to close it removes what lies beside it
                with suppress(sqlite3.Error), closing(sqlite3.connect(self.path)) as db:
                    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            os.close(self._handle)
            self._handle = -1

    def keep(self, db: sqlite3.Connection, known: Mapping[str, Any]) -> None:
        """What the rows of a transaction are of, to go on from there."""
        db.execute("DELETE FROM state")
        db.execute("INSERT INTO state VALUES (?)", (json.dumps({"format": FORMAT, **known}),))

    def _sides(self) -> Iterator[Path]:
        return (self.path.with_name(self.path.name + side) for side in SIDES)

    def _held(self) -> bool:
        """Whether the file beside the run is there now, is ours, and no other process has it."""
        if fcntl is None:
            return False
        try:
            # it stays open to the end: closing any handle of a file frees SQLite's locks on it
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            self._handle = os.open(self.path, flags, 0o600)
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = [os.fstat(self._handle), *(os.lstat(path) for path in self._sides() if os.path.lexists(path))]
            if all(map(_is_own, found)):
                return True
        except OSError:  # a link, a folder that may not be written, another process that looks at the run
            pass
        self.close()
        return False

    def _known(self) -> dict[str, Any]:
        """What the file says that its rows are of; nothing of one that is empty, damaged or made by others."""
        with suppress(sqlite3.Error, ValueError, TypeError), closing(sqlite3.connect(self.path)) as db:
            db.executescript("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;")
            with closing(sqlite3.connect(":memory:")) as made:
                made.executescript(self._tables)
                if _schema(db) != _schema(made):
                    return {}
            known = json.loads(db.execute("SELECT known FROM state").fetchone()[0])
            if isinstance(known, dict) and known.pop("format", None) == FORMAT:
                return known
        return {}


def _schema(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    return db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _is_own(found: os.stat_result) -> bool:
    """A plain file of this user under one name, which nobody else may open."""
    plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
    return plain and found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077


def mark_of_file(path: Path, end: int) -> list[Any]:
    """What tells a file that was read to a byte from another: its inode, times and the bytes before; JSON values."""
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
        file.seek(max(0, end - TAIL))
        tail = blake2b(file.read(min(end, TAIL)), digest_size=16).hexdigest()
    return [found.st_ino, end, tail, found.st_mtime_ns if found.st_size == end else 0]


def still_begins(path: Path, mark: object) -> bool:
    """Whether a file is the one that a mark was made of, as it was or with more behind."""
    if not isinstance(mark, list) or len(mark) != 4 or not isinstance(mark[1], int):
        return False
    try:
        inode, end, tail, changed = mark_of_file(path, mark[1])
    except (OSError, ValueError):
        return False
    grown = _size(path) > end  # of one that grew since the time is another
    return [inode, end, tail] == mark[:3] and (grown or changed == mark[3]) and _size(path) >= end
