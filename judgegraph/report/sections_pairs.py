"""Biases, with intervals: what the run itself shows of them, and the commands that measure the others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from judgegraph.errors import ConfigError, DataError, ExtraError, one_line, sentence
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic import codes, point_of
from judgegraph.meta.ranking import Ranking, rank_systems
from judgegraph.report.answers import against_people, agreement_of, matched_with_people
from judgegraph.report.charts import WIN_GRAPH_MOST as DRAWN
from judgegraph.report.charts import Measure, interval_plot, split_bar, win_graph
from judgegraph.report.figures import GROUPS, POOLED, LengthEffect, group_of, mean_share, probe_blocks
from judgegraph.report.sections_run import Tally, points_of, tally_of
from judgegraph.runs.run import Run
from judgegraph.runs.summary import STAGES, Line
from judgegraph.stats.agreement import share_interval
from judgegraph.stats.bootstrap import Interval
from judgegraph.types import Scale
from judgegraph.views.agreement import table
from judgegraph.views.blocks import Block, Grid, Para, Section, counted, percent

MOST = 40
PROBES = {
    "swap": "does a verdict stay when the two sides of a pair are exchanged",
    "padded": "do longer copies that say no more score higher",
    "self": "does the judge prefer outputs of its own model (needs human labels and meta.system)",
}


def biases(run: Run, tally: Tally | None = None) -> Section | None:
    """Order, length and ceiling effects with 95 % intervals, flags, and what is left to probe; None without items."""
    tally = tally or tally_of(run)
    if not tally.samples:
        return None
    swap, padded = tally.probed.found()
    probes = probe_blocks(tally.probed.copies, swap, padded)
    measured = {name for name, one in (("swap", swap or tally.orders.flips), ("padded", padded)) if one}
    lengths = _lengths(tally.lengths, tally)
    blocks = [
        *probes,
        *order_blocks(tally),
        *lengths,
        *_ceiling(tally),
        *_flags(tally),
        _missing(run, tally, measured),
    ]
    return Section("biases", "Biases", tuple(blocks))


def order_blocks(tally: Tally) -> list[Block]:
    """Flips of the verdict with the order, and who wins when shown first."""
    flips = [_measure(name, found) for name, found in list(tally.orders.flips.items())[:MOST]]
    first = [_measure(name, found) for name, found in list(tally.orders.first.items())[:MOST]]
    if not flips:
        return []
    return [
        Para(
            "Pairs judged in both orders. A flip is another verdict in the exchanged order, a tie beside a winner "
            "included; 95 % intervals by Wilson. Of a pair's verdicts, but ties, the one shown first won a share of 0, "
            "1/2 or 1; the mean is over pairs, and n counts them."
        ),
        interval_plot("Verdicts that flip with the order", flips, 0.0, 1.0, 0.0, shares=True),
        interval_plot("The one shown first wins, where one wins", first, 0.0, 1.0, 0.5, shares=True),
    ]


def _measure(name: str, found: Counter[bool] | Counter[float]) -> Measure:
    """Criteria that are taken together hang together in a pair: no interval is known of them."""
    value, ends, n = mean_share({float(value): count for value, count in found.items()})
    return Measure(name, value, *((math.nan, math.nan) if name in POOLED else (ends.low, ends.high)), n)


def _lengths(effects: list[LengthEffect], tally: Tally) -> list[Block]:
    known = [one for one in effects if not math.isnan(one.value)]
    if not known:
        return []
    rows = [Measure(one.name, one.value, one.low, one.high, one.n) for one in known[:MOST]]
    line = (
        f"Rank correlation (Spearman) of scores with the output's length in characters, on {tally.some.counted}; 95 % "
        f"intervals from {known[0].resamples:,} resamples (of groups, {GROUPS}). Longer outputs may be "
        "better ones: padded copies tell."
    )
    return [Para(line), interval_plot("Score and length", rows)]


def _ceiling(tally: Tally) -> list[Block]:
    """Shares of scores at the top of their scale."""
    rows = []
    for key, line in tally.summary.lines.items():
        points = points_of(line.scale, set(tally.points.get(key, ())))
        is_answer = line.role in ("answer", "draft") and line.stage in STAGES
        if is_answer and points and not line.labels and line.scale is not None:
            value, ends, n = _highest(tally, key, line.scale, points[-1])
            within = "" if line.criterion in POOLED or ends.low != ends.low else _ends(ends)
            rows.append((_name(line), line.stage, points[-1], percent(value, 1) + within, f"{n:,}"))
    if not rows:
        return []
    note = (
        "Scores whose nearest point (of a fine scale: fifth) is the highest: a judge that gives it to most outputs "
        f"tells little apart. What shares a group counts as fewer ({GROUPS}), "
        f"on at most {tally.some.most:,} samples."
    )
    head = ("criterion, agent", "stage", "highest", "share, 95 % interval (Wilson)", "n")
    return [Para(note), Grid("Leniency", head, tuple(rows[:MOST]), frozenset({3, 4}))]


def _highest(tally: Tally, key: tuple[str, ...], scale: Scale, point: str) -> tuple[float, Interval, int]:
    """The share of a line's scores at a point with its interval, and of how many; groups are known of some items."""
    held = [
        (value, group_of(one.item))
        for one in tally.some.held
        for *line, _, value in one.values
        if (*line, "output") == key
    ]
    unit = codes([group for _, group in held])
    if unit is None:
        top = tally.points[key][point]
        return mean_share({1.0: top, 0.0: tally.points[key].total() - top})
    values = np.array([point_of(value, scale) == point for value, _ in held], dtype=np.float64)
    return float(values.mean()), share_interval(values, unit=unit), len(values)


def _ends(ends: Interval) -> str:
    return f" [{percent(ends.low, 1)}, {percent(ends.high, 1)}]"


def _name(line: Line) -> str:
    return f"{line.criterion}{' (rival)' if line.of == 'rival' else ''}, {line.agent}"


def _flags(tally: Tally) -> list[Block]:
    lines = tally.summary.lines.values()
    refused, asked = sum(line.statuses["refused"] for line in lines), sum(line.n for line in lines)
    short = tally.short
    rivals = f" and {counted(short['the rival'], 'rival')}" if short["the rival"] else ""
    sentences = [f"Fewer than 8 words, or none: {counted(short['the output'], 'output')}{rivals}, of "
                 f"{counted(tally.samples, 'sample')}."]  # fmt: skip
    if asked:
        sentences.append(f"Refusals: {refused:,} of {counted(asked, 'score')} ({percent(refused, asked)}).")
    return [Para(" ".join(sentences))]


def _missing(run: Run, tally: Tally, measured: set[str]) -> Block:
    method = one_line(run.manifest.get("method") or "METHOD", 60)
    paired = bool(tally.summary.verdicts)  # else there is nothing to exchange
    left = {k: what for k, what in PROBES.items() if k not in measured and (k != "swap" or paired)}
    commands = "; ".join(f"{what}: judgegraph probe {method} DATA -p {name}" for name, what in left.items())
    return Para(f"Not measured in this run: {commands}.")


# Pairs: verdicts, whether they hold in both orders, and which systems win.


ORDER = ("A", "tie", "B", "none")
PAIRS_MOST, JUDGES, RESAMPLES = 60, 6, 1_000


def pairs(run: Run, tally: Tally | None = None) -> Section | None:
    """Verdicts over all, the win graph where samples name their systems, the ranking; None where no pair was judged."""
    tally = tally or tally_of(run)
    verdicts = tally.summary.verdicts
    if not verdicts:
        return None
    n = verdicts.total()
    blocks: list[Block] = [split_bar("Verdicts on pairs", [(name, verdicts[name]) for name in ORDER if verdicts[name]])]
    blocks.append(Para(
        f"n {n:,}. A is the sample's output, B its rival, in whatever order they were shown; none: no verdict could be "
        f"read ({verdicts['none']:,})."
    ))  # fmt: skip
    if both := tally.summary.both:
        same = tally.summary.consistent
        blocks.append(Para(f"The same verdict in both orders: {same:,} of {both:,} ({percent(same, both)})."))
    if tally.labelled.items:
        blocks += against_people(matched_with_people(run, tally, agreement_of(run, tally)), ("verdict",))
    return Section("pairs", "Pairs", (*blocks, *_systems(run, tally)))


def _systems(run: Run, tally: Tally) -> list[Block]:
    shares = tally.orders.shares()
    if not shares:
        return []
    ranked, blocks = _rankings(run, tally)
    names = _order(ranked, tally)
    more = f" The first {DRAWN} of {len(names)} systems are drawn." if len(names) > DRAWN else ""
    left = tally.orders.unnamed
    unnamed = f" {counted(left, 'verdict')} on pairs without two named systems left out." if left else ""
    lead = (
        f"Systems by meta.system and meta.rival_system; the verdict over all criteria counts, ties half.{more}{unnamed}"
    )
    rows = tuple((a, b, percent(share, 1), f"{n:,}") for (a, b), (share, n) in list(shares.items())[:PAIRS_MOST])
    grid = Grid("Each two systems", ("system", "against", "won, ties half", "n"), rows, frozenset({2, 3}))
    return [Para(lead), win_graph("Who wins against whom", names, shares), grid, *blocks]


def _rankings(run: Run, tally: Tally) -> tuple[list[Ranking], list[Block]]:
    """By people and by each metric, of the pairs that name their systems."""
    items = [item for item in tally.some.items if {"system", "rival_system"} <= item.sample.meta.keys()]
    try:
        found = rank_systems(Run(run.manifest, items), Conventions(resamples=RESAMPLES))
    except (ConfigError, DataError, ExtraError) as error:
        return [], [Para(sentence(f"No ranking: {one_line(error, 300)}"))]
    note = f"Rankings on {tally.some.counted}; 95 % intervals from {RESAMPLES:,} resamples. judgegraph rank has more."
    return found, [Para(note), *(table(one) for one in found[:JUDGES])]


def _order(ranked: Sequence[Ranking], tally: Tally) -> list[str]:
    """The best first, by share of wins over all verdicts."""
    won: dict[str, list[float]] = {}
    for (one, other), (share, n) in tally.orders.shares().items():
        for name, part in ((one, share), (other, 1 - share)):
            held = won.setdefault(name, [0.0, 0.0])
            held[0] += part * n
            held[1] += n
    return sorted(won, key=lambda name: (-won[name][0] / won[name][1], name))
