"""What several judges' answers to one question come to: their mean, their median, or the answer of most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from judgegraph.calls.rungs import tied
from judgegraph.calls.samples import mean_of
from judgegraph.errors import ScaleError
from judgegraph.types import Scale, Score

Combine = Literal["mean", "median", "vote"]


@dataclass(frozen=True)
class Tally:
    """What ballots come to.

    Attributes:
        answer: a number or a label. distribution: answer -> share of the ballots.
        winner: the first ballot whose answer it is, or is nearest to it.
    """

    answer: float | str
    distribution: dict[str, float]
    winner: Score
    notes: tuple[str, ...] = ()


def tally(ballots: Sequence[Score], combine: Combine, scale: Scale | None) -> Tally:
    """Of ballots on one scale, one or more.

    Labels are always voted: they have no mean. Of labels with equally many votes the first by name stands. Numbers are
    voted as points of their scale, a value between two points (a weighted one) for the nearer, the lower of two as
    near, unless all ballots are one number; of points with equally many votes the one nearest to the mean of all
    ballots stands, the lower of two as near. No rule depends on the order of the ballots.
    """
    numbers = [b.value for b in ballots if b.value is not None]
    if not numbers:
        return _labels(ballots, combine)
    if combine == "vote":
        return _points(ballots, numbers, scale)
    answer = mean_of(numbers) if combine == "mean" else float(median(numbers))
    return Tally(answer, _shares([f"{n:g}" for n in numbers]), _nearest(ballots, answer))


def _labels(ballots: Sequence[Score], combine: Combine) -> Tally:
    labels = [str(b.label) for b in ballots]
    shares = _shares(labels)
    label = max(shares, key=lambda name: shares[name])  # shares stand in the order of names
    notes = tied(shares, label) + (() if combine == "vote" else (f"labels have no {combine}: they were voted",))
    return Tally(label, shares, ballots[labels.index(label)], notes)


def _points(ballots: Sequence[Score], numbers: Sequence[float], scale: Scale | None) -> Tally:
    points = scale.points if scale and len(set(numbers)) > 1 else ()
    counted = [min(points, key=lambda p: (abs(p - n), p)) if points else n for n in numbers]
    counts, mean = Counter(counted), mean_of(numbers)
    most = max(counts.values())
    equal = sorted((n for n in counts if counts[n] == most), key=lambda n: (abs(n - mean), n))
    notes = tuple(f"{n:.4g} counts as {c:g}" for n, c in sorted({*zip(numbers, counted, strict=True)}) if n != c)
    if len(equal) > 1:
        others = ", ".join(f"{n:g}" for n in sorted(equal[1:]))
        notes += (f"tied with {others}; {equal[0]:g} is nearest to the mean of all, {mean:.4g}",)
    shares = _shares([f"{n:g}" for n in counted])
    return Tally(float(equal[0]), shares, ballots[counted.index(equal[0])], notes)


def _nearest(ballots: Sequence[Score], answer: float) -> Score:
    return min(ballots, key=lambda ballot: abs((ballot.value or 0.0) - answer))


def _shares(written: Sequence[str]) -> dict[str, float]:
    return {point: count / len(written) for point, count in sorted(Counter(written).items())}


def common_scale(ballots: Sequence[Score]) -> Scale | None:
    """The scale of most ballots that have an answer, of equally many the first as it is written."""
    counts = Counter(b.scale for b in ballots if b.answer is not None)
    return min(counts, key=lambda scale: (-counts[scale], str(scale or "")), default=None)


def unfit(ballot: Score, scale: Scale | None) -> str:
    """Why a ballot cannot be counted on a scale, "" where it can be: what was said on another is not carried over."""
    if ballot.status != "ok":
        return f"{ballot.status}: {ballot.reason}" if ballot.reason else ballot.status
    if not _same(ballot.scale, scale):
        return f"on {ballot.scale or 'no scale'}, not {scale or 'without one'}"
    try:
        if scale is not None:
            scale.check_label(ballot.label) if scale.labels else scale.check(ballot.value)
    except ScaleError as error:
        return str(error)
    return ""


def _same(one: Scale | None, other: Scale | None) -> bool:
    """The same range or labels; whether only whole numbers are its points does not count."""
    if one is None or other is None:
        return one is other
    return (one.low, one.high, {*one.labels}) == (other.low, other.high, {*other.labels})
