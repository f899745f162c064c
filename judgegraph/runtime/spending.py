"""What a run has spent, all its processes together: also where its ledger was deleted or is another one now."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from judgegraph.calls.ledger import Ledger, LedgerError
from judgegraph.calls.reservation import Spent

Bill = tuple[Any, ...]  # as `Spent` has its fields


def told(earlier: Any) -> Bill:
    """What a manifest says; what it does not say is 0."""
    known = earlier if isinstance(earlier, Mapping) else {}
    return tuple(_number(known.get(f.name)) for f in fields(Spent))


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) and 0 <= value < float("inf") else 0


def ledger_name(ledger: str | os.PathLike[str] | None, folder: Path | None) -> str | None:
    """By which a manifest knows a ledger: its way from the run's folder, so that both can be moved together."""
    if ledger is None:
        return None
    path = os.path.realpath(ledger)
    try:
        return os.path.relpath(path, os.path.realpath(folder or "."))
    except ValueError:  # another drive
        return path


def carried(earlier: Mapping[str, Any], ledger: Ledger, folder: Path | None) -> tuple[Bill, Bill]:
    """(what the run has spent, how much of it the ledger does not tell).

    A manifest says what was spent when it was written, a ledger what this run paid for in that file. The larger one
    counts, field by field: a killed process did not write its manifest, a deleted ledger tells nothing. A former
    ledger is looked into where it is still there.
    """
    paid, known, before = tuple(ledger.spent()), told(earlier.get("spent")), told(earlier.get("spent_before"))
    former = earlier.get("ledger")
    if former == ledger_name(ledger.path, folder):
        spent = _most(known, _sum(before, paid))
    else:
        spent = _most(known, paid, _sum(before, _paid_in(former, ledger.run, folder)))
    return spent, tuple(max(0, s - p) for s, p in zip(spent, paid, strict=True))


def _paid_in(former: Any, run: str, folder: Path | None) -> Bill:
    path = (folder or Path()) / former if isinstance(former, str) and "\0" not in former else None
    if path is not None and path.is_file():
        try:
            with closing(Ledger(path, run=run)) as ledger:
                return tuple(ledger.spent())
        except LedgerError:
            pass  # the manifest is what is left
    return astuple(Spent())


def _sum(one: Bill, other: Bill) -> Bill:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _most(*bills: Bill) -> Bill:
    return tuple(map(max, zip(*bills, strict=True)))
