"""From a quality between 0 and 1 to points of a scale and their probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

_SPREAD = 0.14  # standard deviation of the distribution, as a part of the scale
_WIDEST = 2.0  # and in points, so that twenty top tokens hold nearly all of it


def _weights(points: Sequence[float], centre: float, width: float) -> list[float]:
    raised = [-((p - centre) ** 2) / (2 * width * width) for p in points]
    top = max(raised)
    return [math.exp(r - top) for r in raised]


@lru_cache(maxsize=4096)
def odds(points: tuple[float, ...], quality: float) -> tuple[float, ...]:
    """Probabilities of the points (ascending) whose expected value is the quality on that scale.

    Args:
        points: two or more numbers, ascending. quality: 0 to 1; the outermost 1 % is drawn in.

    Returns:
        One probability per point, bell-shaped, summing to 1; their mean is `low + quality * (high - low)`.
    """
    low, high = points[0], points[-1]
    step = (high - low) / (len(points) - 1)
    goal = low + min(0.99, max(0.01, quality)) * (high - low)
    width = min(_SPREAD * (high - low), _WIDEST * step)
    left, right = low - 40 * (high - low), high + 40 * (high - low)
    for _ in range(60):
        centre = (left + right) / 2
        weights = _weights(points, centre, width)
        mean = math.fsum(p * w for p, w in zip(points, weights, strict=True)) / math.fsum(weights)
        left, right = (centre, right) if mean < goal else (left, centre)
        if abs(mean - goal) < 1e-9 * (high - low):
            break
    total = math.fsum(weights)
    return tuple(w / total for w in weights)


def flat(points: Sequence[object]) -> tuple[float, ...]:
    """The same probability for every point: nothing is known."""
    return tuple(1 / len(points) for _ in points)


_RANKED = {
    label: rank
    for rank, labels in {
        0.0: "terrible; fail; failed; no; false; very poor; very bad; none; unacceptable",
        0.1: "bad; low",
        0.15: "poor",
        0.2: "weak",
        0.4: "fair",
        0.5: "partial; partly; partially; medium; average; moderate; ok; okay; maybe; mixed",
        0.6: "acceptable",
        0.75: "good",
        0.85: "strong",
        0.9: "high; very good; great",
        1.0: "excellent; pass; passed; yes; true; perfect",
    }.items()
    for label in labels.split("; ")
}


def label_odds(labels: Sequence[str], quality: float) -> tuple[float, ...] | None:
    """Probabilities of labels that name a rank ("poor", "good"), None where one of them does not."""
    ranks = [_RANKED.get(str(label).strip().lower()) for label in labels]
    if len(labels) < 2 or any(r is None for r in ranks) or len(set(ranks)) < 2:
        return None
    weights = [math.exp(-((float(r or 0.0) - quality) ** 2) / (2 * 0.2**2)) for r in ranks]
    total = math.fsum(weights) or 1.0
    return tuple(w / total for w in weights)
