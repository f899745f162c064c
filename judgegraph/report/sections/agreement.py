"""How far the scores agree with people, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.meta import agreement as meta
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.result import Agreement, Row
from judgegraph.report.blocks import Block, Fold, Grid, Para, Picture, Section
from judgegraph.report.charts import Measure, interval_plot
from judgegraph.report.sections.draws import draws
from judgegraph.report.sections.figures import valued
from judgegraph.report.sections.tally import Tally, tally_of
from judgegraph.runtime.run import Run

MOST, DRAWN = 60, 24
SIDES = {"accuracy": (0.0, 1.0, 0.5)}  # of axes that are not from -1 to 1


def agreement(run: Run, tally: Tally | None = None) -> Section | None:
    """Spearman and Kendall with people (labels and verdicts: accuracy, kappa), as `jg.agreement` counts them.

    None where no sample holds a judgement of people. Two thousand labelled samples count at most, and said so.
    """
    counts = tally or tally_of(run)
    held = counts.labelled
    items = held.items
    if not items:
        return None
    c = Conventions(coefficients=("spearman", "kendall-b"), resamples=draws(items))
    lead = (
        f"On {held.said} that people judged.{counts.unlabelled} Dataset level: one coefficient over all samples; what "
        f"could not be read is left out; 95 % intervals from {c.resamples:,} resamples of samples (groups, where "
        "meta.group is told), of shares by Wilson. judgegraph meta has other levels, tests and conventions."
    )
    try:
        found = meta.agreement(Run(run.manifest, items), c, tests=False)
    except (ConfigError, DataError) as error:
        return Section("agreement", "Agreement with people", (Para(f"It cannot be told: {one_line(error, 300)}."),))
    blocks: list[Block] = [Para(lead)]
    for _, rows in groupby(found.rows, key=lambda row: row.kind):
        blocks += _kind(list(rows))
    return Section("agreement", "Agreement with people", (*blocks, *_ceilings(found), *_notes(found)))


def _kind(rows: Sequence[Row]) -> list[Block]:
    """A chart of the first statistic, and a table of all."""
    statistics = list(dict.fromkeys(row.statistic for row in rows))
    by = {(row.criterion, row.metric, row.statistic): row for row in rows}
    lines = list(dict.fromkeys((row.criterion, row.metric) for row in rows))
    body = []
    for criterion, metric in lines[:MOST]:
        known = [by.get((criterion, metric, name)) for name in statistics]
        first = next(row for row in known if row is not None)
        cells = (valued(row.value, *row.interval) if row is not None else "" for row in known)
        body.append((criterion, metric, _of(first), *cells))
    head = ("criterion", "metric", "n", *statistics)
    more = f"; of {len(lines)} lines the first {MOST}" if len(lines) > MOST else ""
    grid = Grid(f"Agreement with people{more}", head, tuple(body), frozenset(range(2, len(head))))
    return [_plot(rows, statistics[0]), grid]


def _plot(rows: Sequence[Row], statistic: str) -> Picture:
    mine = [row for row in rows if row.statistic == statistic][:DRAWN]
    alone = len({row.metric for row in mine}) == 1
    names = [row.criterion if alone else f"{row.criterion}, {row.metric}" for row in mine]
    measures = [Measure(name, row.value, *row.interval, row.n) for name, row in zip(names, mine, strict=True)]
    return interval_plot(f"{statistic.capitalize()} with people", measures, *SIDES.get(statistic, (-1.0, 1.0, 0.0)))


def _of(row: Row) -> str:
    return f"{row.n:,}" if row.n == row.judged else f"{row.n:,}/{row.judged:,}"


def _ceilings(found: Agreement) -> list[Block]:
    if not found.ceilings:
        return []
    rows = tuple(
        (one.criterion, one.statistic, f"{one.n:,}", str(one.annotators), valued(one.value, *one.interval))
        for one in found.ceilings[:MOST]
    )
    head = ("criterion", "statistic", "n", "annotators", "value")
    return [Grid("People among themselves: what a metric can hope for", head, rows, frozenset({2, 3, 4}))]


def _notes(found: Agreement) -> list[Block]:
    said = [one_line(note, 300) for note in found.notes]
    said += [f"{row.criterion}, {row.metric}, {row.statistic}: {note}" for row in found.rows for note in row.notes]
    signature = found.rows[0].signature
    blocks = [Para(note) for note in dict.fromkeys(said)][:20]
    return [Fold("Notes, and every choice behind the numbers", (*blocks, Para(signature)))]
