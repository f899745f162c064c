"""What probes found, where the run is one of `judgegraph probe`: its copies stand among its items."""

from __future__ import annotations

import math
from collections.abc import Iterator

from judgegraph.meta.copies import ORIGINAL, SWAPPED, Seen
from judgegraph.meta.gain import codes
from judgegraph.meta.measured import Drawing, Measured
from judgegraph.meta.padded_probe import Change, Padded, padding
from judgegraph.meta.padding import KINDS
from judgegraph.meta.swap_probe import Swapped, swapped
from judgegraph.report.amounts import counted
from judgegraph.report.blocks import Block, Grid, Para
from judgegraph.report.charts import Measure, interval_plot
from judgegraph.report.sections.figures import percent, signed, within
from judgegraph.runtime.item import Item
from judgegraph.types import key_of

MOST, LINES = 2_000, 60
DRAWING = Drawing(resamples=300)
WORDS = {SWAPPED, *KINDS, *(f"{kind}-{place}" for kind in KINDS for place in ("first", "second"))}


class Probed:
    """What was seen of the first two thousand samples, and of their copies; `copies`: how many of these there are."""

    def __init__(self, most: int = MOST) -> None:
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
        told = (
            ("verdict changes", swap.flips),
            ("winner becomes loser", swap.reversed),
            ("first one wins", swap.first),
        )
        yield interval_plot("Sides exchanged", [_measure(*one) for one in told], 0.0, 1.0, 0.5, shares=True)
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
