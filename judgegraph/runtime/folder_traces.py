"""Journeys of a folder that no run wrote, such as one of `tracing`: spans and a ledger, without items."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from judgegraph.calls.kept import Kept
from judgegraph.errors import DataError
from judgegraph.runtime.claim import LEDGER, NOTES
from judgegraph.runtime.item import FINE
from judgegraph.runtime.known_names import known_names
from judgegraph.runtime.redacted import redacted_root
from judgegraph.runtime.sample_bills import Bill, bill_of
from judgegraph.runtime.standing import Standing
from judgegraph.runtime.steps import tree
from judgegraph.shown import Shown, drawn
from judgegraph.trace.file import SPANS, journeys
from judgegraph.trace.span import Journey
from judgegraph.trace.step import Step


@dataclass(frozen=True)
class FolderTrace(Shown):
    """What was done for one sample, as `SampleTrace` without an item.

    Attributes:
        number: of the journey in its folder, from 1. sample: its id. started: seconds since 1970.
    """

    number: int
    sample: str
    started: float
    root: Step

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {"number": self.number, "sample": self.sample, "started": self.started, "root": self.root.to_dict()}

    def __str__(self) -> str:
        """Its tree as plain text; the first lines of each text."""
        return drawn(self, "text")


def traces_in(
    path: str | os.PathLike[str], sample: str | None = None, *, redact: bool = False
) -> Iterator[FolderTrace]:
    """Every journey of a folder, or those of one sample, in the order of their ends; read as a stream.

    Raises:
        DataError: the folder holds no spans. LedgerError: its ledger cannot be read.
    """
    known = known_names({})
    with closing(Kept(_notes(Path(path)))) as ledger:
        for number, told in enumerate(_journeys(path), 1):
            if sample is None or told.sample == sample:
                root = tree(told, None, {}, ledger)
                yield FolderTrace(number, told.sample, told.started, redacted_root(root, known) if redact else root)


def standings_in(path: str | os.PathLike[str]) -> Iterator[Standing]:
    """Every journey in short; its place is its number, and of scores nothing is known. Raises as `traces_in`."""
    for number, told in enumerate(_journeys(path), 1):
        calls, paid, tokens, usd, unpriced = bill_of(told)
        bill = Bill(calls, paid, tokens, None if paid and paid == unpriced else usd, unpriced)
        failed, root = sum(span.status not in FINE for span in told.spans), told.spans[0]
        yield Standing(
            id=told.sample, place=number, status=root.status, value=None, change=None, changed_criterion=None,
            changed_from=None, changed_to=None, doubt=None, ms=root.ms, failures=failed, verdict=None, **asdict(bill),
        )  # fmt: skip


def _notes(path: Path) -> Path:
    """A run's folder that lost its manifest has its ledger still."""
    return path / NOTES if (path / NOTES).exists() else path / LEDGER


def _journeys(path: str | os.PathLike[str]) -> Iterator[Journey]:
    if not (Path(path) / SPANS).exists():
        raise DataError(f"{os.fspath(path)} holds no trace: no {SPANS} lies in it")
    yield from journeys(Path(path) / SPANS)
