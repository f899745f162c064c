"""What each run paid, kept apart from the replies: a reply that is replaced, or paid for by two runs, stays paid."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from judgegraph.calls.exchange import writable
from judgegraph.calls.ledger_file import LedgerError, checksum

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

    unanswered: it is none, but what a request without one is booked at.
    """

    body: bytes
    model: str = ""
    prompt: int = 0
    completion: int = 0
    usd: float | None = None
    estimated: bool = False
    unanswered: bool = False


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
