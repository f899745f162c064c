"""Samples on the page: which are shown, and what is told of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judgegraph.answers import answers_of, means_of, roles_of, scaled, several
from judgegraph.evidence import turn_text
from judgegraph.report.charts import Cut, cut, in_line, score_bar
from judgegraph.runs.item import FINE, LISTED, Item, rival_overall
from judgegraph.runs.lowest import LowestScores
from judgegraph.runs.run import OVERALL, TEXTS, Run
from judgegraph.trace.record import Step
from judgegraph.traces.read import RankedSample, SampleTrace, firsts_of, ranked_samples
from judgegraph.types import Comparison, Rectification, Scale, Score, text_of
from judgegraph.views.blocks import Grid, Picture, count_text, counted, duration, money, number, number_text, share
from judgegraph.views.trace import command, mean_in_words

# Why samples failed, in a line each.


REASON = 160  # characters


def causes(run: Run, ids: Collection[str]) -> dict[str, str]:
    """Id -> why it failed, of the samples that are asked for; the run's items are read once, or not at all."""
    return {item.id: cause(item) for item in run.items if item.id in ids} if ids else {}


def cause(item: Item) -> str:
    """How many parts failed, the item's own status else the commonest of theirs, and the first reason of that one."""
    parts = [part for name in LISTED for part in getattr(item, name)]
    parts += [item.plan] if item.plan is not None else []
    failed = [part for part in [item, *parts] if getattr(part, "status", "ok") not in FINE]
    if not failed:
        return ""
    met = Counter(part.status for part in failed)
    status = item.status if item.status not in FINE else met.most_common(1)[0][0]
    reason = next((why for part in failed if part.status == status and (why := _reason(part))), "")
    mostly = " mostly" if len(met) > 1 else ""
    line = f"{counted(len(failed), 'failed part')},{mostly} {status.replace('_', ' ')}"
    return f"{line}: {in_line(reason, REASON)}" if reason else line


def _reason(part: object) -> str:
    return str(getattr(part, "reason", "") or getattr(part, "text", "") or "")


# How much is told of a sample: each step down says less of all its texts.


@dataclass(frozen=True)
class Detail:
    """Attributes: text: characters of a judged text, a message or a reply. reason: of a reason. rows, steps: how many.

    traced, charts: whether its steps, and its distributions, are shown at all.
    """

    text: int
    reason: int
    rows: int
    steps: int
    traced: bool = True
    charts: bool = True


WHOLE = (  # of the samples of the lists, whole trace behind a click
    Detail(12_000, 2_000, 200, 400),
    Detail(4_000, 1_000, 100, 200),
    Detail(2_000, 600, 60, 100),
    Detail(1_000, 400, 40, 80),
    Detail(500, 300, 30, 60),
    Detail(300, 200, 24, 40, charts=False),
    Detail(200, 160, 20, 30, charts=False),
    Detail(120, 100, 8, 0, False, False),
)
WITH_TEXTS = tuple(  # of all samples, where there is room: what was judged beside the reasons; no steps
    Detail(text, 600, 24, 0, traced=False, charts=False) for text in (12_000, 6_000, 3_000, 1_500, 800, 400)
)
SHORT = WITH_TEXTS + tuple(
    Detail(0, reason, rows, 0, traced=False, charts=False)
    for reason, rows in ((240, 24), (160, 16), (110, 12), (75, 10), (45, 8))
)


# All samples, or every k-th of very many, put together by what came of them.


MOST = 2_400  # samples that are looked at for a place on the page
FIFTHS = ("lowest fifth of the scale", "second fifth", "middle fifth", "fourth fifth", "highest fifth of the scale")
VERDICTS = {"A": "A is better (output)", "B": "B is better (rival)", "tie": "tie"}
MANY = 15  # points of a scale


@dataclass
class Groups:
    """Attributes: counts: (rank, title) -> samples of the run. items: the same -> those that may be shown.

    step: every which sample may be, in the order of the dataset.
    """

    step: int = 1
    counts: Counter[tuple[float, str]] = field(default_factory=Counter)
    items: dict[tuple[float, str], list[Item]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return self.counts.total()


def grouped(items: Iterable[Item], total: int, scale: Scale | None) -> Groups:
    """All items by group. `total` is how many there are about; `scale` the one that all numbers have, if they do."""
    groups = Groups(max(1, -(-total // MOST)))
    for item in items:
        key = group_of(item, scale)
        groups.counts[key] += 1
        if item.place % groups.step == 0:
            groups.items.setdefault(key, []).append(item)
    for found in groups.items.values():
        found.sort(key=lambda item: item.place)
    return groups


def group_of(item: Item, scale: Scale | None) -> tuple[float, str]:
    """(rank, title): what failed first, then by verdict, by the mean of its final scores, by label."""
    if item.status != "ok":
        return -1.0, f"failed: {item.status.replace('_', ' ')}"
    if item.verdict is not None:
        return float("ABt".index(item.verdict[0])), VERDICTS[item.verdict]
    answers = answers_of(item)
    finals = [s for s in answers if s.of == "output"]
    values = [x for s in finals if (x := scaled(s)) is not None]
    means = means_of(finals)
    if apart := [means[agent] for agent in several(finals) if agent in means]:  # of labels none has a mean
        return _by_mean(min(apart), scale, True)  # as the list of samples
    if values:
        return _by_mean(sum(values) / len(values), scale, len(values) > 1)
    labels = [s.label for s in finals if s.label is not None]
    if labels:
        return 1_000.0, in_line(labels[0], 60)
    failed = any(s.status not in FINE for s in answers)
    what = "final score" if any(s.stage == "final" for s in answers) or not answers else "score"
    return 2_000.0, f"no {what} that could be read" if failed else f"no {what}"


def _by_mean(mean: float, scale: Scale | None, several: bool) -> tuple[float, str]:
    """Of a scaled mean: the nearest point of the scale, else the fifth that it lies in."""
    points = scale.points if scale is not None else ()
    if not 2 <= len(points) <= MANY:
        rank = min(4, int(5 * mean))
        return float(rank), f"mean in the {FIFTHS[rank]}" if several else FIFTHS[rank]
    low, high = points[0], points[-1]
    point = min(high, max(low, int(low + mean * (high - low) + 0.5)))
    return float(point), f"{'mean score' if several else 'score'} {number(point)} of {number(low)} to {number(high)}"


def common_scale(scales: Iterable[Scale | None]) -> Scale | None:
    """The one numeric scale of all; None where there are several."""
    found = {str(scale): scale for scale in scales if scale is not None and not scale.labels}
    return next(iter(found.values())) if len(found) == 1 else None


# Samples written within a number of bytes: as much of each as fits, the same for all of a kind.


GUESSED = 40  # samples
MIDDLING = SHORT[len(WITH_TEXTS) + 2]
Write = Callable[[Item, Detail], str]


@dataclass
class Shown:
    """Attributes: groups: (title, samples of the run, those shown as HTML). shown, total: samples. step: every k-th.

    detail: how much is told of each.
    """

    groups: list[tuple[str, int, list[str]]] = field(default_factory=list)
    shown: int = 0
    total: int = 0
    step: int = 1
    detail: Detail = SHORT[0]


def size(texts: Sequence[str]) -> int:
    """In bytes, as they will be written."""
    return sum(len(text.encode("utf-8", "replace")) for text in texts)


def whole(write: Callable[[Detail], list[str]], room: int) -> tuple[list[str], Detail]:
    """The samples of the lists in the greatest detail that fits; the least one where none does."""
    for detail in WHOLE:
        found = write(detail)
        if size(found) <= room:
            break
    return found, detail


def least(groups: Groups, write: Write) -> float:
    """The bytes that all samples take in a middling detail, about."""
    items = [item for found in groups.items.values() for item in found]
    return _guess(items, write, MIDDLING)


def short(groups: Groups, write: Write, room: int) -> Shown:
    """All samples in the greatest detail that fits; where none does, every k-th of them, with the least k that fits."""
    items = sorted((item for found in groups.items.values() for item in found), key=lambda item: item.place)
    detail = next((d for d in SHORT if _guess(items, write, d) <= room), SHORT[-1])
    written = {item.place: write(item, detail) for item in items}
    if detail is not SHORT[-1] and size(list(written.values())) > room:  # the guess was wrong
        detail = SHORT[-1]
        written = {item.place: write(item, detail) for item in items}
    step, written = _thinned(written, groups.step, room)
    shown = Shown([], len(written), groups.total, step, detail)
    for (rank, title), count in sorted(groups.counts.items()):
        listed = [written[i.place] for i in groups.items.get((rank, title), ()) if i.place in written]
        shown.groups.append((title, count, listed))
    return shown


def _guess(items: Sequence[Item], write: Write, detail: Detail) -> float:
    """The bytes of all, by those of some, with a margin."""
    some = items[:: max(1, len(items) // GUESSED)]
    return 1.05 * size([write(item, detail) for item in some]) * len(items) / max(1, len(some))


def _thinned(written: dict[int, str], step: int, room: int) -> tuple[int, dict[int, str]]:
    """Every k-th sample of the dataset, all where they fit."""
    sizes = {place: size([text]) for place, text in written.items()}
    k = 1
    while (places := [place for place in sizes if place % (step * k) == 0]) and sum(
        map(sizes.__getitem__, places)
    ) > room:
        k += 1 if k < 8 else k // 4
    return step * k, {place: written[place] for place in places}


# The samples that a reader wants first: most moved, most uncertain, failed, dearest.


@dataclass(frozen=True)
class Listing:
    """A list of samples.

    Attributes: key: of its anchor. about: one sentence or two. samples: (id, why it is here). left_out: in words.
    """

    key: str
    title: str
    about: str
    samples: tuple[tuple[str, str], ...]
    left_out: str = ""


def listings(run: Run, most: int) -> list[Listing]:
    """At most `most` samples in each. A list without samples is left out, but for that of failures: it says so."""
    lowest = LowestScores(most)
    orders = dict.fromkeys(("change", "doubt", "failures", "cost", "time"), most)
    found = firsts_of(ranked_samples(run, watch=lowest.add), orders)
    priced = any(one.usd for one in found["cost"])
    dear = found["cost"] if priced else found["time"]
    why = causes(run, {one.id for one in found["failures"] if one.failures})
    lists = [
        _lowest(lowest),
        _listing("moved", "Most moved from a draft", "The largest step from a draft to its final score, as a share of "
                 "the scale; a changed label counts as the whole scale.", found["change"], lambda x: x.change, _moved),
        _listing("uncertain", "Most uncertain", "The score that is furthest from certain: 0 % where one answer holds "
                 "all; 100 % where a number's halves lie at both ends, or all labels are as likely.",
                 found["doubt"], lambda x: x.doubt, _doubt),
        _listing("failed", "Failed", "Samples of which something failed: the graph, a score, a tool.",
                 found["failures"], lambda x: x.failures, lambda x: why.get(x.id, "")),
        _listing("dearest", "Dearest" if priced else "Slowest", "What cost most." if priced else
                 "What took longest; nothing here has a price.", dear, lambda x: x.usd if priced else x.ms,
                 _cost if priced else _time),
    ]  # fmt: skip
    return [one for one in lists if one.samples or one.key == "failed"]


def _listing(
    key: str, title: str, about: str, found: list[RankedSample], weight: Callable[[RankedSample], float | None],
    why: Callable[[RankedSample], str],
) -> Listing:  # fmt: skip
    return Listing(key, title, about, tuple((one.id, why(one)) for one in found if weight(one)))


def _lowest(lowest: LowestScores) -> Listing:
    sides = " for both outputs" if lowest.of_pairs else ""
    rest = f" Left out: {lowest.left_out}." if lowest.left_out else ""
    about = f"The least mean of its answers{sides}, each as a share of its scale.{rest}"
    samples = tuple((low.item.id, mean_in_words(low)) for low in lowest.found())
    return Listing("lowest", "Lowest scores", about, samples, lowest.left_out)


def _moved(one: RankedSample) -> str:
    return f"{in_line(one.changed_criterion or '', 80)} {_answer(one.changed_from)} → {_answer(one.changed_to)}"


def _answer(value: float | str | None) -> str:
    return in_line(value, 40) if isinstance(value, str) else number(value)


def _doubt(one: RankedSample) -> str:
    return f"{in_line(one.doubt_criterion or '', 80)} {share(one.doubt or 0)} uncertain"


def _cost(one: RankedSample) -> str:
    return f"{money(one.usd)}, {count_text(one.tokens)} tokens"


def _time(one: RankedSample) -> str:
    return duration(one.ms)


# A sample's overall answer; of a pair each side's, as far as the second one's can be told.


def overalls(item: Item) -> Iterator[tuple[str, str]]:
    """(name, value); a run keeps that of the output alone, which of a pair is A's."""
    if item.overall is None:
        return
    if not item.comparisons:
        yield "overall", number(item.overall)
        return
    yield "overall of A (output)", number(item.overall)
    if (rival := rival_overall(item)) is not None:
        yield "overall of B (rival)", number(rival)


# How a score was come by, in words: its `reader` is a name for programs.


WORDS = {
    "logprobs": "weighted by token probabilities",
    "samples": "counted over several replies",
    "mean": "the mean of other scores",
    "text": "read from the words of the reply",
    "plain": "computed, not asked of a judge",
    "panel": "put together from a panel's answers",
    "random": "drawn at random",
}


def reading(score: Score) -> str:
    """Of a score that has a reader."""
    if score.reader == "stated":
        kind = "number" if score.value is not None else "label" if score.label is not None else "answer"
        return f"read from the reply's own {kind}"
    return WORDS.get(score.reader) or f"reader: {in_line(score.reader, 80)}"


# A score's distribution, drawn and in words.


POINTS = 12  # in words


@dataclass(frozen=True)
class ScoreDistribution:
    """A distribution, drawn and in words."""

    stage: str
    chart: Picture
    words: str


def distribution_of(score: Score) -> ScoreDistribution:
    """The likeliest points in words, in the order of the scale."""
    shares = score.distribution or {}
    likeliest = set(sorted(shares, key=lambda point: -shares[point])[:POINTS])
    labels = score.scale.labels if score.scale is not None else ()
    order = [p for p in labels if p in likeliest] or sorted(likeliest, key=_number)
    words = ", ".join(f"{in_line(p, 40)}: {100 * shares[p]:.0f} %" for p in order if shares[p] >= 0.005)
    drawn = score_bar(shares, score.scale, score.answer)
    small = _SPARE.sub("", drawn.svg).replace('role="img"', 'aria-hidden="true"', 1)
    return ScoreDistribution(score.stage, Picture(small, words), words)


_SPARE = re.compile(r' xmlns="[^"]*"| (?:fill|stroke)="#[0-9a-f]{6}"|<(title|desc)>.*?</\1>', re.S)
"""What a drawing in a page with our CSS, beside the same in words, can do without: half of its bytes."""


def _number(point: str) -> tuple[float, str]:
    try:
        return float(point), point
    except ValueError:
        return float("inf"), point


# The scores of a sample, a row for each criterion: draft, final, why, and what people said.


SCORES_NAMED = 120  # characters of a criterion


@dataclass(frozen=True)
class ScoreRow:
    """A criterion's score, with the draft that it rectifies where there is one.

    Attributes:
        name: the criterion, with the side of a pair and the agent where several judged it. scale: "1-5".
        draft, final: the answer as text. moved: "up", "down", "changed" or "". kept: a draft that was read stood.
        why: (who, reason) of each that gave one. spreads: distributions. human: what people said.
        facts: how it was read, and what else is worth knowing.
    """

    name: str
    scale: str
    draft: str
    final: str
    moved: str
    is_unchanged: bool
    why: tuple[tuple[str, Cut], ...]
    distributions: tuple[ScoreDistribution, ...]
    human: str
    facts: tuple[str, ...]
    step: int = 0  # of the run that is judged, which it speaks of; 0 for none


def rows_of(item: Item, detail: Detail) -> tuple[list[ScoreRow], list[str]]:
    """The answers, each beside its draft, then what no answer stands for: votes, members' scores, aspects.

    Returns:
        (as many rows as the detail allows, the names of all).
    """
    scores = {score.key: score for score in item.scores}
    finals = answers_of(item)
    own, linked = {s.key for s in finals}, {s.draft for s in item.scores}
    alone = [s for s in item.scores if s.key not in own and (s.key not in linked or s.draft is not None)]
    people = {name.casefold(): label for name, label in item.sample.human.items()}
    shown = finals + alone
    names = named(shown, item.comparisons)
    rows = [
        _row(name, score, scores.get(score.draft or ""), _critics(score, scores, item, finals), people, detail)
        for name, score in zip(names[: detail.rows], shown, strict=False)
    ]
    return rows, names


def _critics(score: Score, scores: Mapping[str, Score], item: Item, answers: list[Score]) -> list[Rectification]:
    """What critics said of a score: who wrote it or the scores that it came of; of others, those with no final score.

    A panel's members leave the final score to who reconciles them; where a criterion has several final scores, nobody
    knows which of them such a member spoke of.
    """
    rectifications = [r for r in item.rectifications if r.criterion == score.criterion]
    if not rectifications:
        return []
    finals = {s.agent for s in answers if s.criterion == score.criterion}
    chain, one = {score.agent}, score
    while (draft := scores.get(one.draft or "")) is not None and draft.agent not in chain:
        chain.add(draft.agent)
        one = draft
    alone = score.agent in finals and len(finals) == 1
    return [r for r in rectifications if r.agent in chain or (alone and r.agent not in finals)]


def named(scores: list[Score], comparisons: Iterable[Comparison] = ()) -> list[str]:
    """A name for each score that tells it from the others; who compares in two orders repeats in the second one."""
    agents: dict[tuple[str, str], set[str]] = {}
    for s in scores:
        agents.setdefault((s.criterion, s.of), set()).add(s.agent)
    orders: dict[tuple[str, str], set[str]] = {}
    for c in comparisons:
        orders.setdefault((c.criterion, c.agent), set()).add(c.order)
    found = []
    for s in scores:
        more = ["rival"] if s.of == "rival" else []
        more += [s.agent] if len(agents[s.criterion, s.of]) > 1 else []
        more += [s.stage] if s.stage not in ("final", "draft") else []
        more += _repeat(s.repeat, orders.get((s.criterion, s.agent), set()))
        found.append(f"{s.criterion} ({', '.join(more)})" if more else s.criterion)
    return found


def _repeat(repeat: int, orders: set[str]) -> list[str]:
    """The order in which it was asked, where both were or the second alone; else its number, the first one's none."""
    if repeat < 2 and ("AB", "BA")[repeat] in orders and "BA" in orders:
        return [("AB", "BA")[repeat]]
    return [f"repeat {repeat + 1}"] if repeat else []


def _row(
    name: str, score: Score, draft: Score | None, critics: Iterable[Rectification], people: Mapping[str, object],
    detail: Detail,
) -> ScoreRow:  # fmt: skip
    drawn = [s for s in (draft, score) if s is not None and s.distribution] if detail.charts else []
    if len(drawn) > 1 and drawn[0].distribution == drawn[1].distribution:
        del drawn[0]
    return ScoreRow(
        in_line(name, SCORES_NAMED), str(score.scale or ""), answer(draft) if draft else "", answer(score),
        moved(draft, score),
        is_unchanged(draft, score), tuple(_why(score, draft, critics, detail.reason)),
        tuple(map(distribution_of, drawn)),
        human_labels(people.get(score.criterion.casefold())), tuple(_score_facts(score)), _step_number(score),
    )  # fmt: skip


_STEP = re.compile(r"step (\d{1,6})", re.I)


def _step_number(score: Score) -> int:
    """The number of the step that a score is of, or names; 0 for none."""
    found = _STEP.fullmatch(score.criterion) or _STEP.fullmatch(score.label or "")
    return int(found[1]) if found else 0


def _why(score: Score, draft: Score | None, critics: Iterable[Rectification], reason: int) -> Iterator[tuple[str, Cut]]:
    """Who says what, a critic's own words before what came of it; what was said already is not said again.

    A critic that failed always says so: its error may read like the draft's, and is another one.
    """
    failures = [(*_failed(draft), False)] if draft is not None else []
    failures += [(f"{r.agent} {_action(r, draft)}", r.reason, r.status != "ok") for r in critics]
    failures.insert(len(failures) if draft is not None else 0, (*_failed(score), False))
    seen: set[str] = set()
    for who, text, always in failures:
        if text and (always or text not in seen):
            seen.add(text)
            yield who, cut(text, reason)


def _failed(score: Score) -> tuple[str, str]:
    """Who scored, with the status where there is no score, and its reason."""
    return score.agent if score.status == "ok" else f"{score.agent} {_status(score.status)}", score.reason


def _status(status: str) -> str:
    return status.replace("_", " ")


def _action(change: Rectification, draft: Score | None) -> str:
    to = change.label or number(change.value)
    if change.status != "ok":
        return _status(change.status)
    if change.action == "keep":
        return "keeps it" if draft is None or draft.answer is not None else "had no draft to keep"
    return f"changes it{f' {change.direction}' if change.direction != 'none' else ''}{f' to {to}' if to else ''}"


def answer(score: Score) -> str:
    """The value, the label, or how it ended instead."""
    if score.value is not None:
        return f"{score.value:.2f}" if score.value % 1 else f"{score.value:.0f}"
    return score.label or _status(score.status)


def moved(draft: Score | None, score: Score) -> str:
    """Which way the score went from its draft."""
    if draft is None or draft.answer is None or score.answer is None or draft.answer == score.answer:
        return ""
    if draft.value is None or score.value is None:
        return "changed"
    return "up" if score.value > draft.value else "down"


def is_unchanged(draft: Score | None, score: Score) -> bool:
    """Whether a draft that could be read stood: where neither could be, nothing was kept."""
    return draft is not None and draft.answer is not None and draft.answer == score.answer


def human_labels(human: object) -> str:
    """A label of people, or all of several."""
    values = human if isinstance(human, list) else [] if human is None else [human]
    return ", ".join(f"{round(v, 2):g}" if isinstance(v, int | float) else str(v) for v in values[:20])


def _score_facts(score: Score) -> Iterator[str]:
    if score.reader and score.status == "ok":
        yield reading(score)
    if score.unseen and score.unseen >= 0.005:
        yield f"{100 * score.unseen:.0f} % of the probability on no point of the scale"
    yield from score.notes[:4]


# The steps of a sample's trace as the page shows them.

LISTED_PARTS = 12  # keys of a state, or scores
FEW = 8  # steps below one that stands open
SOURCES = {"ledger": "from the ledger", "joined": "shared with another call"}


@dataclass(frozen=True)
class StepView:
    """A step.

    Attributes:
        facts: what stands beside its name. about: (name, value) behind a click. error: what went wrong.
        texts: (title, text) of messages and replies. left: steps below it that are not shown.
        opened: it stands open: few steps are below it, so a call is found without a click for each step above it.
    """

    kind: str
    name: str
    ms: str
    status: str
    facts: tuple[str, ...]
    about: tuple[tuple[str, str], ...]
    error: str
    texts: tuple[tuple[str, Cut], ...]
    steps: tuple[StepView, ...]
    left: int = 0
    opened: bool = False


class Views:
    """Makes views of steps, at most as many as the detail allows."""

    def __init__(self, detail: Detail) -> None:
        self._detail, self._room = detail, detail.steps

    def of(self, step: Step) -> StepView:
        """A step with those below it, as far as there is room: the first ones of all."""
        self._room -= 1
        below: list[StepView] = []
        for one in step.steps:
            if self._room <= 0:
                break
            below.append(self.of(one))
        left = sum(1 for one in step.steps[len(below) :] for _ in one.walk())
        error = step.about.get("error")
        return StepView(
            step.kind, in_line(step.name, NAMED), duration(step.ms), step.status, tuple(_step_facts(step)),
            tuple(_about(step)),
            in_line(str(error), self._detail.reason) if error else "", tuple(self._texts(step)), tuple(below), left,
            opened=0 < len(below) <= FEW,
        )  # fmt: skip

    def _texts(self, step: Step) -> Iterator[tuple[str, Cut]]:
        for role, text in step.messages:
            yield f"asked ({in_line(role, NAMED)})", cut(text, self._detail.text)
        many = len(step.replies) > 1
        for i, text in enumerate(step.replies[: self._detail.rows]):
            if thought := step.thought(i):
                yield f"thought {i + 1}" if many else "thought", cut(thought, self._detail.text)
            yield f"reply {i + 1}" if many else "reply", cut(text, self._detail.text)


def _step_facts(step: Step) -> Iterator[str]:
    about = step.about
    if step.kind == "model":
        yield from _call(about)
    elif step.kind == "tool" and about.get("value") is not None:
        yield f"gave {in_line(str(about['value']), NAMED)}"
    elif step.kind in ("node", "graph"):
        calls = [one for one in step.walk() if one.kind == "model"]
        if calls:
            yield counted(len(calls), "model call")
    if step.kind == "agent" and step.scores:
        yield counted(len(step.scores), "score")


def _call(about: Mapping[str, Any]) -> Iterator[str]:
    if source := about.get("from"):
        yield SOURCES.get(source, str(source))
    asked, completion = about.get("prompt_tokens"), about.get("completion_tokens")
    if asked or completion:
        yield f"{count_text(asked)} + {count_text(completion)} tokens"
    if about.get("usd") is not None:
        yield money(about["usd"])
    retries = (about.get("requests") or 1) - 1
    if retries > 0:
        yield counted(retries, "retry", "retries")


def _about(step: Step) -> Iterator[tuple[str, str]]:
    about = step.about
    yield "started", f"{duration(step.start)} after the sample did"
    for key in ("place", "class", "judge", "prompt", "form", "reader", "repeat", "address"):
        value = about.get(key)
        known = value == step.name or (key == "place" and "/" not in str(value))
        if value not in (None, "", 0) and not known:
            yield key, in_line(str(value), 200)
    if isinstance(about.get("n"), int) and about["n"] > 1:
        yield "choices asked for", str(about["n"])
    if step.kind == "node":
        yield from ((key, _keys(about.get(key))) for key in ("reads", "writes") if about.get(key))
    if step.kind in ("node", "agent") and step.scores and not (step.kind == "node" and step.steps):
        shown = [f"{in_line(s.criterion, 60)} {answer(s)}" for s in step.scores[:LISTED_PARTS]]
        yield "scores", ", ".join(shown) + _more(len(step.scores))


def _keys(values: Any) -> str:
    if not isinstance(values, Mapping):
        return ""
    return ", ".join(f"{key}{_size(value)}" for key, value in list(values.items())[:LISTED_PARTS]) + _more(len(values))


def _size(value: Any) -> str:
    if isinstance(value, list):
        return f" ({len(value)})"
    return f" ({value:g})" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _more(count: int) -> str:
    return f" and {count - LISTED_PARTS} more" if count > LISTED_PARTS else ""


# A sample as the page shows it.


NAMED = 80  # characters of an id in a heading


@dataclass(frozen=True)
class SampleView:
    """A sample.

    Attributes:
        why: what makes it stand in its list.
        facts: (name, value): verdict, overall, time. rows: its scores; `left` of them are not shown.
        said: (who, text): comparisons, corrections, findings, notes, what failed. texts: what was judged.
        people: what people said of what no score is of. root: its steps. command: prints the whole trace.
        pair: of a pair, its verdicts: a row per criterion, a column per order.
        turns: of a run, each step with its number, so that scores can link to it.
    """

    id: str
    place: int
    status: str
    head: str
    why: str
    facts: tuple[tuple[str, str], ...]
    rows: tuple[ScoreRow, ...]
    left: int
    remarks: tuple[tuple[str, Cut], ...]
    texts: tuple[tuple[str, Cut], ...]
    people: tuple[tuple[str, str], ...]
    root: StepView | None
    attempts: int
    command: str
    pair: Grid | None = None
    turns: tuple[tuple[int, Cut], ...] = ()


def view_of(
    item: Item, detail: Detail, run: str, why: str = "", trace: SampleTrace | None = None
) -> SampleView:  # fmt: skip
    """A sample at a level of detail; `run` is the folder as the command names it."""
    root = trace.root if trace is not None and detail.traced else None
    rows, names = rows_of(item, detail)
    known = {in_line(name, SCORES_NAMED).casefold() for name in names} | {s.criterion.casefold() for s in item.scores}
    people = tuple(
        (in_line(k, NAMED), human_labels(v)) for k, v in item.sample.human.items() if k.casefold() not in known
    )
    return SampleView(
        in_line(item.id, NAMED), item.place, item.status, head_of(item), why, tuple(_facts(item)),
        tuple(rows), max(0, len(names) - detail.rows), tuple(_remarks(item, detail)),
        tuple(_texts(item, detail)), people[: detail.rows],
        Views(detail).of(root) if root is not None else None, trace.attempts if trace is not None else 0,
        command(run, item.id), pair_table(item, detail.rows), tuple(_turns(item, detail)),
    )  # fmt: skip


def _turns(item: Item, detail: Detail) -> Iterator[tuple[int, Cut]]:
    """Steps until the room for a text is used up."""
    left = detail.text
    for at, turn in enumerate(item.sample.turns, 1):
        if left <= 0:
            return
        shown = cut(turn_text(at, turn), left)
        left -= len(shown.text)
        yield at, shown


ORDERS = {"AB": "A first", "BA": "B first", "both": "both orders"}


def pair_table(item: Item, most: int) -> Grid | None:
    """Of a pair the verdicts of its criteria in each order, with the scores of A and of B; None of what is no pair."""
    if not item.comparisons:
        return None
    orders = [order for order in ORDERS if any(one.order == order for one in item.comparisons)]
    several = len({one.agent for one in item.comparisons if one.criterion != OVERALL}) > 1
    found: dict[str, dict[str, str]] = {}
    for one in item.comparisons:
        name = f"{one.criterion}, {one.agent}" if several and one.criterion != OVERALL else one.criterion
        sums = f" ({number(one.score_a)} : {number(one.score_b)})" if None not in (one.score_a, one.score_b) else ""
        found.setdefault(in_line(name, NAMED), {})[one.order] = f"{one.verdict or _status(one.status)}{sums}"
    rows = [(name, *(cells.get(order, "") for order in orders)) for name, cells in [*found.items()][:most]]
    more = f", the first {most} of {len(found)}" if len(found) > most else ""
    caption = f"Who is better, with the scores of A (output) and B (rival){more}"
    return Grid(caption, ("criterion", *(ORDERS[order] for order in orders)), tuple(rows))


def head_of(item: Item) -> str:
    """What came of it, in a few words."""
    if item.status != "ok":
        return item.status.replace("_", " ")
    if item.verdict is not None:
        return {"A": "A is better", "B": "B is better", "tie": "tie"}[item.verdict]
    if item.overall is not None:
        return f"overall {number(item.overall)}"
    finals = answers_of(item) or list(item.scores)
    if all(s.answer is None for s in finals) and any(s.status not in FINE for s in finals):
        return _unread(item)
    if agents := several(finals):
        return f"{len(agents)} agents answer side by side"
    values = [s.value for s in finals if s.value is not None]
    scales = {str(s.scale) for s in finals if s.value is not None}
    if values and len(scales) == 1:  # of labels beside numbers, the numbers
        mean = f"mean {number_text(sum(values) / len(values))}" if len(values) > 1 else number(values[0])
        return f"{mean} on {in_line(scales.pop(), NAMED)}"
    read = sum(s.answer is not None for s in finals)
    if read < len(finals):
        return f"{read:,} of {counted(len(finals), 'score')} could be read"
    return counted(len(finals), "score") if finals else "nothing judged"


def _unread(item: Item) -> str:
    """Of a sample whose graph came to its end, but without a score: drafts that could be read are said to be drafts."""
    answers, roles = answers_of(item), roles_of(item)
    drafts = sum(roles[s.key] == "draft" and s.status == "ok" for s in item.scores)
    final = "final score" if any(s.stage == "final" for s in answers) else "score"
    return f"no {final} could be read" + (f", {counted(drafts, 'draft')} could" if drafts else "")


def _facts(item: Item) -> Iterator[tuple[str, str]]:
    yield "in the data", f"number {item.place + 1:,}"
    yield "time", duration(item.ms)
    yield from overalls(item)
    if item.verdict is not None:
        yield "verdict", VERDICTS[item.verdict]


def _remarks(item: Item, detail: Detail) -> Iterator[tuple[str, Cut]]:
    """Everything but scores that was said, in the order of its weight."""
    found: list[tuple[str, str]] = [(item.status, item.reason)] if item.reason else []
    found += [(_compared(c), c.reason) for c in item.comparisons]
    for c in item.corrections:
        ended = f"corrected {c.of}" if c.changed else f"{c.of} not corrected"
        found.append((f"{ended} ({c.outcome})", c.text or c.reason))
    found += [(f"{s.agent or 'critic'} suggests: {s.criterion}", s.definition) for s in item.suggestions]
    found += [(f"{f.assistant} gave {_given(f.value) or f.status}", f.reason) for f in item.findings]
    found += [(f"plan ({item.plan.status})", item.plan.text)] if item.plan is not None else []
    found += [(f"note of {n.agent}", n.text) for n in item.notes]
    for who, text in found[: detail.rows]:
        yield in_line(who, 200), cut(text, detail.reason)
    if len(found) > detail.rows:
        yield f"and {len(found) - detail.rows} more", Cut("")


def _compared(c: Comparison) -> str:
    sums = f" {number(c.score_a)} : {number(c.score_b)}" if c.score_a is not None and c.score_b is not None else ""
    # what a judge wrote has the letters that it was shown; what joins criteria counts in the letters of the sample
    exchanged = ", whose words call B what is A here" if c.order == "BA" and c.criterion != OVERALL else ""
    return f"{c.criterion}, {c.agent}, order {c.order}{exchanged}: {c.verdict or c.status}{sums}"


def _given(value: float | str | None) -> str:
    return number(value, 4) if isinstance(value, int | float) else value or ""


def _texts(item: Item, detail: Detail) -> Iterator[tuple[str, Cut]]:
    for name in TEXTS:
        value = getattr(item.sample, name)
        if value not in (None, "") and detail.text:
            yield name, cut(text_of(value), detail.text)
    if detail.text:
        for name, text in item.sample.shown_evidence().items():
            yield name, cut(text, detail.text)
