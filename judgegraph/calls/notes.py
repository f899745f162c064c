"""What is written down of calls that no run makes, for whoever traces them: nobody is answered from there."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any

from judgegraph.calls.address import address_of
from judgegraph.calls.context import CallContext
from judgegraph.calls.exchange import Call, Choice, packed, writable
from judgegraph.calls.ledger_file import checksum, opened
from judgegraph.calls.payments import Paid
from judgegraph.calls.texts import Texts, texts_of
from judgegraph.models.resolve import Judge
from judgegraph.trace.record import tracer

_FIND = "SELECT body FROM replies WHERE address = ?"
_PUT = "INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)"
PATIENCE, LAST = 50, 1000  # milliseconds for another that writes, at a call and at the end: an event loop stands still
AGAIN = 1.0  # seconds until the next try where that was too short
WAITING = 10_000  # replies that wait for it, of which the first are let go
BUSY = "another process held the file for too long"


class Notes:
    """A ledger that is only written, from any thread and event loop; another process may write it too.

    Where that one holds the file, replies wait for a later call, or for the end.

    Attributes:
        failed: why something could not be written, "" where all was. payer: who sends calls, to count what they take.

    Raises:
        LedgerError: the file is no ledger, or cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.failed = ""
        self._lock = threading.Lock()
        self._db = opened(path)
        self._db.execute(f"PRAGMA busy_timeout = {PATIENCE}")
        self._texts = Texts(texts_of(path))
        self._waiting: dict[bytes, tuple[Any, ...]] = {}  # address -> its row
        self._open, self._later = True, 0.0

    @cached_property
    def payer(self) -> CallContext:
        """It reads the table of prices when the first call is made."""
        return CallContext()

    def keep(self, judge: Judge, call: Call, choices: Sequence[Choice], about: dict[str, Any]) -> bytes:
        """Write a call down: what was asked and, where it was answered, the reply; gives the address that has it.

        Equal calls may be answered differently here; the second answer stands at an address that follows from the
        first.
        """
        address, paid = address_of(judge, call), None
        if choices:
            tokens = (about.get("prompt_tokens") or 0, about.get("completion_tokens") or 0)
            paid = Paid(packed(choices), writable(judge.name), *tokens, about.get("usd"))
        with self._lock:
            if not self._open:
                return address
            try:
                address = address if paid is None else self._put(address, paid)
                self._texts.ask(address, call.messages, new=False)
            except (sqlite3.Error, ValueError, TypeError) as error:
                self.failed = f"{type(error).__name__}: {error}"
        return address

    def _put(self, address: bytes, paid: Paid) -> bytes:
        for turn in count():
            at = address if turn == 0 else blake2b(turn.to_bytes(4, "big"), key=address, digest_size=16).digest()
            there = self._body(at)
            if there is None:
                told = (paid.model, paid.prompt, paid.completion, None if paid.usd is None else float(paid.usd))
                self._waiting[at] = (at, paid.body, checksum(at, paid.body, told), *told)
                self._write()
            if there is None or there == paid.body:
                return at
        raise AssertionError

    def _body(self, address: bytes) -> Any:
        """What stands or is to stand there, None where nothing does; others that write do not keep us from reading."""
        if (row := self._waiting.get(address)) is not None:
            return row[1]
        found = self._db.execute(_FIND, (address,)).fetchone()
        return found[0] if found else None

    def _write(self) -> None:
        """What waits, each in a transaction of its own."""
        while self._waiting and time.monotonic() >= self._later:
            at, row = next(iter(self._waiting.items()))
            try:
                self._db.execute(_PUT, row)
            except sqlite3.OperationalError as error:
                if "locked" in str(error):
                    self._later = time.monotonic() + AGAIN
                    break
                self._waiting.clear()
                raise
            del self._waiting[at]
            if self._body(at) != row[1]:
                self.failed = "another process has its own reply where one of ours was to be"
        if len(self._waiting) > WAITING:
            del self._waiting[next(iter(self._waiting))]
            self.failed = BUSY

    def close(self) -> None:
        """Nothing more is written but what waits."""
        with self._lock:
            if not self._open:
                return
            self._open, self._later = False, 0.0
            try:
                self._db.execute(f"PRAGMA busy_timeout = {LAST}")
                self._write()
            except sqlite3.Error as error:
                self.failed = f"{type(error).__name__}: {error}"
            if self._waiting:
                self.failed = f"{BUSY}: {len(self._waiting)} replies are not kept"
            self._db.close()
            self._texts.close()


def note(judge: Judge, call: Call, choices: Sequence[Choice], about: dict[str, Any]) -> None:
    """Of a call's span: where it is written down, if somebody traces it."""
    at = tracer.get()
    if at is not None:
        about["address"] = at.note(judge, call, choices, about).hex()
        about["from"] = "paid"


def payer() -> CallContext:
    """Who sends a call of no run, where its tokens are wanted."""
    at = tracer.get()
    notes: Notes | None = at.notes if at is not None else None
    return notes.payer if notes is not None else CallContext()
