"""Numbers as the sections print them, each with what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heappush, heapreplace
from itertools import count
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from judgegraph.answers import answers_of, roles_of
from judgegraph.data.samples import UNTRUSTED
from judgegraph.meta.critic import codes
from judgegraph.meta.probes import KINDS, ORIGINAL, SWAPPED, Padded, Seen, Swapped, padding, swapped
from judgegraph.meta.ranking import WON
from judgegraph.meta.result import Drawing
from judgegraph.runs.item import Item
from judgegraph.stats.agreement import share_interval
from judgegraph.stats.bootstrap import Interval, bootstrap
from judgegraph.stats.correlation import Unit, coefficient
from judgegraph.types import Comparison, Criterion, Score, key_of, text_of
from judgegraph.views.blocks import Block, Para, counted
from judgegraph.views.probes import biases

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
    """Knows the first two hundred names of criteria; the scores of later ones are of `OTHERS`.

    Attributes:
        given: names of the criteria that the run was given, which are no sample's own.
        apart: names of criteria that samples have of their own, and that are few enough to be told apart.
    """

    def __init__(self, given: Collection[str] = (), most: int = POOL_MOST, apart: Collection[str] = ()) -> None:
        self.apart = frozenset(apart)
        self._known: dict[str, str] = {}
        self.given, self._most = frozenset(given), most

    def __call__(self, item: Item) -> Item:
        """The item with what tallies count, and nothing that grows with the run."""
        written = item.written(self.given)
        scores, answers = self._scores(item, written)
        met = {score.criterion.casefold() for score in scores}
        advice = (s for s in item.suggestions if s.kind == "definition" and s.criterion.casefold() in met)
        values = {
            "sample": item.sample.model_copy(update={"human": {}}),
            "scores": scores, "answers": answers, "comparisons": self._comparisons(item.comparisons, written),
            "branches": {name: Criterion(name=name) for name in {self.name(one, written) for one in written}},
            "suggestions": tuple(advice), "reason": "", "other": {},
            "notes": tuple(note for note in item.notes if note.kind in UNTRUSTED),
        }  # fmt: skip
        return item.model_copy(update=values)

    def name(self, criterion: str, written: Iterable[str] = ()) -> str:
        """What a criterion is counted as."""
        if criterion in written and criterion not in self.apart:
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


OWN_MOST, OWN_LOOKED = 24, 200  # names of criteria that samples have of their own; samples that are looked at for them


def own_names(items: Iterable[Item], given: Collection[str]) -> Collection[str]:
    """Of the criteria that the first samples have of their own, where these are few and shared; else none."""
    found: Counter[str] = Counter()
    for item in items:
        found.update(item.written(given))
        if len(found) > OWN_MOST:
            return ()
    return found if found.total() >= 2 * len(found) else ()


# Some of many items, without their texts: what needs single samples is told of these.


SOME_ITEMS_MOST = 2_000
STAGES = ("draft", "final")
ABOUT = ("group", "system", "rival_system")  # of a sample's meta


Value = tuple[str, str, str, str, float]  # criterion, agent, stage, role, value


class Held(NamedTuple):
    """What is kept of an item: itself without texts, its output's characters, and its scores that are numbers: those of
    its output, and those of its rival.
    """

    item: Item
    length: int
    values: tuple[Value, ...]
    of_rival: tuple[Value, ...] = ()

    def of(self, side: str) -> tuple[Value, ...]:
        """The numbers of "output" or "rival"."""
        return self.of_rival if side == "rival" else self.values


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
        values: dict[str, list[Value]] = {"output": [], "rival": []}
        for s in named:
            if s.value is not None:
                values[s.of].append((s.criterion, s.agent, s.stage, str(roles[s.key]), s.value))
        length = len(text_of(whole.sample.output))
        return Held(slim(item, whole, ()), length, *(tuple(found) for found in values.values()))

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
        return f"{self.most:,} of {counted(self.seen, 'sample')} (drawn by their ids)"


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
        verdict=item.verdict, place=item.place, notes=item.notes,
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


GROUPS = "where meta.group, or the column of --group, is told"


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


# Verdicts on pairs that were asked in both orders, and which systems they were for.


# Texts and how often they were met, in bounded memory.


Key = TypeVar("Key", bound=Hashable)
ORDERS_MOST = 2_000


class Commonest(Generic[Key]):
    """A counter of at most `most` different keys; later ones that are new are only counted, in `beyond`."""

    def __init__(self, most: int = ORDERS_MOST) -> None:
        self.counts: Counter[Key] = Counter()
        self.beyond = 0
        self._most = most

    def add(self, key: Key) -> bool:
        """Count one; False where there was no room for it."""
        if key not in self.counts and len(self.counts) >= self._most:
            self.beyond += 1
            return False
        self.counts[key] += 1
        return True

    def first(self, most: int) -> list[tuple[Key, int]]:
        """The commonest; equal ones in the order of their first coming."""
        return self.counts.most_common(most)

    def rest(self, most: int) -> int:
        """How many were counted beyond the first `most` keys."""
        return self.counts.total() + self.beyond - sum(count for _, count in self.first(most))


FIRST = {"AB": "A", "BA": "B"}  # who stood first
MERGED = "all criteria, merged"


class Orders:
    """By criterion, of pairs with a verdict in both orders.

    Attributes:
        flips: criterion -> Counter of whether the verdict changed. first: criterion -> Counter of a pair's share of
            decided verdicts that the one shown first won (0, 0.5 or 1); pairs of two ties are in `flips` alone.
        met: (system, rival) -> Counter of verdicts, where the samples' meta names both.
        unnamed: verdicts on pairs whose systems are not told.
    """

    def __init__(self) -> None:
        self.flips: dict[str, Counter[bool]] = {}
        self.first: dict[str, Counter[float]] = {}
        self.met: dict[tuple[str, str], Counter[str]] = {}
        self.unnamed = 0
        self._systems: Commonest[str] = Commonest(300)

    def add(self, item: Item, names: Pool) -> None:
        """Count a pair, its criteria by the names of a pool; of a single sample, and of one that failed, nothing."""
        if item.status != "ok" or (not item.comparisons and item.verdict is None):
            return
        written = item.written(names.given)
        by: dict[tuple[str, str], dict[str, Comparison]] = {}
        for one in item.comparisons:
            by.setdefault((one.criterion, one.agent), {})[one.order] = one
        for (criterion, agent), pair in by.items():
            merged = criterion == "overall" and agent.endswith("merge")
            self._compare(MERGED if merged else names.name(criterion, written), pair)
        if item.verdict is not None:
            self._meet(item.sample.meta, item.verdict)

    def _compare(self, name: str, pair: Mapping[str, Comparison]) -> None:
        read = {order: pair[order].verdict for order in FIRST if order in pair}
        if len(read) < 2 or None in read.values():
            return
        self.flips.setdefault(name, Counter())[read["AB"] != read["BA"]] += 1
        decided = [verdict == FIRST[order] for order, verdict in read.items() if verdict != "tie"]
        if decided:
            self.first.setdefault(name, Counter())[sum(decided) / len(decided)] += 1

    def _meet(self, meta: Mapping[str, object], verdict: str) -> None:
        names = [meta.get(name) for name in ("system", "rival_system")]
        known_names = [str(name)[:200] for name in names if isinstance(name, str | int) and str(name).strip()]
        room = [self._systems.add(name) for name in known_names]
        if len(known_names) < 2 or known_names[0] == known_names[1] or not all(room):
            self.unnamed += 1
            return
        self.met.setdefault((known_names[0], known_names[1]), Counter())[verdict] += 1

    def shares(self) -> dict[tuple[str, str], tuple[float, int]]:
        """Two systems, in the order of their names -> the share of the first one, ties half, and of how many."""
        wins: dict[tuple[str, str], list[float]] = {}
        for (one, other), counts in self.met.items():
            won = sum(WON[verdict] * count for verdict, count in counts.items())
            pair, won = ((one, other), won) if one < other else ((other, one), counts.total() - won)
            held = wins.setdefault(pair, [0.0, 0.0])
            held[0] += won
            held[1] += counts.total()
        return {pair: (won / n, int(n)) for pair, (won, n) in sorted(wins.items())}


# What probes found, where the run is one of `judgegraph probe`: its copies stand among its items.


PROBED_MOST, CHANGES = 2_000, 60
DRAWING = Drawing(resamples=300)
WORDS = {SWAPPED, *KINDS, *(f"{kind}-{place}" for kind in KINDS for place in ("first", "second"))}


class Probed:
    """What was seen of the first two thousand samples, and of their copies; `copies`: how many of these there are."""

    def __init__(self, most: int = PROBED_MOST) -> None:
        self.copies, self._most = 0, most
        self._seen: dict[str, dict[str, Seen]] = {}
        self._made: dict[str, list[str]] = {}
        self._groups: dict[str, str | None] = {}

    def add(self, item: Item, given: Collection[str] = ()) -> None:
        """Keep what a probe compares; a copy's original was judged before it."""
        head, _, word = item.id.rpartition("/probe/")
        if word in WORDS and head in self._seen:
            self.copies += 1
            self._made[head].append(word)
        elif len(self._seen) < self._most:
            head, word = key_of(item.id), ORIGINAL
            self._seen[head], self._made[head] = {}, []
            group = item.sample.meta.get("group")
            self._groups[head] = None if group is None else str(group)
        else:
            return
        if item.status == "ok":
            self._seen[head][word] = Seen.of(item, given)

    def found(self) -> tuple[Swapped | None, Padded | None]:
        """As `judgegraph.meta.probes.probe` tells it; None of a probe that was not made."""
        words = {word for made in self._made.values() for word in made}
        seen, made, units = [*self._seen.values()], [*self._made.values()], codes([*self._groups.values()])
        kinds = [kind for kind in KINDS if words & {kind, f"{kind}-first", f"{kind}-second"}]
        swap = swapped(seen, made, units, DRAWING, ORIGINAL) if SWAPPED in words else None
        return swap, padding(seen, made, kinds, units, DRAWING, ORIGINAL) if kinds else None


def probe_blocks(copies: int, swap: Swapped | None, padded: Padded | None) -> Iterator[Block]:
    """What was found, each number with its 95 % interval."""
    if swap is None and padded is None:
        return
    yield Para(
        f"This run is a probe: {counted(copies, 'copy', 'copies')} of its samples were judged too, and count as "
        f"samples in all other parts of this page. Shares have Wilson's 95 % interval, "
        f"means one from {DRAWING.resamples} resamples."
    )
    yield from biases(swap, padded)
