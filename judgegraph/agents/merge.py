"""Merge the judgements of all criteria into one answer: plain code, no model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph.agents.pairwise import compared, greater
from judgegraph.errors import counted, settings_checked
from judgegraph.types import (
    Comparison,
    Comparisons,
    Criterion,
    Note,
    Notes,
    Sample,
    Scale,
    Score,
    Scores,
    Verdict,
    given_criteria,
    keyed,
    sample_of,
)

OVERALL = "overall"
LEFT_OUT = "judgements-left-out"
VOTES: dict[Verdict | None, tuple[float, float]] = {"A": (1, 0), "B": (0, 1), "tie": (0.5, 0.5)}
Points = Callable[[Comparison], tuple[float, float] | None]


class Judgements(TypedDict):  # what merge reads
    sample: Sample
    criteria: NotRequired[list[Criterion]]
    scores: NotRequired[Scores]
    comparisons: NotRequired[Comparisons]


class Merged(TypedDict):  # what it writes
    overall: float | None
    verdict: Verdict | None
    comparisons: Comparisons
    notes: Notes


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Merge:
    """Adds up what the criteria say.

    Source: Fennec, section 3.1 (the judgements of all N criteria are aggregated) and its code: the sums of A and of B
    are compared, equal sums are a tie. A judgement without both scores is left out of both sums, never counted as 0,
    and noted. Of two orders each has a merged comparison of its own, so that their agreement can be seen; the one
    of "both" has the mean of their sums over the criteria read in both orders, since a judge that favours what stands
    first would win by a criterion that counts once; without such a criterion it has no verdict, and a note.
    Single: the mean, in the units of the scale. Apart: both responses have single scores, which are compared and added
    up like those of a pair; the comparison of each criterion, under the judge's name, is written too.

    `overall` is the mean of the output's scores that count, None where there are none. Where criteria have different
    scales there is no overall, a note says so, and sums are of shares of each scale's range, 0 to 1.

    Attributes:
        mode: "single", "pair", "apart", or "auto": a pair where the sample has a rival.
        rule: "sum" adds scores; "votes" adds one point per criterion for its verdict, half a point each for a tie
            (for judges that give verdicts without scores).
        both: what two orders come to: the "mean" of their sums, or "agree-else-tie".
        judge_name, comparer: names of the agents whose scores and comparisons are merged.
    """

    mode: Literal["auto", "single", "pair", "apart"] = "auto"
    rule: Literal["sum", "votes"] = "sum"
    both: Literal["mean", "agree-else-tie"] = "mean"
    judge_name: str = "judge"
    comparer: str = "comparer"
    name: str = "merge"

    @property
    def compares(self) -> bool:
        """Whether it ever writes a comparison."""
        return self.mode != "single"

    def __call__(self, state: Judgements) -> Merged:
        scales = {criterion.name: criterion.scale for criterion in given_criteria(state)}
        pair = self.mode == "pair" or (self.mode == "auto" and sample_of(state).rival is not None)
        if pair:
            found = [c for c in state.get("comparisons", {}).values() if c.agent == self.comparer]
            return self._pair(state, scales, found)
        return self._apart(state, scales) if self.mode == "apart" else self._single(state, scales)

    def _apart(self, state: Judgements, scales: Mapping[str, Scale]) -> Merged:
        mine = [s for s in state.get("scores", {}).values() if s.agent == self.judge_name and s.criterion in scales]
        found = compared(mine)
        merged = self._pair(state, scales, found)
        return {**merged, "comparisons": {**keyed(*found), **merged["comparisons"]}}

    def _single(self, state: Judgements, scales: Mapping[str, Scale]) -> Merged:
        found = [s for s in state.get("scores", {}).values() if s.agent == self.judge_name and s.of == "output"]
        found = [s for s in found if s.criterion in scales]
        lost = [
            Note(agent=self.name, text=_left_out(s), status=s.status, kind=LEFT_OUT) for s in found if s.answer is None
        ]  # fmt: skip
        overall, mixed = self._mean((s.value, scales[s.criterion]) for s in found)
        return {"overall": overall, "verdict": None, "comparisons": {}, "notes": keyed(*lost, *mixed)}

    def _pair(self, state: Judgements, scales: Mapping[str, Scale], found: Sequence[Comparison]) -> Merged:
        found = [c for c in found if c.criterion in scales]
        points = _votes if self.rule == "votes" else _sums(scales, found)
        totals = [self._total(order, found, points) for order in _orders(found)]
        if not totals:
            why = "no criteria to compare by" if sample_of(state).rival is not None else "the sample has no rival"
            totals = [self._comparison(status="skipped", reason=why)]
        if len(totals) > 1:
            totals.append(self._both(totals, found, points))
        lost = [] if sample_of(state).rival is not None else [
            Note(agent=self.name, text="the sample has no rival to compare with", status="skipped", kind="no-rival")
        ]  # fmt: skip
        lost += [
            Note(agent=self.name, text=f"order {c.order}: {_left_out(c)}", status=c.status, kind=LEFT_OUT)
            for c in found if points(c) is None
        ]  # fmt: skip
        counted = [c for c in found if points(c) is not None]
        overall, mixed = self._mean((c.score_a, scales[c.criterion]) for c in counted)
        notes: Notes = keyed(*lost, *mixed)
        return {"overall": overall, "verdict": totals[-1].verdict, "comparisons": keyed(*totals), "notes": notes}

    def _total(self, order: str, found: Sequence[Comparison], points: Points) -> Comparison:
        """The sums of one order."""
        mine = [c for c in found if c.order == order]
        both = [p for p in map(points, mine) if p is not None]
        left = tuple(_left_out(c) for c in mine if points(c) is None)
        if not both:
            failed = [c.status for c in mine if c.status != "ok"]
            why = "no judgement has both scores" if self.rule == "sum" else "no judgement has a verdict"
            status = failed[0] if failed else "skipped"
            return self._comparison(order=order, status=status, reason=why, notes=left)
        a, b = (math.fsum(side) for side in zip(*both, strict=True))
        reason = f"A {a:.4g}, B {b:.4g} by {len(both)} of {counted(len(mine), 'criterion', 'criteria')}"
        verdict = greater(a, b)
        return self._comparison(order=order, score_a=a, score_b=b, verdict=verdict, reason=reason, notes=left)

    def _both(self, totals: Sequence[Comparison], found: Sequence[Comparison], points: Points) -> Comparison:
        """The mean of the orders' sums over the criteria read in every order; without such a criterion no verdict."""
        single, shared = _in_all(found, points, [t.order for t in totals])
        left = tuple(f"{name}: read in one order only, left out of the mean" for name in single)
        if not shared:
            said = ", ".join(f"{t.order} says {t.verdict or t.status}" for t in totals)
            failed = [one.status for one in (*totals, *found) if one.status != "ok"]
            notes = (f"the orders cannot be compared: {said}", "no criterion could be read in both orders", *left)
            return self._comparison(order="both", status=[*failed, "skipped"][0], reason=said, notes=notes)
        of = [self._total(t.order, shared, points) for t in totals]
        said = ", ".join(f"{t.order} says {t.verdict}" for t in of)
        agree = "agree" if len({t.verdict for t in of}) == 1 else "disagree"
        counted = [p for p in map(points, shared) if p is not None]
        a, b = (math.fsum(side) / len(of) for side in zip(*counted, strict=True))
        notes = (f"the orders {agree}: {said}", *left)
        if self.both == "agree-else-tie" and agree == "disagree":
            notes = (*notes, f"combined by '{self.both}'")
            return self._comparison(order="both", verdict="tie", reason=said, notes=notes)
        return self._comparison(order="both", score_a=a, score_b=b, verdict=greater(a, b), reason=said, notes=notes)

    def _comparison(self, **fields: Any) -> Comparison:
        return Comparison(criterion=OVERALL, agent=self.name, **fields)

    def _mean(self, answers: Iterable[tuple[float | None, Scale]]) -> tuple[float | None, tuple[Note, ...]]:
        """Mean in the units of the scale, and a note where there is no one scale."""
        read = [(value, scale) for value, scale in answers if value is not None]
        if len({scale for _, scale in read}) > 1:
            why = "the criteria have different scales: no overall score"
            return None, (Note(agent=self.name, text=why, status="skipped", kind="scales-differ"),)
        return (math.fsum(value for value, _ in read) / len(read) if read else None), ()


def _orders(found: Iterable[Comparison]) -> list[str]:
    return [order for order in ("AB", "BA") if order in {c.order for c in found}]


def _in_all(found: Iterable[Comparison], points: Points, orders: Sequence[str]) -> tuple[list[str], list[Comparison]]:
    """The names of the criteria that have points in some of these orders alone, and the comparisons of the others."""
    held: dict[str, list[Comparison]] = {}
    for comparison in found:
        if points(comparison) is not None and comparison.order in orders:
            held.setdefault(comparison.criterion, []).append(comparison)
    shared = [one for ones in held.values() if len(ones) == len(orders) for one in ones]
    return [name for name, ones in held.items() if len(ones) < len(orders)], shared


def _left_out(judgement: Score | Comparison) -> str:
    of = "the mean" if isinstance(judgement, Score) else "both sums"
    why = "no number in its reply" if judgement.status == "ok" else str(judgement.status)
    if isinstance(judgement, Comparison) and judgement.verdict is not None:
        why += "; merge='votes' counts its verdict"
    return f"{judgement.criterion}: left out of {of} ({why})"


def _votes(comparison: Comparison) -> tuple[float, float] | None:
    return VOTES.get(comparison.verdict)


def _sums(scales: Mapping[str, Scale], found: Iterable[Comparison]) -> Points:
    """Both scores of a comparison; as shares of the range where the criteria have several scales."""
    shared = len({scales[c.criterion] for c in found if c.score_a is not None and c.score_b is not None}) <= 1

    def points(comparison: Comparison) -> tuple[float, float] | None:
        a, b, scale = comparison.score_a, comparison.score_b, scales[comparison.criterion]
        if a is None or b is None or scale.low is None or scale.high is None:
            return None
        span = scale.high - scale.low
        return (a, b) if shared else ((a - scale.low) / span, (b - scale.low) / span)

    return points
