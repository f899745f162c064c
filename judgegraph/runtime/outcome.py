"""What a sample has to show: how it ended, and how its final answers did."""

from __future__ import annotations

import math
from collections import Counter
from statistics import fmean

from judgegraph.runtime.item import Item
from judgegraph.types import Comparison, Score


def answers(item: Item) -> list[Score | Comparison]:
    """Its final scores and its comparisons."""
    return [*(score for score in item.scores if score.stage == "final"), *item.comparisons]


def has_status(item: Item, status: str) -> bool:
    """Whether it ended so, or one of its final scores or comparisons did."""
    return item.status == status or any(one.status == status for one in answers(item))


def overalls(item: Item) -> str:
    """Its answer over all; of a pair those of both, A's and B's, as far as B's can be told from its comparisons."""
    if item.overall is None:
        return ""
    said = f"{item.overall:.4g}"
    if item.sample.rival is None:
        return said
    rival = rival_overall(item)
    return f"A {said}" if rival is None else f"A {said}, B {rival:.4g}"


def rival_overall(item: Item) -> float | None:
    """B's mean over the very comparisons whose mean for A is the overall answer; None where they are none's."""
    for agent in dict.fromkeys(c.agent for c in item.comparisons) if item.overall is not None else ():
        found = [(c.score_a, c.score_b) for c in item.comparisons if c.agent == agent]
        both = [(a, b) for a, b in found if a is not None and b is not None]
        if both and math.isclose(fmean(a for a, _ in both), item.overall or 0.0, abs_tol=1e-9):
            return fmean(b for _, b in both)
    return None


def ending(item: Item) -> str:
    """Its status, and what its answers lack, such as "ok, but no final score: 3 abstained, 1 unreadable"."""
    found = answers(item)
    lost = Counter(one.status for one in found if one.status != "ok")
    if item.status != "ok" or not lost:
        return item.status
    what = "comparison" if item.comparisons else "final score"
    said = ", ".join(f"{count} {status}" for status, count in lost.most_common())
    if lost.total() == len(found):
        return f"ok, but no {what}: {said}"
    return f"ok, but of {len(found)} {what}s {said}"
