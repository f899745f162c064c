"""Rankings of systems on a terminal; names of systems are foreign, and made inert first."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from judgegraph.cli.print_sample import more
from judgegraph.cli.screen import screen
from judgegraph.cli.table import counted, plain
from judgegraph.errors import one_line
from judgegraph.meta.rankings import Ranked, Ranking
from judgegraph.meta.result import Ends

LINES, CYCLES = 60, 10
NAME = 200  # characters of a name


def print_rankings(found: Sequence[Ranking]) -> None:
    """A table for each judge, what to know of it, and a line for each metric against people."""
    console = screen()
    for at, one in enumerate(found):
        if at:
            console.print()
        _ranking(console, one)
    _against(console, found)
    for signature in dict.fromkeys(one.signature for one in found):
        console.print(plain(f"\n{signature}"), style="dim")


def _ranking(console: Console, one: Ranking) -> None:
    of = f"{_name(one.criterion)}, by {_name(one.judge)}" if one.criterion else f"by {_name(one.judge)}"
    units = "" if one.units == one.comparisons else f" in {counted(one.units, 'unit')}"
    console.print(plain(f"{of}: {counted(one.comparisons, 'comparison')}{units}"), style="bold")
    console.print(_table(one))
    more(console, len(one.systems) - LINES, "system; --json has it", "systems; --json has them", indent="")
    _cycles(console, one)
    if one.unread:
        console.print(plain(f"{counted(one.unread, 'answer')} missing"), style="yellow")
    for note in one.notes:
        console.print(plain(note), style="yellow")


def _table(one: Ranking) -> Table:
    scored = any(not math.isnan(row.score) for row in one.systems)
    parted = any((row.part or 1) > 1 for row in one.systems)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    if parted:
        table.add_column("part", justify="right")
    table.add_column("", justify="right")
    table.add_column("system", overflow="fold", min_width=12)
    for name in (*(("score",) if scored else ()), "won", "met", "strength", "Elo"):
        table.add_column(name, justify="right")
    digits = min(9, max(0, 2 - math.floor(math.log10(one.elo_scale))))  # of 400 points none, of 1 two
    for row in one.systems[:LINES]:
        part = [str(row.part or "-")] if parted else []
        score = [_number(row.score, 3)] if scored else []
        table.add_row(*map(plain, (*part, str(row.place or "-"), _name(row.system), *score, *_cells(row, digits))))
    return table


def _cells(row: Ranked, digits: int) -> list[str]:
    return [
        "-" if math.isnan(row.won) else f"{row.won:.1%}", f"{row.met:,.0f}",
        _valued(row.strength, row.strength_interval, 2), _valued(row.elo, row.elo_interval, digits),
    ]  # fmt: skip


def _name(text: str) -> str:
    """Foreign, and never more than its own line."""
    return one_line(text, NAME)


def _cycles(console: Console, one: Ranking) -> None:
    cycles = one.cycles
    if not cycles.knots:
        return
    tied = sum(map(len, cycles.knots))
    console.print(plain(f"preferences run in circles among {counted(tied, 'system')}; no ranking is right there:"))
    for cycle in cycles.found[:CYCLES]:
        console.print(plain("  " + " > ".join(map(_name, (*cycle, cycle[0])))))
    if cycles.more or len(cycles.found) > CYCLES:
        console.print(plain("  and others; --json has more of them"))


def _against(console: Console, found: Sequence[Ranking]) -> None:
    rows = [(one, by) for one in found for by in one.against]
    if not rows:
        return
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("criterion", "against people", "by"):
        table.add_column(name, overflow="fold")
    for name in ("Kendall tau-b", "Spearman", "pairs ranked alike"):
        table.add_column(name, justify="right")
    for one, by in rows[:LINES]:
        tau = _valued(by.kendall, by.kendall_interval, 3)
        cells = (
            _name(one.criterion),
            _name(one.judge),
            by.by,
            tau,
            _number(by.spearman, 3),
            f"{by.alike} of {by.pairs}",
        )
        table.add_row(*map(plain, cells))
    console.print(table)


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{round(value, digits) + 0.0:.{digits}f}"  # no "-0.00"


def _valued(value: float, ends: Ends, digits: int) -> str:
    if math.isnan(value) or math.isnan(ends[0]):
        return _number(value, digits)
    return f"{_number(value, digits)} [{_number(ends[0], digits)}, {_number(ends[1], digits)}]"
