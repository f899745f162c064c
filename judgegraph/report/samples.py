"""Samples on the page: which are shown, and what is told of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from judgegraph.answers import answers_of, means_of, scaled, several
from judgegraph.errors import status_text
from judgegraph.runs.item import FINE, LISTED, Item
from judgegraph.runs.run import Run
from judgegraph.runs.summary import LowestScores
from judgegraph.traces.read import RankedSample, firsts_of, ranked_samples
from judgegraph.types import Scale
from judgegraph.views.blocks import count_text, counted, duration, in_line, money, number, share
from judgegraph.views.trace import VERDICTS, Detail, mean_in_words

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
    of_these = f" {met[status]:,} of them" if len(met) > 1 else ""
    line = f"{counted(len(failed), 'failed part')},{of_these} {status_text(status)}"
    return f"{line}: {in_line(reason, REASON)}" if reason else line


def _reason(part: object) -> str:
    return str(getattr(part, "reason", "") or getattr(part, "text", "") or "")


# How much is told of a sample: each step down says less of all its texts.


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
        return -1.0, f"failed: {status_text(item.status)}"
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
