"""Leases of calls: of all processes that share a ledger, one pays for a call and the others wait for its reply.

A lease is a lock on one byte of a file beside the ledger; which byte follows from the call's address. The system frees
the lock when its process dies, however it dies. So there is no heartbeat, and nothing is left to clean up. A process
that is stopped (SIGSTOP, a frozen machine) keeps it: whoever waits pays for itself once others have committed nothing
to the ledger for a while. At worst a call is paid for twice.
The file stays empty. A lock of this kind holds between processes only, so those that this process holds are also in a
table that its ledgers share.
"""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

try:
    import fcntl
except ImportError:  # a system without such locks: leases hold within the process
    fcntl = None  # type: ignore[assignment]

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
            self._locks = _opened(self._path)
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


def _opened(path: Path | None) -> _Locks:
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
