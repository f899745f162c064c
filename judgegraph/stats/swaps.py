"""Two metrics exchanged unit by unit at random, and what the difference of their coefficients then is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judgegraph.stats.arrays import Codes, Coefficient, Floats
from judgegraph.stats.coefficients import coefficient
from judgegraph.stats.swapped_pairs import SwappedPairs

BLOCK = 4_000_000  # numbers held at once
DISTINCT = 2_500  # so many distinct (human, a, b) are compared all at once
SLOW = 199  # permutations where Kendall is counted anew for each


def patterns(units: int, permutations: int, seed: int, width: int) -> Iterator[Floats]:
    """Rows of 1 (stays) and -1 (swapped) per unit, in blocks: drawn, or all there are where those are no more.

    Args:
        width: numbers that a row costs whoever takes it.
    """
    rows = max(1, BLOCK // max(width, 1))
    if exact(units, permutations):
        every = (np.arange(2**units)[:, None] >> np.arange(units)) & 1
        yield from (1 - 2 * every[at : at + rows].astype(np.float64) for at in range(0, len(every), rows))
        return
    rng = np.random.default_rng(seed)
    for at in range(0, permutations, rows):
        drawn = rng.integers(0, 2, size=(min(rows, permutations - at), units), dtype=np.int8)
        yield 1 - 2 * drawn.astype(np.float64)


def exact(units: int, permutations: int) -> bool:
    """Whether every pattern of swaps is gone through once instead of drawn."""
    return units < 60 and 2**units <= permutations


def differences(
    name: Coefficient, human: Floats, a: Floats, b: Floats, *, unit: Codes, permutations: int, seed: int
) -> tuple[Floats, str]:
    """coefficient(human, a') - coefficient(human, b') per pattern, and a note where fewer were drawn than asked for.

    a' and b' are a and b with some units swapped. They come on one footing: for Spearman all three as ranks, which are
    not ranked again after a swap.

    Args:
        human, a, b: (items,). unit: of each item, 0, 1, ... without gaps.
    """
    units = int(unit.max()) + 1
    if name in ("pearson", "spearman"):
        sums = _Sums(human, a, b, unit)
        return np.concatenate([sums.difference(rows) for rows in patterns(units, permutations, seed, units)]), ""
    pairs = SwappedPairs(human, a, b, unit)
    if pairs.distinct <= DISTINCT:
        blocks = patterns(units, permutations, seed, max(len(human), pairs.distinct))
        return np.concatenate([pairs.difference(name, rows) for rows in blocks]), ""
    found = []
    for rows in patterns(units, min(permutations, SLOW), seed, units):
        for stays in rows[:, unit] > 0:
            first, second = np.where(stays, a, b), np.where(stays, b, a)
            found.append(coefficient(name, human, first) - coefficient(name, human, second))
    return np.array(found), f"{len(found)} permutations, for Kendall's tau of {pairs.distinct} distinct items is slow"


class _Sums:
    """Pearson by sums: of s = (a + b) / 2 and d = (a - b) / 2 the swapped values are s + e d and s - e d, e = ±1."""

    def __init__(self, human: Floats, a: Floats, b: Floats, unit: Codes) -> None:
        h, s, d = human - human.mean(), (a + b) / 2, (a - b) / 2
        s = s - s.mean()
        self.items = len(h)
        self.of_unit = np.stack([np.bincount(unit, column) for column in (d, s * d, h * d)], axis=1)
        self.human, self.shared, self.squares = h @ h, h @ s, s @ s + d @ d

    def difference(self, rows: Floats) -> Floats:
        """One per row of 1 and -1 per unit; nan where a swapped side is constant."""
        total, product, covariance = (rows @ self.of_unit).T
        squares = self.squares - total**2 / self.items
        with np.errstate(invalid="ignore", divide="ignore"):
            first = (self.shared + covariance) / np.sqrt(self.human * (squares + 2 * product))
            second = (self.shared - covariance) / np.sqrt(self.human * (squares - 2 * product))
        return np.asarray(first - second)
