"""How the samples of a run stand among each other: which scored low, moved, were in doubt, cost most, failed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from judgegraph.answers import several
from judgegraph.runtime.item import Item, failures
from judgegraph.runtime.outcome import answers, has_status
from judgegraph.runtime.sample_bills import Bill, SampleBills
from judgegraph.runtime.spread import doubt, moved_by
from judgegraph.runtime.summary import means_of
from judgegraph.runtime.traces import RunRecord, spans_of
from judgegraph.trace.file import journeys
from judgegraph.types import Score, Status, Verdict


@dataclass(frozen=True)
class Standing:
    """One sample in short.

    Attributes:
        id, place, status, ms, verdict: of its item.
        value: mean of its answers (`judgegraph.answers`), each scaled so that its scale is 0 to 1; of a pair, those of
            `output`. Of several agents that answer side by side the lowest mean, and by_agent has each one's. None
            where no number was read.
        change: the most that a critic moved a score, as a share of its scale's width; a changed label is 1. None where
            no final score stands beside a draft. changed_criterion, changed_from, changed_to: the one
            that moved so, its draft and its final answer; None where none did.
        doubt: the widest distribution of a score, 0 (one point or label holds all) to 1 (the widest that its scale
            allows: half at either end, all labels alike): see `spread.doubt`. None without any. doubt_criterion: the
            one that it is of.
        calls: model calls asked for, retaken samples' earlier attempts included. paid: those that were sent and paid
            for; the others lay in the ledger, or a neighbour had asked them. tokens: prompt and completion tokens of
            the paid ones. usd: what they cost, as far as they have a price; None where none has. unpriced: paid calls
            without a price. All None, and unpriced 0, where no spans were recorded.
        failures: parts of it that failed, itself included.
        answers: its answers and comparisons. lost: those of them without an answer, abstentions among them.
    """

    id: str
    place: int
    status: Status
    value: float | None
    change: float | None
    changed_criterion: str | None
    changed_from: float | str | None
    changed_to: float | str | None
    doubt: float | None
    calls: int | None
    paid: int | None
    tokens: int | None
    usd: float | None
    unpriced: int
    ms: float
    failures: int
    verdict: Verdict | None
    doubt_criterion: str | None = None
    answers: int = 0
    lost: int = 0
    by_agent: dict[str, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


UNKNOWN = Bill(None, None, None, None, 0)
Key = Callable[[Standing], tuple[float, ...]]
ORDERS: Mapping[str, Key] = {  # name -> what the first of them has least of
    "score": lambda one: (math.inf if one.value is None else one.value,),
    "change": lambda one: (_most(one.change),),
    "doubt": lambda one: (_most(one.doubt),),
    "cost": lambda one: (-(one.usd or 0.0), _most(one.tokens)),  # the free ones and those without a price by tokens
    "time": lambda one: (_most(one.ms),),
    "failures": lambda one: (_most(one.failures), one.status == "ok"),
    "place": lambda one: (),
}


def _most(value: float | None) -> float:
    """The greatest first, what is not known last."""
    return math.inf if value is None else -value


def standings(run: RunRecord, *, status: str | None = None, criterion: str | None = None) -> Iterator[Standing]:
    """Every sample of a run, in the order of finishing; its files are read as streams.

    Args:
        status: only samples that ended so, or that have a final score or comparison that did. criterion: only samples
            with a score of it; value, change, doubt and answers are of it alone.

    Raises:
        DataError: the run's folder cannot be read.
    """
    with closing(SampleBills(journeys(spans_of(run)))) as bills:
        for item in run.items:
            asked = criterion is None or any(score.criterion == criterion for score in item.scores)
            if asked and (status is None or has_status(item, status)):
                yield standing(item, bills.get(item.id), criterion)


def top(
    run: RunRecord, order: str, n: int, *, status: str | None = None, criterion: str | None = None
) -> list[Standing]:
    """The first n samples in an order of `ORDERS`; those that have nothing to be ordered by stand last.

    Raises:
        KeyError: no such order. DataError: as `standings`.
    """
    return tops(run, {order: n}, status=status, criterion=criterion)[order]


def tops(
    run: RunRecord, wanted: Mapping[str, int], *, status: str | None = None, criterion: str | None = None
) -> dict[str, list[Standing]]:
    """Order -> its first samples, several orders in one reading. Raises as `top`."""
    return firsts_of(standings(run, status=status, criterion=criterion), wanted)


def firsts_of(found: Iterable[Standing], wanted: Mapping[str, int]) -> dict[str, list[Standing]]:
    """Order -> how many, as order -> the first of them."""
    firsts = {order: _First(ORDERS[order], n) for order, n in wanted.items()}
    for one in found:
        for first in firsts.values():
            first.add(one)
    return {order: first.sorted() for order, first in firsts.items()}


class _First:
    """The n first by a key, the earlier in the dataset first; a little more than n are held."""

    def __init__(self, key: Key, n: int) -> None:
        self._key, self._n = key, max(0, n)
        self._held: list[Standing] = []

    def add(self, one: Standing) -> None:
        self._held.append(one)
        if len(self._held) > 2 * self._n + 64:
            self._held = self.sorted()

    def sorted(self) -> list[Standing]:
        return sorted(self._held, key=lambda one: (*self._key(one), one.place))[: self._n]


def standing(item: Item, bill: Bill | None = None, criterion: str | None = None) -> Standing:
    """One item's; `bill` is None where it is not known. Of a criterion alone, as `standings`."""
    asked = [s for s in item.scores if criterion is None or s.criterion == criterion]
    given = [one for one in answers(item) if criterion in (None, one.criterion)]
    finals = [one for one in given if isinstance(one, Score)]
    change, draft, final = _change(finals, {s.key: s for s in item.scores})
    means = means_of(finals)
    by_agent = {agent: means[agent] for agent in several(finals) if agent in means}
    doubts = [(x, s.criterion) for s in finals or asked if (x := doubt(s)) is not None]
    widest, doubted = max(doubts, key=lambda one: one[0], default=(None, None))
    return Standing(
        id=item.id, place=item.place, status=item.status, change=change,
        value=min(by_agent.values()) if by_agent else means.get(""), by_agent=by_agent or None,
        changed_criterion=final.criterion if final else None, changed_from=draft.answer if draft else None,
        changed_to=final.answer if final else None, doubt=widest, doubt_criterion=doubted, ms=item.ms,
        failures=failures(item), verdict=item.verdict, answers=len(given),
        lost=sum(one.status != "ok" for one in given), **asdict(bill or UNKNOWN),
    )  # fmt: skip


def _change(finals: list[Score], scores: Mapping[str, Score]) -> tuple[float | None, Score | None, Score | None]:
    """How much moved most, its draft and its final score; neither where nothing moved."""
    pairs = [(draft, s) for s in finals if (draft := scores.get(s.draft or "")) is not None]
    found = [(moved, draft, s) for draft, s in pairs if (moved := moved_by(draft, s)) is not None]
    if not found:
        return None, None, None
    most, draft, final = max(found, key=lambda one: one[0])
    return (most, draft, final) if most else (most, None, None)
