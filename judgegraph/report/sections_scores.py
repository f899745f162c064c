"""The answers by criterion, and how far they agree with people, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.meta import agreement as meta
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic import MOST_POINTS, PARTS, codes
from judgegraph.meta.result import Agreement, Row, general_notes, row_notes
from judgegraph.report import people
from judgegraph.report.charts import Measure, Series, histogram, interval_plot
from judgegraph.report.figures import OWN, draws, group_of
from judgegraph.report.sections_run import OTHER, Tally, points_of, tally_of
from judgegraph.runs.run import Run
from judgegraph.runs.summary import Key, Line
from judgegraph.stats.bootstrap import MEAN_RESAMPLES, mean_interval
from judgegraph.views import agreement as of_agreement
from judgegraph.views import run as laid_out
from judgegraph.views.amounts import counted
from judgegraph.views.blocks import Block, Fold, Para, Picture, Section
from judgegraph.views.run import Ends

DRAWN = 24
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
    lead = (
        f"On {held.counted} that people judged.{counts.unlabelled} Dataset level: one coefficient over all samples; "
        f"what could not be read is left out; 95 % intervals from {draws(items):,} resamples of samples (groups, where "
        "meta.group is told), of shares by Wilson. judgegraph meta has other levels, tests and conventions."
    )
    found = agreement_of(run, counts)
    if not isinstance(found, Agreement):
        return Section("agreement", "Agreement with people", (Para(f"It cannot be told: {found}."),))
    blocks: list[Block] = [Para(lead)]
    for _, rows in groupby(found.rows, key=lambda row: row.kind):
        blocks += _kind(list(rows))
    blocks += people.blocks(people.matched_with_people(run, counts, found), ("number", "label"))
    return Section(
        "agreement", "Agreement with people", (*blocks, *of_agreement.ceilings(found.ceilings), *_notes(found))
    )


def agreement_of(run: Run, tally: Tally) -> Agreement | str:
    """Of the answers with people, worked out once for a page; in words where it cannot be told."""
    if tally.agreed is None:
        items = tally.labelled.items
        c = Conventions(coefficients=("spearman", "kendall-b"), resamples=draws(items))
        try:
            tally.agreed = meta.agreement(Run(run.manifest, items), c, tests=False)
        except (ConfigError, DataError) as error:
            tally.agreed = one_line(error, 300)
    return tally.agreed


def _kind(rows: Sequence[Row]) -> list[Block]:
    """A chart of the first statistic, and a table of all."""
    return [agreement_plot(rows, rows[0].statistic), of_agreement.statistics(rows)]


def agreement_plot(rows: Sequence[Row], statistic: str) -> Picture:
    mine = [row for row in rows if row.statistic == statistic][:DRAWN]
    alone = len({row.metric for row in mine}) == 1
    names = [row.criterion if alone else f"{row.criterion}, {row.metric}" for row in mine]
    measures = [Measure(name, row.value, *row.interval, row.n) for name, row in zip(names, mine, strict=True)]
    return interval_plot(f"{statistic.capitalize()} with people", measures, *SIDES.get(statistic, (-1.0, 1.0, 0.0)))


def _notes(found: Agreement) -> list[Block]:
    notes = [one_line(note, 300) for note in (*general_notes(found), *row_notes(found))]
    signature = found.rows[0].signature
    blocks = [Para(note) for note in notes][:20]
    return [Fold("Notes, and every choice behind the numbers", (*blocks, Para(signature)))]


# The answers by criterion: their means, how they lie on their scales beside people's judgements and the drafts.


CHARTS, LABELS = 24, 30


def scores(run: Run, tally: Tally | None = None) -> Section:
    """A table of the answers, a chart for each with its draft and people's judgements, and a table of all scores.

    The charts are SAGEval's Figure 3a (arXiv:2411.16077): how the critic moves the scores of a criterion.
    """
    tally = tally or tally_of(run)
    summary = tally.summary
    lines = summary.lines
    if not lines and not summary.verdicts and not summary.headline:
        return Section("scores", "Scores", (Para("The run wrote no scores and no verdicts."),))
    blocks: list[Block] = [*laid_out.answers(summary, mean_intervals(tally))]
    blocks += [*laid_out.members(summary), *laid_out.pairs(summary)]
    if lines:
        blocks.append(Para(_lead(tally)))
    if any(line.criterion == OWN for line in lines.values()):
        blocks.append(Para(f"{OWN}: a method that writes criteria for each sample; they are taken together here."))
    charts = charts_of(run, tally)
    if charts:
        blocks += [Para(_binning(charts, len(summary.answers))), *charts]
    blocks += laid_out.every_line(summary)
    return Section("scores", "Scores", tuple(blocks))


def mean_intervals(tally: Tally) -> dict[Key, Ends]:
    """(criterion, agent, side) -> the 95 % interval of the mean of its answers; groups are drawn whole."""
    values: dict[tuple[str, str], list[tuple[float, str | None]]] = {}
    for one in tally.some.held:
        for criterion, agent, _, role, value in one.values:
            if role == "answer":
                values.setdefault((criterion, agent), []).append((value, group_of(one.item)))
    found: dict[Key, Ends] = {}
    for line in tally.summary.answers.values():
        parts = dict.fromkeys(part[:2] for part in line.parts) or {(line.criterion, line.agent): None}
        rows = [row for part in parts for row in values.get((part[0], part[1]), ())]
        if line.of == "output" and line.mean is not None and rows:
            numbers = np.array([value for value, _ in rows], dtype=np.float64)
            ends = mean_interval(numbers, codes([group for _, group in rows]))
            found[line.criterion, line.agent, line.of] = ends
    return found


def _lead(tally: Tally) -> str:
    drafts = tally.summary.drafts
    read, what = tally.summary.judged - drafts, "final score" if drafts else "score"
    alone = f", and {drafts:,} with drafts alone" if drafts else ""
    return (
        f"{counted(tally.samples, 'sample')}, {read:,} with a {what} or verdict that could be read{alone}. A mean is "
        f"of the scores that could be read; its 95 % interval is from {MEAN_RESAMPLES:,} resamples of "
        f"{tally.some.counted}, groups whole where meta.group is told."
    )


def charts_of(run: Run, tally: Tally) -> list[Picture]:
    """Of each answer: people's judgements on its scale, its draft, and itself."""
    finals = tally.summary.shown
    judged = people.on_their_scale(people.matched_with_people(run, tally, agreement_of(run, tally)))
    found: list[Picture] = []
    for line in finals:
        draft = tally.summary.lines.get(line.draft) if line.draft else None
        series = [_series(tally, one) for one in (draft, line) if one is not None]
        if line.of == "output" and (human := judged.get(line.criterion.casefold())) is not None:
            series.insert(0, human)
        met = {point for one in series for point in one.counts}
        points = points_of(line.scale, met - {people.OFF}) + ([people.OFF] if people.OFF in met else [])
        if line.labels:
            points, series = _commonest(points, series)
        if points and len(found) < CHARTS:
            several = sum(one.criterion == line.criterion and one.of == line.of for one in finals) > 1
            name = line.criterion + (" (rival)" if line.of == "rival" else "") + (f", {line.agent}" if several else "")
            found.append(histogram(name, points, series))
    return found


def _series(tally: Tally, line: Line) -> Series:
    key = (line.criterion, line.agent, line.stage, line.of)
    parts = tally.answers if line.role == "answer" else tally.points
    met = sum((parts.get(part, Counter()) for part in line.parts or (key,)), Counter[str]())
    return Series(f"{line.stage} ({line.agent})", met, None if line.labels else line.mean)


def _commonest(points: list[str], series: list[Series]) -> tuple[list[str], list[Series]]:
    """Of many labels those met most often, in the order of the scale; the others as one row."""
    if len(points) <= LABELS:
        return points, series
    met = sum((Counter(one.counts) for one in series), Counter[str]())
    commonest = set([label for label, _ in met.most_common() if label != OTHER][:LABELS])
    shown = [point for point in points if point in commonest]
    rest = f"{len(points) - len(shown):,} others"
    folded = []
    for one in series:
        counts = {point: n for point, n in one.counts.items() if point in commonest}
        folded.append(replace(one, counts={**counts, rest: one.n - sum(counts.values())}))
    return [*shown, rest], folded


def _binning(charts: Sequence[Picture], finals: int) -> str:
    more = f" Of {finals} the first {CHARTS} are drawn." if finals > CHARTS else ""
    return (
        "How the scores lie on their scale. A score between two points counts at the nearer one, a half at the upper; "
        f"a scale of more than {MOST_POINTS} points, or of any number, is cut into {PARTS} equal parts. Bars are "
        f"shares of their own series.{more}"
    )
