"""What failed: by criterion, by node, and the commonest reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import Any

from judgegraph.answers import answers_of
from judgegraph.errors import one_line, sentence, status_text
from judgegraph.meta.critic import MOST_POINTS as POINTS
from judgegraph.meta.critic import PARTS, CriticWorth, Critiques, judged_by_people, point_of
from judgegraph.meta.result import Agreement
from judgegraph.report.figures import (
    OWN_LOOKED,
    Commonest,
    LengthEffect,
    Orders,
    Pool,
    Probed,
    SomeItems,
    length_effects,
    own_names,
)
from judgegraph.runs.item import (
    OFF_SCALE,
    Item,
    Notice,
    by_count,
    count_kinds,
    fallbacks,
    nothing_judged,
    title,
    without_details,
)
from judgegraph.runs.run import Alignment, Run
from judgegraph.runs.suggestions import Gathering, Suggestions
from judgegraph.runs.summary import Summary, criteria_names, has_weights, summarise
from judgegraph.traces.read import NodeTime, node_times
from judgegraph.types import Scale, Score
from judgegraph.views.blocks import Block, Fold, Grid, Para, Section, counted, endings, percent
from judgegraph.views.run import aligned

# What the sections tell of a run, counted in one pass over its items; its memory does not grow with their number.


Line = tuple[str, ...]  # criterion, agent, stage, side: as of `Summary.lines`
OTHER, MOST_POINTS = "other", 60
SIDES = ("the output", "the rival")  # what notes of `runs.item` begin with


CAUSES_MOST, SHOWN_IDS, SHOWN_CRITERIA = 500, 3, 3


@dataclass
class Cause:
    """What failed for one reason at one place.

    Attributes:
        status: such as "unreadable". where: the agent whose scores are missing, "" where a whole sample ended early.
        reason: in the first sample's words. samples, scores: how many. criteria: of these scores. ids: the first ones.
    """

    status: str
    where: str
    reason: str
    samples: int = 0
    scores: int = 0
    criteria: Counter[str] = field(default_factory=Counter)
    ids: list[str] = field(default_factory=list)
    _last: int = -1

    def add(self, name: str, place: int, criterion: str) -> None:
        """One sample's, or one of its scores."""
        if place != self._last:
            self._last = place
            self.samples += 1
            if len(self.ids) < SHOWN_IDS:
                self.ids.append(name)
        if criterion:
            self.scores += 1
            self.criteria[criterion] += 1


class Causes:
    """Failures by cause: reasons that differ in a number or in what they quote are one."""

    def __init__(self) -> None:
        self._by: dict[tuple[str, str, str], Cause] = {}
        self.beyond = 0

    def add(self, part: Item | Score, item: Item, at: int) -> None:
        """A sample that ended early, or a score that is missing, of the item at a place of the run."""
        where, criterion = (part.agent, part.criterion) if isinstance(part, Score) else ("", "")
        reason = one_line(part.reason)
        key = (part.status, where, without_details(reason))
        if key not in self._by and len(self._by) >= CAUSES_MOST:
            self.beyond += 1
            return
        self._by.setdefault(key, Cause(part.status, where, reason)).add(item.id, at, criterion)

    @property
    def commonest(self) -> list[Cause]:
        """Those of whole samples first, then by how many samples they met."""
        return sorted(self._by.values(), key=lambda one: (bool(one.where), -one.samples, -one.scores))


class Tally:
    """Counts of a run.

    Attributes:
        summary: without notes, reasons and wordings, which are bounded here. samples: how many items there were.
        points: line -> point of its scale -> scores (`meta.critic.point_of` says what a point is).
        answers: the same of the scores that are the graph's answer.
        critiques: drafts beside finals. advice: suggestions. orders: pairs.
        notes: (agent, text). notices: kind of note -> its samples and an example.
        causes: of samples that did not come to their end, and of scores that are missing.
        short: "the output" and "the rival" -> how many of them are too short to be judged.
        probed: copies of samples that a probe had judged. alignment: of assistants, as the plans have it.
        labelled, some: samples, of those that people judged and of all.
        agreed, worth: what several parts of a page tell, once it was worked out: agreement with people, and what the
            critics were worth; in words where it cannot be told.
        matched: people's judgements with the answers, criterion by criterion, worked out once too.
        nodes: what each node took, as `node_times` gives it, where the spans were read already.
    """

    def __init__(self, given: Collection[str] = (), apart: Collection[str] = ()) -> None:
        self.summary = Summary("")
        self.samples = 0
        self.short: Counter[str] = Counter()
        self.points: dict[Line, Counter[str]] = {}
        self.answers: dict[Line, Counter[str]] = {}
        self.critiques, self.advice, self.orders = Critiques(), Gathering(), Orders()
        self.notes: Commonest[tuple[str, str]] = Commonest()
        self.notices: dict[str, Notice] = {}
        self.causes = Causes()
        self.labelled, self.some = SomeItems(), SomeItems(scored=False)
        self.probed = Probed()
        self.alignment = Alignment()
        self.agreed: Agreement | str | None = None
        self.worth: CriticWorth | str | None = None
        self.matched: list[Any] | None = None
        self.nodes: dict[str, NodeTime] | None = None
        self._pool = Pool(given, apart=apart)

    @cached_property
    def suggested(self) -> Suggestions:
        """What the critics suggest, by topic."""
        return self.advice.found()

    @cached_property
    def lengths(self) -> list[LengthEffect]:
        """Whether longer outputs score higher."""
        return length_effects(self.some)

    @property
    def unlabelled(self) -> str:
        """How many samples people did not judge, as a sentence that follows another; "" where they judged all."""
        count = self.samples - self.labelled.seen
        are = "is" if count == 1 else "are"
        return f" {counted(count, 'sample')} without a judgement of people {are} left out." if count else ""

    def watch(self, items: Iterable[Item]) -> Iterator[Item]:
        """Count items as they pass, and pass them on as they are to be summed up."""
        for item in items:
            yield self._add(item)

    def _add(self, whole: Item) -> Item:
        item = self._pool(whole)
        self.samples += 1
        self.critiques.add(item, "group", "system")
        self.advice.add(whole)
        self.orders.add(whole, self._pool)
        self.alignment.add(whole)
        self.probed.add(whole, self._pool.given)
        self._texts(whole)
        answers, by_key = {score.key for score in answers_of(item)}, {score.key: score for score in item.scores}
        for score in item.scores:
            if score.answer is not None:
                key, point = (score.criterion, score.agent, score.stage, score.of), point_of(score.answer, score.scale)
                for points in (self.points, self.answers) if score.key in answers else (self.points,):
                    counts = points.setdefault(key, Counter())
                    counts[point if point in counts or len(counts) < MOST_POINTS else OTHER] += 1
            elif score.status not in ("ok", "skipped") and not _taken_over(score, by_key.get(score.draft or "")):
                self.causes.add(score, whole, self.samples)
        self.some.offer(item, whole)
        if judged_by_people(whole):
            self.labelled.offer(item, whole)
        return item

    def _texts(self, item: Item) -> None:
        count_kinds(self.notices, item.id, (*item.notes, *fallbacks(item.scores)))
        for note in item.notes:
            self.notes.add((note.agent, one_line(note.text)))
            if note.agent == "sample":
                self.short.update(side for side in SIDES if note.text.startswith(side))
        if item.status != "ok":
            self.causes.add(item, item, self.samples)


def tally_of(run: Run, items: Iterable[Item] | None = None) -> Tally:
    """Of a run, in one pass.

    Args:
        items: the run's, where another reader of the same pass hands them on; None: they are read here.
    """
    given = criteria_names(run.manifest)
    every = iter(run.items if items is None else items)
    first = [*islice(every, OWN_LOOKED)]
    tally = Tally(given, own_names(first, given))
    watched = tally.watch(chain(first, every))
    signature = str(run.manifest.get("signature", ""))
    tally.summary = summarise(watched, signature, given, weighted=has_weights(run.manifest))
    return tally


def points_of(scale: Scale | None, met: set[str]) -> list[str]:
    """The points of a scale in its order; where something was met beside them, or they are no scale's, those met."""
    listed = [*scale.labels, *map(str, scale.points)] if scale is not None else []
    if scale is not None and scale.low is not None and not 0 < len(listed) <= POINTS:
        width = ((scale.high or 0) - scale.low) / PARTS
        listed = [f"{scale.low + k * width:g} to {scale.low + (k + 1) * width:g}" for k in range(PARTS)]
    return (listed if met <= set(listed) else sorted(met, key=_sort_key)) if met else []


def _sort_key(point: str) -> tuple[bool, float, str]:
    try:
        return point == OTHER, float(point.partition(" to ")[0]), ""
    except ValueError:
        return point == OTHER, float("inf"), point


def _taken_over(final: Score, draft: Score | None) -> bool:
    """Whether a final score is missing for no other reason than its draft is: that is one failure."""
    return draft is not None and (final.status, final.reason) == (draft.status, draft.reason)


MOST = 30


def failures(run: Run, tally: Tally | None = None) -> Section | None:
    """Samples, scores and nodes that did not come to their end, and why; None where all did."""
    tally = tally or tally_of(run)
    nodes = node_times(run) if tally.nodes is None else tally.nodes
    failed = tally.samples - tally.summary.samples["ok"]
    blocks: list[Block] = []
    if failed:
        blocks.append(
            Para(f"{failed:,} of {counted(tally.samples, 'sample')} ended early: {endings(tally.summary.samples)}.")
        )
    if tally.samples and tally.summary.judged <= tally.summary.drafts:
        blocks.append(Para(sentence(f"Nothing was judged: {nothing_judged(run.items, (), run.manifest.get('state'))}")))
    blocks += [*_causes(tally), *_criteria(tally), *_nodes(nodes)]
    return Section("failures", "Failures by cause", tuple(blocks)) if blocks else None


def _causes(tally: Tally) -> list[Block]:
    """One row for each cause at each place."""
    causes = tally.causes.commonest
    rows = tuple(
        (
            status_text(one.status), one.where or "(the whole sample)", f"{one.samples:,}", _scores_of(one), one.reason,
            ", ".join(one_line(name, 60) for name in one.ids) + (" …" if one.samples > len(one.ids) else ""),
        )
        for one in causes[:MOST]
    )  # fmt: skip
    if not rows:
        return []
    left = len(causes) - len(rows)
    more = f" (the commonest; {left + tally.causes.beyond:,} more)" if left + tally.causes.beyond else ""
    last = causes[len(rows) - 1]
    if alike := sum((bool(one.where), one.samples) == (bool(last.where), last.samples) for one in causes[MOST:]):
        more = f"{more[:-1]}, {alike:,} of them as common as the last here)"
    head = ("status", "agent", "samples", "scores missing", "reason (the first one's words)", "such as")
    return [Grid(f"By cause{more}", head, rows, frozenset({2}))]


def _scores_of(cause: Cause) -> str:
    """Such as "12: Coherence 8, Fluency 4", or "8 of Coherence"."""
    if not cause.scores:
        return ""
    if len(cause.criteria) == 1:
        return f"{cause.scores:,} of {one_line(next(iter(cause.criteria)), 60)}"
    named = ", ".join(f"{one_line(name, 60)} {n:,}" for name, n in cause.criteria.most_common(SHOWN_CRITERIA))
    left = len(cause.criteria) - SHOWN_CRITERIA
    return f"{cause.scores:,}: {named}" + (f" and {left:,} more criteria" if left > 0 else "")


def _criteria(tally: Tally) -> list[Block]:
    """How many scores each line lacks."""
    rows = []
    for line in tally.summary.lines.values():
        bad = {status: n for status, n in line.statuses.items() if status not in ("ok", "skipped")}
        if any(bad.values()):
            side = " (rival)" if line.of == "rival" else ""
            many = sum(bad.values())
            share = f"{many:,} of {line.n:,} ({percent(many, line.n)})"
            rows.append((f"{line.criterion}{side}", f"{line.agent}, {line.stage}", share, endings(bad)))
    if not rows:
        return []
    more = f" (of {len(rows)} lines the first {MOST})" if len(rows) > MOST else ""
    head = ("criterion", "agent, stage", "without a score", "statuses")
    grid = Grid(f"Scores that are missing{more}", head, tuple(rows[:MOST]), frozenset({2}))
    return [Fold(f"By criterion ({len(rows):,})", (grid,))]


def _nodes(nodes: dict[str, NodeTime]) -> list[Block]:
    bad = {place: one for place, one in nodes.items() if one.failures or one.failed_calls}
    if not bad:
        return []
    rows = [
        (
            place or "(outside of all nodes)",
            f"{one.failures:,} of {one.visits:,}",
            f"{one.failed_calls:,} of {one.calls:,}",
            endings(one.statuses),
        )
        for place, one in sorted(bad.items(), key=lambda pair: -pair[1].failures - pair[1].failed_calls)
    ]
    head = ("node", "visits that failed", "calls that failed", "statuses of visits")
    return [Grid("Failures by node", head, tuple(rows[:MOST]), frozenset({1, 2}))]


def alignment(run: Run, tally: Tally | None = None) -> Section | None:
    """Which assistant the plan assigned to which criterion: Fusion-Eval's table 4; None without a plan."""
    blocks = tuple(aligned((tally or tally_of(run)).alignment.rows))
    return Section("alignment", "Which assistants the plan consults", blocks) if blocks else None


# Notes on texts and steps, by frequency; before them what was skipped or left out, a line for each kind.


NOTES_MOST = 40


def left_out(run: Run, tally: Tally | None = None) -> Section | None:
    """What was skipped, dropped or not applied, a line per kind, the most frequent first; None where nothing was."""
    tally = tally or tally_of(run)
    rows = tuple(
        (title(one.kind), f"{one.samples:,} ({percent(one.samples, tally.samples)})", one_line(one.text, 300),
         one_line(one.agent, 80), one_line(one.sample, 80))
        for one in by_count(tally.notices)
        if one.kind != OFF_SCALE  # these count as they are, and stand among the notes
    )  # fmt: skip
    if not rows:
        return None
    head = ("what", f"samples (of {tally.samples:,})", "such as", "agent", "sample")
    return Section("left-out", "Skipped and left out", (Grid("By kind", head, rows, frozenset({1})),))


def notes(run: Run, tally: Tally | None = None) -> Section | None:
    """Shortfalls, fallbacks, thin texts and labels off their scale, the most frequent first; None without any."""
    tally = tally or tally_of(run)
    if not tally.notes.counts:
        return None
    rows = tuple(
        (text, agent, f"{n:,} ({percent(n, tally.samples)})") for (agent, text), n in tally.notes.first(NOTES_MOST)
    )
    grid: Block = Grid(
        "Notes", ("note", "agent", f"count (n {counted(tally.samples, 'sample')})"), rows, frozenset({2})
    )
    rest = tally.notes.rest(NOTES_MOST)
    more = (Para(f"{counted(rest, 'more note')} with other texts."),) if rest else ()
    return Section("notes", "Notes", (grid, *more))
