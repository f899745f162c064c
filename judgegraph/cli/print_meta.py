"""Agreement with people on a terminal: the numbers, what compares them, and every choice behind them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from judgegraph.cli.print_sample import MOST, cut, more
from judgegraph.cli.screen import screen, side_by_side
from judgegraph.cli.table import GAP, NAME, plain
from judgegraph.meta.result import Agreement, Difference, Ends, HumanCeiling, Row, SystemPairs

LINES, ACROSS = 60, 3  # of a table; statistics side by side
SHORT = {
    "accuracy-exchanged": "exchanged", "accuracy-mean": "mean of both", "kappa-linear": "kappa, linear",
    "kappa-quadratic": "kappa, quadratic",
}  # fmt: skip
AHEAD = {"wins": "by documents won", "mean": "by means"}  # what a pair of systems is ranked by


def print_meta(found: Agreement, preset: str | None = None) -> None:
    """Print all of it; everything judged is made inert first."""
    console = screen()
    for _, rows in groupby(found.rows, key=lambda row: row.kind):
        _rows(console, list(rows))
    _failures(console, found.rows)
    _systems(console, found.systems)
    _ceilings(console, found.ceilings)
    _differences(console, found.differences)
    for note in found.notes[:MOST]:
        console.print(plain(f"note: {cut(note, 300)}"), style="yellow")
    more(console, len(found.notes) - MOST, "note", indent="")
    for line in _lines(found.rows):
        console.print(plain(line), style="dim", soft_wrap=True)
    about = [found.source] if found.source else []
    about += [f"preset:{preset}"] if preset else []
    console.print(plain("|".join(about)), style="dim", soft_wrap=True)


def _rows(console: Console, rows: Sequence[Row]) -> None:
    """A line for each criterion and metric, a few statistics side by side."""
    statistics = list(dict.fromkeys(row.statistic for row in rows))
    by = {(row.criterion, row.metric, row.statistic): row for row in rows}
    lines = list(dict.fromkeys((row.criterion, row.metric) for row in rows))
    across = _across(console, rows, lines)
    for start in range(0, len(statistics), across):
        chosen = statistics[start : start + across]
        shown = []
        for criterion, metric in lines[:LINES]:
            known = [by.get((criterion, metric, name)) for name in chosen]
            of = next((_of(row) for row in known if row is not None), "")
            shown.append((criterion, metric, of, *(_valued(one.value, one.interval) if one else "" for one in known)))
        _print(console, ("criterion", "metric"), ("n", *(_head(rows, name) for name in chosen)), shown)
        more(console, len(lines) - LINES, "line; --json has it", "lines; --json has them", indent="")
    _noted(console, rows)


def _across(console: Console, rows: Sequence[Row], lines: Sequence[tuple[str, str]]) -> int:
    """How many statistics fit side by side, at least one."""
    cell = GAP + max(len(_valued(row.value, row.interval)) for row in rows)
    names = sum(min(NAME, max(cell_len(line[place]) for line in lines)) + GAP for place in (0, 1))
    left = console.width - names - max(len(_of(row)) for row in rows)
    return max(1, min(ACROSS, left // cell))


def _noted(console: Console, rows: Sequence[Row]) -> None:
    said: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        for note in row.notes:
            said.setdefault((row.criterion, row.metric, note), []).append(row.statistic)
    for (criterion, metric, note), names in list(said.items())[:MOST]:
        of = ", ".join(part for part in (criterion, metric, "/".join(names)) if part)
        console.print(plain(f"{of}: {cut(note, 200)}"), style="yellow")
    more(console, len(said) - MOST, "note", indent="")
    if said:
        console.print()


def _head(rows: Sequence[Row], statistic: str) -> str:
    levels = dict.fromkeys(row.level for row in rows if row.statistic == statistic)
    level = ", ".join(level for level in levels if level != "dataset")
    return SHORT.get(statistic, statistic) + (f" ({level})" if level else "")


def _of(row: Row) -> str:
    return f"{row.n:,}" if row.n == row.judged else f"{row.n:,}/{row.judged:,}"


def _failures(console: Console, rows: Sequence[Row]) -> None:
    """Of each metric that lacks answers, what these could do to its statistics."""
    shown = [row for row in rows if row.failures]
    for criterion, metric in dict.fromkeys((row.criterion, row.metric) for row in shown[:LINES]):
        unread = next(row.unread for row in shown if (row.criterion, row.metric) == (criterion, metric))
        statuses = ", ".join(f"{n} {status}" for status, n in unread.items())
        of = f"{criterion}, {metric}" if criterion else metric
        console.print(plain(f"{of}: without an answer: {statuses}"), style="yellow")
    ways = list(dict.fromkeys(way for row in shown for way in row.failures))
    lines = [
        (row.criterion, row.metric, row.statistic, *(_number(row.failures.get(way, math.nan)) for way in ways))
        for row in shown[:LINES]
    ]
    _print(console, ("criterion", "metric", "if these were"), ways, lines)
    more(console, len(shown) - LINES)


def _systems(console: Console, found: Sequence[SystemPairs]) -> None:
    lines = []
    for one in found[:LINES]:
        shares = (_share(one.right, one.pairs), _share(one.close_right, one.close_pairs))
        lines.append((one.criterion, one.metric, str(one.systems), *shares))
    rules = " or ".join(dict.fromkeys(AHEAD[one.rule] for one in found))
    head = f"pairs ranked as people do, {rules}"
    _print(console, ("criterion", "metric"), ("systems", head, "close ones"), lines)


def _share(part: float, whole: int) -> str:
    return f"{part:g} of {whole} ({part / whole:.1%})" if whole else "-"


def _ceilings(console: Console, found: Sequence[HumanCeiling]) -> None:
    lines = []
    for one in found[:LINES]:
        level = f" ({one.level})" if one.level != "dataset" else ""
        each = " ".join(_number(value) for value in one.each[:8]) + (" ..." if len(one.each) > 8 else "")
        lines.append((one.criterion, one.statistic + level, f"{one.n:,}", _valued(one.value, one.interval), each))
    _print(console, ("criterion", "people among themselves"), ("n", "value", "each against the others"), lines)


def _differences(console: Console, found: Sequence[Difference]) -> None:
    """Each pair of metrics with the first of its tests; then the other tests, where there are some."""
    lines, others = [], []
    for one in found[:LINES]:
        names, needed = f"{one.a} - {one.b}", f"{one.needed:,}" if one.needed is not None else ""
        chances = {test.name: _chance(test.p, test.corrected) for test in one.tests}
        first = next(iter(chances.values()), "-")
        said = _valued(one.difference, one.interval, sign="+")
        lines.append((one.criterion, names, one.statistic, f"{one.n:,}", said, first, needed))
        if len(chances) > 1:
            others.append((one.criterion, names, one.statistic, *list(chances.values())[1:]))
    tests = dict.fromkeys(one.tests[0].name for one in found if one.tests)
    heads = ("n", "difference", "p " + ", ".join(tests), "labels needed")
    _print(console, ("criterion", "metrics", "by"), heads, lines)
    more(console, len(found) - LINES, "comparison; --json has it", "comparisons; --json has them", indent="")
    further = next(([test.name for test in one.tests[1:]] for one in found if len(one.tests) > 1), [])
    _print(console, ("criterion", "metrics", "by"), [f"p {name}" for name in further], others)
    notes = dict.fromkeys(
        f"{test.name}, {one.statistic}: {test.note}" for one in found for test in one.tests if test.note
    )
    for note in list(notes)[:MOST]:
        console.print(plain(cut(note, 200)), style="yellow")
    if any(test.p != test.corrected and not math.isnan(test.p) for one in found for test in one.tests):
        console.print(plain("p: as it is, and corrected for all pairs and criteria by one test and statistic\n"))


def _chance(p: float, corrected: float) -> str:
    if math.isnan(p):
        return "-"
    both = [f"{value:.3f}" if value >= 0.0005 else "<.001" for value in (p, corrected)]
    return both[0] if p == corrected else " ".join(both)


def _print(console: Console, texts: Sequence[str], numbers: Sequence[str], lines: Sequence[tuple[str, ...]]) -> None:
    """A table, if it has lines, in parts where it is too wide; without a first column that says nothing."""
    if not lines:
        return
    skip = 0 if any(line[0] for line in lines) else 1
    widths = [max(map(cell_len, cells)) for cells in zip((*texts, *numbers), *lines, strict=True)]
    names, cells = [min(NAME, width) for width in widths[skip : len(texts)]], widths[len(texts) :]
    for part in side_by_side([GAP + width for width in cells], console.width - sum(names) - GAP * (len(names) - 1)):
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
        for name, width in zip(texts[skip:], names, strict=True):
            table.add_column(name, overflow="fold", min_width=width)
        for place in part:
            table.add_column(numbers[place], justify="right", overflow="fold", min_width=min(cells[place], NAME))
        for line in lines:
            table.add_row(*map(plain, (*line[skip : len(texts)], *(line[len(texts) + place] for place in part))))
        console.print(table)
        console.print()


def _number(value: float, sign: str = "") -> str:
    return "-" if math.isnan(value) else format(value, f"{sign}.3f")


def _valued(value: float, ends: Ends, sign: str = "") -> str:
    if math.isnan(ends[0]) or math.isnan(value):
        return _number(value, sign)
    return f"{_number(value, sign)} [{ends[0]:.3f}, {ends[1]:.3f}]"


def _lines(rows: Sequence[Row]) -> list[str]:
    """The choices of all rows, without what stands in the table; a line that another one says too is left out."""
    found = {
        tuple(part for part in row.signature.split("|")[1:] if not part.startswith("n:")): None for row in rows
    }  # fmt: skip
    return ["|".join(parts) for parts in found if not any(set(parts) < set(other) for other in found)]
