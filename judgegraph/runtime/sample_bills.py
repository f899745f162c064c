"""What each sample asked for and paid, by its spans."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from judgegraph.runtime.lines import id_digest
from judgegraph.trace.span import Journey


@dataclass(frozen=True)
class Bill:
    """Model calls asked for; of those paid for: how many, tokens, USD (None where none has a price), the unpriced."""

    calls: int | None
    paid: int | None
    tokens: int | None
    usd: float | None
    unpriced: int


_TABLE = (
    "CREATE TABLE bills (id BLOB PRIMARY KEY, calls INT, paid INT, tokens INT, usd REAL, unpriced INT) WITHOUT ROWID"
)
_ADD = """INSERT INTO bills VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    calls = calls + excluded.calls, paid = paid + excluded.paid, tokens = tokens + excluded.tokens,
    usd = usd + excluded.usd, unpriced = unpriced + excluded.unpriced"""


class SampleBills:
    """Id of a sample -> its bill over all its journeys, in a temporary file of SQLite's own where they are many."""

    def __init__(self, journeys: Iterable[Journey]) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute(_TABLE)
        self._db.execute("BEGIN")
        for journey in journeys:
            self._db.execute(_ADD, (id_digest(journey.sample), *bill_of(journey)))

    def get(self, id: str) -> Bill | None:
        """None where no journey of it was recorded."""
        row = self._db.execute("SELECT * FROM bills WHERE id = ?", (id_digest(id),)).fetchone()
        if row is None:
            return None
        _, calls, paid, tokens, usd, unpriced = row
        return Bill(calls, paid, tokens, None if paid and unpriced == paid else usd, unpriced)

    def close(self) -> None:
        """Forget all."""
        self._db.close()


def untold(manifest: Mapping[str, Any], paid: int | None) -> int:
    """How many calls a run paid for beyond those of its spans; 0 where there are no spans, or that is not known.

    A journey is written at its sample's end: what was paid for a sample by a process that was killed then stands in
    the ledger and the manifest alone.
    """
    spent = manifest.get("spent")
    calls = spent.get("calls") if isinstance(spent, Mapping) else None
    return max(0, calls - paid) if isinstance(calls, int) and paid is not None else 0


def bill_of(journey: Journey) -> tuple[int, int, int, float, int]:
    """Calls, those paid for, their tokens, their USD, those of them without a price."""
    calls = [span.about for span in journey.spans if span.kind == "model"]
    paid = [about for about in calls if about.get("prompt_tokens") is not None]
    priced = [about["usd"] for about in paid if isinstance(about.get("usd"), int | float)]
    tokens = sum(_whole(about, "prompt_tokens") + _whole(about, "completion_tokens") for about in paid)
    return len(calls), len(paid), tokens, float(sum(priced)), len(paid) - len(priced)


def _whole(about: Mapping[str, Any], name: str) -> int:
    value = about.get(name)
    return value if isinstance(value, int) else 0
