"""What the sections tell of a run, counted in one pass over its items; its memory does not grow with their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from judgegraph.answers import answers_of
from judgegraph.errors import one_line
from judgegraph.meta.reviews import Critiques, judged_by_people, point_of
from judgegraph.report.amounts import counted
from judgegraph.report.sections.advice import Advice
from judgegraph.report.sections.commonest import Commonest
from judgegraph.report.sections.orders import Orders
from judgegraph.report.sections.pool import Pool
from judgegraph.report.sections.probed import Probed
from judgegraph.report.sections.some_items import SomeItems
from judgegraph.runtime.item import Item
from judgegraph.runtime.notices import Notice, count_kinds, stepped_down
from judgegraph.runtime.run import Run
from judgegraph.runtime.summary import Summary, summarise
from judgegraph.types import Score

Line = tuple[str, ...]  # criterion, agent, stage, side: as of `Summary.lines`
OTHER, MOST_POINTS = "other", 60
SIDES = ("the output", "the rival")  # what notes of `runtime.thin_text` begin with


class Tally:
    """Counts of a run.

    Attributes:
        summary: without notes, reasons and wordings, which are bounded here. samples: how many items there were.
        points: line -> point of its scale -> scores (`meta.reviews.point_of` says what a point is).
        answers: the same of the scores that are the graph's answer.
        critiques: drafts beside finals. advice: suggestions. orders: pairs.
        notes: (agent, text). notices: kind of note -> its samples and an example.
        failures: (status, reason) of samples that did not come to their end.
        reasons: (criterion, stage, status, reason) of scores that could not be read.
        thin: samples whose output, or rival, is too thin to be judged.
        probed: copies of samples that a probe had judged.
        labelled, some: samples, of those that people judged and of all.
    """

    def __init__(self) -> None:
        self.summary = Summary("")
        self.samples, self.thin = 0, 0
        self.points: dict[Line, Counter[str]] = {}
        self.answers: dict[Line, Counter[str]] = {}
        self.critiques, self.advice, self.orders = Critiques(), Advice(), Orders()
        self.notes: Commonest[tuple[str, str]] = Commonest()
        self.notices: dict[str, Notice] = {}
        self.failures: Commonest[tuple[str, str]] = Commonest()
        self.reasons: Commonest[tuple[str, str, str, str]] = Commonest()
        self.labelled, self.some = SomeItems(), SomeItems(scored=False)
        self.probed = Probed()
        self._pool = Pool()

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
        self.probed.add(whole)
        self._texts(whole)
        answers, by_key = {score.key for score in answers_of(item)}, {score.key: score for score in item.scores}
        for score in item.scores:
            if score.answer is not None:
                key, point = (score.criterion, score.agent, score.stage, score.of), point_of(score.answer, score.scale)
                for points in (self.points, self.answers) if score.key in answers else (self.points,):
                    counts = points.setdefault(key, Counter())
                    counts[point if point in counts or len(counts) < MOST_POINTS else OTHER] += 1
            elif score.status not in ("ok", "skipped") and not _taken_over(score, by_key.get(score.draft or "")):
                self.reasons.add((score.criterion, score.stage, score.status, one_line(score.reason)))
        self.some.offer(item, whole)
        if judged_by_people(whole):
            self.labelled.offer(item, whole)
        return item

    def _texts(self, item: Item) -> None:
        count_kinds(self.notices, item.id, (*item.notes, *stepped_down(item.scores)))
        for note in item.notes:
            self.notes.add((note.agent, one_line(note.text)))
        self.thin += any(note.agent == "sample" and note.text.startswith(SIDES) for note in item.notes)
        if item.status != "ok":
            self.failures.add((item.status, one_line(item.reason)))


def tally_of(run: Run, items: Iterable[Item] | None = None) -> Tally:
    """Of a run, in one pass.

    Args:
        items: the run's, where another reader of the same pass hands them on; None: they are read here.
    """
    tally = Tally()
    watched = tally.watch(run.items if items is None else items)
    tally.summary = summarise(watched, str(run.manifest.get("signature", "")))
    return tally


def _taken_over(final: Score, draft: Score | None) -> bool:
    """Whether a final score is missing for no other reason than its draft is: that is one failure."""
    return draft is not None and (final.status, final.reason) == (draft.status, draft.reason)
