"""How far a score moved, where it stands on its scale, and how wide its distribution is: all from 0 to 1."""

from __future__ import annotations

from judgegraph.compose.of_scores import width_of as width_of_distribution
from judgegraph.types import Scale, Score


def moved_by(draft: Score | None, final: Score) -> float | None:
    """How far a score moved, 0 to 1 of its scale's width; a changed label is 1. None where that cannot be said."""
    if draft is None or draft.answer is None or final.answer is None:
        return None
    scale = final.scale or draft.scale
    if isinstance(final.answer, str) or isinstance(draft.answer, str):
        return float(final.answer != draft.answer)
    width = width_of(scale)
    return abs(final.answer - draft.answer) / width if width else None


def width_of(scale: Scale | None) -> float | None:
    return scale.high - scale.low if scale is not None and scale.high is not None and scale.low is not None else None


def scaled(score: Score) -> float | None:
    width = width_of(score.scale)
    if score.value is None or score.scale is None or score.scale.low is None or not width:
        return None
    return (score.value - score.scale.low) / width


def doubt(score: Score) -> float | None:
    """The width of its distribution, as `jg.wide` measures it, over the largest that its scale allows: 0 to 1.

    Of a number that is the standard deviation over half the range; of a label what the likeliest one leaves to the
    others, over 1 - 1/count. Both tell how far an answer lies from the one that was given: few chances elsewhere weigh
    little, as they do not in an entropy. None without a distribution, or a range.
    """
    width = width_of_distribution(score) if score.status == "ok" else None
    if width is None:
        return None
    if score.label is None:
        return min(1.0, width / 0.5)
    count = len(score.scale.labels) if score.scale is not None else len(score.distribution or ())
    return min(1.0, width / (1 - 1 / count)) if count > 1 else 0.0
