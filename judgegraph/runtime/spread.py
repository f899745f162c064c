"""How far a score moved, where it stands on its scale, and how wide its distribution is: all from 0 to 1."""

from __future__ import annotations

import math

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
    """How wide its distribution is, 0 to 1 (see `Standing`); None without one."""
    shares = score.distribution
    if not shares or score.status != "ok" or (total := sum(shares.values())) <= 0:
        return None
    width = width_of(score.scale)
    if width is None:
        count = len(score.scale.labels) if score.scale is not None else len(shares)
        entropy = -sum(p / total * math.log(p / total) for p in shares.values() if p > 0)
        return min(1.0, max(0.0, entropy) / math.log(count)) if count > 1 else 0.0
    try:
        points = [(float(point), p / total) for point, p in shares.items()]
    except ValueError:
        return None
    mean = sum(x * p for x, p in points)
    return min(1.0, math.sqrt(sum(p * (x - mean) ** 2 for x, p in points)) / (width / 2))
