"""Some of many items, without their texts: what needs single samples is told of these."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heappush, heapreplace
from typing import NamedTuple

from judgegraph.answers import answers_of, roles_of
from judgegraph.report.amounts import counted
from judgegraph.report.sections.pool import POOLED
from judgegraph.runtime.item import Item
from judgegraph.types import Score, text_of

MOST = 2_000
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

    most: int = MOST
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
            heappush(self._held, (place, -self.seen, self._kept(item, whole)))
        elif place > self._held[0][0]:
            heapreplace(self._held, (place, -self.seen, self._kept(item, whole)))

    def _kept(self, item: Item, whole: Item) -> Held:
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
        return [one for *_, one in sorted(self._held, key=lambda kept: (kept[2].item.place, -kept[1]))]

    @property
    def items(self) -> list[Item]:
        """Those it holds, in the order of the dataset."""
        return [one.item for one in self.held]

    @property
    def said(self) -> str:
        """1,000 samples; or how many of how many."""
        if self.seen <= self.most:
            return counted(self.seen, "sample")
        return f"{self.most:,} of {self.seen:,} samples (drawn by their ids)"


def slim(item: Item, whole: Item, scores: tuple[Score, ...]) -> Item:
    """Without texts, and without comparisons by criteria that are its own."""
    sample, kept = whole.sample, {name: whole.sample.meta[name] for name in ABOUT if name in whole.sample.meta}
    texts = {"query": "", "source": "", "output": "", "reference": None, "rival": None if sample.rival is None else ""}
    comparisons = tuple(
        one.model_copy(update={"reason": "", "raw": None}) for one in item.comparisons if one.criterion not in POOLED
    )
    return Item(
        sample=sample.model_copy(update={**texts, "meta": kept}), status=item.status, scores=scores,
        answers=tuple(score.key for score in answers_of(item)), comparisons=comparisons, overall=item.overall,
        verdict=item.verdict, place=item.place,
    )  # fmt: skip


def _without_texts(score: Score) -> Score:
    if not (score.reason or score.raw or score.distribution):
        return score
    return score.model_copy(update={"reason": "", "raw": None, "distribution": None})
