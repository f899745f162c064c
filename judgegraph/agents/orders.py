"""Verdicts of two orders of one pair: mapped back, and brought to one answer by a named rule. Plain code, no model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from judgegraph.agents.merge import OVERALL, VOTES
from judgegraph.agents.pairwise import SWAPPED, greater
from judgegraph.errors import ConfigError, counted, one_line, settings_checked
from judgegraph.types import (
    Comparison,
    Comparisons,
    Note,
    Notes,
    Sample,
    Score,
    Scores,
    Side,
    Verdict,
    keyed,
    sample_of,
)

Combine: TypeAlias = Literal["agree-else-tie", "mean"]
GIVEN, EXCHANGED = "AB", "BA"
RESULTS = ("corrections", "rectifications", "suggestions", "findings")  # of a judge, that two orders may differ in
OTHER: Mapping[Side, Side] = {"output": "rival", "rival": "output"}


class Asked(TypedDict):  # what the merge reads
    sample: Sample
    runs: NotRequired[dict[str, dict[str, Any]]]  # order -> what the judge wrote when it was asked so


class Merged(TypedDict):  # what it writes
    comparisons: Comparisons
    scores: Scores
    notes: Notes
    verdict: Verdict | None


def exchanged(sample: Sample) -> Sample:
    """The sample with its rival in the place of its output; itself without a rival."""
    if sample.rival is None:
        return sample
    return sample.model_copy(update={"output": sample.rival, "rival": sample.output})


def mapped_back(score: Score) -> Score:
    """A score of the exchanged order as one of the given order: of the other side, with a repeat of its own."""
    return score.model_copy(update={
        "of": OTHER[score.of], "repeat": 2 * score.repeat + 1,
        "draft": None, "votes": (), "notes": (*score.notes, "asked in the exchanged order"),
    })  # fmt: skip


def comparison_back(one: Comparison) -> Comparison:
    """A comparison of the exchanged order as one of the given order, by its order "BA"."""
    return one.model_copy(update={
        "order": EXCHANGED, "verdict": SWAPPED[one.verdict], "score_a": one.score_b, "score_b": one.score_a,
        "notes": (*one.notes, "in the reply's words A is the rival, which stood first"),
    })  # fmt: skip


@settings_checked
@dataclass(frozen=True, kw_only=True)
class OrderMerge:
    """Maps the verdicts of the exchanged order back and brings both orders to one verdict.

    Every comparison by a criterion is written, those of the exchanged order under "BA", A and B as in the sample. Per
    order a comparison "overall" of this agent has that order's verdict: the judge's own over all criteria where it
    wrote one, else that of its one criterion, else the majority of its criteria. The one of "both" has the answer:

        "agree-else-tie": the verdict that both orders give; a tie where they differ (MT-Bench, arXiv:2306.05685)
        "mean": the greater mean of the scores over both orders; of verdicts without scores the greater mean of points,
            1 for a win and 1/2 for a tie, so that a win and a tie are a win

    Where an order could not be read there is no verdict: nobody knows whether the orders agree.

    Attributes:
        single: the pair was asked in the given order alone, and its verdict is the answer.
        name: of the agent; it ends in "merge", by which a run's summary counts consistent pairs.
    """

    combine: Combine = "agree-else-tie"
    single: bool = False
    name: str = "orders-merge"

    async def __call__(self, state: Asked) -> Merged:
        runs = state.get("runs") or {}
        if sample_of(state).rival is None:
            why = "the sample has no rival to compare with"
            lost = Comparison(criterion=OVERALL, agent=self.name, status="skipped", reason=why)
            note = Note(agent=self.name, text=why, status="skipped", kind="no-rival")
            return {"comparisons": keyed(lost), "scores": {}, "notes": keyed(note), "verdict": None}
        given, back = self._of(runs, GIVEN), [comparison_back(one) for one in self._of(runs, EXCHANGED)]
        totals = [self._total(given, "AB")] + ([] if self.single else [self._total(back, "BA")])
        answers = totals if self.single else [*totals, self._both(totals[0], totals[1])]
        scores = [*self._scores(runs, GIVEN), *map(mapped_back, self._scores(runs, EXCHANGED))]
        by_criterion = [one for one in (*given, *back) if one.criterion != OVERALL]
        return {
            "comparisons": keyed(*by_criterion, *answers), "scores": keyed(*scores),
            "notes": {**_notes(runs, GIVEN), **_notes(runs, EXCHANGED), **keyed(*self._left_out(runs))},
            "verdict": answers[-1].verdict,
        }  # fmt: skip

    def _left_out(self, runs: Mapping[str, Any]) -> list[Note]:
        """A note on what else a judge wrote: two orders may differ in it, and nothing joins them."""
        wrote = {key: None for run in runs.values() for key, value in run.items() if key in RESULTS and value}
        text = f"{', '.join(wrote)} of the two orders are left out: verdicts, scores and notes are kept"
        return [Note(agent=self.name, text=text, status="skipped", kind="orders-left-out")] if wrote else []

    def _of(self, runs: Mapping[str, Any], run: str) -> list[Comparison]:
        """What a judge said in one order.

        Raises:
            ConfigError: it asks in both orders by itself.
        """
        found: list[Comparison] = [*runs.get(run, {}).get("comparisons", {}).values()]
        if len({one.order for one in found}) > 1:
            error = ConfigError(
                f"{self.name}: the judge '{one_line(found[0].agent, 60)}' asks in both orders by itself; leave its "
                "own setting at one order (orders: 'AB')"
            )
            error.ends_run = True
            raise error
        return [one.model_copy(update={"order": GIVEN}) for one in found]

    def _scores(self, runs: Mapping[str, Any], run: str) -> list[Score]:
        return [*runs.get(run, {}).get("scores", {}).values()]

    def _total(self, found: Sequence[Comparison], order: Literal["AB", "BA"]) -> Comparison:
        """One order's verdict over all criteria."""
        merged = [one for one in found if one.criterion == OVERALL]
        if merged or len(found) == 1:
            last = (merged or [*found])[-1]
            return last.model_copy(update={"criterion": OVERALL, "agent": self.name, "order": order})
        points = [VOTES[one.verdict] for one in found if one.verdict is not None]
        if not points:
            failed = [one.status for one in found if one.status != "ok"]
            why = "no criterion has a verdict" if found else "the judge wrote no comparison"
            return self._comparison(order, status=[*failed, "skipped"][0], reason=why)
        a, b = (math.fsum(side) for side in zip(*points, strict=True))
        reason = f"A {a:g}, B {b:g} points of {len(points)} of {counted(len(found), 'criterion', 'criteria')}"
        return self._comparison(order, verdict=greater(a, b), reason=reason)

    def _both(self, first: Comparison, second: Comparison) -> Comparison:
        said = ", ".join(f"{one.order} says {one.verdict or one.status}" for one in (first, second))
        lost = [one for one in (first, second) if one.verdict is None]
        if lost:
            status = next((one.status for one in lost if one.status != "ok"), "skipped")
            unknown = (f"the orders cannot be compared: {said}",)
            return self._comparison("both", status=status, reason=said, notes=unknown)
        agree = first.verdict == second.verdict
        notes = (f"the orders {'agree' if agree else 'disagree'}: {said}", f"combined by '{self.combine}'")
        if self.combine == "agree-else-tie":
            return self._comparison("both", verdict=first.verdict if agree else "tie", reason=said, notes=notes)
        a, b = _mean(first, second)
        scored = first.score_a is not None and second.score_a is not None
        scores = {"score_a": a, "score_b": b} if scored else {}
        return self._comparison("both", verdict=greater(a, b), reason=said, notes=notes, **scores)

    def _comparison(self, order: Literal["AB", "BA", "both"], **fields: Any) -> Comparison:
        return Comparison(criterion=OVERALL, agent=self.name, order=order, **fields)


def _mean(first: Comparison, second: Comparison) -> tuple[float, float]:
    """A's and B's mean over two orders: of scores where all four are there, else of points."""
    scores = [(one.score_a, one.score_b) for one in (first, second)]
    pairs = [(a, b) for a, b in scores if a is not None and b is not None]
    points = pairs if len(pairs) == 2 else [VOTES[one.verdict] for one in (first, second)]
    a, b = (math.fsum(side) / 2 for side in zip(*points, strict=True))
    return a, b


def _notes(runs: Mapping[str, Any], run: str) -> Notes:
    found: Iterable[Note] = runs.get(run, {}).get("notes", {}).values()
    if run == GIVEN:
        return keyed(*found)
    return keyed(*(note.model_copy(update={"text": f"in the exchanged order: {note.text}"}) for note in found))
