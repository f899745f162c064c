"""From evidence to the value a form asks for: a point of a range, one of some numbers, a label, yes or no."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from judgegraph.models.embedded.scale import flat, label_odds, odds
from judgegraph.models.embedded.tokens import Leaf

_MOST_POINTS = 101


def _best(values: Sequence[Any], chances: Sequence[float]) -> Leaf:
    top = max(range(len(values)), key=lambda i: chances[i])
    return Leaf(values[top], tuple(zip(values, chances, strict=True)))


def among(values: Sequence[Any], quality: float | None) -> Leaf:
    """One of some numbers; all alike where there is no quality, and then the middle one."""
    ranked = sorted(dict.fromkeys(values))
    if len(ranked) < 2:
        return Leaf(ranked[0], ((ranked[0], 1.0),))
    if quality is None:
        chances = flat(ranked)
        return Leaf(ranked[(len(ranked) - 1) // 2], tuple(zip(ranked, chances, strict=True)))
    return _best(ranked, odds(tuple(float(v) for v in ranked), quality))


def label(labels: Sequence[str], quality: float | None, chances: Sequence[float] | None = None) -> Leaf:
    """One of some labels: by given chances, by quality where the labels name ranks, else all alike."""
    held = chances or (label_odds(labels, quality) if quality is not None else None)
    if held is None:
        return Leaf(labels[(len(labels) - 1) // 2], tuple(zip(labels, flat(labels), strict=True)))
    return _best(labels, held)


def informed(leaf: Leaf) -> bool:
    """Something speaks for one of its values more than for the others."""
    return bool(leaf.odds) and len({round(chance, 9) for _, chance in leaf.odds}) > 1


def truth(quality: float | None) -> Leaf:
    """Yes or no, at the middle of the scale."""
    sure = 0.5 if quality is None else 1 / (1 + math.exp(-8 * (quality - 0.5)))
    return Leaf(sure >= 0.5, ((True, sure), (False, 1 - sure)))


def bounds(schema: Mapping[str, Any], low: float = 1.0, high: float = 5.0) -> tuple[float, float]:
    """Least and greatest number a schema allows; `low`, `high` stand in where it does not say."""
    step = schema.get("multipleOf") or (1 if schema.get("type") == "integer" else 1e-6)
    least, most = schema.get("minimum"), schema.get("maximum")
    if (above := schema.get("exclusiveMinimum")) is not None and not isinstance(above, bool):
        floor = math.floor(above / step) * step + step
        least = floor if least is None else max(least, floor)
    if (below := schema.get("exclusiveMaximum")) is not None and not isinstance(below, bool):
        roof = math.ceil(below / step) * step - step
        most = roof if most is None else min(most, roof)
    if least is None:
        least = low if most is None or low < most else most - (high - low)
    if most is None:
        most = high if high > least else least + (high - low)
    return float(least), float(most)


def number(schema: Mapping[str, Any], quality: float | None, low: float = 1.0, high: float = 5.0) -> Leaf:
    """A number the schema allows, at `quality` of its range; whole ranges carry probabilities."""
    least, most = bounds(schema, low, high)
    if schema.get("type") == "integer" or (step := schema.get("multipleOf")):
        step = schema.get("multipleOf") or 1
        step = math.ceil(step) if schema.get("type") == "integer" else step
        first, last = math.ceil(least / step - 1e-9), math.floor(most / step + 1e-9)
        if last - first < _MOST_POINTS:
            points = [i * step for i in range(first, max(last, first) + 1)]
            return among(points, quality)
        held = 0.5 if quality is None else quality
        return Leaf(round(first + held * (last - first)) * step)
    value = least + (0.5 if quality is None else quality) * (most - least)
    rounded = round(value, 2)
    return Leaf(rounded if least <= rounded <= most else value)
