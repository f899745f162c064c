"""The store of all model calls, addressed by content: what is in it is never paid for again.

A reply is committed before anyone sees it (SQLite, WAL, synchronous=NORMAL: it survives a killed process), and the
log is forced to disk at most 50 ms later (it survives a power cut then). Each row has a checksum bound to its address,
so a damaged one is noticed and asked again. Processes that share the file pay for a call once.
"""

from __future__ import annotations

import asyncio
import copy
import errno
import os
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed, wait_random

from judgegraph.calls.texts import ReadOnlyTexts, Texts, texts_of
from judgegraph.calls.types import writable
from judgegraph.errors import ConfigError, ReplyError

try:
    import fcntl
except ImportError:  # a system without such locks: leases hold within the process
    fcntl = None  # type: ignore[assignment]

# The file of a ledger: how it is made and opened, and how a damaged row in it is known.


SCHEMA = 3
APPLICATION = 0x6A676C67  # "jglg": tells our files from other SQLite files
PATIENCE = 10.0  # seconds to wait for another process that writes
WAIT = wait_fixed(0.02) + wait_random(0, 0.02)
CURE = "; `judgegraph repair` says what is sound of it, and salvages that"
REPLY = "SELECT body, sum, model, prompt, completion, usd FROM replies WHERE address = ?"
_TABLES = (
    """CREATE TABLE replies (
        address BLOB PRIMARY KEY, body BLOB NOT NULL, sum BLOB NOT NULL,
        model TEXT NOT NULL, prompt INTEGER NOT NULL, completion INTEGER NOT NULL, usd REAL
    ) WITHOUT ROWID""",
    """CREATE TABLE payments (
        run TEXT NOT NULL, model TEXT NOT NULL, sum BLOB NOT NULL,
        calls INTEGER NOT NULL, prompt INTEGER NOT NULL, completion INTEGER NOT NULL, usd REAL NOT NULL,
        estimated INTEGER NOT NULL, unpriced INTEGER NOT NULL, PRIMARY KEY (run, model)
    ) WITHOUT ROWID""",
)


class LedgerError(ConfigError):
    """The ledger's file cannot be used or written; the message names it. A run ends here and loses nothing."""

    ends_run = True


def checksum(key: bytes, body: bytes, about: tuple[Any, ...]) -> bytes:
    """Of all that a row holds; a row that was moved to another key does not have it.

    Args:
        key: at most 64 bytes. about: the other columns; their types count too.
    """
    return blake2b(b"%b\0%b" % (repr(about).encode(), body), key=key, digest_size=8).digest()


def whole(address: bytes, row: tuple[Any, ...]) -> bool:
    """Whether a row of `REPLY` is what was written."""
    body, check, *about = row
    return isinstance(body, bytes) and checksum(address, body, tuple(about)) == check


def text_of(data: bytes) -> str:
    """A text as it is read: a damaged one may be no UTF-8, which the checksum is to find out and no exception."""
    return data.decode("utf-8", "surrogateescape")


def opened(path: Path | None) -> sqlite3.Connection:
    """A ledger's database, made where there is none.

    Raises:
        LedgerError: the file is no ledger, is damaged, was written by another version, or cannot be opened.
    """
    name = str(path) if path is not None else ":memory:"
    try:
        if path is not None:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # its owner's alone, and so its log
        db = sqlite3.connect(name, isolation_level=None, timeout=PATIENCE, check_same_thread=False)
        db.text_factory = text_of
        tries = Retrying(retry=retry_if_exception(_locked), stop=stop_after_delay(PATIENCE), wait=WAIT, reraise=True)
        for attempt in tries:
            with attempt:  # SQLite's own patience does not cover the change to WAL by two processes at once
                _check(db, name)
    except OSError as error:
        raise LedgerError(f"cannot open the ledger {name}: {error.strerror}") from None
    except (sqlite3.Error, ValueError) as error:
        raise LedgerError(f"{name} is no ledger, or a damaged one ({error}); it was left as it is{CURE}") from None
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
            for table in _TABLES:
                db.execute(table)


# What each run paid, kept apart from the replies: a reply that is replaced, or paid for by two runs, stays paid.


Bill = tuple[int, int, int, float, int, int]  # calls, prompt and completion tokens, USD, calls estimated, unpriced
UNANSWERED = " (unanswered)"  # behind a model's name: a row of requests that brought no reply of use
Total = tuple[int, int, int, float, int, int, int]  # the same, and requests unanswered: as `Spent` has its fields
_ADD = """UPDATE payments SET sum = ?, calls = ?, prompt = ?, completion = ?, usd = ?, estimated = ?, unpriced = ?
    WHERE run = ? AND model = ? AND sum = ?"""
_FIND = "SELECT sum, calls, prompt, completion, usd, estimated, unpriced FROM payments WHERE run = ? AND model = ?"
_KEEP = "REPLACE INTO payments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ALL = "SELECT run, model, sum, calls, prompt, completion, usd, estimated, unpriced FROM payments"
NOTHING: Bill = (0, 0, 0, 0.0, 0, 0)


@dataclass(frozen=True)
class Paid:
    """A reply as it is kept: its bytes, whose it is, its tokens (`estimated` if it did not say), its USD if known.

    unanswered: it is none, but what a request without one is booked at. free: computed on this machine; nobody is
    paid for it, and nothing is booked.
    """

    body: bytes
    model: str = ""
    prompt: int = 0
    completion: int = 0
    usd: float | None = None
    estimated: bool = False
    unanswered: bool = False
    free: bool = False


class Payments:
    """The table of what each run paid, by model."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._known: dict[tuple[str, str], tuple[bytes, Bill]] = {}  # as last seen there: it saves a look

    def book(self, run: str, paid: Iterable[Paid]) -> None:
        """Add to what a run paid; called within the transaction that writes the replies.

        Raises:
            LedgerError: what the run paid before is damaged.
        """
        bills: dict[str, Bill] = {}
        for one in paid:
            unpriced = int(one.usd is None and not one.unanswered)
            more = (1, one.prompt, one.completion, one.usd or 0.0, int(one.estimated), unpriced)
            name = one.model + UNANSWERED * one.unanswered
            known = bills.get(name)
            bills[name] = more if known is None else _sum(known, more)
        for name, bill in bills.items():
            self._add(run, writable(name), bill)

    def _add(self, run: str, model: str, more: Bill) -> None:
        check, bill = self._known.get((run, model), (b"", NOTHING))
        bill = _sum(bill, more)
        new = _checked(run, model, bill)
        if not check or not self._db.execute(_ADD, (new, *bill, run, model, check)).rowcount:  # as another left it
            row = self._db.execute(_FIND, (run, model)).fetchone()
            if row is not None and _checked(run, model, row[1:]) != row[0]:
                raise _damaged(run)
            bill = _sum(row[1:], more) if row is not None else more
            new = _checked(run, model, bill)
            self._db.execute(_KEEP, (run, model, new, *bill))
        self._known[run, model] = new, bill

    def has_paid(self, model: str) -> bool:
        """Whether any run got a reply of use from a model."""
        found = self._db.execute("SELECT 1 FROM payments WHERE model = ? AND calls > 0 LIMIT 1", (writable(model),))
        return found.fetchone() is not None

    def spent(self, run: str) -> Total:
        """What a run paid in all.

        Raises:
            LedgerError: what it paid is damaged.
        """
        total: Total = (*NOTHING, 0)
        for whose, model, check, *bill in self._db.execute(_ALL):
            if _checked(run, model, bill) == check:  # so also where the run's name is what is damaged
                calls = bill[0]
                unanswered = model.endswith(UNANSWERED)
                total = _sum(total, (0, *bill[1:], calls) if unanswered else (*bill, 0))
            elif whose == run:
                raise _damaged(run)
        return total


def _sum(one: Any, two: Any) -> Any:
    return tuple(a + b for a, b in zip(one, two, strict=True))


def sound_payment(row: tuple[Any, ...]) -> bool:
    """Whether a row of the table is what was written."""
    run, model, check, *bill = row
    return isinstance(run, str) and isinstance(check, bytes) and _checked(run, model, bill) == check


def _checked(run: str, model: str, bill: Iterable[Any]) -> bytes:
    return checksum(b"payments", run.encode(), (model, *bill))


def _damaged(run: str) -> LedgerError:
    return LedgerError(f"what run {run!r} has paid is damaged there; its replies can still serve a new run")


# Leases: of all processes that share a ledger, one pays for a call and the others wait for its reply.
#
# A lease is a lock on one byte of a file beside the ledger; which byte follows from the call's address. The system
# frees the lock when its process dies, however it dies. So there is no heartbeat, and nothing is left to clean up. A
# process that is stopped (SIGSTOP, a frozen machine) keeps it: whoever waits pays for itself once others have committed
# nothing to the ledger for a while. At worst a call is paid for twice.
# The file stays empty. A lock of this kind holds between processes only, so those that this process holds are also in
# a table that its ledgers share.


SHORTEST, LONGEST = 0.004, 0.1  # seconds between two looks at another's lease, which grow
LEASE_PATIENCE = 600.0  # seconds without a commit by others after which a waiter pays for itself, by default
PROGRESS = 0.5  # seconds between two looks at whether others commit
LOOKS = 1000  # a second, of all that wait here, at most
BUSY = (errno.EACCES, errno.EAGAIN)
Waiting = Callable[[], AbstractContextManager[object]]  # entered while another pays
_guard = threading.Lock()


@dataclass
class _Locks:
    """The file of locks, open once in this process: closing any handle of it would free all its locks."""

    handle: int
    users: int = 0
    held: set[int] = field(default_factory=set)

    def take(self, byte: int) -> bool:
        with _guard:
            if byte in self.held:
                return False
            if fcntl is not None:
                try:
                    fcntl.lockf(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
                except OSError as error:
                    if error.errno in BUSY:
                        return False
                    raise
            self.held.add(byte)
            return True

    def release(self, byte: int) -> None:
        with _guard:
            self.held.discard(byte)
            if fcntl is not None:
                with suppress(OSError):
                    fcntl.lockf(self.handle, fcntl.LOCK_UN, 1, byte)


_files: dict[tuple[int, int, int], _Locks] = {}  # process, device, file: a fork has no locks of its parent


def leases_of(ledger: Path) -> Path:
    """The file of locks beside a ledger."""
    return ledger.with_name(f"{ledger.name}.leases")


class Leases:
    """Those of one ledger; a ledger in memory needs none.

    Args:
        commits: gives another number when others have committed to the ledger.

    Attributes:
        waiting: calls that another ledger's process is paying for just now.

    Raises:
        OSError: from `take`: the file of locks cannot be made or locked.
    """

    def __init__(self, ledger: Path | None, commits: Callable[[], int] = lambda: 0) -> None:
        self.waiting = 0
        self._commits = commits
        self._seen, self._moved, self._looked = 0, 0.0, 0.0
        self._path = leases_of(ledger) if ledger is not None else None
        self._locks: _Locks | None = None
        self._mine: set[int] = set()

    async def take(self, address: bytes, waiting: Waiting, patience: float = LEASE_PATIENCE) -> bool:
        """Hold the lease of a call, when whoever holds it has given it back or died.

        Args:
            patience: seconds for which nobody else need commit anything; then it is no longer waited for.

        Returns:
            Whether it is held.
        """
        if self._path is None or self._try(address):
            return True
        pause, begun = SHORTEST, monotonic()
        self.waiting += 1
        try:
            with waiting():
                while not self._try(address):
                    if self._still(begun) > patience:
                        return False
                    await asyncio.sleep(max(pause, self.waiting / LOOKS))
                    pause = min(1.5 * pause, LONGEST)
        finally:
            self.waiting -= 1
        return True

    def _still(self, since: float) -> float:
        """Seconds in which nobody else committed anything, counted from when a wait began."""
        now = monotonic()
        if now - self._looked >= PROGRESS:
            self._looked, before, self._seen = now, self._seen, self._commits()
            if before != self._seen:
                self._moved = now
        return now - max(since, self._moved)

    def _try(self, address: bytes) -> bool:
        byte = _byte(address)
        if self._locks is None:
            self._locks = _lock_file(self._path)
        if not self._locks.take(byte):
            return False
        self._mine.add(byte)
        return True

    def release(self, address: bytes) -> None:
        """Give it back, where it is held here."""
        if (byte := _byte(address)) in self._mine and self._locks is not None:
            self._mine.discard(byte)
            self._locks.release(byte)

    def close(self) -> None:
        """Give all back."""
        if (locks := self._locks) is None:
            return
        self._locks = None
        for byte in self._mine:
            locks.release(byte)
        self._mine.clear()
        _closed(locks)


def _byte(address: bytes) -> int:
    """62 bits of it: two calls that share a byte would only wait for each other."""
    return int.from_bytes(address[:8], "big") >> 2


def _lock_file(path: Path | None) -> _Locks:
    """The file is looked at before it is opened, as closing a second handle would free the locks of the first."""
    assert path is not None
    with _guard:
        with suppress(FileNotFoundError):
            if (there := _files.get(_key(os.stat(path)))) is not None:
                there.users += 1
                return there
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        locks = _files[_key(os.fstat(handle))] = _Locks(handle, users=1)
        return locks


def _closed(locks: _Locks) -> None:
    with _guard:
        locks.users -= 1
        if not locks.users:
            for key in [key for key, one in _files.items() if one is locks]:
                del _files[key]
            os.close(locks.handle)


def _key(about: os.stat_result) -> tuple[int, int, int]:
    return os.getpid(), about.st_dev, about.st_ino


# Calls under way: of all who want one at the same moment one pays, and the others wait for it.


@dataclass
class Flight:
    """A call under way, and how many wait for it. `second`: one before it failed for some who now wait for it."""

    task: asyncio.Task[bytes]
    second: bool = False
    waiters: int = 0


class Flights:
    """The calls under way by their addresses; used from one event loop."""

    def __init__(self) -> None:
        self._flights: dict[bytes, Flight] = {}

    def __contains__(self, address: bytes) -> bool:
        return address in self._flights

    async def join(self, address: bytes, pay: Callable[[], Awaitable[bytes]]) -> tuple[bytes, bool]:
        """What `pay` gives, or what it gave another who called it for this address; and whether it was another.

        Its being cancelled does not cancel what the others wait for. Where it fails in a way that asking again cannot
        help, it fails for all who wait; else one of them tries once more, and its outcome is everybody's.
        """
        failed = False
        while (flight := self._flights.get(address)) is not None:
            try:
                return await self._wait(address, flight), True
            except Exception as error:
                self._landed(address, flight)  # who comes just as it ends is here before its callback
                if failed or flight.second or _final(error):
                    raise _own(error) from None
                failed = getattr(error, "status", "") != "over_budget"  # nothing was sent then
        flight = Flight(asyncio.ensure_future(pay()), failed)
        self._flights[address] = flight
        flight.task.add_done_callback(lambda _: self._landed(address, flight))
        return await self._wait(address, flight), False

    async def _wait(self, address: bytes, flight: Flight) -> bytes:
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiters -= 1
            if not flight.waiters and not flight.task.done():
                self._landed(address, flight)
                flight.task.cancel()  # nobody wants it any more

    def _landed(self, address: bytes, flight: Flight) -> None:
        if self._flights.get(address) is flight:
            del self._flights[address]
        if flight.task.done() and not flight.task.cancelled():
            flight.task.exception()  # seen, also where every waiter was cancelled


def _final(error: Exception) -> bool:
    """A refused key, a ledger that cannot be written, a request that no server will take: it is so for all alike."""
    return isinstance(error, ConfigError) or (isinstance(error, ReplyError) and error.final)


def _own(error: Exception) -> Exception:
    """A failure of one's own: what a graph notes on the one that is shared is not for others to read."""
    if not isinstance(error, ReplyError):
        return error
    own = copy.copy(error)
    vars(own).pop("__notes__", None)
    return own


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
        waiting: Waiting = nullcontext, patience: float = LEASE_PATIENCE,
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

    async def computed(self, address: bytes, compute: Callable[[], Awaitable[bytes]]) -> bytes:
        """What a model on this machine gave at an address: from the file, or by `compute`, then committed.

        It is no call: nothing is paid, counted or booked.

        Raises:
            whatever `compute` raises; LedgerError: it could not be committed.
        """
        if (found := self.get(address)) is not None:
            return found

        async def made() -> bytes:
            body = await compute()
            await self._put(address, Paid(body, free=True))
            return body

        return (await self._flights.join(address, made))[0]

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
                self._payments.book(self.run, [*(paid for _, paid, _ in rows if not paid.free), *booked])
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


# A ledger that is read and never written: what a plan looks into.


class ReadOnlyLedger:
    """The replies in a ledger's file; none where there is no file. Nothing is made, changed or locked.

    Raises:
        LedgerError: the file is no ledger, is damaged, or was written by another version.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = Path(path) if path is not None else None
        self._texts = ReadOnlyTexts(texts_of(self.path)) if self.path is not None else None
        self._db = _opened(self.path) if self.path is not None and self.path.exists() else None

    def get(self, address: bytes) -> Paid | None:
        """The reply at an address with what it took; None where there is none, or its row is damaged."""
        if self._db is None:
            return None
        try:
            row = self._db.execute(REPLY, (address,)).fetchone()
        except sqlite3.Error as error:
            raise LedgerError(f"cannot read the ledger {self.path}: {error}{CURE}") from None
        if row is None or not whole(address, row):
            return None
        body, _, model, prompt, completion, usd = row
        return Paid(body, model, prompt, completion, usd)

    def asked(self, address: bytes) -> tuple[tuple[str, str], ...]:
        """(kind, text) of the messages asked at an address; () where they were not kept, or are damaged."""
        return self._texts.asked(address) if self._texts is not None else ()

    def close(self) -> None:
        """Let the file go."""
        if self._texts is not None:
            self._texts.close()
        if self._db is not None:
            self._db.close()


def _opened(path: Path) -> sqlite3.Connection:
    """Without a log beside it the file is all there is, and SQLite need not write one to read it."""
    log = Path(f"{path}-wal")
    still = "" if log.exists() and log.stat().st_size else "&immutable=1"
    try:
        db = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro{still}", uri=True, check_same_thread=False)
        db.text_factory = text_of
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        tables = db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    except (sqlite3.Error, ValueError) as error:
        raise LedgerError(f"{path} is no ledger, or a damaged one ({error}); it was left as it is{CURE}") from None
    if not tables:  # a run has only just made it
        db.close()
        return _empty()
    if application != APPLICATION:
        raise LedgerError(f"{path} is a database, but no ledger of judgegraph; it was left as it is")
    if version != SCHEMA:
        age = "an older" if version < SCHEMA else "a newer"
        raise LedgerError(f"{path} was written by {age} judgegraph (ledger {version}, ours {SCHEMA})")
    return db


def _empty() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", check_same_thread=False)
    db.execute("CREATE TABLE replies (address, body, sum, model, prompt, completion, usd)")
    return db


def ledger_name(ledger: str | os.PathLike[str] | None, folder: Path | None) -> str | None:
    """By which a manifest knows a ledger: its way from the run's folder, so that both can be moved together."""
    if ledger is None:
        return None
    path = os.path.realpath(ledger)
    try:
        return os.path.relpath(path, os.path.realpath(folder or "."))
    except ValueError:  # another drive
        return path
