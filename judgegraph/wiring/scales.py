"""Scales: thresholds lie on them, scores that are put together share them, and what needs numbers has some."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from judgegraph.agents.consensus import Consensus
from judgegraph.agents.corrector import Corrector
from judgegraph.types import Scale
from judgegraph.wiring.drawn import Drawn
from judgegraph.wiring.finding import Finding
from judgegraph.wiring.judged import Judged, Scales, Wants, Writes, judged, scales_of

WIDEST = 0.5  # standard deviation as a share of the range, half at either end


def unfit(graph: Drawn) -> Iterator[Finding]:
    """Thresholds off their scale, and scales that clash."""
    scores = judged(graph)
    for want in scores.wanted:
        known = _known(scores, want)
        if want.condition is not None and known:
            yield from _threshold(want, known)
        elif isinstance(want.part.runs, Corrector):
            yield from _corrector(want, known)
    yield from _clashing(scores)


def _known(scores: Judged, want: Wants) -> Scales:
    """Criterion -> scale of the scores that are looked at; none where some are not known."""
    seen = scores.seen(want)
    if not scores.whole or any(one.scales is None for one in seen if not one.rectifies):
        return {}
    return {name: scale for one in seen for name, scale in (one.scales or {}).items()}


def _threshold(want: Wants, scales: Scales) -> Iterator[Finding]:
    """A threshold that every score of a criterion passes, or none."""
    when = want.condition
    if when.name == "low":
        yield from _low(want, {name: scale for name, scale in scales.items() if scale.low is not None}, scales)
    elif when.name == "wide" and all(when.above >= _widest(scale) for scale in scales.values()):
        most = max(map(_widest, scales.values()))
        what = f"decides on 'scores' by wide(above={when.above:g}), and none of {_some(scales)} can be so wide"
        yield _finding(want, what, f"give a value below {most:g}")


def _low(want: Wants, numbers: Scales, scales: Scales) -> Iterator[Finding]:
    below, by = want.condition.below, "decides on 'scores' by low"
    if not numbers:
        what = f"{by}, and all its criteria ({_some(scales)}) have labels, which are never low"
        yield _finding(want, what, "decide by jg.wide(), or give them a scale of numbers")
    elif below is None and want.condition.share == 0:
        yield _finding(want, f"{by}(share=0), and no score is below that", "give a share above 0, such as 0.5")
    for criterion, scale in numbers.items() if below is not None else ():
        low, high = scale.low or 0.0, scale.high or 0.0
        if not low < below <= high:
            which = "every" if below > high else "no"
            what = f"{by}(below={below:g}), and '{criterion}' is judged on {scale}: {which} score of it is low"
            yield _finding(want, what, f"give a value above {low:g}, {high:g} at most, or low(share=...), 0 to 1")
            return


def _widest(scale: Scale) -> float:
    return 1 - 1 / len(scale.labels) if scale.labels else WIDEST


def _some(scales: Scales) -> str:
    return ", ".join([*scales][:3])


def _finding(want: Wants, what: str, cure: str) -> Finding:
    return Finding("unfit-scale", want.at, "scores", f"node '{want.at}' {what}: {cure}")


def _corrector(want: Wants, scales: Scales) -> Iterator[Finding]:
    agent: Any = want.part.runs
    if not 1 <= agent.threshold <= 5:
        what = f"corrects by 'scores' {agent.rule} {agent.threshold:g}, which is not on the scale 1-5"
        yield _finding(want, what, "the paper's is 3; it is carried over to the same place on any other scale")
    if scales and all(scale.low is None for scale in scales.values()):
        what = f"corrects by 'scores' what was low, and its criteria ({_some(scales)}) have labels"
        yield _finding(want, what, "give them a scale of numbers, or leave the corrector out")


def _clashing(scores: Judged) -> Iterator[Finding]:
    """Ballots of one criterion on two scales, and critics that know another scale than the judge."""
    for at in dict.fromkeys(want.at for want in scores.wanted if isinstance(want.part.runs, Consensus)):
        yield from _ballots(at, [one for want in scores.wanted if want.at == at for one in scores.seen(want)])
    for want in scores.wanted:
        agent: Any = want.part.runs
        reviews = want.condition is None and "rectifications" in (want.part.writes or ())
        if reviews and hasattr(agent, "criteria") and not hasattr(agent, "reviewed"):
            yield from _critic(scores, want, agent)


def _ballots(at: str, cast: list[Writes]) -> Iterator[Finding]:
    for one, other in combinations(cast, 2):
        if clash := _clash(one.scales, other.scales):
            text = f"node '{at}' puts 'scores' of '{one.agent}' and '{other.agent}' together, and they judge"
            yield _clashes(at, text, clash, "give both the same criteria, such as panel(..., criteria=...)")
            return


def _critic(scores: Judged, want: Wants, agent: Any) -> Iterator[Finding]:
    for one in scores.seen(want):
        if clash := _clash(scales_of(agent.criteria), one.scales):
            text = f"node '{want.at}' reviews 'scores' of '{one.agent}', and the two know"
            yield _clashes(
                want.at, text, clash, "give both the same criteria, or use jg.critique, which takes the scores'"
            )
            return


def _clash(one: Scales | None, other: Scales | None) -> tuple[str, Scale, Scale] | None:
    both = [c for c in one or {} if c in (other or {})]
    return next(((c, one[c], other[c]) for c in both if one and other and one[c] != other[c]), None)


def _clashes(at: str, text: str, clash: tuple[str, Scale, Scale], cure: str) -> Finding:
    criterion, one, other = clash
    return Finding("unfit-scale", at, "scores", f"{text} '{criterion}' on {one} and on {other}: {cure}")
