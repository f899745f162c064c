"""Kendall's tau under many weightings, from counts of distinct pairs of values where that is cheaper than sorting."""

from __future__ import annotations

import numpy as np

from judgegraph.stats.arrays import Coefficient, Floats
from judgegraph.stats.coefficients import coefficient
from judgegraph.stats.rows import tau
from judgegraph.stats.sides import Side

PAIRED = 2048  # so many distinct pairs of values are compared with each other once, a matrix product per resample
NARROW = 32  # so many values of one side are gone through one by one
EXACT = 2**24  # integers up to here are exact in single precision
SORTED = 20_000_000  # items that are sorted in all resamples together ...
LEAST = 100  # ... but so many resamples at least


class Taus:
    """Tau of cells (distinct pairs of values) that are drawn so and so often.

    Attributes:
        fast: from counts; False: each resample is sorted by scipy.
    """

    def __init__(self, x: Side, y: Side) -> None:
        self._x, self._y = x, y
        cells = len(x.code)
        self._few, self._many = (x, y) if x.values <= y.values else (y, x)
        table = self._few.values * self._many.values
        narrow = self._few.values <= NARROW or table <= NARROW * cells
        # a step through the table costs about as much as a dozen products
        self._matrix = cells <= PAIRED and not (narrow and 12 * table < cells**2)
        self.fast = narrow or self._matrix
        signs = [np.sign(s.code[:, None] - s.code[None, :]).astype(np.int8) for s in (x, y)] if self._matrix else []
        self._signs = signs[0] * signs[1] if signs else np.zeros((0, 0), dtype=np.int8)
        self._by_few = np.lexsort((self._many.code, self._few.code))
        self._ends = np.searchsorted(self._few.code[self._by_few], np.arange(self._few.values + 1))

    def made(self, resamples: int, n: int) -> int:
        """How many of the resamples are worth their time: fewer only where many items of many values are sorted."""
        return resamples if self.fast else min(resamples, max(LEAST, SORTED // max(1, n)))

    def surplus(self, weights: Floats) -> Floats:
        """Concordant pairs less discordant ones, each pair twice; (resamples,).

        Args:
            weights: (resamples, cells).
        """
        if self._matrix:
            kind = np.float32 if weights.sum(axis=1).max(initial=0) < EXACT else np.float64
            return np.asarray(np.einsum("ij,ij->i", weights.astype(kind) @ self._signs.astype(kind), weights))
        return self._by_table(weights) if self.fast else self._by_sorting(weights)

    def _by_table(self, weights: Floats) -> Floats:
        """Goes up the values of the side with fewer; `below` counts the other side's values among lower ones."""
        below = np.zeros((len(weights), self._many.values))
        found = np.zeros(len(weights))
        for start, end in zip(self._ends[:-1], self._ends[1:], strict=True):
            cells = self._by_few[start:end]
            at, drawn = self._many.code[cells], np.take(weights, cells, axis=1)
            if start:
                lower = np.cumsum(below, axis=1)
                surplus = 2 * lower - below - lower[:, -1:]  # pairs lower there too, less those that are higher there
                found += np.einsum("ij,ij->i", drawn, np.take(surplus, at, axis=1))
            below[:, at] += drawn
        return 2 * found

    def _by_sorting(self, weights: Floats) -> Floats:
        found = np.zeros(len(weights))
        for row, drawn in enumerate(weights):
            items = np.repeat(np.arange(len(drawn)), drawn.astype(np.intp))
            x, y = self._x.code[items], self._y.code[items]
            value = coefficient("kendall-b", x.astype(np.float64), y.astype(np.float64))
            pairs = [float(len(items)) ** 2 - float((np.bincount(s).astype(np.float64) ** 2).sum()) for s in (x, y)]
            found[row] = 0.0 if np.isnan(value) else np.rint(value * np.sqrt(pairs[0]) * np.sqrt(pairs[1]))
        return found


def tau_of_counts(name: Coefficient, surplus: Floats, x: Floats, y: Floats) -> Floats:
    """Tau-b or tau-c of each resample from its surplus and from how often each value of either side was drawn."""
    n = x.sum(axis=1)
    untied = [n**2 - np.einsum("ij,ij->i", side, side) for side in (x, y)]
    classes = np.minimum(np.count_nonzero(x, axis=1), np.count_nonzero(y, axis=1))
    return tau(name, surplus, untied[0], untied[1], n, classes)
