"""Pairs: verdicts, whether they hold in both orders, and which systems win."""

from __future__ import annotations

from collections.abc import Sequence

from judgegraph.errors import ConfigError, DataError, ExtraError, one_line
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.rankings import Ranked, Ranking
from judgegraph.meta.systems import rank_systems
from judgegraph.report.amounts import counted
from judgegraph.report.blocks import Block, Grid, Para, Section
from judgegraph.report.charts import split_bar, win_graph
from judgegraph.report.charts.win_graph import MOST as DRAWN
from judgegraph.report.sections.figures import number, percent, valued
from judgegraph.report.sections.tally import Tally, tally_of
from judgegraph.runtime.run import Run

ORDER = ("A", "tie", "B", "none")
MOST, JUDGES, RESAMPLES = 60, 6, 200


def pairs(run: Run, tally: Tally | None = None) -> Section | None:
    """Verdicts over all, the win graph where samples name their systems, the ranking; None where no pair was judged."""
    told = tally or tally_of(run)
    verdicts = told.summary.verdicts
    if not verdicts:
        return None
    n = verdicts.total()
    blocks: list[Block] = [split_bar("Verdicts on pairs", [(name, verdicts[name]) for name in ORDER if verdicts[name]])]
    blocks.append(Para(
        f"n {n:,}. A is the sample's output, B its rival, in whatever order they were shown; none: no verdict could be "
        f"read ({verdicts['none']:,})."
    ))  # fmt: skip
    if both := told.summary.both:
        same = told.summary.consistent
        blocks.append(Para(f"The same verdict in both orders: {same:,} of {both:,} ({percent(same, both)})."))
    return Section("pairs", "Pairs", (*blocks, *_systems(run, told)))


def _systems(run: Run, told: Tally) -> list[Block]:
    shares = told.orders.shares()
    if not shares:
        return []
    ranked, blocks = _rankings(run, told)
    names = _order(ranked, told)
    more = f" The first {DRAWN} of {len(names)} systems are drawn." if len(names) > DRAWN else ""
    left = told.orders.unnamed
    unnamed = f" {counted(left, 'verdict')} on pairs without two named systems left out." if left else ""
    lead = (
        f"Systems by meta.system and meta.rival_system; the verdict over all criteria counts, ties half.{more}{unnamed}"
    )
    rows = tuple((a, b, percent(share, 1), f"{n:,}") for (a, b), (share, n) in list(shares.items())[:MOST])
    grid = Grid("Each two systems", ("system", "against", "won, ties half", "n"), rows, frozenset({2, 3}))
    return [Para(lead), win_graph("Who wins against whom", names, shares), grid, *blocks]


def _rankings(run: Run, told: Tally) -> tuple[list[Ranking], list[Block]]:
    """By people and by each metric, of the pairs that name their systems."""
    items = [item for item in told.some.items if {"system", "rival_system"} <= item.sample.meta.keys()]
    try:
        found = rank_systems(Run(run.manifest, items), Conventions(resamples=RESAMPLES))
    except (ConfigError, DataError, ExtraError) as error:
        return [], [Para(f"No ranking: {one_line(error, 300)}.")]
    said = f"Rankings on {told.some.said}; 95 % intervals from {RESAMPLES} resamples. judgegraph rank has more."
    return found, [Para(said), *map(_ranking, found[:JUDGES])]


def _ranking(one: Ranking) -> Grid:
    rows = tuple(_row(row) for row in one.systems[:MOST])
    head = ("system", "place", "won, ties half", "comparisons", "strength (log odds)")
    caption = f"{one_line(one.criterion, 80)}, by {one_line(one.judge, 80)}: {counted(one.comparisons, 'comparison')}"
    return Grid(caption, head, rows, frozenset({1, 2, 3, 4}))


def _row(row: Ranked) -> tuple[str, ...]:
    strength = valued(row.strength, *row.strength_interval)
    won = "-" if row.won != row.won else percent(row.won, 1)
    return row.system, str(row.place or "-"), won, number(row.met, 0), strength


def _order(ranked: Sequence[Ranking], told: Tally) -> list[str]:
    """The best first, by share of wins over all verdicts."""
    won: dict[str, list[float]] = {}
    for (one, other), (share, n) in told.orders.shares().items():
        for name, part in ((one, share), (other, 1 - share)):
            held = won.setdefault(name, [0.0, 0.0])
            held[0] += part * n
            held[1] += n
    return sorted(won, key=lambda name: (-won[name][0] / won[name][1], name))
