"""A number of a collection's table: ours, the published one, or both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from judgegraph.bench.collection import Published
from judgegraph.meta.result import NONE, Ends, Row, SystemPairs

PAIRS = "pairs"  # the share of pairs of systems that are ranked as people rank them


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One statistic of one judge by one criterion.

    Attributes:
        heading: the set of items, "" where there is one.
        value: ours, nan where nothing was measured or it is undefined. interval: nan where there is none.
        n: items it rests on. units: groups or systems that counted, or pairs of systems. judged: items that people
            judged. unread: status -> how many of these the judge has no answer for.
        published: what is printed elsewhere. ours: of a run of the user's own.
        signature: every choice behind our value.
    """

    judge: str
    criterion: str
    statistic: str
    level: str
    heading: str = ""
    value: float = math.nan
    interval: Ends = NONE
    n: int = 0
    units: int = 0
    judged: int = 0
    unread: Mapping[str, int] = field(default_factory=dict)
    published: Published | None = None
    ours: bool = False
    signature: str = ""
    notes: tuple[str, ...] = ()

    @property
    def measured(self) -> bool:
        """Whether there is a value of ours."""
        return not math.isnan(self.value)

    @property
    def equal(self) -> bool | None:
        """Whether ours is the published one to its printed digits; None where either is missing."""
        if self.published is None or not self.measured:
            return None
        return round(self.value, self.published.digits) == round(self.published.value, self.published.digits)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        found: dict[str, Any] = finite(asdict(self) | {"equal": self.equal})
        return found


def of_row(row: Row, heading: str, ours: bool) -> Cell:
    """A row of a meta-evaluation."""
    return Cell(
        judge=row.metric, criterion=row.criterion, statistic=row.statistic,
        level=row.level if row.kind == "number" else "", heading=heading, value=row.value, interval=row.interval,
        n=row.n, units=row.units, judged=row.judged, unread=row.unread, ours=ours, signature=row.signature,
        notes=row.notes,
    )  # fmt: skip


def of_pairs(found: SystemPairs, heading: str, ours: bool) -> Cell:
    """Pairs of systems, as a share."""
    return Cell(
        judge=found.metric, criterion=found.criterion, statistic=PAIRS, level="system", heading=heading,
        value=found.right / found.pairs if found.pairs else math.nan, n=found.n, units=found.pairs, ours=ours,
        signature=found.signature,
    )  # fmt: skip


def of_published(figure: Published) -> Cell:
    """A figure without a value of ours."""
    return Cell(
        judge=figure.judge, criterion=figure.criterion, statistic=figure.statistic, level=figure.level,
        published=figure,
    )  # fmt: skip


def finite(value: Any) -> Any:
    """As JSON values, whatever it holds: a number that is none is null, also within lists and objects."""
    if isinstance(value, Mapping):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
