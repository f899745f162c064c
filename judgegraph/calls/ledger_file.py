"""The file of a ledger: how it is made and opened, and how a damaged row in it is known."""

from __future__ import annotations

import os
import sqlite3
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed, wait_random

from judgegraph.errors import ConfigError

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
