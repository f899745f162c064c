"""The store of all model calls, addressed by content: what is in it is never paid for again.

A reply is committed before anyone sees it (SQLite, WAL, synchronous=NORMAL: it survives a killed process), and the
log is forced to disk at most 50 ms later (it survives a power cut then). Each row has a checksum bound to its address,
so a damaged one is noticed and asked again.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed, wait_random

from judgegraph.errors import ConfigError

SCHEMA = 2
APPLICATION = 0x6A676C67  # "jglg": tells our files from other SQLite files
SYNC_EVERY = 0.05  # seconds between two fsyncs of the log
PATIENCE = 10.0  # seconds to wait for another process that writes
WAIT = wait_fixed(0.02) + wait_random(0, 0.02)
_TABLE = """CREATE TABLE replies (
    address BLOB PRIMARY KEY, body BLOB NOT NULL, sum BLOB NOT NULL,
    run TEXT NOT NULL, model TEXT NOT NULL, prompt INTEGER NOT NULL, completion INTEGER NOT NULL, usd REAL,
    estimated INTEGER NOT NULL
) WITHOUT ROWID"""
_PUT = """INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (address) DO UPDATE SET
        prompt = excluded.prompt + iif(run = excluded.run, prompt, 0),
        completion = excluded.completion + iif(run = excluded.run, completion, 0),
        usd = excluded.usd + iif(run = excluded.run, coalesce(usd, 0), 0),
        body = excluded.body, sum = excluded.sum, run = excluded.run, model = excluded.model,
        estimated = excluded.estimated"""  # what a run paid for a reply that it replaced stays paid
_SPENT = """SELECT COUNT(*), SUM(prompt), SUM(completion), SUM(usd), SUM(estimated), COUNT(*) - COUNT(usd)
    FROM replies WHERE run = ?"""


@dataclass(frozen=True)
class Paid:
    """A reply as it is kept: its bytes, whose it is, its tokens (`estimated` if it did not say), its USD if known."""

    body: bytes
    model: str = ""
    prompt: int = 0
    completion: int = 0
    usd: float | None = None
    estimated: bool = False


class LedgerError(ConfigError):
    """The ledger's file cannot be used or written; the message names it. A run ends here and loses nothing."""


@dataclass
class _Flight:
    """A call under way, and how many wait for it."""

    task: asyncio.Task[bytes]
    waiters: int = 0


@dataclass
class Counts:
    """What a ledger did: replies found in it, joined while under way, paid for, and rows that were damaged."""

    hits: int = 0
    joined: int = 0
    paid: int = 0
    damaged: int = 0


class Ledger:
    """One file of replies, or none at all (`path=None` keeps them in memory); used from one event loop.

    Several processes may use one file at once.

    Raises:
        LedgerError: the file is no ledger, is damaged, was written by a newer version, or cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, run: str = "") -> None:
        self.path = Path(path) if path is not None else None
        self.run = run  # who pays for what is put in here
        self.counts = Counts()
        self._db = _open(self.path)
        self._flights: dict[bytes, _Flight] = {}
        self._rows: list[tuple[bytes, Paid, asyncio.Future[None]]] = []
        self._sync: asyncio.TimerHandle | None = None

    async def answer(self, address: bytes, pay: Callable[[], Awaitable[Paid]], *, anew: bool = False) -> bytes:
        """The reply at an address: from the file, from a call under way, or by `pay`, which is then committed.

        Of callers that want one address at the same moment one pays. Its being cancelled does not cancel what
        the others wait for; its failing lets the next one try.

        Args:
            anew: pay although there is a reply, which the new one replaces.

        Raises:
            whatever `pay` raises; LedgerError: the reply could not be committed.
        """
        if not anew and (found := self.get(address)) is not None:
            self.counts.hits += 1
            return found
        while (flight := self._flights.get(address)) is not None:
            try:
                body = await self._wait(address, flight)
            except Exception as error:
                if isinstance(error, ConfigError):
                    raise  # a refused key, or a ledger that cannot be written: it would fail for us alike
                continue  # it failed for another; the next round tries for us, or joins who tries
            self.counts.joined += 1
            return body
        flight = _Flight(asyncio.ensure_future(self._pay(address, pay)))
        self._flights[address] = flight
        flight.task.add_done_callback(lambda _: self._landed(address, flight))
        return await self._wait(address, flight)

    async def _wait(self, address: bytes, flight: _Flight) -> bytes:
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiters -= 1
            if not flight.waiters and not flight.task.done():
                self._landed(address, flight)
                flight.task.cancel()  # nobody wants it any more

    def _landed(self, address: bytes, flight: _Flight) -> None:
        if self._flights.get(address) is flight:
            del self._flights[address]
        if flight.task.done() and not flight.task.cancelled():
            flight.task.exception()  # seen, also where every waiter was cancelled

    async def _pay(self, address: bytes, pay: Callable[[], Awaitable[Paid]]) -> bytes:
        paid = await pay()
        await self._put(address, paid)
        self.counts.paid += 1
        return paid.body

    def get(self, address: bytes) -> bytes | None:
        """The reply at an address, None where there is none or its row is damaged."""
        try:
            row = self._db.execute(
                "SELECT CAST(body AS BLOB), sum FROM replies WHERE address = ?", (address,)
            ).fetchone()
        except sqlite3.DatabaseError as error:
            raise self._failure("read", error) from None
        if row is None:
            return None
        if checksum(address, row[0]) != row[1]:
            self.counts.damaged += 1
            return None
        return bytes(row[0])

    def _put(self, address: bytes, paid: Paid) -> asyncio.Future[None]:
        """Commit with all else that arrived in this turn of the loop: done when it is committed."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        if not self._rows:
            loop.call_soon(self._commit, loop)
        self._rows.append((address, paid, done))
        return done

    def _commit(self, loop: asyncio.AbstractEventLoop) -> None:
        rows, self._rows = self._rows, []
        if not rows:
            return  # closing was faster
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany(_PUT, [self._row(address, paid) for address, paid, _ in rows])
        except sqlite3.Error as error:
            failure = self._failure("write", error)
            for _, _, done in rows:
                if not done.done():
                    done.set_exception(failure)
            return
        for _, _, done in rows:
            if not done.done():
                done.set_result(None)
        if self._sync is None and self.path is not None:
            self._sync = loop.call_later(SYNC_EVERY, self._force, loop)

    def _row(self, address: bytes, paid: Paid) -> tuple[Any, ...]:
        kept = (self.run, paid.model, paid.prompt, paid.completion, paid.usd, paid.estimated)
        return (address, paid.body, checksum(address, paid.body), *kept)

    def _force(self, loop: asyncio.AbstractEventLoop) -> None:
        self._sync = None
        loop.run_in_executor(None, _fsync, Path(f"{self.path}-wal"))

    def _failure(self, verb: str, error: sqlite3.Error) -> LedgerError:
        return LedgerError(f"cannot {verb} the ledger {self.path or 'in memory'}: {error}; what it holds is kept")

    def spent(self) -> tuple[int, int, int, float, int, int]:
        """What this run paid for: replies, prompt and completion tokens, USD, replies estimated, replies unpriced."""
        calls, prompt, completion, usd, estimated, unpriced = self._db.execute(_SPENT, (self.run,)).fetchone()
        return calls, prompt or 0, completion or 0, usd or 0.0, estimated or 0, unpriced

    def count(self) -> int:
        """How many replies it holds."""
        return int(self._db.execute("SELECT COUNT(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Commit what is left and close the file."""
        if self._rows:
            self._commit(asyncio.get_running_loop())
        if self._sync is not None:
            self._sync.cancel()
        self._db.close()


def checksum(address: bytes, body: bytes) -> bytes:
    """A checksum that a body moved to another address does not have."""
    return blake2b(body, key=address, digest_size=8).digest()


def _fsync(path: Path) -> None:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return  # checkpointed and gone: its content is in the file by then
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _open(path: Path | None) -> sqlite3.Connection:
    name = str(path) if path is not None else ":memory:"
    try:
        if path is not None:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # its owner's alone, and so its log
        db = sqlite3.connect(name, isolation_level=None, timeout=PATIENCE, check_same_thread=False)
        tries = Retrying(retry=retry_if_exception(_locked), stop=stop_after_delay(PATIENCE), wait=WAIT, reraise=True)
        for attempt in tries:
            with attempt:  # SQLite's own patience does not cover the change to WAL by two processes at once
                _check(db, name)
    except OSError as error:
        raise LedgerError(f"cannot open the ledger {name}: {error.strerror}") from None
    except sqlite3.Error as error:
        raise LedgerError(f"{name} is no ledger, or a damaged one ({error}); it was left as it is") from None
    return db


def _locked(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


def _check(db: sqlite3.Connection, name: str) -> None:
    with db:
        db.execute("BEGIN")  # one look at all three: another process may be making the file
        tables = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
    if tables and application != APPLICATION:
        raise LedgerError(f"{name} is a database, but no ledger of judgegraph; it was left as it is")
    if tables and version < SCHEMA:
        raise LedgerError(
            f"{name} was written by an older judgegraph (ledger {version}, ours {SCHEMA}); start a new one"
        )
    if version > SCHEMA:
        raise LedgerError(
            f"{name} was written by a newer judgegraph (ledger {version}, ours {SCHEMA}); it was left as it is"
        )
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    if not tables:
        _create(db)


def _create(db: sqlite3.Connection) -> None:
    with db:
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:  # another process may have been first
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {SCHEMA}")
            db.execute(_TABLE)
