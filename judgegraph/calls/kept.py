"""A ledger that is read and never written: what a plan looks into."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from judgegraph.calls.ledger_file import APPLICATION, CURE, REPLY, SCHEMA, LedgerError, text_of, whole
from judgegraph.calls.payments import Paid
from judgegraph.calls.texts import KeptTexts, texts_of


class Kept:
    """The replies in a ledger's file; none where there is no file. Nothing is made, changed or locked.

    Raises:
        LedgerError: the file is no ledger, is damaged, or was written by another version.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = Path(path) if path is not None else None
        self._texts = KeptTexts(texts_of(self.path)) if self.path is not None else None
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
