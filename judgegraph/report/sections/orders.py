"""Verdicts on pairs that were asked in both orders, and which systems they were for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from judgegraph.report.sections.commonest import Commonest
from judgegraph.report.sections.pool import Pool
from judgegraph.runtime.item import Item
from judgegraph.types import Comparison

WON = {"A": 1.0, "tie": 0.5, "B": 0.0}
FIRST = {"AB": "A", "BA": "B"}  # who stood first
MERGED = "all criteria, merged"


class Orders:
    """By criterion, of pairs with a verdict in both orders.

    Attributes:
        flips: criterion -> Counter of whether the verdict changed. first: criterion -> Counter of a pair's share of
            decided verdicts that the one shown first won (0, 0.5 or 1); pairs of two ties are in `flips` alone.
        met: (system, rival) -> Counter of verdicts, where the samples' meta names both.
        unnamed: verdicts on pairs whose systems are not told.
    """

    def __init__(self) -> None:
        self.flips: dict[str, Counter[bool]] = {}
        self.first: dict[str, Counter[float]] = {}
        self.met: dict[tuple[str, str], Counter[str]] = {}
        self.unnamed = 0
        self._systems: Commonest[str] = Commonest(300)

    def add(self, item: Item, names: Pool) -> None:
        """Count a pair, its criteria by the names of a pool; of a single sample, and of one that failed, nothing."""
        if item.status != "ok" or (not item.comparisons and item.verdict is None):
            return
        written = {criterion.name for criterion in item.branches.values()}
        by: dict[tuple[str, str], dict[str, Comparison]] = {}
        for one in item.comparisons:
            by.setdefault((one.criterion, one.agent), {})[one.order] = one
        for (criterion, agent), pair in by.items():
            merged = criterion == "overall" and agent.endswith("merge")
            self._compare(MERGED if merged else names.name(criterion, written), pair)
        if item.verdict is not None:
            self._meet(item.sample.meta, item.verdict)

    def _compare(self, name: str, pair: Mapping[str, Comparison]) -> None:
        read = {order: pair[order].verdict for order in FIRST if order in pair}
        if len(read) < 2 or None in read.values():
            return
        self.flips.setdefault(name, Counter())[read["AB"] != read["BA"]] += 1
        decided = [verdict == FIRST[order] for order, verdict in read.items() if verdict != "tie"]
        if decided:
            self.first.setdefault(name, Counter())[sum(decided) / len(decided)] += 1

    def _meet(self, meta: Mapping[str, object], verdict: str) -> None:
        names = [meta.get(name) for name in ("system", "rival_system")]
        told = [str(name)[:200] for name in names if isinstance(name, str | int) and str(name).strip()]
        room = [self._systems.add(name) for name in told]
        if len(told) < 2 or told[0] == told[1] or not all(room):
            self.unnamed += 1
            return
        self.met.setdefault((told[0], told[1]), Counter())[verdict] += 1

    def shares(self) -> dict[tuple[str, str], tuple[float, int]]:
        """Two systems, in the order of their names -> the share of the first one, ties half, and of how many."""
        wins: dict[tuple[str, str], list[float]] = {}
        for (one, other), counts in self.met.items():
            won = sum(WON[verdict] * count for verdict, count in counts.items())
            pair, won = ((one, other), won) if one < other else ((other, one), counts.total() - won)
            held = wins.setdefault(pair, [0.0, 0.0])
            held[0] += won
            held[1] += counts.total()
        return {pair: (won / n, int(n)) for pair, (won, n) in sorted(wins.items())}
