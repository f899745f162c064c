"""Scores by criterion, agent and stage, and how they lie on their scales, drafts beside finals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from judgegraph.errors import one_line
from judgegraph.meta.reviews import MOST_POINTS, PARTS
from judgegraph.report.amounts import counted
from judgegraph.report.blocks import Block, Para, Picture, Section
from judgegraph.report.charts import Series, histogram
from judgegraph.report.sections.figures import counts, filled, number
from judgegraph.report.sections.pool import OWN
from judgegraph.report.sections.tally import OTHER, Tally, tally_of
from judgegraph.runtime.line import Line
from judgegraph.runtime.run import Run
from judgegraph.runtime.summary import STAGES
from judgegraph.types import Scale

MOST, CHARTS, LABELS = 100, 24, 30
SAID = 3  # labels in a row of the table
HEAD = (
    "criterion", "agent, stage", "mean", "sd", "n ok/n", "role", "scale", "labels",
    "if the missing were least, greatest", "not ok",
)  # fmt: skip


def scores(run: Run, tally: Tally | None = None) -> Section | None:
    """A table of all scores and a chart for each final one, its draft beside it; None without any score.

    The charts are SAGEval's Figure 3a (arXiv:2411.16077): how the critic moves the scores of a criterion.
    """
    told = tally or tally_of(run)
    lines = _in_order([*told.summary.lines.values()])
    if not lines:
        return None
    blocks: list[Block] = [
        Para(_lead(told)),
        filled("Scores", HEAD, [_row(line) for line in lines[:MOST]], frozenset({2, 3, 4})),
    ]
    if len(lines) > MOST:
        blocks.append(Para(f"{counted(len(lines) - MOST, 'more line')} not shown; judgegraph export has every score."))
    if any(line.criterion == OWN for line in lines):
        blocks.append(Para(f"{OWN}: a method that writes criteria for each sample; they are taken together here."))
    charts = _charts(told)
    finals = len(told.summary.answers)
    if charts:
        blocks += [Para(_binning(charts, finals)), *charts]
    return Section("scores", "Scores", tuple(blocks))


def _lead(told: Tally) -> str:
    drafts = told.summary.drafts
    read, what = told.summary.judged - drafts, "final score" if drafts else "score"
    alone = f", and {drafts:,} with drafts alone" if drafts else ""
    return (
        f"{counted(told.samples, 'sample')}, {read:,} with a {what} or verdict that could be read{alone}. A mean is of "
        "the scores that could be read; the bounds say what it would be if all others were at the scale's end."
    )


def _in_order(lines: Sequence[Line]) -> list[Line]:
    """Each criterion's drafts and finals together; what was proposed for the sample comes last."""
    first: dict[str, int] = {}
    for line in lines:
        first.setdefault(line.criterion, len(first))
    return sorted(lines, key=lambda x: (x.stage not in STAGES, first[x.criterion], x.of, x.stage))


def _row(line: Line) -> tuple[str, ...]:
    side = " (rival)" if line.of == "rival" else ""
    bounds = line.bounds if line.values < line.n else None
    missing = {status: n for status, n in line.statuses.items() if status != "ok"}
    return (
        f"{line.criterion}{side}", f"{line.agent}, {line.stage}", *_moments(line),
        f"{line.n_ok:,}/{line.n:,}", line.role, _scale(line.scale, bool(line.labels)), _labels(line.labels),
        f"{number(bounds[0])}, {number(bounds[1])}" if bounds else "", counts(missing),
    )  # fmt: skip


def _moments(line: Line) -> tuple[str, str]:
    """Mean and standard deviation; labels have none."""
    return ("", "") if line.labels else (number(line.mean), number(line.sd))


def _labels(met: Counter[str]) -> str:
    """The commonest, and how many others there are."""
    said = ", ".join(f"{one_line(label, 40)} {n:,}" for label, n in met.most_common(SAID))
    return said + (f", and {len(met) - SAID:,} more" if len(met) > SAID else "")


def _scale(scale: Scale | None, labels: bool) -> str:
    return "labels" if labels else str(scale) if scale is not None else ""


def _charts(told: Tally) -> list[Picture]:
    finals = told.summary.shown
    found: list[Picture] = []
    for line in finals:
        draft = told.summary.lines.get(line.draft) if line.draft else None
        series = [_series(told, one) for one in (draft, line) if one is not None]
        points = points_of(line.scale, {point for one in series for point in one.counts})
        if line.labels:
            points, series = _commonest(points, series)
        if points and len(found) < CHARTS:
            several = sum(one.criterion == line.criterion and one.of == line.of for one in finals) > 1
            name = line.criterion + (" (rival)" if line.of == "rival" else "") + (f", {line.agent}" if several else "")
            found.append(histogram(name, points, series))
    return found


def _series(told: Tally, line: Line) -> Series:
    key = (line.criterion, line.agent, line.stage, line.of)
    parts = told.answers if line.role == "answer" else told.points
    met = sum((parts.get(part, Counter()) for part in line.parts or (key,)), Counter[str]())
    return Series(f"{line.stage} ({line.agent})", met, None if line.labels else line.mean)


def _commonest(points: list[str], series: list[Series]) -> tuple[list[str], list[Series]]:
    """Of many labels those met most often, in the order of the scale; the others as one row."""
    if len(points) <= LABELS:
        return points, series
    met = sum((Counter(one.counts) for one in series), Counter[str]())
    kept = set([label for label, _ in met.most_common() if label != OTHER][:LABELS])
    shown = [point for point in points if point in kept]
    rest = f"{len(points) - len(shown):,} others"
    folded = []
    for one in series:
        counts = {point: n for point, n in one.counts.items() if point in kept}
        folded.append(replace(one, counts={**counts, rest: one.n - sum(counts.values())}))
    return [*shown, rest], folded


def points_of(scale: Scale | None, met: set[str]) -> list[str]:
    """The points of a scale in its order; where something was met beside them, or they are no scale's, those met."""
    listed = [*scale.labels, *map(str, scale.points)] if scale is not None else []
    if scale is not None and scale.low is not None and not 0 < len(listed) <= MOST_POINTS:
        width = ((scale.high or 0) - scale.low) / PARTS
        listed = [f"{scale.low + k * width:g} to {scale.low + (k + 1) * width:g}" for k in range(PARTS)]
    return (listed if met <= set(listed) else sorted(met, key=_place)) if met else []


def _place(point: str) -> tuple[bool, float, str]:
    try:
        return point == OTHER, float(point.partition(" to ")[0]), ""
    except ValueError:
        return point == OTHER, float("inf"), point


def _binning(charts: Sequence[Picture], finals: int) -> str:
    more = f" Of {finals} the first {CHARTS} are drawn." if finals > CHARTS else ""
    return (
        "How the scores lie on their scale. A score between two points counts at the nearer one, a half at the upper; "
        f"a scale of more than {MOST_POINTS} points, or of any number, is cut into {PARTS} equal parts. Bars are "
        f"shares of their own series.{more}"
    )
