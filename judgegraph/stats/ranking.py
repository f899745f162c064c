"""Are systems ranked alike by two sets of scores?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.coefficients import pearson

TIED = 1e-9  # scores that are no further apart are equal: fits and sums leave less than that
HELD = 2**20  # signs held at once


@dataclass(frozen=True)
class RankingsAgree:
    """kendall (tau-b), spearman: -1 to 1, nan where undefined. alike: pairs of systems in one order, of all pairs.

    A draw is alike where both have one.
    """

    kendall: float
    spearman: float
    alike: int
    pairs: int


def rankings_agree(one: Floats, other: Floats, parts: Codes | None = None) -> RankingsAgree:
    """Two scores of each system, (n,) and (n,), or two tables of signs, (n, n).

    Args:
        parts: (n,): only pairs of one part count, and no system of part -1; Spearman is undefined of several parts.
            None: all systems are of one.
    """
    codes = np.zeros(len(one), dtype=np.intp) if parts is None else parts
    known = np.flatnonzero(codes >= 0)
    first, second = within(codes)
    sides = [side if side.ndim == 2 else signs(side) for side in (one, other)]
    a, b = (side[first, second] for side in sides)
    ranks = (side[np.ix_(known, known)].sum(axis=1) for side in sides)  # ahead of how many, less behind how many
    spearman = pearson(*ranks) if len(np.unique(codes[known])) == 1 else math.nan
    return RankingsAgree(float(_tau(a[None], b[None])[0]), spearman, int((a == b).sum()), len(first))


def taus(one: Floats, other: Floats, parts: Codes) -> Floats:
    """Kendall's tau-b of each two rows of scores, (rows, n) and (rows, n) -> (rows,), within parts."""
    first, second = within(parts)
    step = max(1, HELD // max(1, len(first)))
    found = [np.empty(0)]
    for at in range(0, len(one), step):
        a, b = (levels(side[at : at + step]) for side in (one, other))
        found.append(_tau(*(np.sign(side[:, first] - side[:, second]).astype(np.float64) for side in (a, b))))
    return np.concatenate(found)


def within(parts: Codes) -> tuple[Codes, Codes]:
    """The pairs of systems of one part."""
    first, second = np.triu_indices(len(parts), 1)
    same = (parts[first] == parts[second]) & (parts[first] >= 0)
    return first[same], second[same]


def levels(scores: Floats, tied: float = TIED) -> NDArray[np.intp]:
    """0, 1, ... along the last axis, the lowest first; scores that differ by round-off have one level."""
    order = np.argsort(scores, axis=-1, kind="stable")
    steps = np.diff(np.take_along_axis(scores, order, axis=-1), axis=-1) > tied
    found = np.zeros(scores.shape, dtype=np.intp)
    np.put_along_axis(found, order[..., 1:], np.cumsum(steps, axis=-1), axis=-1)
    return found


def signs(scores: Floats, tied: float = TIED) -> Floats:
    """(n, n): 1 where the row's system is ahead, -1 where it is behind, 0 where both are equal."""
    level = levels(scores, tied)
    return np.asarray(np.sign(level[:, None] - level), dtype=np.float64)


def _tau(a: Floats, b: Floats) -> Floats:
    """Of the signs of all pairs, (rows, pairs); nan where a side has but draws."""
    size = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.asarray((a * b).sum(axis=1) / np.where(size > 0, size, np.nan))
