"""Which scores of two items are the same score, and the drafts behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from judgegraph.answers import answers_of
from judgegraph.runtime.item import Item
from judgegraph.types import Scale, Score

Place: TypeAlias = tuple[str, str, int]  # criterion, side, repeat
Matched: TypeAlias = tuple[Score | None, Score | None]
CLOSE = 1e-9  # nine digits: what differs by less is noise of the arithmetic


def matched(a: Item, b: Item) -> Iterator[tuple[Score | None, Score | None, bool]]:
    """(a score, the same in the other item, whether it is an answer): answers first, by key.

    Those that are left over are held beside each other by criterion, side and repeat where one of each side is left: so
    the answers of two critics, or of an evaluator without and with a critic. Then come final scores that are no
    answers, such as those of a panel's members. Where neither item has a final score or an answer of a criterion, all
    its scores are matched by key.
    """
    ones, others = answers_of(a), answers_of(b)
    yield from ((one, other, True) for one, other in _matched(ones, others))
    there = {_place(score) for score in (*ones, *others)}
    used = {score.key for score in (*ones, *others)}
    final = {_place(score) for score in (*a.scores, *b.scores) if score.stage == "final"}
    left = (
        [s for s in item.scores if s.key not in used and (s.stage == "final" or _place(s) not in final | there)]
        for item in (a, b)
    )
    yield from ((one, other, not there) for one, other in _matched(*left))


def _matched(ones: Sequence[Score], others: Sequence[Score]) -> Iterator[Matched]:
    by_key = {score.key: score for score in others}
    left: list[Score] = []
    for score in ones:
        other = by_key.pop(score.key, None)
        if other is None:
            left.append(score)
        else:
            yield score, other
    yield from _by_place(left, list(by_key.values()))


def _place(score: Score) -> Place:
    return score.criterion, score.of, score.repeat


def _by_place(ones: Sequence[Score], others: Sequence[Score]) -> Iterator[Matched]:
    found: dict[Place, tuple[list[Score], list[Score]]] = {}
    for side, scores in enumerate((ones, others)):
        for score in scores:
            found.setdefault(_place(score), ([], []))[side].append(score)
    for here, there in found.values():
        if len(here) == 1 == len(there) and here[0].stage == there[0].stage:
            yield here[0], there[0]
        else:
            yield from ((score, None) for score in here)
            yield from ((None, score) for score in there)


def chain(item: Item, score: Score) -> list[Score]:
    """A score with the drafts behind it, the first one first."""
    by_key = {one.key: one for one in item.scores}
    found = [score]
    while (draft := by_key.get(found[-1].draft or "")) is not None and draft not in found:
        found.append(draft)
    return found[::-1]


def roots(item: Item) -> frozenset[tuple[object, ...]]:
    """What reviewers of an item may have read: the scores that rectify none, with their reasons."""
    read = [score for score in item.scores if score.draft is None]
    return frozenset((s.criterion, s.agent, s.of, s.repeat, s.status, s.answer, s.reason) for s in read)


def same_answer(a: Score, b: Score) -> bool:
    """To nine digits, or in the label; on scales that end elsewhere in the share of them, else in the status."""
    if a.value is not None and b.value is not None:
        if ends(a.scale) == ends(b.scale):
            return abs(a.value - b.value) <= CLOSE * max(1.0, abs(a.value), abs(b.value))
        one, other = share(a), share(b)
        return one is not None and other is not None and abs(one - other) <= CLOSE
    return (a.status, a.label, a.value) == (b.status, b.label, b.value)


def share(score: Score) -> float | None:
    """How far up its scale a number stands, 0 to 1; None without a numeric scale."""
    low, high = ends(score.scale)
    if score.value is None or low is None or high is None:
        return None
    return (score.value - low) / (high - low)


def ends(scale: Scale | None) -> tuple[float | None, float | None]:
    """Of a numeric scale; numbers are of one unit where these are the same."""
    return (scale.low, scale.high) if scale else (None, None)
