"""A collection's table: published figures, beside them recorded judges or a run, and their sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from judgegraph.bench.table import LEVELS, Line, Section, counts_line, figure, sections, shown, worth_printing
from judgegraph.views.amounts import counted
from judgegraph.views.blocks import Block, Grid, Para
from judgegraph.views.run import end

if TYPE_CHECKING:
    from judgegraph.bench.files import Collection
    from judgegraph.bench.table import MeasuredJudge
    from judgegraph.meta.conventions import Conventions
    from judgegraph.runs.run import Run
    from judgegraph.runs.summary import Summary

LEGEND = ".448 = equals the published figure; .282 (.234) does not, it is in brackets; (.575) is published only"
READINGS = {
    "ours": "replies read by our readers; --reading authors takes the rules of those who recorded them",
    "authors": "replies read by the rules of those who recorded them; ours are --reading ours",
}


def bench(
    known: Collection, found: MeasuredJudge, conventions: Conventions, reading: str = "", part: str = ""
) -> Iterator[Block]:
    """Title, a table for each statistic, the annotators' own agreement, sources, and what was left unread.

    Args:
        reading: how recorded replies were read, "" where none were. part: which items were taken, "" for all.
    """
    yield Para(known.title, "lead")
    marks: dict[str, int] = {}
    if part:
        yield Para(part, "fine")
    for section in filter(worth_printing, sections(found.cells, known.judges)):
        yield _table(section, marks)
    for name, mark in marks.items():
        yield Para(f"[{mark}] {name}", "fine")
    if marks:
        yield Para(LEGEND, "fine")
    if reading and known.authors is not None:
        yield Para(READINGS[reading], "fine")
    for note in known.notes:
        yield Para(note, "fine")
    yield from _people(found, known.judges)
    yield from _among(found, known.judges)
    yield from _unread(found)
    yield from _how(found, conventions)


def _how(found: MeasuredJudge, conventions: Conventions) -> Iterator[Block]:
    """The choices behind the numbers."""
    signatures = {cell.signature for cell in found.cells if cell.signature}
    signature = next((cell.signature for cell in found.cells if cell.signature), "")
    if signature:
        more = f" (and {counted(len(signatures) - 1, 'other')}; --json has them)" if len(signatures) > 1 else ""
        yield Para(f"{signature}{more}", "fine")
    if conventions.resamples:
        yield Para(f"intervals: {conventions.confidence:.0%}, {conventions.resamples:,} resamples", "fine")


def _table(section: Section, marks: dict[str, int]) -> Grid:
    """A row for each judge, below it what its numbers rest on where that differs, and a column for each criterion."""
    for source in (source for line in section.lines for source in line.sources):
        marks.setdefault(source, len(marks) + 1)
    rows = []
    for line in section.lines:
        cells = [line.cells.get(name) for name in section.criteria]
        rows.append((_label(line, marks), line.n, *(shown(cell) if cell else "" for cell in cells)))
        if any(below := [counts_line(cell) if cell else "" for cell in cells]):
            rows.append(("", "", *below))
    head = ("judge", section.counted, *section.criteria)
    return Grid(section.title, head, tuple(rows), frozenset(range(1, len(head))), names=2)


def _label(line: Line, marks: dict[str, int]) -> str:
    numbers = "".join(f"[{marks[source]}]" for source in line.sources)
    return f"{line.judge} {'(this run)' if line.ours else numbers}".rstrip()


def _people(found: MeasuredJudge, who: str) -> Iterator[Block]:
    """How far one annotator agrees with the others: more cannot be asked of a judge."""
    by_ceiling: dict[tuple[str, int, int], list[str]] = {}
    for ceiling in found.ceilings:
        criteria = by_ceiling.setdefault((ceiling.criterion, ceiling.annotators, ceiling.n), [])
        criteria.append(f"{ceiling.statistic} {figure(ceiling.value)} ({LEVELS.get(ceiling.level, ceiling.level)})")
    for (criterion, annotators, n), criteria in by_ceiling.items():
        people = f"{who}, {criterion}, each of {annotators} with the others, n {n:,}"
        yield Para(f"{people}: {', '.join(criteria)}", "fine")


def _among(found: MeasuredJudge, who: str) -> Iterator[Block]:
    """How far each two annotators agree, and what all of them together say."""
    for one in found.among:
        pairs = ", ".join(f"{a}-{b}" for a, b in combinations(range(1, one.annotators + 1), 2))
        parts = [
            f"{name} {' '.join(map(figure, values))}, mean {figure(one.means[name])}"
            for name, values in one.pairs.items()
        ]
        parts += [", ".join(f"{answer} {count:,}" for answer, count in one.split.items())] if one.split else []
        text = f"{who}, {one.criterion}, two by two ({pairs}), n {one.n:,}: {'; '.join(parts)}"
        yield Para(text, "fine")


def _unread(found: MeasuredJudge) -> Iterator[Block]:
    by_counts: dict[tuple[str, str], str] = {}
    for cell in found.cells:
        missing = {status: count for status, count in cell.unread.items() if count}
        if missing:
            counts = ", ".join(f"{count:,} {status}" for status, count in missing.items())
            by_counts.setdefault((cell.judge, cell.criterion), f"{counts} of {cell.judged:,}")
    for (judge, criterion), counts in list(by_counts.items())[:10]:
        yield Para(f"without an answer: {judge}, {criterion}: {counts}", "note")
    if len(by_counts) > 10:
        yield Para(f"  and {len(by_counts) - 10:,} more; --json has them all", "note")


def run_end(run: Run, summary: Summary, gate: float | None) -> Iterator[Block]:
    """What the run took, how it ended, how much could be read, and where it lies."""
    yield Para(run.signature, "fine")
    yield from end(run, summary, (), gate)


def shelf(collections: Iterable[Collection]) -> Iterator[Block]:
    """The collections: name, title, what is in them, what it is judged by, their files, and where they are from."""
    for known in collections:
        yield Para(f"{known.name:13} {known.title}", "lead")
        files = f"below DIR/{known.folder or known.name}: {', '.join(known.files)}"
        for text in (known.items, f"criteria: {known.criteria}", files, known.origin):
            yield Para(text, indent=14)
