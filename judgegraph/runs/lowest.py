"""Which samples have the lowest scores: one rule for terminal, notebook and page."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import NamedTuple

from judgegraph.answers import answers_of, means_of, scaled, several
from judgegraph.data.samples import UNTRUSTED
from judgegraph.runs.item import Item
from judgegraph.types import Scale


class LowScore(NamedTuple):
    """A sample's mean, 0 to 1 of its scales. scale: of all these answers, None where they have several."""

    value: float
    place: int
    item: Item
    scale: Scale | None


class LowestScores:
    """The samples whose answers have the least mean; of several agents side by side the lowest of their means counts.

    A run that compares is asked for its pairs, by the answers for both outputs. Left out are samples that failed,
    texts that give nothing to judge, and rows without a rival among pairs.
    """

    def __init__(self, most: int = 1) -> None:
        self._most = most
        self._held: dict[bool, list[LowScore]] = {True: [], False: []}  # pairs, single outputs
        self._met: Counter[bool] = Counter()
        self._untrusted: Counter[bool] = Counter()

    def add(self, item: Item) -> None:
        """Count one; those that are held are few."""
        if item.status != "ok":
            return
        pair = bool(item.comparisons) or item.verdict is not None
        self._met[pair] += 1
        known = [(scaled(s), s) for s in answers_of(item) if pair or s.of == "output"]
        read = [(value, score) for value, score in known if value is not None]
        if not read:
            return
        if any(note.kind in UNTRUSTED for note in item.notes):
            self._untrusted[pair] += 1
            return
        means = means_of(score for _, score in read)
        apart = [means[agent] for agent in several(s for _, s in read) if agent in means] if not pair else []
        value = min(apart) if apart else fmean(value for value, _ in read)
        scales = {str(score.scale): score.scale for _, score in read}
        held = self._held[pair]
        held.append(LowScore(value, item.place, item, scales.popitem()[1] if len(scales) == 1 else None))
        if len(held) > 2 * self._most + 8:
            self._held[pair] = sorted(held, key=lambda one: one[:2])[: self._most]

    @property
    def of_pairs(self) -> bool:
        """Whether the run compared."""
        return self._met[True] > 0

    def found(self) -> list[LowScore]:
        """The lowest first, of equal ones the earlier in the dataset."""
        return sorted(self._held[self.of_pairs], key=lambda one: one[:2])[: self._most]

    @property
    def left_out(self) -> str:
        """Such as "3 texts that give nothing to judge and 1 row without a rival"; "" where nothing was."""
        thin, alone = self._untrusted[self.of_pairs], self._met[False] if self.of_pairs else 0
        said = [f"{thin:,} {'text that gives' if thin == 1 else 'texts that give'} nothing to judge"] if thin else []
        said += [f"{alone:,} row{'' if alone == 1 else 's'} without a rival"] if alone else []
        return " and ".join(said)
