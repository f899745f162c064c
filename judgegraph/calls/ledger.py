"""The store of all model calls, addressed by content: what is in it is never paid for again.

A reply is committed before anyone sees it (SQLite, WAL, synchronous=NORMAL: it survives a killed process), and the
log is forced to disk at most 50 ms later (it survives a power cut then). Each row has a checksum bound to its address,
so a damaged one is noticed and asked again. Processes that share the file pay for a call once (`calls/leases.py`).
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judgegraph.calls.exchange import writable
from judgegraph.calls.flights import Flights
from judgegraph.calls.leases import PATIENCE, Leases, Waiting
from judgegraph.calls.ledger_file import CURE, REPLY, SCHEMA, LedgerError, checksum, opened, whole
from judgegraph.calls.payments import Paid, Payments, Total
from judgegraph.calls.texts import Texts, texts_of

__all__ = ["SCHEMA", "Counts", "Ledger", "LedgerError", "Paid"]

MOST = 2**40  # tokens that a request without a reply is booked at, whatever it says: no sum of them is too large
SYNC_EVERY = 0.05  # seconds between two fsyncs of the log
_PUT = "REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)"
Row = tuple[bytes, Paid, asyncio.Future[None]]


@dataclass
class Counts:
    """What a ledger did: replies found in it, joined while under way, paid for, and rows that were damaged.

    `joined` counts also those that another process, which shares the ledger, was paying for. `overtaken`: of `paid`,
    those that another process had begun and that were waited for in vain.
    """

    hits: int = 0
    joined: int = 0
    paid: int = 0
    damaged: int = 0
    overtaken: int = 0


class Ledger:
    """One file of replies, or none at all (`path=None` keeps them in memory); used from one event loop.

    Several processes may use one file at once; each call is paid for by one of them.

    Attributes:
        leases: of the calls that it is paying for.

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
        self.leases = Leases(self.path, self._commits_of_others)
        self._rows: list[Row] = []
        self._booked: list[Paid] = []
        self._committing: asyncio.Handle | None = None
        self._texts = Texts(texts_of(self.path)) if self.path is not None else None
        self._sync: asyncio.TimerHandle | None = None

    async def answer(
        self, address: bytes, pay: Callable[[], Awaitable[Paid]], *, anew: bool = False,
        waiting: Waiting = nullcontext, patience: float = PATIENCE,
    ) -> bytes:  # fmt: skip
        """The reply at an address: from the file, from a call under way, or by `pay`, which is then committed.

        Of callers that want one address at the same moment one pays, whatever process they are in. Its being cancelled
        does not cancel what the others wait for. Its failing lets the next one try, for all of them, unless that could
        not help (`Flights`); a caller in another process tries for itself then.

        Args:
            anew: pay although there is a reply, which the new one replaces. Where another process put one there while
                this one waited for it, that is taken, unless it is the same as before.
            waiting: entered while another process pays.
            patience: seconds for which another process that pays is waited for while nobody commits anything; it may
                have been stopped.

        Raises:
            whatever `pay` raises; LedgerError: the reply could not be committed.
        """
        if not anew and (found := self.get(address)) is not None:
            self.counts.hits += 1
            return found
        body, joined = await self._flights.join(address, lambda: self._pay(address, pay, anew, waiting, patience))
        self.counts.joined += joined
        return body

    async def _pay(
        self, address: bytes, pay: Callable[[], Awaitable[Paid]], anew: bool, waiting: Waiting, patience: float
    ) -> bytes:  # fmt: skip
        before = self._whole(address) if anew else None
        try:
            held = await self.leases.take(address, waiting, patience)
        except OSError as error:
            raise self._failure("share", error) from None
        try:
            found = self._whole(address)
            if found is not None and found != before:
                self.counts.joined += 1
                self.leases.release(address)
                body: bytes = found[0]
                return body
            paid = await pay()
        except BaseException:
            self.leases.release(address)
            raise
        await self._put(address, paid)  # which gives the lease back when it is committed
        self.counts.paid += 1
        self.counts.overtaken += not held
        return paid.body

    def _commits_of_others(self) -> int:
        """Another number when another connection committed since the last look; the same where it cannot be read."""
        try:
            return int(self._db.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error:
            return 0

    def flies(self, address: bytes) -> bool:
        """Whether a call for it is under way, and whoever wants it now would join that."""
        return address in self._flights

    def get(self, address: bytes) -> bytes | None:
        """The reply at an address, None where there is none or its row is damaged."""
        row = self._row(address)
        if row is None:
            return None
        if not whole(address, row):
            self.counts.damaged += 1
            return None
        body: bytes = row[0]
        return body

    def _row(self, address: bytes) -> tuple[Any, ...] | None:
        try:
            row: tuple[Any, ...] | None = self._db.execute(REPLY, (address,)).fetchone()
        except sqlite3.Error as error:
            raise self._failure("read", error) from None
        return row

    def _whole(self, address: bytes) -> tuple[Any, ...] | None:
        """A sound row; a damaged one was counted when it was looked for first."""
        row = self._row(address)
        return row if row is not None and whole(address, row) else None

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
        if self._committing is None:
            self._committing = loop.call_soon(self._commit, loop)
        self._rows.append((address, paid, done))
        return done

    def book(self, paid: Paid) -> None:
        """Count what a request without a reply of use is booked at; committed with all that arrives in this turn."""
        if self._committing is None:
            loop = asyncio.get_running_loop()
            self._committing = loop.call_soon(self._commit, loop)
        tokens = min(paid.prompt, MOST), min(paid.completion, MOST)
        self._booked.append(replace(paid, prompt=tokens[0], completion=tokens[1]))

    def ask(self, address: bytes, messages: Sequence[Any], *, new: bool = False) -> None:
        """Keep what was asked at an address, once, in the file of texts; a ledger in memory keeps none.

        Args:
            messages: LangChain messages. new: nobody asked for it before, as far as is known; it saves a look.
        """
        if self._texts is not None:
            self._texts.ask(address, messages, new=new)

    def _commit(self, loop: asyncio.AbstractEventLoop) -> None:
        self._committing = None
        rows, self._rows = self._rows, []
        if not rows and not self._booked:
            return  # closing was faster
        self._keep(rows)
        if self._sync is None and self.path is not None:
            self._sync = loop.call_later(SYNC_EVERY, self._force, loop)

    def _keep(self, rows: Sequence[Row]) -> None:
        """Write rows and tell their waiters; nothing that goes wrong may be lost in the loop, where nobody hears it."""
        failure: LedgerError | None = None
        booked, self._booked = self._booked, []
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany(_PUT, [_row(address, paid) for address, paid, _ in rows])
                self._payments.book(self.run, [*(paid for _, paid, _ in rows), *booked])
        except (sqlite3.Error, LedgerError) as error:
            self._booked = booked  # for the next commit
            failure = self._failure("write", error)
        except Exception as error:  # a value that no column can hold
            self._booked = booked
            if len(rows) > 1:  # is one row's fault, and no other's
                for row in rows:
                    self._keep([row])
                return
            failure = self._failure("write", error)
        for address, _, done in rows:
            self.leases.release(address)
            if not done.done():
                done.set_exception(failure) if failure else done.set_result(None)

    def _force(self, loop: asyncio.AbstractEventLoop) -> None:
        self._sync = None
        loop.run_in_executor(None, _fsync, Path(f"{self.path}-wal"))

    def _failure(self, verb: str, error: Exception) -> LedgerError:
        cure = CURE if "malformed" in str(error) else ""
        return LedgerError(f"cannot {verb} the ledger {self.path or 'in memory'}: {error}; what it holds is kept{cure}")

    def has_paid(self, model: str) -> bool:
        """Whether a model ever gave a reply of use to a run with this ledger."""
        return self._payments.has_paid(model)

    def spent(self) -> Total:
        """What this run paid for: replies, prompt and completion tokens, USD, replies estimated, replies unpriced, and
        requests without a reply of use.

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
        if self._rows or self._booked:
            self._commit(asyncio.get_running_loop())
        if self._sync is not None:
            self._sync.cancel()
        if self._texts is not None:
            self._texts.close()
        self.leases.close()
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
