"""Agreement with people: the numbers and every choice behind them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, groupby
from typing import TYPE_CHECKING

from judgegraph.errors import one_line, status_text
from judgegraph.meta.ranking import Ranking
from judgegraph.meta.result import (
    Agreement,
    Difference,
    HumanCeiling,
    Row,
    SystemPairs,
    difference_notes,
    general_notes,
    row_notes,
)
from judgegraph.views.blocks import (
    COEFFICIENT,
    NONE,
    READ_FIRST,
    Block,
    Grid,
    Para,
    chance,
    columns,
    counted,
    number_text,
    table_text,
    valued,
)
from judgegraph.views.notebook import lays_out
from judgegraph.views.run import end

if TYPE_CHECKING:
    from judgegraph.bench.files import Collection
    from judgegraph.bench.table import Line, MeasuredJudge, Section
    from judgegraph.meta.conventions import Conventions
    from judgegraph.meta.result import Test
    from judgegraph.runs.run import Run
    from judgegraph.runs.summary import Summary


LINES, NOTES = 60, 12
SHORT = {"accuracy-exchanged": "exchanged", "accuracy-mean": "mean of both"}
AHEAD = {"wins": "by documents won", "mean": "by means"}  # what a pair of systems is ranked by
CORRECTED = "p: as it is, and corrected for all pairs and criteria by one test and statistic"


@lays_out(Agreement)
def agreement(found: Agreement, preset: str | None = None) -> Iterator[Block]:
    """A row per criterion and metric, a column per statistic; systems, people among themselves, metrics compared."""
    for _, rows in groupby(found.rows, key=lambda row: row.kind):
        yield statistics(list(rows))
    yield from _noted(row_notes(found))
    yield from _failures(found.rows)
    yield from _systems(found.systems)
    yield from ceilings(found.ceilings)
    yield from _differences(found.differences)
    yield from _noted([f"note: {note}" for note in general_notes(found)], 300)
    yield from (Para(line, "fine", whole=True) for line in choices(found.rows))
    about = [found.source] if found.source else []
    about += [f"preset:{preset}"] if preset else []
    if about:
        yield Para("|".join(about), "fine", whole=True)


def statistics(rows: Sequence[Row], caption: str = "agreement with people") -> Grid:
    """The rows of one kind: numbers, labels or verdicts."""
    by = {(row.criterion, row.metric, row.statistic): row for row in rows}
    lines = list(dict.fromkeys((row.criterion, row.metric) for row in rows))
    names = list(dict.fromkeys(row.statistic for row in rows))
    first = [next(row for name in names if (row := by.get((*line, name))) is not None) for line in lines]
    return columns(caption, {
        "criterion": [criterion for criterion, _ in lines],
        "metric": [metric for _, metric in lines],
        "n": [f"{row.n:,}" if row.n == row.judged else f"{row.n:,}/{row.judged:,}" for row in first],
        **{_head(rows, name): [_cell(by.get((*line, name))) for line in lines] for name in names},
    }, names=2, most=LINES, rest=("line", "lines"), spare=spare_statistics(names, rows))  # fmt: skip


def spare_statistics(names: Sequence[str], rows: Sequence[Row]) -> tuple[str, ...]:
    """Columns that go where there is no room: the last first, and never the ones that are read first."""
    return tuple(_head(rows, name) for name in reversed(names) if name not in READ_FIRST)


def _head(rows: Sequence[Row], statistic: str) -> str:
    levels = dict.fromkeys(row.level for row in rows if row.statistic == statistic)
    level = ", ".join(level for level in levels if level != "dataset")
    return SHORT.get(statistic, statistic) + (f" ({level})" if level else "")


def _cell(row: Row | None) -> str:
    return "" if row is None else valued(row.value, *row.interval, COEFFICIENT)


def _noted(notes: Sequence[str], length: int = 200) -> Iterator[Block]:
    yield from (Para(one_line(note, length), "note") for note in notes[:NOTES])
    over = len(notes) - NOTES
    if over > 0:
        yield Para(f"and {counted(over, 'more note')}; --json has {'it' if over == 1 else 'them'}")


def _failures(rows: Sequence[Row]) -> Iterator[Block]:
    """Of each metric that lacks answers, what these could do to its statistics."""
    shown = [row for row in rows if row.failures]
    for criterion, metric in dict.fromkeys((row.criterion, row.metric) for row in shown[:LINES]):
        unread = next(row.unread for row in shown if (row.criterion, row.metric) == (criterion, metric))
        statuses = ", ".join(f"{n:,} {status_text(status)}" for status, n in unread.items())
        of = f"{criterion}, {metric}" if criterion else metric
        yield Para(f"{of}: without an answer: {statuses}", "note")
    ways = list(dict.fromkeys(way for row in shown for way in row.failures))
    yield columns("", {
        "criterion": [row.criterion for row in shown],
        "metric": [row.metric for row in shown],
        "if these were": [row.statistic for row in shown],
        **{way: [number_text(row.failures.get(way), COEFFICIENT) for row in shown] for way in ways},
    }, names=3, most=LINES, rest=("line", "lines"))  # fmt: skip


def _systems(found: Sequence[SystemPairs]) -> Iterator[Block]:
    rules = " or ".join(dict.fromkeys(AHEAD[one.rule] for one in found))
    if found:
        yield columns(f"pairs of systems ranked as people do, {rules}", {
            "criterion": [one.criterion for one in found],
            "metric": [one.metric for one in found],
            "systems": [f"{one.systems:,}" for one in found],
            "all pairs": [_share(one.right, one.pairs) for one in found],
            "close ones": [_share(one.close_right, one.close_pairs) for one in found],
        }, names=2, most=LINES, rest=("line", "lines"))  # fmt: skip


def _share(part: float, whole: int) -> str:
    return f"{part:g} of {whole:,} ({part / whole:.1%})" if whole else NONE


def ceilings(found: Sequence[HumanCeiling]) -> Iterator[Block]:
    """People among themselves: what a metric can hope for."""
    if found:
        yield columns("people among themselves: what a metric can hope for", {
            "criterion": [one.criterion for one in found],
            "statistic": [one.statistic + (f" ({one.level})" if one.level != "dataset" else "") for one in found],
            "n": [f"{one.n:,}" for one in found],
            "value": [valued(one.value, *one.interval, COEFFICIENT) for one in found],
            "each against the others": [_each(one) for one in found],
        }, names=2, most=LINES, rest=("line", "lines"))  # fmt: skip


def _each(one: HumanCeiling) -> str:
    return " ".join(number_text(value, COEFFICIENT) for value in one.each[:8]) + (" ..." if len(one.each) > 8 else "")


def _differences(found: Sequence[Difference]) -> Iterator[Block]:
    """Each pair of metrics with its tests."""
    if not found:
        return
    tests = dict.fromkeys(test.name for one in found for test in one.tests)
    held = [{test.name: _chances(test) for test in one.tests} for one in found]
    spare = (*(f"p {test}" for test in [*tests][:0:-1]), "n")  # the first test, and how many labels it takes, stay
    yield columns("metrics compared", {
        "criterion": [one.criterion for one in found],
        "metrics": [f"{one.a} - {one.b}" for one in found],
        "by": [one.statistic for one in found],
        "n": [f"{one.n:,}" for one in found],
        "difference": [valued(one.difference, *one.interval, COEFFICIENT, sign=True) for one in found],
        **{f"p {test}": [chances.get(test, "") for chances in held] for test in tests},
        "labels needed": ["" if one.needed is None else f"{one.needed:,}" for one in found],
    }, names=3, most=LINES, rest=("comparison", "comparisons"), spare=spare)  # fmt: skip
    yield from _noted(difference_notes(found))
    if any(test.p != test.corrected and not math.isnan(test.p) for one in found for test in one.tests):
        yield Para(CORRECTED, "fine")


def _chances(test: Test) -> str:
    p, corrected = chance(test.p, test.p_is_least), chance(test.corrected, test.p_is_least)
    return p if test.p == test.corrected or math.isnan(test.p) else f"{p}, {corrected}"


def choices(rows: Sequence[Row]) -> list[str]:
    """The choices of all rows, without what stands in the table; a line that another one says too is left out."""
    found = {
        tuple(part for part in row.signature.split("|")[1:] if not part.startswith("n:")): None for row in rows
    }  # fmt: skip
    return ["|".join(parts) for parts in found if not any(set(parts) < set(other) for other in found)]


def agreement_text(found: Agreement, form: str) -> str:
    """Agreement as a table for a paper ("latex", with booktabs) or a page ("markdown").

    A row for each criterion and metric, a column for each statistic with its interval, and n.
    """
    return table_text(statistics(found.rows), form)


# Rankings of systems: a table for each judge, what to know of it, and each metric against people.


SYSTEM_LINES, CYCLES = 60, 10
LONGEST_NAME = 200  # characters of a name
SYSTEMS = ("system", "systems")
NEXT = (
    "p next: could the lead over the system below be chance? Paired bootstrap of strengths, two-sided, corrected for "
    "all neighbours within each table; < stands before the least that so many resamples can say"
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
        "p next": [chance(row.p_next_corrected, row.p_is_least) if tested else "" for row in rows],
    }, most=SYSTEM_LINES, rest=SYSTEMS)  # fmt: skip


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
        }, names=3, most=SYSTEM_LINES)  # fmt: skip


# A collection's table: published figures, beside them recorded judges or a run, and their sources.


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
    from judgegraph.bench.table import sections, worth_printing  # here, as most agreement is of a run

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
    from judgegraph.bench.table import counts_line, shown

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
    from judgegraph.bench.table import LEVELS, figure

    by_ceiling: dict[tuple[str, int, int], list[str]] = {}
    for ceiling in found.ceilings:
        criteria = by_ceiling.setdefault((ceiling.criterion, ceiling.annotators, ceiling.n), [])
        criteria.append(f"{ceiling.statistic} {figure(ceiling.value)} ({LEVELS.get(ceiling.level, ceiling.level)})")
    for (criterion, annotators, n), criteria in by_ceiling.items():
        people = f"{who}, {criterion}, each of {annotators} with the others, n {n:,}"
        yield Para(f"{people}: {', '.join(criteria)}", "fine")


def _among(found: MeasuredJudge, who: str) -> Iterator[Block]:
    """How far each two annotators agree, and what all of them together say."""
    from judgegraph.bench.table import figure

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
            counts = ", ".join(f"{count:,} {status_text(status)}" for status, count in missing.items())
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
