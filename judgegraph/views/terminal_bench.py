"""A collection's table on a terminal: published figures, beside them recorded judges or a run, and their sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from judgegraph.bench.table import LEVELS, Line, Section, counts_line, figure, sections, shown, worth_printing
from judgegraph.views.screen import GAP, NAME, counted, plain, screen, side_by_side
from judgegraph.views.terminal_run import print_end

if TYPE_CHECKING:
    from judgegraph.bench.files import Collection
    from judgegraph.bench.measure import MeasuredJudge
    from judgegraph.meta.conventions import Conventions
    from judgegraph.runs.run import Run
    from judgegraph.runs.summary import Summary

LEGEND = ".448 = equals the published figure; .282 (.234) does not, it is in brackets; (.575) is published only"
READINGS = {
    "ours": "replies read by our readers; --reading authors takes the rules of those who recorded them",
    "authors": "replies read by the rules of those who recorded them; ours are --reading ours",
}


def print_bench(
    known: Collection, found: MeasuredJudge, conventions: Conventions, reading: str = "", part: str = ""
) -> None:
    """Title, a table for each statistic, the annotators' own agreement, sources, and what was left unread.

    Args:
        reading: how recorded replies were read, "" where none were. part: which items were taken, "" for all.
    """
    console = screen()
    console.print(plain(known.title), style="bold")
    marks: dict[str, int] = {}
    if part:
        console.print(plain(part), style="dim")
    for section in filter(worth_printing, sections(found.cells, known.judges)):
        console.print(plain(f"\n{section.title}"), style="bold")
        for table in _tables(section, marks, console.width):
            console.print(table)
    console.print()
    for name, mark in marks.items():
        console.print(plain(f"[{mark}] {name}"), style="dim")
    if marks:
        console.print(plain(LEGEND), style="dim")
    if reading and known.authors is not None:
        console.print(plain(READINGS[reading]), style="dim")
    for note in known.notes:
        console.print(plain(note), style="dim")
    _people(console, found, known.judges)
    _among(console, found, known.judges)
    _unread(console, found)
    _how(console, found, conventions)


def _how(console: Console, found: MeasuredJudge, conventions: Conventions) -> None:
    """The choices behind the numbers."""
    signatures = {cell.signature for cell in found.cells if cell.signature}
    signature = next((cell.signature for cell in found.cells if cell.signature), "")
    if signature:
        more = f" (and {counted(len(signatures) - 1, 'other')}; --json has them)" if len(signatures) > 1 else ""
        console.print(plain(f"{signature}{more}"), style="dim")
    if conventions.resamples:
        console.print(
            plain(f"intervals: {conventions.confidence:.0%}, {conventions.resamples:,} resamples"), style="dim"
        )


def _tables(section: Section, marks: dict[str, int], width: int) -> Iterator[Table]:
    """One table, or several where all criteria side by side are wider than the screen."""
    for source in (source for line in section.lines for source in line.sources):
        marks.setdefault(source, len(marks) + 1)
    labels = [_label(line, marks) for line in section.lines]
    counts = max(map(len, (section.counted, *(line.n for line in section.lines))))
    named = min(NAME, max(map(len, ("judge", *labels))))
    columns = {name: [line.cells.get(name) for line in section.lines] for name in section.criteria}
    needed = {
        name: max(
            min(NAME, len(name)), *(len(text) for cell in cells if cell for text in (shown(cell), counts_line(cell)))
        )
        for name, cells in columns.items()
    }
    for part in side_by_side([GAP + needed[name] for name in columns], width - named - GAP - counts):
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
        table.add_column("judge", overflow="fold", min_width=named)
        chosen = [section.criteria[place] for place in part]
        for name in chosen:
            table.add_column(plain(name), justify="right", overflow="fold", min_width=needed[name])
        table.add_column(section.counted, justify="right", no_wrap=True, min_width=counts)
        for line, label in zip(section.lines, labels, strict=True):
            cells = [line.cells.get(name) for name in chosen]
            style = "bold" if line.ours else None
            table.add_row(*map(plain, (label, *(shown(cell) if cell else "" for cell in cells), line.n)), style=style)
            if any(ends := [counts_line(cell) if cell else "" for cell in cells]):
                table.add_row(*map(plain, ("", *ends, "")), style="dim")
        yield table


def _label(line: Line, marks: dict[str, int]) -> str:
    numbers = "".join(f"[{marks[source]}]" for source in line.sources)
    return f"{line.judge} {'(this run)' if line.ours else numbers}".rstrip()


def _people(console: Console, found: MeasuredJudge, who: str) -> None:
    """How far one annotator agrees with the others: more cannot be asked of a judge."""
    by_ceiling: dict[tuple[str, int, int], list[str]] = {}
    for ceiling in found.ceilings:
        criteria = by_ceiling.setdefault((ceiling.criterion, ceiling.annotators, ceiling.n), [])
        criteria.append(f"{ceiling.statistic} {figure(ceiling.value)} ({LEVELS.get(ceiling.level, ceiling.level)})")
    for (criterion, annotators, n), criteria in by_ceiling.items():
        people = f"{who}, {criterion}, each of {annotators} with the others, n {n:,}"
        console.print(plain(f"{people}: {', '.join(criteria)}"), style="dim")


def _among(console: Console, found: MeasuredJudge, who: str) -> None:
    """How far each two annotators agree, and what all of them together say."""
    for one in found.among:
        pairs = ", ".join(f"{a}-{b}" for a, b in combinations(range(1, one.annotators + 1), 2))
        parts = [
            f"{name} {' '.join(map(figure, values))}, mean {figure(one.means[name])}"
            for name, values in one.pairs.items()
        ]
        parts += [", ".join(f"{answer} {count:,}" for answer, count in one.split.items())] if one.split else []
        text = f"{who}, {one.criterion}, two by two ({pairs}), n {one.n:,}: {'; '.join(parts)}"
        console.print(plain(text), style="dim")


def _unread(console: Console, found: MeasuredJudge) -> None:
    by_counts: dict[tuple[str, str], str] = {}
    for cell in found.cells:
        missing = {status: count for status, count in cell.unread.items() if count}
        if missing:
            counts = ", ".join(f"{count:,} {status}" for status, count in missing.items())
            by_counts.setdefault((cell.judge, cell.criterion), f"{counts} of {cell.judged:,}")
    for (judge, criterion), counts in list(by_counts.items())[:10]:
        console.print(plain(f"without an answer: {judge}, {criterion}: {counts}"), style="yellow")
    if len(by_counts) > 10:
        console.print(plain(f"  and {len(by_counts) - 10:,} more; --json has them all"), style="yellow")


def print_run_end(run: Run, summary: Summary, gate: float | None) -> None:
    """What the run took, how it ended, how much could be read, and where it lies."""
    console = screen()
    console.print(plain(run.signature), style="dim")
    print_end(console, run, summary, (), gate)


def print_shelf(collections: Iterable[Collection]) -> None:
    """The collections: name, title, what is in them, what it is judged by, their files, and where they are from."""
    console = screen()
    for known in collections:
        console.print(plain(f"{known.name:13} {known.title}"), style="bold")
        files = f"below DIR/{known.folder or known.name}: {', '.join(known.files)}"
        for text in (known.items, f"criteria: {known.criteria}", files, known.origin):
            console.print(Padding(plain(text), (0, 0, 0, 14)))
