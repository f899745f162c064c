"""The store of all model calls, addressed by content: what is in it is never paid for again.

A reply is committed before anyone sees it (SQLite, WAL, synchronous=NORMAL: it survives a killed process), and the
log is forced to disk at most 50 ms later (it survives a power cut then). Each row has a checksum bound to its address,
so a damaged one is noticed and asked again.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgegraph.calls.exchange import writable
from judgegraph.calls.flights import Flights
from judgegraph.calls.ledger_file import REPLY, SCHEMA, LedgerError, checksum, opened, whole
from judgegraph.calls.payments import Bill, Paid, Payments
from judgegraph.calls.texts import Texts, texts_of

__all__ = ["SCHEMA", "Counts", "Ledger", "LedgerError", "Paid"]

SYNC_EVERY = 0.05  # seconds between two fsyncs of the log
_PUT = "REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)"
Row = tuple[bytes, Paid, asyncio.Future[None]]


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
        self._db = opened(self.path)
        self._payments = Payments(self._db)
        self._flights = Flights()
        self._rows: list[Row] = []
        self._texts = Texts(texts_of(self.path)) if self.path is not None else None
        self._sync: asyncio.TimerHandle | None = None

    async def answer(self, address: bytes, pay: Callable[[], Awaitable[Paid]], *, anew: bool = False) -> bytes:
        """The reply at an address: from the file, from a call under way, or by `pay`, which is then committed.

        Of callers that want one address at the same moment one pays. Its being cancelled does not cancel what the
        others wait for. Its failing lets the next one try, for all of them, unless that could not help (`Flights`).

        Args:
            anew: pay although there is a reply, which the new one replaces.

        Raises:
            whatever `pay` raises; LedgerError: the reply could not be committed.
        """
        if not anew and (found := self.get(address)) is not None:
            self.counts.hits += 1
            return found
        body, joined = await self._flights.join(address, lambda: self._pay(address, pay))
        self.counts.joined += joined
        return body

    async def _pay(self, address: bytes, pay: Callable[[], Awaitable[Paid]]) -> bytes:
        paid = await pay()
        await self._put(address, paid)
        self.counts.paid += 1
        return paid.body

    def flies(self, address: bytes) -> bool:
        """Whether a call for it is under way, and whoever wants it now would join that."""
        return address in self._flights

    def get(self, address: bytes) -> bytes | None:
        """The reply at an address, None where there is none or its row is damaged."""
        try:
            row = self._db.execute(REPLY, (address,)).fetchone()
        except sqlite3.Error as error:
            raise self._failure("read", error) from None
        if row is None:
            return None
        if not whole(address, row):
            self.counts.damaged += 1
            return None
        body: bytes = row[0]
        return body

    def row(self, address: bytes) -> Paid | None:
        """The reply at an address with what it took; None as `get`."""
        if self.get(address) is None:
            return None
        body, _, model, prompt, completion, usd = self._db.execute(REPLY, (address,)).fetchone()
        return Paid(body, model, prompt, completion, usd)

    def _put(self, address: bytes, paid: Paid) -> asyncio.Future[None]:
        """Commit with all else that arrived in this turn of the loop: done when it is committed."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        if not self._rows:
            loop.call_soon(self._commit, loop)
        self._rows.append((address, paid, done))
        return done

    def ask(self, address: bytes, messages: Sequence[Any], *, new: bool = False) -> None:
        """Keep what was asked at an address, once, in the file of texts; a ledger in memory keeps none.

        Args:
            messages: LangChain messages. new: nobody asked for it before, as far as is known; it saves a look.
        """
        if self._texts is not None:
            self._texts.ask(address, messages, new=new)

    def _commit(self, loop: asyncio.AbstractEventLoop) -> None:
        rows, self._rows = self._rows, []
        if not rows:
            return  # closing was faster
        self._keep(rows)
        if self._sync is None and self.path is not None:
            self._sync = loop.call_later(SYNC_EVERY, self._force, loop)

    def _keep(self, rows: Sequence[Row]) -> None:
        """Write rows and tell their waiters; nothing that goes wrong may be lost in the loop, where nobody hears it."""
        failure: LedgerError | None = None
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany(_PUT, [_row(address, paid) for address, paid, _ in rows])
                self._payments.book(self.run, [paid for _, paid, _ in rows])
        except (sqlite3.Error, LedgerError) as error:
            failure = self._failure("write", error)
        except Exception as error:  # a value that no column can hold
            if len(rows) > 1:  # is one row's fault, and no other's
                for row in rows:
                    self._keep([row])
                return
            failure = self._failure("write", error)
        for _, _, done in rows:
            if not done.done():
                done.set_exception(failure) if failure else done.set_result(None)

    def _force(self, loop: asyncio.AbstractEventLoop) -> None:
        self._sync = None
        loop.run_in_executor(None, _fsync, Path(f"{self.path}-wal"))

    def _failure(self, verb: str, error: Exception) -> LedgerError:
        return LedgerError(f"cannot {verb} the ledger {self.path or 'in memory'}: {error}; what it holds is kept")

    def spent(self) -> Bill:
        """What this run paid for: replies, prompt and completion tokens, USD, replies estimated, replies unpriced.

        A reply that was replaced since, or that another run paid for too, counts.

        Raises:
            LedgerError: it cannot be read.
        """
        try:
            return self._payments.spent(self.run)
        except (sqlite3.Error, LedgerError) as error:
            raise self._failure("read", error) from None

    def count(self) -> int:
        """How many replies it holds."""
        try:
            return int(self._db.execute("SELECT COUNT(*) FROM replies").fetchone()[0])
        except sqlite3.Error as error:
            raise self._failure("read", error) from None

    def close(self) -> None:
        """Commit what is left and close the file."""
        if self._rows:
            self._commit(asyncio.get_running_loop())
        if self._sync is not None:
            self._sync.cancel()
        if self._texts is not None:
            self._texts.close()
        self._db.close()


def _row(address: bytes, paid: Paid) -> tuple[Any, ...]:
    """As it is read again: a model's name that could be written, USD as a float."""
    about = (writable(paid.model), paid.prompt, paid.completion, None if paid.usd is None else float(paid.usd))
    return (address, paid.body, checksum(address, paid.body, about), *about)


def _fsync(path: Path) -> None:
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return  # checkpointed and gone: its content is in the file by then
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
