"""What moved of one sample between two runs: how far, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeAlias

from judgegraph.errors import one_line
from judgegraph.meta.diff.causes import Causes, Why
from judgegraph.meta.diff.matching import ends, matched, same_answer, share
from judgegraph.meta.diff.move import Answer, Kind, Move
from judgegraph.runtime.item import FINE, Item
from judgegraph.types import Comparison, Score

WORDS = 160  # characters that are kept of a reason
Verdict: TypeAlias = Comparison | Item
SAMPLED = ("samples", "mean")  # rungs whose value is a mean of several answers


def absent(item: Item, score: Score) -> Score:
    """What stands where a failed sample has no score: the sample's status and reason."""
    about = {"value": None, "label": None, "distribution": None, "draft": None, "reader": ""}
    return score.model_copy(update={**about, "status": item.status, "reason": item.reason})


def score_pairs(a: Item, b: Item) -> Iterator[tuple[Score | None, Score | None, bool]]:
    """The scores that stand for the same in both, and whether they are answers; of a sample that failed in one run the
    failure.
    """
    for one, other, answer in matched(a, b):
        if one is not None and b.status not in FINE and (other is None or _idle(other)):
            other = absent(b, one)
        elif other is not None and a.status not in FINE and (one is None or _idle(one)):
            one = absent(a, other)
        yield one, other, answer


def _idle(score: Score) -> bool:
    """Whether it has no answer, and no failure of its own that says why."""
    return score.answer is None and score.status in FINE


def score_move(causes: Causes, a: Item, b: Item, one: Score, other: Score) -> Move | None:
    """None where it did not move."""
    if same_answer(one, other):
        return None
    why = causes.of_score(a, b, one, other)
    kind: Kind = "status" if one.answer is None or other.answer is None else "label"
    change = share = spread = None
    if one.value is not None and other.value is not None:
        kind, (change, share) = "value", _moved(one, other)
        spread = _spread(causes, one, other) if change is not None else None
    return Move(
        criterion=one.criterion, agent=_agents(one.agent, other.agent), kind=kind, of=one.of, repeat=one.repeat,
        stage=one.stage,
        a=_shown(one), b=_shown(other), change=change, share=1.0 if kind != "value" else share, spread=spread,
        reason_a=one_line(one.reason, WORDS), reason_b=one_line(other.reason, WORDS), **_why(why),
    )  # fmt: skip


def verdict_pairs(a: Item, b: Item) -> Iterator[tuple[Verdict | None, Verdict | None]]:
    """The comparisons, then the verdicts over all; of a sample that failed in one run the failure, else None."""
    ones, others = ({c.key: _counted(item, c) for c in item.comparisons} for item in (a, b))
    for key in {**ones, **others}:
        one, other = ones.get(key), others.get(key)
        if other is None and one is not None and b.status not in FINE:
            other = _unjudged(b, one)
        if one is None and other is not None and a.status not in FINE:
            one = _unjudged(a, other)
        yield one, other
    a, b = (x.model_copy(update={"verdict": None}) if x.status not in FINE else x for x in (a, b))
    if a.verdict or b.verdict:
        yield tuple(x if x.verdict or x.comparisons or x.status not in FINE else None for x in (a, b))  # type: ignore[misc]


def _counted(item: Item, one: Comparison) -> Comparison:
    """Of a sample that failed its failure: what its graph made of the part that was judged is no verdict."""
    return one if item.status in FINE else _unjudged(item, one)


def _unjudged(item: Item, one: Comparison) -> Comparison:
    gone = {"verdict": None, "score_a": None, "score_b": None, "status": item.status, "reason": item.reason}
    return one.model_copy(update=gone)


def verdict_move(causes: Causes, a: Item, b: Item, one: Verdict, other: Verdict) -> Move | None:
    """None where it did not move."""
    if (one.verdict, one.verdict or one.status) == (other.verdict, other.verdict or other.status):
        return None
    if isinstance(one, Comparison) and isinstance(other, Comparison):
        why = causes.of_comparison(a, b, one, other)
        return _verdict(one.criterion, f"{one.agent} ({one.order})", one, other, why)
    return _verdict("", "", one, other, causes.of_verdict(a, b))


def _verdict(criterion: str, agent: str, one: Comparison | Item, other: Comparison | Item, why: Why) -> Move:
    kind: Kind = "verdict" if one.verdict and other.verdict else "status"
    said = [x.verdict or (x.status if x.status != "ok" else "none") for x in (one, other)]
    reasons = [one_line(x.reason, WORDS) for x in (one, other)]
    return Move(
        criterion=criterion, agent=agent, kind=kind, a=said[0], b=said[1], share=1.0,
        reason_a=reasons[0], reason_b=reasons[1], **_why(why),
    )  # fmt: skip


def _why(why: Why) -> dict[str, Any]:
    return {"causes": why.causes, "at": why.at, "changes": tuple(change.line for change in why.changes)}


def _moved(one: Score, other: Score) -> tuple[float | None, float | None]:
    """(in units of the scale, by its width); None what cannot be said."""
    assert one.value is not None
    assert other.value is not None
    a, b = share(one), share(other)
    by_width = None if a is None or b is None else b - a
    if one.scale == other.scale or (by_width is not None and ends(one.scale) == ends(other.scale)):
        return other.value - one.value, by_width
    return None, by_width


def _spread(causes: Causes, one: Score, other: Score) -> float | None:
    total = 0.0
    for side, score in zip(causes.sides, (one, other), strict=True):
        variance = _variance(score)
        if variance is None:
            return None
        total += variance / (side.draws(score.agent) if score.reader in SAMPLED else 1)
    return math.sqrt(total)


def _variance(score: Score) -> float | None:
    """Of the distribution over a numeric scale."""
    try:
        points = [(float(point), share) for point, share in (score.distribution or {}).items()]
    except ValueError:
        return None
    whole = sum(share for _, share in points)
    if not whole:
        return None
    mean = sum(point * share for point, share in points) / whole
    return sum(share * (point - mean) ** 2 for point, share in points) / whole


def _shown(score: Score) -> Answer:
    return score.status if score.answer is None else score.answer


def _agents(one: str, other: str) -> str:
    return one if one == other else f"{one} -> {other}"
