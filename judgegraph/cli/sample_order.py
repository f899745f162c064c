"""In which order samples are listed: the first that says anything of them, and why an earlier one does not."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from judgegraph.runtime.standing import Standing, firsts_of

SHOWN = 20
USUAL = ("change", "score", "failures", "place")  # where none is asked for, or the one that is says nothing
WORDS = {
    "score": "the least score first", "change": "the most moved by the critic first", "time": "the slowest first",
    "doubt": "the most in doubt first", "cost": "the dearest first", "failures": "most failures first",
    "place": "in the order of the data",
}  # fmt: skip


@dataclass(frozen=True)
class Listed:
    """Samples to be listed.

    Attributes:
        rows: the first of them. count: of all. order: what they are ordered by. about: the order in words, behind what
            was wrong with one that was to be taken. tokens: whether they are ordered by them.
        paid: calls of all of them, None where no spans were recorded.
    """

    rows: list[Standing]
    count: int
    order: str
    about: str
    tokens: bool
    paid: int | None


def listed(found: Iterable[Standing], by: str | None, limit: int | None, *, journeys: bool = False) -> Listed:
    """The first of them, in the order `by` if it says anything, else in the first of the usual ones that does.

    Args:
        limit: None: all. journeys: of a folder without items, which have no scores and stand as they ended.
    """
    count, paid = 0, None

    def counted() -> Iterator[Standing]:
        nonlocal count, paid
        for one in found:
            count += 1
            paid = paid if one.paid is None else (paid or 0) + one.paid
            yield one

    orders = list(dict.fromkeys([*([by] if by else []), *(("place",) if journeys else USUAL)]))
    firsts = firsts_of(counted(), dict.fromkeys(orders, limit or sys.maxsize))
    why = ""
    for order in orders:
        rows = firsts[order]
        if not rows or not (silent := _silent(order, rows[0])):
            break
        told = order == by or (not why and (order, rows[0].change) == ("change", 0))
        why += f"{silent}: " if told else ""
    words, tokens = _words(order, rows, journeys)
    return Listed(rows, count, order, why + words, tokens, paid)


def _silent(order: str, first: Standing) -> str:
    """Why nothing can be ordered so, by the first of all; "" where it can."""
    if order == "score":
        return "" if first.value is not None else "no score is a number that could be read"
    if order == "change":
        return "no score stands beside a draft" if first.change is None else "" if first.change else NOT_MOVED
    if order == "doubt":
        return "no score has a distribution" if first.doubt is None else "" if first.doubt else "no score is in doubt"
    if order == "cost":
        return (
            "no calls were recorded" if first.paid is None else "" if first.tokens or first.usd else "nothing was paid"
        )
    return "nothing failed" if order == "failures" and not first.failures else ""


NOT_MOVED = "the critic moved nothing"


def _words(order: str, rows: Sequence[Standing], journeys: bool) -> tuple[str, bool]:
    """The order in words, and whether it is one by tokens."""
    if order == "cost" and rows and not rows[0].usd:
        free = any(one.paid and one.usd is not None for one in rows)
        return f"most tokens first: nothing {'cost money' if free else 'has a price'}", True
    if order == "score" and any(one.verdict for one in rows):
        return "the least score of A first", False
    return ("in the order of their ends" if journeys and order == "place" else WORDS[order]), False
