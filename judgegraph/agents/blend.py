"""The blend: a mean of what assistants said, on a criterion's scale; plain code, the baseline of a fusing judge."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from judgegraph.agents.fusion_judge import OVERALL, floating, without_evidence
from judgegraph.prompts.criteria_file import same_key
from judgegraph.prompts.sections import slug
from judgegraph.types import Criterion, Finding, Notes, Plan, Score, Scores, Status, given_criteria, keyed

Rule = Literal["average", "selected", "weighted"]
Share = tuple[str, float]  # who says it, and 0 (worst) to 1 (best)


class Consulted(TypedDict):  # what it reads
    criteria: NotRequired[list[Criterion]]  # else its own
    plan: NotRequired[Plan]
    findings: NotRequired[dict[str, Finding]]
    scores: NotRequired[Scores]  # a direct judge's


class Blended(TypedDict):  # what it writes
    scores: Scores
    overall: float | None
    notes: NotRequired[Notes]  # where there is no evidence, or less than the plan names


@dataclass(frozen=True, kw_only=True)
class Blend:
    """Scores every criterion by a mean of the assistants' values, a direct judge's score among them.

    Source: Fusion-Eval (arXiv:2311.09204), tables 2 and 3: AVG, LLMSel and CorrW, of assistants alone and with a
    direct evaluation. The paper does not say how values on different scales are brought together; here each is carried
    from its own range to the criterion's, worst to lowest and best to highest, and one beyond its range stands at its
    end, noted. Who said nothing is left out of the mean and noted, never a zero.

    `overall` is the score of a criterion of that name, else the mean of all criteria; None where one has no score
    (the paper's dash) or their scales differ.

    Attributes:
        ranges: assistant -> (worst, best).
        rule: "average" of all; "selected": of those that the plan aligns with the criterion, undefined where there are
            none; "weighted" by `weights`: criterion -> assistant (or `direct`) -> 0 or more, of those that answered
            brought to a sum of 1.
        direct: name of the agent whose scores join the mean as one more voice, "" for none; `direct_key` is what
            weights call it. criteria: what to score, where the state brings none.
    """

    ranges: Mapping[str, tuple[float, float]]
    rule: Rule = "average"
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    direct: str = ""
    direct_key: str = ""
    criteria: Sequence[Criterion] = ()
    name: str = "blend"
    stage: str = "final"

    def __call__(self, state: Consulted) -> Blended:
        scores = [self._score(state, floating(c)) for c in given_criteria(state) or self.criteria]
        plan = state.get("plan") if self.rule == "selected" else None
        silent = without_evidence(self.name, list(self.ranges), state.get("findings") or {}, plan)
        return {"scores": keyed(*scores), "overall": _overall(scores), "notes": keyed(*silent)}

    def _score(self, state: Consulted, criterion: Criterion) -> Score:
        about: dict[str, Any] = {"criterion": criterion.name, "agent": self.name, "stage": self.stage}
        about |= {"scale": criterion.scale, "reader": "plain"}
        weights, why = self._weights(state.get("plan"), criterion)
        if why:
            return Score(**about, status="skipped", reason=why)
        shares, notes, failed = self._heard(state, criterion, weights)
        weights = _within_reach({name: weights[name] for name, _ in shares})
        total = math.fsum(weights.values())
        if not total:
            return Score(**about, status=failed, reason="; ".join(notes) or "no assistant on offer", notes=notes)
        low, high = criterion.scale.low or 0.0, criterion.scale.high or 0.0
        mean = math.fsum(weights[name] / total * share for name, share in shares)
        said = ", ".join(f"{name} {low + share * (high - low):.4g}" for name, share in shares)
        value = min(max(low + mean * (high - low), low), high)  # a float's last digits lead off no scale
        return Score(**about, value=value, reason=f"{self.rule} of {said} on {low:g}-{high:g}", notes=notes)

    def _weights(self, plan: Plan | None, criterion: Criterion) -> tuple[dict[str, float], str]:
        """Who counts how much, or why nobody can."""
        voices = [*self.ranges, *([self.direct_key] if self.direct else [])]
        if criterion.scale.labels:
            return {}, "a scale of labels has no mean"
        if self.rule == "average":
            return dict.fromkeys(voices, 1.0), ""
        if self.rule == "weighted":
            given = {same_key(name): by for name, by in self.weights.items()}.get(same_key(criterion.name))
            if not given:
                return {}, "no weights are given for it"
            counted = {name: given[name] for name in voices if given.get(name)}
            return counted, "" if counted else "all its weights are 0: nobody agreed with people on it"
        if plan is None or plan.status != "ok":
            return {}, f"no plan selects assistants for it ({plan.status if plan else 'none was made'})"
        aligned = {same_key(name): by for name, by in plan.alignment.items()}.get(same_key(criterion.name), ())
        chosen = [name for name in self.ranges if name in aligned]
        direct = [self.direct_key] if self.direct else []
        return dict.fromkeys([*chosen, *direct], 1.0), "" if chosen else "the plan selects no assistant for it"

    def _heard(
        self, state: Consulted, criterion: Criterion, weights: Iterable[str]
    ) -> tuple[list[Share], tuple[str, ...], Status]:
        """What those who count say, notes on the others, and the status where nobody says anything."""
        findings, scores = state.get("findings") or {}, state.get("scores") or {}
        shares: list[Share] = []
        notes: list[str] = []
        failed: list[Status] = ["skipped"]
        for name in weights:
            if name in self.ranges:
                silent = Finding(assistant=name, status="skipped", reason="not consulted")
                said, ends = findings.get(name, silent), self.ranges[name]
                value, status, reason = said.value, said.status, said.reason
            else:
                score = _direct(scores, self.direct, criterion.name)
                value, status, reason = score.value, score.status, score.reason
                scale = score.scale or criterion.scale
                ends = (scale.low or 0.0, scale.high or 0.0)
            if isinstance(value, int | float):
                inside, beyond = share_of(value, ends)
                shares.append((name, inside))
                said_of = f"{name}: {value:g} lies beyond its range {min(ends):g} to {max(ends):g}"
                notes += [f"{said_of} and stands at its end"] if beyond else []
                continue
            why = status if not reason else f"{status}: {reason}"
            notes.append(f"{name}: left out of the mean ({why if value is None else f'no number: {value!r:.40}'})")
            failed += [status] if status not in ("ok", "skipped") else []
        return shares, tuple(notes), failed[-1]


def share_of(value: float, ends: tuple[float, float]) -> tuple[float, bool]:
    """A value from worst (0) to best (1), and whether it lies beyond its range: it stands at its end then."""
    worst, best = ends
    share = (value - worst) / (best - worst)
    inside = min(max(share, 0.0), 1.0)
    return inside, share != inside


def _within_reach(weights: Mapping[str, float]) -> dict[str, float]:
    """The same proportions, none over 1: the sum of the largest numbers that there are is none."""
    _, exponent = math.frexp(max(weights.values(), default=0.0))
    return {name: math.ldexp(weight, -exponent) for name, weight in weights.items()}


def _direct(scores: Scores, agent: str, criterion: str) -> Score:
    """The direct judge's score of a criterion."""
    found = (s for s in scores.values() if s.agent == agent and s.criterion == criterion and s.of == "output")
    return next(found, Score(criterion=criterion, agent=agent, status="skipped", reason="the judge gave no score"))


def _overall(scores: Sequence[Score]) -> float | None:
    whole = [s.value for s in scores if slug(s.criterion) == OVERALL]
    if whole:
        return whole[0]
    values = [s.value for s in scores if s.value is not None]
    if not values or len(values) < len(scores) or len({s.scale for s in scores}) > 1:
        return None
    return math.fsum(values) / len(values)
