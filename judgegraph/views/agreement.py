"""Agreement with people: the numbers and every choice behind them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from judgegraph.errors import one_line
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
from judgegraph.views.amounts import COEFFICIENT, NONE, chance, counted, number_text, valued
from judgegraph.views.blocks import Block, Grid, Para, columns, table_text
from judgegraph.views.notebook import lays_out

LINES, NOTES = 60, 12
SHORT = {
    "accuracy-exchanged": "exchanged", "accuracy-mean": "mean of both", "kappa-linear": "kappa, linear",
    "kappa-quadratic": "kappa, quadratic",
}  # fmt: skip
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
    }, names=2, most=LINES, rest=("line", "lines"))  # fmt: skip


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
        statuses = ", ".join(f"{n:,} {status}" for status, n in unread.items())
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
    held = [{test.name: _chances(test.p, test.corrected) for test in one.tests} for one in found]
    yield columns("metrics compared", {
        "criterion": [one.criterion for one in found],
        "metrics": [f"{one.a} - {one.b}" for one in found],
        "by": [one.statistic for one in found],
        "n": [f"{one.n:,}" for one in found],
        "difference": [valued(one.difference, *one.interval, COEFFICIENT, sign=True) for one in found],
        **{f"p {test}": [chances.get(test, "") for chances in held] for test in tests},
        "labels needed": ["" if one.needed is None else f"{one.needed:,}" for one in found],
    }, names=3, most=LINES, rest=("comparison", "comparisons"))  # fmt: skip
    yield from _noted(difference_notes(found))
    if any(test.p != test.corrected and not math.isnan(test.p) for one in found for test in one.tests):
        yield Para(CORRECTED, "fine")


def _chances(p: float, corrected: float) -> str:
    return chance(p) if p == corrected or math.isnan(p) else f"{chance(p)}, {chance(corrected)}"


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
