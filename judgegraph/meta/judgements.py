"""What is compared: people's judgements of items by one criterion, and what metrics said of the same items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from judgegraph.errors import ConfigError

Answer: TypeAlias = float | str
Kind = Literal["number", "label", "verdict"]


class Unjudged(ConfigError):
    """There is nothing that people judged, or nothing to hold against it."""


@dataclass(frozen=True)
class Judgements:
    """One criterion of a run or table, item by item; all sequences are of equal length.

    Attributes:
        criterion: its name. kind: "number", "label", or "verdict" (of pairs: "A", "B", "tie").
        ids: of the items; an id may stand more than once only where each system's output has the same one.
        human: per item one answer per annotator, () where none judged it. An annotator keeps his place;
            where he left an item out it holds nan.
        metrics: metric -> its answer per item, None where none could be read.
        exchanged: metric -> of pairs asked for in both orders, the verdict in the exchanged order, mapped back so
            that "A" is the same response in both; None where none could be read.
        statuses: metric -> per item why there is no answer ("refused", "truncated", ...), "ok" where there is one.
        groups, systems: of the items (document, dialogue; generator), None where there are none.
        label_order: of ordinal labels, least first; () where they have no order.
        notes: what to know of how they were read.
    """

    criterion: str
    kind: Kind
    ids: tuple[str, ...]
    human: tuple[tuple[Answer, ...], ...]
    metrics: Mapping[str, tuple[Answer | None, ...]]
    exchanged: Mapping[str, tuple[Answer | None, ...]] = field(default_factory=dict)
    statuses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: tuple[str, ...] | None = None
    systems: tuple[str, ...] | None = None
    label_order: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        held = [self.human, *self.metrics.values(), *self.exchanged.values(), *self.statuses.values()]
        held += [column for column in (self.groups, self.systems) if column is not None]
        if any(len(column) != len(self.ids) for column in held):
            raise ValueError(f"{self.criterion}: columns of different lengths")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def in_both_orders(self) -> frozenset[str]:
        """Metrics that were asked for verdicts in both orders."""
        asked = {name for name, said in self.exchanged.items() if any(answer is not None for answer in said)}
        return frozenset(asked & self.metrics.keys() if self.kind == "verdict" else ())

    def in_one_verdict(self) -> Judgements:
        """With one verdict of both orders, for the metrics that have two: what both say, else a tie.

        Where one order could not be read there is no verdict: nobody knows whether the orders agree.
        """
        if not self.in_both_orders:
            return self
        metrics, statuses = dict(self.metrics), dict(self.statuses)
        for name in self.in_both_orders:
            both = list(zip(self.metrics[name], self.exchanged[name], strict=True))
            metrics[name] = tuple(None if None in (a, b) else a if a == b else "tie" for a, b in both)
            given = statuses.get(name) or ("ok",) * len(both)
            statuses[name] = tuple(
                "unread when exchanged" if a is not None and b is None else status
                for (a, b), status in zip(both, given, strict=True)
            )
        return replace(self, metrics=metrics, statuses=statuses, exchanged={})
