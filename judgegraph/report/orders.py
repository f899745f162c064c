"""Verdicts on pairs that were asked in both orders, and which systems they were for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from typing import Generic, TypeVar

from judgegraph.meta.critic import codes
from judgegraph.meta.probes import KINDS, ORIGINAL, SWAPPED, Change, Padded, Seen, Swapped, padding, swapped
from judgegraph.meta.ranking import WON
from judgegraph.meta.result import Drawing, Measured
from judgegraph.report.charts import Measure, interval_plot
from judgegraph.report.figures import Pool
from judgegraph.runs.item import Item
from judgegraph.types import Comparison, key_of
from judgegraph.views.amounts import counted, percent, signed, within
from judgegraph.views.blocks import Block, Grid, Para

# Texts and how often they were met, in bounded memory.


Key = TypeVar("Key", bound=Hashable)
MOST = 2_000


class Commonest(Generic[Key]):
    """A counter of at most `most` different keys; later ones that are new are only counted, in `beyond`."""

    def __init__(self, most: int = MOST) -> None:
        self.counts: Counter[Key] = Counter()
        self.beyond = 0
        self._most = most

    def add(self, key: Key) -> bool:
        """Count one; False where there was no room for it."""
        if key not in self.counts and len(self.counts) >= self._most:
            self.beyond += 1
            return False
        self.counts[key] += 1
        return True

    def first(self, most: int) -> list[tuple[Key, int]]:
        """The commonest; equal ones in the order of their first coming."""
        return self.counts.most_common(most)

    def rest(self, most: int) -> int:
        """How many were counted beyond the first `most` keys."""
        return self.counts.total() + self.beyond - sum(count for _, count in self.first(most))


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
        known_names = [str(name)[:200] for name in names if isinstance(name, str | int) and str(name).strip()]
        room = [self._systems.add(name) for name in known_names]
        if len(known_names) < 2 or known_names[0] == known_names[1] or not all(room):
            self.unnamed += 1
            return
        self.met.setdefault((known_names[0], known_names[1]), Counter())[verdict] += 1

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


# What probes found, where the run is one of `judgegraph probe`: its copies stand among its items.


PROBED_MOST, LINES = 2_000, 60
DRAWING = Drawing(resamples=300)
WORDS = {SWAPPED, *KINDS, *(f"{kind}-{place}" for kind in KINDS for place in ("first", "second"))}


class Probed:
    """What was seen of the first two thousand samples, and of their copies; `copies`: how many of these there are."""

    def __init__(self, most: int = PROBED_MOST) -> None:
        self.copies, self._most = 0, most
        self._seen: dict[str, dict[str, Seen]] = {}
        self._made: dict[str, list[str]] = {}
        self._groups: dict[str, str | None] = {}

    def add(self, item: Item) -> None:
        """Keep what a probe compares; a copy's original was judged before it."""
        head, _, word = item.id.rpartition("/probe/")
        if word in WORDS and head in self._seen:
            self.copies += 1
            self._made[head].append(word)
        elif len(self._seen) < self._most:
            head, word = key_of(item.id), ORIGINAL
            self._seen[head], self._made[head] = {}, []
            group = item.sample.meta.get("group")
            self._groups[head] = None if group is None else str(group)
        else:
            return
        if item.status == "ok":
            self._seen[head][word] = Seen.of(item)

    def found(self) -> tuple[Swapped | None, Padded | None]:
        """As `judgegraph.meta.probes.probe` tells it; None of a probe that was not made."""
        words = {word for made in self._made.values() for word in made}
        seen, made, units = [*self._seen.values()], [*self._made.values()], codes([*self._groups.values()])
        kinds = [kind for kind in KINDS if words & {kind, f"{kind}-first", f"{kind}-second"}]
        swap = swapped(seen, made, units, DRAWING, ORIGINAL) if SWAPPED in words else None
        return swap, padding(seen, made, kinds, units, DRAWING, ORIGINAL) if kinds else None


def probe_blocks(copies: int, swap: Swapped | None, padded: Padded | None) -> Iterator[Block]:
    """What was found, each number with its 95 % interval."""
    if swap is None and padded is None:
        return
    yield Para(
        f"This run is a probe: {counted(copies, 'copy', 'copies')} of its samples were judged too, and count as "
        f"samples in all other parts of this page. Shares have Wilson's 95 % interval, "
        f"means one from {DRAWING.resamples} resamples."
    )
    if swap is not None:
        lines = (
            ("verdict changes", swap.flips),
            ("winner becomes loser", swap.reversed),
            ("first one wins", swap.first),
        )
        yield interval_plot("Sides exchanged", [_measure(*one) for one in lines], 0.0, 1.0, 0.5, shares=True)
    if padded is not None and padded.wins:
        wins = [_measure(f"{kind} copy wins against its original", one) for kind, one in padded.wins.items()]
        yield interval_plot("Padded copies", wins, 0.0, 1.0, 0.5, shares=True)
    if padded is not None and padded.changes:
        head = ("criterion, agent", "padding", "mean change", "95 % interval", "raised", "lowered", "n")
        rows = tuple(map(_change, padded.changes[:LINES]))
        yield Grid("Padded copies: longer, and no better", head, rows, frozenset({2, 3, 4, 5, 6}))


def _measure(name: str, one: Measured) -> Measure:
    return Measure(name, one.value, one.low, one.high, one.n)


def _change(one: Change) -> tuple[str, ...]:
    name = ", ".join(part for part in (one.criterion, one.agent) if part)
    if one.mean is None or one.raised is None or one.lowered is None:
        share = one.relabelled.value if one.relabelled is not None else math.nan
        changed = "-" if share != share else f"{percent(share, 1)} relabelled"
        return name, one.kind, changed, "", "", "", f"{one.n:,}"
    raised, lowered = (percent(part.value, 1) if part.n else "-" for part in (one.raised, one.lowered))
    mean = one.mean
    return name, one.kind, signed(mean.value), within(mean.low, mean.high), raised, lowered, f"{one.n:,}"
