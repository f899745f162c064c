"""Items as they are tallied: criteria that a method writes for each sample are taken together, texts are left out."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from judgegraph.answers import answers_of
from judgegraph.runtime.item import Item
from judgegraph.types import Comparison, Criterion, Score

OWN, OTHERS = "(written for each sample)", "(other criteria)"
MOST, LONG = 200, 200  # names of criteria that are told apart; characters of one
POOLED = (OWN, OTHERS)


class Pool:
    """Knows the first two hundred names of criteria; the scores of later ones are of `OTHERS`."""

    def __init__(self, most: int = MOST) -> None:
        self._known: dict[str, str] = {}
        self._most = most

    def __call__(self, item: Item) -> Item:
        """The item with what tallies count, and nothing that grows with the run."""
        written = {criterion.name for criterion in item.branches.values()}
        scores, answers = self._scores(item, written)
        met = {score.criterion.casefold() for score in scores}
        advice = (s for s in item.suggestions if s.kind == "definition" and s.criterion.casefold() in met)
        told = {
            "sample": item.sample.model_copy(update={"human": {}}),
            "scores": scores, "answers": answers, "comparisons": self._comparisons(item.comparisons, written),
            "branches": {"own": Criterion(name=OWN)} if written else {},
            "suggestions": tuple(advice), "notes": (), "reason": "", "other": {},
        }  # fmt: skip
        return item.model_copy(update=told)

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
