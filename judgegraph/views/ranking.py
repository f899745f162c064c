"""Rankings of systems: a table for each judge, what to know of it, and each metric against people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from judgegraph.errors import one_line
from judgegraph.meta.ranking import Ranking
from judgegraph.views.amounts import COEFFICIENT, NONE, chance, counted, number_text, valued
from judgegraph.views.blocks import Block, Grid, Para, columns

LINES, CYCLES = 60, 10
LONGEST_NAME = 200  # characters of a name
SYSTEMS = ("system", "systems")
NEXT = (
    "p next: could the lead over the system below be chance? Paired bootstrap of strengths, two-sided, corrected for "
    "all neighbours within each table"
)


def rankings(found: Sequence[Ranking]) -> Iterator[Block]:
    """Each of them, the metrics against people, and the choices behind the numbers."""
    for one in found:
        yield from ranking(one)
    yield from _against(found)
    if any(not math.isnan(row.p_next) for one in found for row in one.systems):
        yield Para(f"\n{NEXT}", "fine")
    yield from (Para(f"\n{signature}", "fine") for signature in dict.fromkeys(one.signature for one in found))


def ranking(one: Ranking) -> Iterator[Block]:
    """Its table, the circles that its preferences run in, and what is missing."""
    yield table(one)
    cycles = one.cycles
    if cycles.knots:
        tied = sum(map(len, cycles.knots))
        yield Para(f"preferences run in circles among {counted(tied, 'system')}; no ranking is right there:")
        for cycle in cycles.found[:CYCLES]:
            yield Para("  " + " > ".join(map(_name, (*cycle, cycle[0]))))
        if cycles.more or len(cycles.found) > CYCLES:
            yield Para("  and others; --json has more of them")
    if one.unread:
        yield Para(f"{counted(one.unread, 'answer')} missing", "note")
    yield from (Para(note, "note") for note in one.notes)


def table(one: Ranking) -> Grid:
    """A row for each system, the best first."""
    of = f"{_name(one.criterion)}, by {_name(one.judge)}" if one.criterion else f"by {_name(one.judge)}"
    units = "" if one.units == one.comparisons else f" in {counted(one.units, 'unit')}"
    rows = one.systems
    scored = any(not math.isnan(row.score) for row in rows)
    tested = any(not math.isnan(row.p_next) for row in rows)
    parted = any((row.part or 1) > 1 for row in rows)
    digits = min(9, max(0, 2 - math.floor(math.log10(one.elo_scale))))  # of 400 points none, of 1 two
    return columns(f"{of}: {counted(one.comparisons, 'comparison')}{units}", {
        "system": [_name(row.system) for row in rows],
        "part": [str(row.part or NONE) if parted else "" for row in rows],
        "place": [str(row.place or NONE) for row in rows],
        "score": [number_text(row.score, COEFFICIENT) if scored else "" for row in rows],
        "won": [NONE if math.isnan(row.won) else f"{row.won:.1%}" for row in rows],
        "met": [f"{row.met:,.0f}" for row in rows],
        "strength": [valued(row.strength, *row.strength_interval) for row in rows],
        "Elo": [valued(row.elo, *row.elo_interval, digits) for row in rows],
        "p next": [chance(row.p_next_corrected) if tested else "" for row in rows],
    }, most=LINES, rest=SYSTEMS)  # fmt: skip


def _name(text: str) -> str:
    """Foreign, and never more than its own line."""
    return one_line(text, LONGEST_NAME)


def _against(found: Sequence[Ranking]) -> Iterator[Block]:
    rows = [(one, by) for one in found for by in one.against]
    if rows:
        yield columns("against people", {
            "criterion": [_name(one.criterion) for one, _ in rows],
            "metric": [_name(one.judge) for one, _ in rows],
            "by": [by.by for _, by in rows],
            "Kendall tau-b": [valued(by.kendall, *by.kendall_interval, COEFFICIENT) for _, by in rows],
            "Spearman": [number_text(by.spearman, COEFFICIENT) for _, by in rows],
            "pairs ranked alike": [f"{by.alike:,} of {by.pairs:,}" for _, by in rows],
        }, names=3, most=LINES)  # fmt: skip
