"""What a plan says: per node how many calls are certain, between what the others lie, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from judgegraph.runtime.amount import Amount
from judgegraph.runtime.mishaps import Mishap
from judgegraph.runtime.plan_count import NodeCount, Tally
from judgegraph.shown import Shown

ENDS = ("lowest", "readable", "highest")
PARTS = ("calls", "prompt_tokens", "completion_tokens", "usd")
NOT_CALLS = "Retries of failed requests, and requests refused for a feature the judge lacks, are no calls: not counted."
READABLE = "A sample for which no readable reply comes at all ends early, with fewer calls than the lowest number."


@dataclass(frozen=True)
class Range:
    """From the lowest to the highest; `usd` is of judges whose price is known.

    Attributes:
        middle: of a plan the highest where every reply can be read, and holds all the choices that were asked for;
            of a projection its mean.
    """

    lowest: Amount
    middle: Amount
    highest: Amount

    def to_dict(self, names: tuple[str, str, str] = ENDS) -> dict[str, dict[str, float]]:
        """As JSON values: lowest, middle and highest by these names."""
        amounts = (self.lowest, self.middle, self.highest)
        return {name: _plain(amount) for name, amount in zip(names, amounts, strict=True)}

    def minus(self, other: Range) -> Range:
        """What is left without the other."""
        return Range(
            self.lowest.minus(other.lowest), self.middle.minus(other.middle), self.highest.minus(other.highest)
        )


def _plain(amount: Amount) -> dict[str, float]:
    parts = zip(PARTS, amount.parts, strict=True)
    return {name: round(value, 6) if name == "usd" else round(value) for name, value in parts}


@dataclass(frozen=True)
class NodePlan:
    """Of one node, or of all.

    Attributes:
        exact: calls made whatever is replied, those in the ledger among them; where code of the caller's own decides
            (`Forecast.own_code`), those that were made with every kind of invented reply. kept: found in the ledger.
        missing: of `exact`, those that are not in the ledger.
        rest: calls beyond `exact` that are not in the ledger: lowest, highest where every reply can be read and holds
            all the choices that were asked for, highest.
        cost: of all that is not in the ledger, likewise. projected: the same, by a pilot.
    """

    node: str
    exact: int
    kept: int
    missing: int
    rest: tuple[int, int, int]
    cost: Range
    projected: Range | None = None

    @staticmethod
    def of(node: str, count: NodeCount) -> NodePlan:
        """From what was counted."""
        more = (count.lowest, count.readable, count.highest)
        low, middle, high = (round(amount.calls) for amount in more)
        cost = Range(*(count.certain.plus(amount) for amount in more))
        return NodePlan(node, count.exact, count.kept, round(count.certain.calls), (low, middle, high), cost)

    def to_dict(self, interval: bool = True) -> dict[str, Any]:
        """As JSON values.

        Args:
            interval: the projection has one; else its ends are null.
        """
        about = {"node": self.node, "exact": self.exact, "in_ledger": self.kept, "exact_missing": self.missing}
        projected: dict[str, Any] = {}
        if self.projected:
            ends = self.projected.to_dict(("low", "mean", "high"))
            projected["projected"] = ends if interval else {**ends, "low": None, "high": None}
        return {**about, "rest": dict(zip(ENDS, self.rest, strict=True)), "to_pay": self.cost.to_dict(), **projected}


@dataclass(frozen=True)
class PilotCost:
    """What a pilot took: samples judged, how they ended, calls and tokens paid for, USD where prices are known.

    Attributes:
        statuses: of a sample none of whose scores could be read, theirs. used: samples that the projection is from.
        failure: why nothing at all could be read, "" where something could; then there is no projection.
        over_budget: the budget ended it.
    """

    samples: int
    statuses: Mapping[str, int]
    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    used: int = 0
    failure: str = ""
    over_budget: bool = False


@dataclass(frozen=True)
class Forecast(Shown):
    """What a run over a dataset will ask for.

    Attributes:
        samples: planned for. finished: those that the run's folder has finished, which are not among them.
        nodes: in the order of asking. total: of all nodes.
        basis: what the figures rest on, a line each. unpriced: judges whose price is not known.
        mishaps: where the graph did not come to its end with invented replies; with any, the figures are too low.
        failed: samples that met one. own_code: where code of the caller's own may decide what is asked.
        exact_addresses: of the calls that are made whatever is replied, as a ledger has them.
    """

    signature: str
    samples: int
    nodes: tuple[NodePlan, ...]
    total: NodePlan
    basis: tuple[str, ...]
    unpriced: tuple[str, ...] = ()
    mishaps: tuple[Mishap, ...] = ()
    pilot: PilotCost | None = None
    finished: int = 0
    failed: int = 0
    own_code: tuple[str, ...] = ()
    exact_addresses: frozenset[bytes] = field(default=frozenset(), repr=False)

    @property
    def complete(self) -> bool:
        """Whether every sample came to its end."""
        return not self.mishaps

    @property
    def priced(self) -> bool:
        """Whether money can be told: some judge's price is known, or nothing is left to pay."""
        return self.total.cost.highest.usd > 0 or not self.unpriced

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        interval = self.pilot is not None and self.pilot.used > 1
        return {
            "signature": self.signature, "samples": self.samples, "finished": self.finished,
            "complete": self.complete, "nodes": [node.to_dict(interval) for node in self.nodes],
            "total": self.total.to_dict(interval), "basis": list(self.basis), "own_code": list(self.own_code),
            "unpriced": list(self.unpriced), "failed": self.failed, "mishaps": [vars(m) for m in self.mishaps],
            "pilot": vars(self.pilot) | {"statuses": dict(self.pilot.statuses)} if self.pilot else None,
        }  # fmt: skip

    def __str__(self) -> str:
        low, middle, _ = self.total.rest
        return f"plan for {self.samples:,} samples: {self.total.exact:,} calls for certain, {low:,} to {middle:,} more"


def total_of(tally: Tally) -> NodeCount:
    """All nodes together."""
    counts = tally.nodes.values()
    return NodeCount(
        sum(c.exact for c in counts), sum(c.kept for c in counts), Amount.sum(c.certain for c in counts),
        Amount.sum(c.lowest for c in counts), Amount.sum(c.readable for c in counts),
        Amount.sum(c.highest for c in counts),
    )  # fmt: skip
