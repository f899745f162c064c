"""The answers by criterion, how far they agree with people, who wins pairs, and which biases show; with intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, product
from typing import NamedTuple

import numpy as np

import judgegraph.meta.agreement as meta
from judgegraph.errors import ConfigError, DataError, ExtraError, one_line, sentence
from judgegraph.meta.answers import Answers, answers
from judgegraph.meta.cells import BOTH, Answer, Kind
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic import MOST_POINTS, PARTS, codes, point_of
from judgegraph.meta.judgements import read_run
from judgegraph.meta.ranking import Ranking, rank_systems
from judgegraph.meta.result import Agreement, Row, general_notes, row_notes
from judgegraph.report.charts import (
    WIDE,
    WIN_GRAPH_MOST,
    Measure,
    Series,
    centred,
    fit,
    histogram,
    interval_plot,
    picture,
    seen,
    split_bar,
    straight,
    text,
    win_graph,
)
from judgegraph.report.drawing.figure import shown
from judgegraph.report.figures import GROUPS, OWN, POOLED, LengthEffect, draws, group_of, mean_share, probe_blocks
from judgegraph.report.sections_run import OTHER, Tally, points_of, tally_of
from judgegraph.runs.run import Run
from judgegraph.runs.summary import STAGES, Key, Line
from judgegraph.stats.agreement import share_interval
from judgegraph.stats.bootstrap import MEAN_LEAST, MEAN_RESAMPLES, Interval, mean_interval
from judgegraph.stats.correlation import Codes
from judgegraph.types import Scale
from judgegraph.views import agreement as of_agreement
from judgegraph.views import run as laid_out
from judgegraph.views.agreement import table
from judgegraph.views.blocks import Block, Fold, Grid, Para, Picture, Section, counted, number_text, percent, valued
from judgegraph.views.run import Ends

# People's judgements beside the answers: how both lie on their scale, and which answer met which judgement.


DRAWN = 12  # criteria, or metrics of one, that are drawn
LEVELS = 7  # distinct values of either side up to which they stand in a table; of more they are points
SIDES = ("A", "tie", "B")
NONE, OFF, OTHERS = "none", "off the scale", "others"


@dataclass(frozen=True)
class Matched:
    """One criterion by people and by one metric, on the samples that people judged.

    Attributes:
        human: the mean of the annotators where there are several. answers: None where none could be read.
        group: codes of the samples' groups, None without any.
        levels: what both can say, in order; () of numbers that take more than seven values.
        scale: of the answers, None where it is not known. found: the coefficients and shares, as they are tabled.
    """

    criterion: str
    metric: str
    kind: Kind
    human: tuple[Answer, ...]
    answers: tuple[Answer | None, ...]
    levels: tuple[Answer, ...]
    scale: Scale | None
    found: tuple[Row, ...]
    group: Codes | None = field(default=None, compare=False)

    @property
    def agreed(self) -> str:
        """The first number of their agreement, with its interval, and how many answers it is of."""
        known = [row for row in self.found if not math.isnan(row.value)][:1]
        parts = [f"{row.statistic} {valued(row.value, *row.interval)}" for row in known]
        return ", ".join([*parts, f"n {self.read:,}"])

    @property
    def read(self) -> int:
        """Answers that could be read."""
        return sum(one is not None for one in self.answers)

    @property
    def name(self) -> str:
        return ", ".join(part for part in (self.criterion, self.metric) if part)


def matched_with_people(run: Run, tally: Tally, agreed: Agreement | str) -> list[Matched]:
    """Each criterion that people judged with each metric that answers it; [] where nothing can be compared.

    Args:
        agreed: as `sections_scores.agreement_of` has it, of the same samples.
    """
    if tally.matched is None:
        tally.matched = list(_matched(run, tally, agreed))
    found: list[Matched] = tally.matched
    return found


def _matched(run: Run, tally: Tally, agreed: Agreement | str) -> Iterator[Matched]:
    try:
        judged = [answers(one, Conventions()) for one in read_run(Run(run.manifest, tally.labelled.items)).judgements]
    except (ConfigError, DataError):
        return  # the section on agreement says why
    rows = agreed.rows if isinstance(agreed, Agreement) else ()
    scales = {one.criterion.casefold(): one.scale for one in tally.summary.answers.values()}
    for one in judged:
        for metric, given in one.metrics.items():
            found = tuple(row for row in rows if (row.criterion, row.metric) == (one.criterion, metric))
            levels, scale = _levels(one, given), scales.get(one.criterion.casefold())
            yield Matched(one.criterion, metric, one.kind, one.human, given, levels, scale, found, one.group)


def _levels(one: Answers, given: Sequence[Answer | None]) -> tuple[Answer, ...]:
    met = Counter([*one.human, *(answer for answer in given if answer is not None)])
    if one.kind == "verdict":
        return SIDES
    if one.kind == "number":
        return tuple(sorted(met, key=float)) if len(met) <= LEVELS else ()
    ordered = [*one.order, *(label for label, _ in met.most_common() if label not in one.order)]
    return tuple(label for label in ordered if label in met or label in one.order)


def on_their_scale(found: Sequence[Matched]) -> dict[str, Series]:
    """Criterion -> how people's judgements lie on the scale of the answers; not where most lie off it."""
    held: dict[str, Series] = {}
    for one in found:
        if one.kind != "verdict" and not _is_apart(one):
            held.setdefault(one.criterion.casefold(), _counted({"people": one.human}, one.scale)[1][0])
    return held


def _is_apart(one: Matched) -> bool:
    """Whether most of people's judgements lie off the scale of the answers."""
    return 2 * sum(_is_off(value, one.scale) for value in one.human) > len(one.human)


class Gap(NamedTuple):
    """The mean of a judge's answers less people's on the same samples, with its 95 % interval.

    Attributes:
        judge, people: their means. share: the gap's size as a share of the scale. n: samples.
    """

    value: float
    low: float
    high: float
    judge: float
    people: float
    share: float
    n: int


def gap_to_people(one: Matched) -> Gap | None:
    """How lenient a judge is; None of labels and verdicts, and where people's scale is another one or not known."""
    scale = one.scale
    if one.kind != "number" or scale is None or scale.low is None or scale.high is None or _is_apart(one):
        return None
    known = [at for at, answer in enumerate(one.answers) if answer is not None]
    if len(known) < MEAN_LEAST:
        return None
    judge, people = (np.array([float(side[at] or 0) for at in known]) for side in (one.answers, one.human))
    group = None if one.group is None else np.unique(one.group[known], return_inverse=True)[1]
    ends, value = mean_interval(judge - people, group), float((judge - people).mean())
    share = abs(value) / ((scale.high - scale.low) or 1.0)
    return Gap(value, *ends, float(judge.mean()), float(people.mean()), share, len(known))


# The charts: one layout for a page and for a notebook.


def charts(one: Matched) -> list[Picture]:
    """Which answer met which judgement; before it, where people have a scale of their own, how both are distributed.

    Else people's judgements stand on the scale of the answers, in the chart of these.
    """
    apart = one.kind != "verdict" and _is_apart(one)
    return [*(_distributions(one) if apart else ()), confusion(one) if one.levels else scatter(one)]


def _distributions(one: Matched) -> list[Picture]:
    """Each on its own scale."""
    read = [answer for answer in one.answers if answer is not None]
    own = _counted({"people": one.human}, _range_of(one.human))
    return [
        histogram(f"{one.name}: people, on a scale of their own", *own),
        histogram(f"{one.name}: answers", *_counted({"answers": read}, one.scale)),
    ]


def _counted(given: Mapping[str, Sequence[Answer]], scale: Scale | None) -> tuple[list[str], list[Series]]:
    series = []
    for name, values in given.items():
        met = Counter(OFF if _is_off(value, scale) else point_of(value, scale) for value in values)
        numbers = [value for value in values if isinstance(value, float | int)]
        series.append(Series(name, met, sum(numbers) / len(numbers) if numbers else None, name == "people"))
    every = {point for one in series for point in one.counts}
    off = [OFF] if OFF in every else []
    return [*points_of(scale, every - {OFF}), *off], series


def _is_off(value: Answer, scale: Scale | None) -> bool:
    if isinstance(value, str) or scale is None or scale.low is None or scale.high is None:
        return False
    return not scale.low <= value <= scale.high


def _range_of(values: Sequence[Answer]) -> Scale | None:
    numbers = [value for value in values if isinstance(value, float | int)]
    low, high = min(numbers), max(numbers)
    return Scale(low=low, high=high, whole=False) if low < high else None


CELL, ROWS_NAME, TOP, MOST_LABELS = 28.0, 96.0, 58.0, 6
TITLED = 170.0  # of a criterion in a bold title, beside what the chart shows


def confusion(one: Matched) -> Picture:
    """A row for each judgement of people, a column for each answer; the darker, the more of the row; equal is framed.

    Of more than six labels the rarer ones are taken together; answers that could not be read have a column.
    """
    rows = _shown_levels(one)
    pairs = Counter((_level(h, rows), _level(a, rows)) for h, a in zip(one.human, one.answers, strict=True))
    columns = [*rows, *([NONE] if any(answer == NONE for _, answer in pairs) else [])]
    rows = [row for row in rows if row != OTHERS or any(human == OTHERS for human, _ in pairs)]
    short = all(len(column) < 5 for column in columns)
    side = min(44.0, (WIDE - ROWS_NAME) / len(columns))
    parts = [text(0, 13, fit(one.name, TITLED) + ": people and answers met", look="jg-title"), text(0, 30, one.agreed)]
    parts.append(
        text(ROWS_NAME, 47, f"answers ({shown(one.metric, 60)})" if one.metric else "answers", look="jg-muted")
    )
    parts.append(text(0, 47, "people", look="jg-muted"))
    for at, row in enumerate(rows):
        y, whole = TOP + at * CELL, sum(n for (human, _), n in pairs.items() if human == row)
        parts.append(text(0, y + 18, row if short else f"{at + 1} {row}", ROWS_NAME - 6))
        for place, column in enumerate(columns):
            parts += _cell(ROWS_NAME + place * side, y, side, pairs[row, column], whole, equal=row == column)
    bottom = TOP + len(rows) * CELL
    for place, column in enumerate(columns):
        named = column if short else str(place + 1)
        parts.append(centred(ROWS_NAME + (place + 0.5) * side, bottom + 12, named, side, look="jg-muted"))
    same = sum(human == answer for human, answer in zip(one.human, one.answers, strict=True))
    lost = len(one.human) - one.read
    apart = f"{lost:,} without an answer; " if lost else ""
    about = f"{one.agreed}; alike in {same:,} of {one.read:,} ({percent(same, one.read)}); {apart}" + "; ".join(
        f"people {human}, answer {answer}: {n:,}" for (human, answer), n in pairs.most_common()
    )
    return picture(f"{one.name}: people and answers met", about, parts, bottom + 18)


def _shown_levels(one: Matched) -> list[str]:
    words = [_word(level) for level in one.levels]
    if one.kind == "number" or len(words) <= MOST_LABELS:
        return words
    met = Counter(_word(value) for value in [*one.human, *(a for a in one.answers if a is not None)])
    commonest = {label for label, _ in met.most_common(MOST_LABELS - 1)}
    return [*(label for label in words if label in commonest), OTHERS]


def _level(answer: Answer | None, rows: Sequence[str]) -> str:
    if answer is None:
        return NONE
    level = _word(answer)
    return level if level in rows else OTHERS


def _word(answer: Answer) -> str:
    return answer if isinstance(answer, str) else f"{answer:g}"


def _cell(x: float, y: float, side: float, count: int, whole: int, *, equal: bool) -> Iterator[str]:
    strength = 0.04 + 0.5 * (count / whole if whole else 0.0)
    edge = ' stroke-width="2"' if equal else ' stroke-opacity=".35"'
    yield (
        f'<rect x="{x + 1:.4g}" y="{y + 1:.4g}" width="{side - 3:.4g}" height="{CELL - 3:.4g}"{edge}'
        f' fill-opacity="{strength:.2f}" {seen("jg-c1")}/>'
    )
    if count:
        yield centred(x + side / 2, y + 18, f"{count:,}", side)


LEFT, RIGHT, TALL, ACROSS, UP = 34.0, WIDE - 8, 210.0, 48, 34  # pixels of the axes; places into which they are cut


def scatter(one: Matched) -> Picture:
    """People's number to the right, the answer upwards; the larger a point, the more samples lie there.

    Where both keep to one scale, both axes are of it, and the dashed line is where they are equal.
    """
    known = [(float(h), float(a)) for h, a in zip(one.human, one.answers, strict=True) if a is not None]
    values = np.array(known, dtype=np.float64).reshape(-1, 2)
    shared = one.scale is not None and not any(_is_off(h, one.scale) for h in one.human)
    (x0, x1), (y0, y1) = (_ends(values[:, side], one.scale if shared or side else None) for side in (0, 1))
    parts = [text(0, 13, fit(one.name, TITLED) + ": people and answers met", look="jg-title"), text(0, 30, one.agreed)]
    top, bottom = 40.0, 40.0 + TALL
    if shared:
        parts.append(
            f'<line x1="{LEFT:g}" y1="{bottom:g}" x2="{RIGHT:g}" y2="{top:g}" stroke-width="1"'
            f' stroke-dasharray="2 3" {seen("jg-line")}/>'
        )
    parts += [straight(LEFT, top, LEFT, bottom), straight(LEFT, bottom, RIGHT, bottom)]
    places = Counter((round(ACROSS * (x - x0) / (x1 - x0)), round(UP * (y - y0) / (y1 - y0))) for x, y in known)
    most = max(places.values(), default=1)
    for (across, up), count in sorted(places.items()):
        x, y = LEFT + (RIGHT - LEFT) * across / ACROSS, bottom - TALL * up / UP
        radius = 2.5 + 5.5 * math.sqrt((count - 1) / max(1, most - 1)) if most > 1 else 3.0
        parts.append(f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{radius:.3g}" fill-opacity=".45" {seen("jg-c1")}/>')
    parts += _named_ends((x0, x1), (y0, y1), top, bottom)
    unread = len(one.human) - len(known)
    missing = f"; {counted(unread, 'answer')} that could not be read not drawn" if unread else ""
    means = f"mean of people {number_text(_mean(values[:, 0]))}, of answers {number_text(_mean(values[:, 1]))}"
    return picture(f"{one.name}: people and answers met", f"{one.agreed}; {means}{missing}", parts, bottom + 18)


def _named_ends(x: tuple[float, float], y: tuple[float, float], top: float, bottom: float) -> Iterator[str]:
    yield text(LEFT - 5, top + 8, f"{y[1]:g}", look="jg-muted", end=True)
    yield text(LEFT - 5, bottom, f"{y[0]:g}", look="jg-muted", end=True)
    yield text(LEFT, bottom + 14, f"{x[0]:g}", look="jg-muted")
    yield text(RIGHT, bottom + 14, f"{x[1]:g}", look="jg-muted", end=True)
    yield centred((LEFT + RIGHT) / 2, bottom + 14, "people, to the right; answers, upwards", look="jg-muted")


def _ends(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], scale: Scale | None) -> tuple[float, float]:
    if scale is not None and scale.low is not None and scale.high is not None:
        return scale.low, scale.high
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float | None:
    return float(values.mean()) if len(values) else None


def against_people(found: Sequence[Matched], kinds: Sequence[Kind]) -> list[Block]:
    """The charts of those of some kinds, with what they show; [] without any."""
    mine = _merged_alike([one for one in found if one.kind in kinds])
    if not mine:
        return []
    more = f" Of {len(mine)} the first {DRAWN} are drawn." if len(mine) > DRAWN else ""
    if kinds == ("verdict",):
        lead = (
            "Verdicts beside people's: a row for what people said, a column for what was answered; of pairs asked in "
            f"both orders the verdict in the given one, as agreement counts it.{more}"
        )
    else:
        under = " How people's judgements lie on the scale stands under Scores." if on_their_scale(mine) else ""
        lead = (
            "Which answer met which judgement of people; of several annotators their mean counts. A table of up to "
            f"{LEVELS} values, else points, larger where several samples lie; framed, or on the dashed line, both are "
            f"equal.{under}{more}"
        )
    drawn = mine[:DRAWN]
    return [Para(lead), *(chart for one in drawn for chart in charts(one))]


def _merged_alike(found: Sequence[Matched]) -> list[Matched]:
    """Those of one criterion whose answers are the same, as of a merged verdict by two names, stand there once."""
    alike: dict[tuple[object, ...], list[Matched]] = {}
    for one in found:
        alike.setdefault((one.criterion, one.kind, *one.human, *one.answers), []).append(one)
    found_names = [[one.metric for one in same] for same in alike.values()]
    return [
        replace(same[0], metric=" and ".join(n for n in names if not (n.endswith(BOTH) and n[: -len(BOTH)] in names)))
        for same, names in zip(alike.values(), found_names, strict=True)
    ]


COEFFICIENTS, RESAMPLES = 24, 1_000


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
        f"what could not be read is left out; 95 % intervals from {draws(items):,} resamples of samples (groups, "
        f"{GROUPS}), of shares by Wilson. judgegraph meta has other levels, tests and conventions."
    )
    found = agreement_of(run, counts)
    if not isinstance(found, Agreement):
        return Section("agreement", "Agreement with people", (Para(sentence(f"It cannot be told: {found}")),))
    blocks: list[Block] = [Para(lead), *(Para(sentence(note)) for note in found.notes if meta.THIN in note)]
    for _, rows in groupby(found.rows, key=lambda row: row.kind):
        blocks += _kind(list(rows))
    blocks += against_people(matched_with_people(run, counts, found), ("number", "label"))
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
    """A chart of what lies beyond chance, a table of the statistics read most, and behind a click the others."""
    mine = once(rows)
    further = [row for row in mine if row.statistic in FURTHER]
    table = of_agreement.statistics([row for row in mine if row.statistic not in FURTHER])
    more = (Fold("Further statistics", (of_agreement.statistics(further),)),) if further else ()
    return [agreement_plot(mine), table, *more]


FURTHER = ("accuracy-exchanged", "accuracy-mean", "kappa-linear", "alpha-ordinal", "macro-precision", "macro-recall",
           "macro-f1")  # fmt: skip


def criterion_and_judge(row: Row) -> tuple[str, str]:
    """Criterion and metric."""
    return row.criterion, row.metric


def once(rows: Sequence[Row]) -> list[Row]:
    """Without the verdict of both orders beside that of the run, which is the same one."""
    met = {criterion_and_judge(row) for row in rows}
    return [
        row for row in rows if (row.criterion, row.metric.removesuffix(BOTH)) not in met - {criterion_and_judge(row)}
    ]


def agreement_plot(rows: Sequence[Row]) -> Picture:
    """Of the statistic that is 0 where a judge agrees by chance: of labels and verdicts kappa."""
    statistic = "kappa" if any(row.statistic == "kappa" for row in rows) else rows[0].statistic
    mine = [row for row in rows if row.statistic == statistic][:COEFFICIENTS]
    alone = len({row.metric for row in mine}) == 1
    names = [row.criterion if alone else f"{row.criterion}, {row.metric}" for row in mine]
    measures = [Measure(name, row.value, *row.interval, row.n) for name, row in zip(names, mine, strict=True)]
    return interval_plot(f"{statistic.capitalize()} with people", measures)


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
    ends = mean_intervals(tally)
    blocks: list[Block] = [*laid_out.answers(summary, ends)]
    blocks += [*laid_out.members(summary), *laid_out.consulted(summary)]
    if lines:
        blocks.append(Para(_lead(tally, any(low == low for low, _ in ends.values()))))
    if own := sum(line.n for line in summary.answers.values() if line.criterion == OWN):
        sides = ", those for both outputs of a pair" if summary.verdicts else ""
        blocks.append(Para(
            f"{OWN}: a method that writes criteria for each sample; all of these are taken together here: "
            f"{counted(own, 'score')} of {counted(tally.samples, 'sample')}, by each criterion of each sample{sides}."
        ))  # fmt: skip
    charts = charts_of(run, tally)
    if charts:
        blocks += [Para(_binning(charts, len(summary.answers))), *charts]
    blocks += laid_out.every_line(summary)
    return Section("scores", "Scores", tuple(blocks))


def mean_intervals(tally: Tally) -> dict[Key, Ends]:
    """(criterion, agent, side) -> the 95 % interval of the mean of its answers.

    Groups are drawn whole, and so are samples with several answers, such as one in each order.
    """
    values: dict[Key, list[tuple[float, str | None, str]]] = {}
    for one, side in product(tally.some.held, ("output", "rival")):
        for criterion, agent, _, role, value in one.of(side):
            if role == "answer":
                values.setdefault((criterion, agent, side), []).append((value, group_of(one.item), one.item.id))
    found: dict[Key, Ends] = {}
    for line in tally.summary.answers.values():
        parts = dict.fromkeys(part[:2] for part in line.parts) or {(line.criterion, line.agent): None}
        rows = [row for part in parts for row in values.get((part[0], part[1], line.of), ())]
        if line.mean is not None and rows:
            numbers = np.array([value for value, *_ in rows], dtype=np.float64)
            groups, ids = [group for _, group, _ in rows], [sample for *_, sample in rows]
            several = len(set(ids)) < len(ids) and None in groups
            ends = mean_interval(numbers, codes(ids if several else groups))
            found[line.criterion, line.agent, line.of] = ends
    return found


def _lead(tally: Tally, intervals: bool) -> str:
    summary = tally.summary
    read, what = summary.judged - summary.drafts, "final score" if summary.drafts else "score"
    alone = f", and {summary.drafts:,} with drafts alone" if summary.drafts else ""
    partly = f" ({summary.partly:,} of these judged in part)" if summary.partly else ""
    drawn = (
        f"; its 95 % interval is from {MEAN_RESAMPLES:,} resamples of {tally.some.counted}, groups whole {GROUPS}"
        if intervals else ""
    )  # fmt: skip
    orders = " Of a pair that was judged in both orders each order's score counts." if summary.both else ""
    return (
        f"{counted(tally.samples, 'sample')}, {read:,} with a {what} or verdict that could be read{partly}{alone}. "
        f"A mean is of the scores that could be read{drawn}.{orders}"
    )


def charts_of(run: Run, tally: Tally) -> list[Picture]:
    """Of each answer: people's judgements on its scale, its draft, and itself."""
    finals = tally.summary.shown
    judged = on_their_scale(matched_with_people(run, tally, agreement_of(run, tally)))
    found: list[Picture] = []
    for line in finals:
        draft = tally.summary.lines.get(line.draft) if line.draft else None
        series = [_series(tally, one) for one in (draft, line) if one is not None]
        if line.of == "output" and (human := judged.get(line.criterion.casefold())) is not None:
            series.insert(0, human)
        met = {point for one in series for point in one.counts}
        points = points_of(line.scale, met - {OFF}) + ([OFF] if OFF in met else [])
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
    rest = f"{counted(len(points) - len(shown), 'other')}"
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


# Pairs and biases: who wins, what the run itself shows of biases, and the commands that measure the others.


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
            within = "" if line.criterion in POOLED or ends.low != ends.low else _bounds(ends)
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
        for *line, _, value in one.of(key[-1])
        if (*line, key[-1]) == key
    ]
    unit = codes([group for _, group in held])
    if unit is None:
        top = tally.points[key][point]
        return mean_share({1.0: top, 0.0: tally.points[key].total() - top})
    values = np.array([point_of(value, scale) == point for value, _ in held], dtype=np.float64)
    return float(values.mean()), share_interval(values, unit=unit), len(values)


def _bounds(ends: Interval) -> str:
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
PAIRS_MOST, JUDGES = 60, 6


def pairs(run: Run, tally: Tally | None = None) -> Section | None:
    """Verdicts over all, the win graph where samples name their systems, the ranking; None where no pair was judged."""
    tally = tally or tally_of(run)
    verdicts = tally.summary.verdicts
    if not verdicts:
        return None
    n = verdicts.total()
    blocks: list[Block] = [*laid_out.pairs(tally.summary)]
    blocks.append(split_bar("Verdicts on pairs", [(name, verdicts[name]) for name in ORDER if verdicts[name]]))
    blocks.append(Para(
        f"n {n:,}. A is the sample's output, B its rival, in whatever order they were shown; none: no verdict could be "
        f"read ({verdicts['none']:,})."
    ))  # fmt: skip
    if tally.labelled.items:
        blocks += against_people(matched_with_people(run, tally, agreement_of(run, tally)), ("verdict",))
    return Section("pairs", "Pairs", (*blocks, *_systems(run, tally)))


def _systems(run: Run, tally: Tally) -> list[Block]:
    shares = tally.orders.shares()
    if not shares:
        return []
    ranked, blocks = _rankings(run, tally)
    names = _order(ranked, tally)
    more = f" The first {WIN_GRAPH_MOST} of {len(names)} systems are drawn." if len(names) > WIN_GRAPH_MOST else ""
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
