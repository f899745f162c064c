"""A distribution as small bars, one character a point."""

from __future__ import annotations

from collections.abc import Mapping

from judgegraph.types import Scale

BLOCKS, LETTERS = "▁▂▃▄▅▆▇█", "_.:-=+*#"  # from nothing to all, each an eighth; letters where blocks cannot be written
MOST = 20  # points; of more, neighbours share a bar


def bars(shares: Mapping[str, float], scale: Scale | None = None, *, plain: bool = False) -> str:
    """A bar for each point of the scale in its order, those without a share too; "" for nothing.

    Args:
        shares: point or label -> share, at least 0. plain: letters in place of blocks.
    """
    total = sum(shares.values())
    if not shares or total <= 0:
        return ""
    heights = _pooled([shares.get(point, 0.0) / total for point in _points(shares, scale)])
    marks = LETTERS if plain else BLOCKS
    return "".join(marks[min(len(marks) - 1, round(height * (len(marks) - 1)))] for height in heights)


def likeliest(shares: Mapping[str, float], count: int = 2) -> str:
    """The points with most of it, such as "4: 72 %, 5: 20 %"; those of under half a percent are not told."""
    total = sum(shares.values())
    ranked = sorted(shares.items(), key=lambda one: -one[1])[:count] if total > 0 else []
    return ", ".join(f"{point}: {100 * share / total:.0f} %" for point, share in ranked if share / total >= 0.005)


def _points(shares: Mapping[str, float], scale: Scale | None) -> list[str]:
    if scale is not None and scale.labels:
        return [*scale.labels, *(label for label in shares if label not in scale.labels)]
    known = {str(point): float(point) for point in (scale.points if scale is not None else ())}
    try:
        return sorted(known | {point: float(point) for point in shares}, key=lambda point: float(point))
    except ValueError:
        return list(shares)


def _pooled(heights: list[float]) -> list[float]:
    if len(heights) <= MOST:
        return heights
    width = len(heights) / MOST
    return [sum(heights[round(i * width) : round((i + 1) * width)]) for i in range(MOST)]
