"""Are systems ranked alike by two sets of scores?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgegraph.stats.arrays import Floats
from judgegraph.stats.coefficients import coefficient


@dataclass(frozen=True)
class RankingsAgree:
    """kendall (tau-b), spearman: -1 to 1, nan where undefined. alike: pairs of systems in one order, of all pairs.

    A draw is alike where both have one.
    """

    kendall: float
    spearman: float
    alike: int
    pairs: int


def rankings_agree(one: Floats, other: Floats) -> RankingsAgree:
    """Two scores of each system, (n,) and (n,)."""
    first, second = np.triu_indices(len(one), 1)
    same = np.sign(np.round(one[first] - one[second], 9)) == np.sign(np.round(other[first] - other[second], 9))
    kendall, spearman = (coefficient(name, np.round(one, 9), np.round(other, 9)) for name in ("kendall-b", "spearman"))
    return RankingsAgree(kendall, spearman, int(same.sum()), len(same))
