"""Agreement with people, rankings of systems and probes on a terminal: the numbers and every choice behind them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from judgegraph.errors import one_line
from judgegraph.meta.result import (
    FEW,
    Agreement,
    Difference,
    Ends,
    HumanCeiling,
    Measured,
    Row,
    SystemPairs,
    difference_notes,
    general_notes,
    row_notes,
)
from judgegraph.runs.item import lacks_of
from judgegraph.views.screen import GAP, NAME, counted, plain, screen, side_by_side
from judgegraph.views.terminal_compare import latex_table, markdown_table
from judgegraph.views.terminal_run import MOST_SAMPLES, costs, cut, more

if TYPE_CHECKING:
    from judgegraph.meta.probes import Change, OwnModel, Padded, Probes, Swapped
    from judgegraph.meta.ranking import Ranked, Ranking

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
    if lines := row_notes(found):
        _noted(console, lines)
        console.print()
    _failures(console, found.rows)
    _systems(console, found.systems)
    _ceilings(console, found.ceilings)
    _differences(console, found.differences)
    _noted(console, [f"note: {note}" for note in general_notes(found)], 300)
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


def _across(console: Console, rows: Sequence[Row], lines: Sequence[tuple[str, str]]) -> int:
    """How many statistics fit side by side, at least one."""
    cell = GAP + max(len(_valued(row.value, row.interval)) for row in rows)
    names = sum(min(NAME, max(cell_len(line[place]) for line in lines)) + GAP for place in (0, 1))
    left = console.width - names - max(len(_of(row)) for row in rows)
    return max(1, min(ACROSS, left // cell))


def _noted(console: Console, notes: Sequence[str], length: int = 200) -> None:
    for note in notes[:MOST_SAMPLES]:
        console.print(plain(cut(note, length)), style="yellow")
    more(console, len(notes) - MOST_SAMPLES, "note; --json has it", "notes; --json has them", indent="")


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
        value = _valued(one.difference, one.interval, sign="+")
        lines.append((one.criterion, names, one.statistic, f"{one.n:,}", value, first, needed))
        if len(chances) > 1:
            others.append((one.criterion, names, one.statistic, *list(chances.values())[1:]))
    tests = dict.fromkeys(one.tests[0].name for one in found if one.tests)
    heads = ("n", "difference", "p " + ", ".join(tests), "labels needed")
    _print(console, ("criterion", "metrics", "by"), heads, lines)
    more(console, len(found) - LINES, "comparison; --json has it", "comparisons; --json has them", indent="")
    further = next(([test.name for test in one.tests[1:]] for one in found if len(one.tests) > 1), [])
    _print(console, ("criterion", "metrics", "by"), [f"p {name}" for name in further], others)
    _noted(console, difference_notes(found))
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


# Rankings of systems on a terminal; names of systems are foreign, and made inert first.


RANKING_LINES, CYCLES = 60, 10
LONGEST_NAME = 200  # characters of a name
NEXT = (
    "p next: could the lead over the system below be chance? Paired bootstrap of strengths, two-sided, corrected for "
    "all neighbours within each table"
)


def print_rankings(found: Sequence[Ranking]) -> None:
    """A table for each judge, what to know of it, and a line for each metric against people."""
    console = screen()
    for at, one in enumerate(found):
        if at:
            console.print()
        _ranking(console, one)
    _against(console, found)
    if any(map(_tested, found)):
        console.print(plain(f"\n{NEXT}"), style="dim")
    for signature in dict.fromkeys(one.signature for one in found):
        console.print(plain(f"\n{signature}"), style="dim")


def _ranking(console: Console, one: Ranking) -> None:
    of = f"{_name(one.criterion)}, by {_name(one.judge)}" if one.criterion else f"by {_name(one.judge)}"
    units = "" if one.units == one.comparisons else f" in {counted(one.units, 'unit')}"
    console.print(plain(f"{of}: {counted(one.comparisons, 'comparison')}{units}"), style="bold")
    console.print(_table(one))
    more(console, len(one.systems) - RANKING_LINES, "system; --json has it", "systems; --json has them", indent="")
    _cycles(console, one)
    if one.unread:
        console.print(plain(f"{counted(one.unread, 'answer')} missing"), style="yellow")
    for note in one.notes:
        console.print(plain(note), style="yellow")


def _tested(one: Ranking) -> bool:
    return any(not math.isnan(row.p_next) for row in one.systems)


def _table(one: Ranking) -> Table:
    scored, tested = any(not math.isnan(row.score) for row in one.systems), _tested(one)
    parted = any((row.part or 1) > 1 for row in one.systems)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    if parted:
        table.add_column("part", justify="right")
    table.add_column("", justify="right")
    table.add_column(
        "system", overflow="fold", min_width=min(12, max(cell_len(_name(row.system)) for row in one.systems))
    )
    for name in (*(("score",) if scored else ()), "won", "met", "strength", "Elo", *(("p next",) if tested else ())):
        table.add_column(name, justify="right")
    digits = min(9, max(0, 2 - math.floor(math.log10(one.elo_scale))))  # of 400 points none, of 1 two
    for row in one.systems[:RANKING_LINES]:
        part = [str(row.part or "-")] if parted else []
        score = [_figure(row.score, 3)] if scored else []
        chance = [_chance(row.p_next_corrected, row.p_next_corrected)] if tested else []
        cells = (*part, str(row.place or "-"), _name(row.system), *score, *_cells(row, digits), *chance)
        table.add_row(*map(plain, cells))
    return table


def _cells(row: Ranked, digits: int) -> list[str]:
    return [
        "-" if math.isnan(row.won) else f"{row.won:.1%}", f"{row.met:,.0f}",
        _strength(row.strength, row.strength_interval, 2), _strength(row.elo, row.elo_interval, digits),
    ]  # fmt: skip


def _name(text: str) -> str:
    """Foreign, and never more than its own line."""
    return one_line(text, LONGEST_NAME)


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
    for one, by in rows[:RANKING_LINES]:
        tau = _strength(by.kendall, by.kendall_interval, 3)
        cells = (
            _name(one.criterion),
            _name(one.judge),
            by.by,
            tau,
            _figure(by.spearman, 3),
            f"{by.alike} of {by.pairs}",
        )
        table.add_row(*map(plain, cells))
    console.print(table)


def _figure(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{round(value, digits) + 0.0:.{digits}f}"  # no "-0.00"


def _strength(value: float, ends: Ends, digits: int) -> str:
    if math.isnan(value) or math.isnan(ends[0]):
        return _figure(value, digits)
    return f"{_figure(value, digits)} [{_figure(ends[0], digits)}, {_figure(ends[1], digits)}]"


# What probes found, on a terminal.


PROBE_LINES, FAILURES = 60, 5
ENDS = {"over_budget": "the budget ended it before all were judged", "stopped": "it was stopped before all were judged"}


def print_probes(found: Probes) -> None:
    """Print each probe that was asked for; everything judged is made inert first."""
    console = screen()
    copies = counted(found.copies, "copy", "copies")
    judged = f"{found.judged} of {found.samples + found.copies} judged"
    say(console, f"{counted(found.samples, 'sample')} and {copies}, {judged}; {100 * found.confidence:g} % intervals")
    if found.state in ENDS:
        say(console, ENDS[found.state])
    for (status, reason), count in list(found.failures.items())[:FAILURES]:
        say(console, f"{count:,} ended with {status}: {one_line(reason, 500)}")
    if len(found.failures) > FAILURES:
        say(console, f"and {len(found.failures) - FAILURES} more reasons; --json has them")
    if found.swap is not None:
        say(console, "\nswap: each pair exchanged", *_swap(found.swap))
    if found.padded is not None:
        say(console, "\npadded: longer, and says no more", *_padded(found.padded))
    if found.own is not None:
        say(console, "\nself: the judge's own model against people", *_own(found.own))
    if any(one.method == "bootstrap" and 1 < one.units < FEW for one in _numbers(found)):
        say(console, f"\nrough: an interval drawn from fewer than {FEW} is too narrow")
    console.print(plain(f"\n{found.signature}"), style="dim")
    say(console, ", ".join(costs({"calls": found.calls, "spent": found.spent})), *lacks_of({"calls": found.calls}))


def _numbers(found: Probes) -> Iterable[Measured]:
    """Those that are drawn: means and what is between systems."""
    own, changes = found.own, found.padded.changes if found.padded else ()
    held = [change.mean for change in changes] + ([own.people_exact, own.judge_exact] if own else [])
    return [one for one in held if one is not None]


def say(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(plain(line))


def _swap(found: Swapped) -> Iterable[str]:
    if found.note:
        yield f"  {found.note}"
        yield from _left(found.unread)
        return
    yield f"  verdict changes      {_probe_share(found.flips)}"
    yield f"  winner becomes loser {_probe_share(found.reversed)}"
    yield f"  the first one wins   {_probe_share(found.first)}, where one wins; 50 % is even"
    yield from _left(found.unread)


def _left(pairs: int) -> Iterable[str]:
    if pairs:
        yield f"  left out: {counted(pairs, 'pair')} without a verdict in both orders"


def _padded(found: Padded) -> Iterable[str]:
    if found.note:
        yield f"  {found.note}"
    for kind, won in found.wins.items():
        left = f"; {counted(found.unread[kind], 'pair')} left out" if found.unread.get(kind) else ""
        yield f"  {kind}: wins against its original {_probe_share(won)}; 50 % is even{left}"
    agents = {(c.criterion, c.agent) for c in found.changes}
    several = len({criterion for criterion, _ in agents}) < len(agents)
    for change in found.changes[:PROBE_LINES]:
        name = change.criterion + (f" ({change.agent})" if several and change.agent else "")
        left = f"; {counted(change.unread, 'sample')} left out" if change.unread else ""
        yield f"  {change.kind}, {name}: {_change(change)}{left}"
    if len(found.changes) > PROBE_LINES:
        yield f"  and {len(found.changes) - PROBE_LINES} more; --json has them all"


def _change(change: Change) -> str:
    if change.mean is None or change.raised is None or change.lowered is None:
        return f"another label {_probe_share(change.relabelled)}"
    lowered = f"lowered {100 * change.lowered.value:.0f} %"
    return f"{_probe_number(change.mean)}, raised {_probe_share(change.raised)}, {lowered}"


def _own(found: OwnModel) -> Iterable[str]:
    if found.note or found.people_exact is None or found.judge_exact is None:
        yield f"  {found.note}"
        return
    yield f"  {', '.join(found.own)}: {counted(found.n_own, 'score')}, against {counted(found.n_other, 'other')}"
    yield "  higher than others that people score alike, in standard deviations of the judge's scores"
    yield f"    if people's scores are exact  {_probe_number(found.people_exact)}"
    yield f"    if the judge's are            {_probe_number(found.judge_exact)}"
    both = "both lie on one side of 0: a bias, unless people have it"
    yield f"  {both if found.biased else 'a bias is shown where both lie on one side of 0, and here they do not'}"


def _probe_share(found: Measured | None) -> str:
    if found is None or not found.n or found.value != found.value:
        return "- (n 0)"
    low, value, high = (100 * number for number in (found.low, found.value, found.high))
    return f"{value:.0f} % {f'[{low:.0f}, {high:.0f}]' if low == low else '-'} ({_counts(found)})"


def _probe_number(found: Measured) -> str:
    if found.value != found.value:
        return f"- ({_counts(found)})"
    within = f"[{found.low:+.2f}, {found.high:+.2f}]" if found.low == found.low else "-"
    return f"{found.value:+.2f} {within} ({_counts(found)})"


def _counts(found: Measured) -> str:
    """What it rests on, and where that is too little for its interval."""
    counts = [f"n {found.n}", *([counted(found.units, "group")] if found.units < found.n else [])]
    if found.value == found.value and found.low != found.low:
        counts.append("no interval")
    elif found.method == "bootstrap" and 1 < found.units < FEW:
        counts.append("rough")
    return ", ".join(counts)


def agreement_text(found: Agreement, form: str) -> str:
    """Agreement as a table for a paper ("latex", with booktabs) or a page ("markdown").

    A row for each criterion and metric, a column for each statistic with its interval, and n.
    """
    statistics = list(dict.fromkeys(row.statistic for row in found.rows))
    held: dict[tuple[str, str], dict[str, Row]] = {}
    for row in found.rows:
        held.setdefault((row.criterion, row.metric), {})[row.statistic] = row
    rows = [
        (*names, *(_cell_of(by.get(statistic)) for statistic in statistics), str(max(row.n for row in by.values())))
        for names, by in held.items()
    ]
    head = ("criterion", "metric", *statistics, "n")
    return latex_table(head, rows) if form == "latex" else markdown_table(head, rows)


def _cell_of(row: Row | None) -> str:
    if row is None or math.isnan(row.value):
        return "-"
    value, low, high = (round(number, 2) + 0.0 for number in (row.value, *row.interval))  # never "-0.00"
    return f"{value:.2f}" + ("" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]")
