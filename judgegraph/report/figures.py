"""Numbers as the sections print them, each with what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heappush, heapreplace
from itertools import count
from typing import NamedTuple

import numpy as np

from judgegraph.answers import answers_of, roles_of
from judgegraph.meta.critic import codes
from judgegraph.runs.item import Item
from judgegraph.stats.agreement import share_interval
from judgegraph.stats.bootstrap import Interval
from judgegraph.stats.correlation import Unit, coefficient
from judgegraph.stats.resampling import bootstrap
from judgegraph.types import Comparison, Criterion, Score, text_of
from judgegraph.views.amounts import counted

# How many resamples an interval gets, so that many samples and criteria do not keep the report waiting.


WORK, LEAST, MOST = 1_600_000, 100, 1_000


def draws(items: Sequence[Item]) -> int:
    """1,000 for up to 200 samples of eight criteria, fewer for more, at least 100."""
    labels = sum(len(item.sample.human) for item in items)
    return max(LEAST, min(MOST, WORK // max(1, labels) // 50 * 50))


def mean_share(found: Mapping[float, int]) -> tuple[float, Interval, int]:
    """The mean of values from 0 to 1, given how often each was met, with Wilson's 95 % interval, and their number."""
    values = np.repeat(np.array([*found], dtype=np.float64), [*found.values()])
    return (float(values.mean()) if len(values) else float("nan")), share_interval(values), len(values)


# Items as they are tallied: criteria that a method writes for each sample are taken together, texts are left out.


OWN, OTHERS = "(written for each sample)", "(other criteria)"
POOL_MOST, LONG = 200, 200  # names of criteria that are told apart; characters of one
POOLED = (OWN, OTHERS)


class Pool:
    """Knows the first two hundred names of criteria; the scores of later ones are of `OTHERS`."""

    def __init__(self, most: int = POOL_MOST) -> None:
        self._known: dict[str, str] = {}
        self._most = most

    def __call__(self, item: Item) -> Item:
        """The item with what tallies count, and nothing that grows with the run."""
        written = {criterion.name for criterion in item.branches.values()}
        scores, answers = self._scores(item, written)
        met = {score.criterion.casefold() for score in scores}
        advice = (s for s in item.suggestions if s.kind == "definition" and s.criterion.casefold() in met)
        values = {
            "sample": item.sample.model_copy(update={"human": {}}),
            "scores": scores, "answers": answers, "comparisons": self._comparisons(item.comparisons, written),
            "branches": {"own": Criterion(name=OWN)} if written else {},
            "suggestions": tuple(advice), "notes": (), "reason": "", "other": {},
        }  # fmt: skip
        return item.model_copy(update=values)

    def name(self, criterion: str, written: Iterable[str] = ()) -> str:
        """What a criterion is counted as."""
        if criterion in written:
            return OWN
        head = criterion[: 2 * LONG]
        known = self._known.get(head)
        if known is None:
            if len(self._known) >= self._most:
                return OTHERS
            known = criterion if len(criterion) <= LONG else criterion[: LONG - 1] + "…"
            self._known[head] = known
        return known

    def _scores(self, item: Item, written: set[str]) -> tuple[tuple[Score, ...], tuple[str, ...]]:
        """The scores, and the keys of those that are answers where other names would hide which they are."""
        scores = item.scores
        names = [self.name(score.criterion, written) for score in scores]
        if all(name == score.criterion for name, score in zip(names, scores, strict=True)):
            return scores, item.answers
        number, found = count(), {}
        for name, score in zip(names, scores, strict=True):  # a repeat of its own, so that no two keys are alike
            changed = {"criterion": name, "repeat": next(number)} if name != score.criterion else {}
            found[score.key] = score.model_copy(update=changed)
        links = {own: one.key for own, one in found.items()}
        pooled = tuple(
            one.model_copy(update={
                "draft": links.get(one.draft or "", one.draft), "votes": tuple(links.get(v, v) for v in one.votes),
            }) if one.draft in links or one.votes else one
            for one in found.values()
        )  # fmt: skip
        return pooled, tuple(links[score.key] for score in answers_of(item))

    def _comparisons(self, comparisons: tuple[Comparison, ...], written: set[str]) -> tuple[Comparison, ...]:
        return tuple(
            one if (name := self.name(one.criterion, written)) == one.criterion
            else one.model_copy(update={"criterion": name})
            for one in comparisons
        )  # fmt: skip


# Some of many items, without their texts: what needs single samples is told of these.


SOME_ITEMS_MOST = 2_000
STAGES = ("draft", "final")
ABOUT = ("group", "system", "rival_system")  # of a sample's meta


class Held(NamedTuple):
    """What is kept of an item: itself without texts, its output's characters, and its scores that are numbers."""

    item: Item
    length: int
    values: tuple[tuple[str, str, str, str, float], ...]  # criterion, agent, stage, role, value


@dataclass
class SomeItems:
    """At most `most` of the items that it is offered, the same ones in whatever order they come.

    Attributes:
        seen: how many it was offered. scored: whether scores are kept as they are; else only as `Held.values`.
    """

    most: int = SOME_ITEMS_MOST
    scored: bool = True
    seen: int = 0
    _held: list[tuple[int, int, Held]] = field(default_factory=list)

    def offer(self, item: Item, whole: Item) -> None:
        """Hold an item if there is room, or if chance, which an id decides, prefers it.

        Args:
            item: as it is tallied. whole: as it was read.
        """
        self.seen += 1
        digest = blake2b(item.id.encode("utf-8", "replace"), digest_size=8).digest()
        place = -int.from_bytes(digest, "big")
        if len(self._held) < self.most:
            heappush(self._held, (place, -self.seen, self._slimmed(item, whole)))
        elif place > self._held[0][0]:
            heapreplace(self._held, (place, -self.seen, self._slimmed(item, whole)))

    def _slimmed(self, item: Item, whole: Item) -> Held:
        named = [s for s in item.scores if s.stage in STAGES and s.criterion not in POOLED]
        roles = roles_of(item)
        if self.scored:
            return Held(slim(item, whole, tuple(map(_without_texts, named))), 0, ())
        numbers = [s for s in named if s.value is not None and s.of == "output"]
        values = [(s.criterion, s.agent, s.stage, str(roles[s.key]), s.value) for s in numbers if s.value is not None]
        return Held(slim(item, whole, ()), len(text_of(whole.sample.output)), tuple(values))

    @property
    def held(self) -> list[Held]:
        """What it holds, in the order of the dataset."""
        return [one for *_, one in sorted(self._held, key=lambda entry: (entry[2].item.place, -entry[1]))]

    @property
    def items(self) -> list[Item]:
        """Those it holds, in the order of the dataset."""
        return [one.item for one in self.held]

    @property
    def counted(self) -> str:
        """1,000 samples; or how many of how many."""
        if self.seen <= self.most:
            return counted(self.seen, "sample")
        return f"{self.most:,} of {self.seen:,} samples (drawn by their ids)"


def slim(item: Item, whole: Item, scores: tuple[Score, ...]) -> Item:
    """Without texts, and without comparisons by criteria that are its own."""
    sample, meta = whole.sample, {name: whole.sample.meta[name] for name in ABOUT if name in whole.sample.meta}
    texts = {"query": "", "source": "", "output": "", "reference": None, "rival": None if sample.rival is None else ""}
    comparisons = tuple(
        one.model_copy(update={"reason": "", "raw": None}) for one in item.comparisons if one.criterion not in POOLED
    )
    return Item(
        sample=sample.model_copy(update={**texts, "meta": meta}), status=item.status, scores=scores,
        answers=tuple(score.key for score in answers_of(item)), comparisons=comparisons, overall=item.overall,
        verdict=item.verdict, place=item.place,
    )  # fmt: skip


def _without_texts(score: Score) -> Score:
    if not (score.reason or score.raw or score.distribution):
        return score
    return score.model_copy(update={"reason": "", "raw": None, "distribution": None})


# Whether longer outputs score higher: Spearman of each line's scores with the length of what was judged.


LINES, LENGTH_LEAST = 24, 5
LENGTH_WORK = 3_000_000  # numbers drawn
Row = tuple[int, float, str | None]  # length, score, group


@dataclass(frozen=True)
class LengthEffect:
    """One line's coefficient with its 95 % interval, nan where lengths or scores are all alike."""

    name: str
    value: float
    low: float
    high: float
    n: int
    resamples: int


def length_effects(some: SomeItems) -> list[LengthEffect]:
    """Of the answers for single outputs that are numbers, at least five of a line; of no answers, of all."""
    held: dict[tuple[str, str, str], list[Row]] = {}
    for one in some.held:
        for criterion, agent, _, role, value in one.values:
            held.setdefault((criterion, agent, role), []).append((one.length, value, group_of(one.item)))
    finals = {line: rows for line, rows in held.items() if line[2] == "answer"} or held
    finals = {line: rows for line, rows in list(finals.items())[:LINES] if len(rows) >= LENGTH_LEAST}
    resamples = max(100, min(1000, LENGTH_WORK // max(1, sum(map(len, finals.values()))) // 100 * 100))
    return [_effect(f"{line[0]}, {line[1]}", rows, resamples) for line, rows in finals.items()]


def group_of(item: Item) -> str | None:
    """What `meta.group` of its sample says."""
    group = item.sample.meta.get("group")
    return None if group is None else str(group)


def _effect(name: str, rows: list[Row], resamples: int) -> LengthEffect:
    """Groups are drawn whole, where each sample names its own."""
    lengths, values = (np.array([row[at] for row in rows], dtype=np.float64) for at in (0, 1))
    group = codes([row[2] for row in rows])
    value = coefficient("spearman", lengths, values)
    if value != value:
        return LengthEffect(name, value, value, value, len(rows), resamples)
    unit: Unit = "item" if group is None else "group"
    drawn = bootstrap(
        lengths, [values], coefficients=("spearman",), unit=unit, group=group, resamples=resamples
    )  # fmt: skip
    found = drawn.interval(0, 0)
    return LengthEffect(name, value, found.low, found.high, len(rows), resamples)
