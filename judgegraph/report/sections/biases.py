"""Biases, with intervals: what the run itself shows of them, and the commands that measure the others."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from judgegraph.errors import one_line
from judgegraph.meta.gain import codes
from judgegraph.meta.reviews import point_of
from judgegraph.report.amounts import counted
from judgegraph.report.blocks import Block, Grid, Para, Section
from judgegraph.report.charts import Measure, interval_plot
from judgegraph.report.sections.figures import percent, share
from judgegraph.report.sections.length import LengthEffect, group_of, length_effects
from judgegraph.report.sections.pool import POOLED
from judgegraph.report.sections.probed import probe_blocks
from judgegraph.report.sections.scores import points_of
from judgegraph.report.sections.tally import Tally, tally_of
from judgegraph.runtime.line import Line
from judgegraph.runtime.run import Run
from judgegraph.runtime.summary import STAGES
from judgegraph.stats.intervals import Interval
from judgegraph.stats.shares import share_interval
from judgegraph.types import Scale

MOST = 40
PROBES = {
    "swap": "does a verdict stay when the two sides of a pair are exchanged",
    "padded": "do longer copies that say no more score higher",
    "self": "does the judge prefer outputs of its own model (needs human labels and meta.system)",
}


def biases(run: Run, tally: Tally | None = None) -> Section | None:
    """Order, length and ceiling effects with 95 % intervals, flags, and what is left to probe; None without items."""
    told = tally or tally_of(run)
    if not told.samples:
        return None
    swap, padded = told.probed.found()
    probes = probe_blocks(told.probed.copies, swap, padded)
    measured = {name for name, one in (("swap", swap or told.orders.flips), ("padded", padded)) if one}
    lengths = _lengths(length_effects(told.some), told)
    blocks = [*probes, *order_blocks(told), *lengths, *_ceiling(told), *_flags(told), _missing(run, told, measured)]
    return Section("biases", "Biases", tuple(blocks))


def order_blocks(told: Tally) -> list[Block]:
    """Flips of the verdict with the order, and who wins when shown first."""
    flips = [_measure(name, found) for name, found in list(told.orders.flips.items())[:MOST]]
    first = [_measure(name, found) for name, found in list(told.orders.first.items())[:MOST]]
    if not flips:
        return []
    return [
        Para(
            "Pairs judged in both orders. A flip is another verdict in the exchanged order, a tie beside a winner "
            "included; 95 % intervals by Wilson."
        ),
        interval_plot("Verdicts that flip with the order", flips, 0.0, 1.0, 0.0, shares=True),
        interval_plot("The one shown first wins, where one wins", first, 0.0, 1.0, 0.5, shares=True),
    ]


def _measure(name: str, found: Counter[bool] | Counter[float]) -> Measure:
    """Criteria that are taken together hang together in a pair: no interval is known of them."""
    value, ends, n = share({float(value): count for value, count in found.items()})
    return Measure(name, value, *((math.nan, math.nan) if name in POOLED else (ends.low, ends.high)), n)


def _lengths(effects: list[LengthEffect], told: Tally) -> list[Block]:
    known = [one for one in effects if not math.isnan(one.value)]
    if not known:
        return []
    rows = [Measure(one.name, one.value, one.low, one.high, one.n) for one in known[:MOST]]
    said = (
        f"Rank correlation (Spearman) of scores with the output's length in characters, on {told.some.said}; 95 % "
        f"intervals from {known[0].resamples:,} resamples (of groups, where meta.group is told). Longer outputs may be "
        "better ones: padded copies tell."
    )
    return [Para(said), interval_plot("Score and length", rows)]


def _ceiling(told: Tally) -> list[Block]:
    """Shares of scores at the top of their scale."""
    rows = []
    for key, line in told.summary.lines.items():
        points = points_of(line.scale, set(told.points.get(key, ())))
        told_of = line.role in ("answer", "draft") and line.stage in STAGES
        if told_of and points and not line.labels and line.scale is not None:
            value, ends, n = _highest(told, key, line.scale, points[-1])
            within = "" if line.criterion in POOLED or ends.low != ends.low else _ends(ends)
            rows.append((_name(line), line.stage, points[-1], percent(value, 1) + within, f"{n:,}"))
    if not rows:
        return []
    said = (
        "Scores whose nearest point (of a fine scale: fifth) is the highest: a judge that gives it to most outputs "
        "tells little apart. Where meta.group is told, what shares a group counts as fewer, "
        f"on at most {told.some.most:,} samples."
    )
    head = ("criterion, agent", "stage", "highest", "share, 95 % interval (Wilson)", "n")
    return [Para(said), Grid("Leniency", head, tuple(rows[:MOST]), frozenset({3, 4}))]


def _highest(told: Tally, key: tuple[str, ...], scale: Scale, point: str) -> tuple[float, Interval, int]:
    """The share of a line's scores at a point with its interval, and of how many; groups are known of some items."""
    held = [
        (value, group_of(one.item))
        for one in told.some.held
        for *line, _, value in one.values
        if (*line, "output") == key
    ]
    unit = codes([group for _, group in held])
    if unit is None:
        top = told.points[key][point]
        return share({1.0: top, 0.0: told.points[key].total() - top})
    values = np.array([point_of(value, scale) == point for value, _ in held], dtype=np.float64)
    return float(values.mean()), share_interval(values, unit=unit), len(values)


def _ends(ends: Interval) -> str:
    return f" [{percent(ends.low, 1)}, {percent(ends.high, 1)}]"


def _name(line: Line) -> str:
    return f"{line.criterion}{' (rival)' if line.of == 'rival' else ''}, {line.agent}"


def _flags(told: Tally) -> list[Block]:
    lines = told.summary.lines.values()
    refused, asked = sum(line.statuses["refused"] for line in lines), sum(line.n for line in lines)
    said = [f"Outputs too thin to be judged: {told.thin:,} of {counted(told.samples, 'sample')}."]
    if asked:
        said.append(f"Refusals: {refused:,} of {counted(asked, 'score')} ({percent(refused, asked)}).")
    return [Para(" ".join(said))]


def _missing(run: Run, told: Tally, measured: set[str]) -> Block:
    method = one_line(run.manifest.get("method") or "METHOD", 60)
    paired = bool(told.summary.verdicts)  # else there is nothing to exchange
    left = {k: what for k, what in PROBES.items() if k not in measured and (k != "swap" or paired)}
    said = "; ".join(f"{what}: judgegraph probe {method} DATA -p {name}" for name, what in left.items())
    return Para(f"Not measured in this run: {said}.")
