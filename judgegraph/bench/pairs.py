"""Verdicts of pairs as collections spell them, made into ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from judgegraph.errors import DataError, one_line
from judgegraph.types import Verdict

Read = TypeVar("Read", Verdict, Verdict | None)
OVERALL = "overall"  # people compared the responses as wholes
SWAPPED: dict[Verdict, Verdict] = {"A": "B", "B": "A", "tie": "tie"}


def verdict_of(row: Mapping[str, Any], key: str, where: str, words: Mapping[str, Read]) -> Read:
    """The verdict under a key, by its spelling.

    Raises:
        DataError: no such key, or none of the spellings.
    """
    value = row.get(key)
    spelt = str(value) if key in row and not isinstance(value, bool | float) else ""
    if spelt in words:
        return words[spelt]
    got = "nothing" if key not in row else one_line(repr(value), 40)
    raise DataError(f"{where}, key {key!r}: expected one of {', '.join(words)}; got {got}")


def as_long(rows: Sequence[object], other: Sequence[object], where: str, than: str) -> None:
    """Two files whose rows belong together, one by one.

    Raises:
        DataError: one has more rows.
    """
    if len(rows) != len(other):
        raise DataError(f"{where}: {len(rows)} rows, but {len(other)} in {than}; they belong together one by one")
