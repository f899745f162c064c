"""Agreement with people: the numbers and every choice behind them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from judgegraph.errors import one_line
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
