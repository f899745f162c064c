"""Coefficients of two series under many weightings: a resample is one, as it only repeats items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgegraph.stats.arrays import Codes, Coefficient, Floats
from judgegraph.stats.coefficients import coefficient
from judgegraph.stats.sides import Side, ranks
from judgegraph.stats.weighted_tau import Taus, tau_of_counts

CANCELS = 1e-6  # a variance below this share of all the data's has lost digits in the difference of two moments


class Weighted:
    """Two series, sorted once; equal pairs of values are folded to one cell, so that few values cost little.

    Attributes:
        n: items. cells: distinct pairs of values.
    """

    def __init__(self, x: Floats, y: Floats) -> None:
        self.n = len(x)
        x_code, y_code = (np.unique(side, return_inverse=True)[1] for side in (x, y))
        self._order = np.lexsort((y_code, x_code))
        first = np.ones(self.n, dtype=bool)
        first[1:] = (np.diff(x_code[self._order]) != 0) | (np.diff(y_code[self._order]) != 0)
        self._starts = np.flatnonzero(first)
        kept = self._order[self._starts]
        self.cells = len(kept)
        self._values = x[kept], y[kept]
        self._sides = Side(x_code[kept]), Side(y_code[kept])
        self._taus: Taus | None = None
        self._basis = _basis(x, y, kept)

    def made(self, name: Coefficient, resamples: int) -> int:
        """How many of the resamples are worth their time."""
        return resamples if name in ("pearson", "spearman") else self._tau().made(resamples, self.n)

    def coefficients(self, weights: Floats, names: Sequence[Coefficient]) -> Floats:
        """(coefficients, resamples), nan where undefined.

        Args:
            weights: (resamples, n), how often each item stands in each resample.
        """
        found = np.full((len(names), len(weights)), np.nan)
        if not self.cells:
            return found
        drawn = np.take(weights, self._order, axis=1)
        if self.cells < self.n:
            drawn = np.add.reduceat(drawn, self._starts, axis=1)
        by_rank = set(names) - {"pearson"}
        x, y = (side.counts(drawn) for side in self._sides) if by_rank else (drawn, drawn)
        surplus = self._tau().surplus(drawn) if by_rank - {"spearman"} else drawn[:, 0]
        for row, name in enumerate(names):
            if name == "pearson":
                found[row] = self._pearson(drawn)
            elif name == "spearman":
                found[row] = self._spearman(drawn, x, y)
            else:
                found[row] = tau_of_counts(name, surplus, x, y)
        return found

    def _tau(self) -> Taus:
        if self._taus is None:
            self._taus = Taus(*self._sides)
        return self._taus

    def _pearson(self, drawn: Floats) -> Floats:
        """By moments; where their difference lost digits, from the drawn items themselves."""
        if not self._basis.size:
            return np.full(len(drawn), np.nan)
        n, x, y, xx, yy, xy = (drawn @ self._basis).T
        at_least_one = np.maximum(n, 1)
        spread = xx - x * x / at_least_one, yy - y * y / at_least_one
        sure = (spread[0] > CANCELS * n) & (spread[1] > CANCELS * n)
        under = np.sqrt(np.where(sure, spread[0], 1.0) * np.where(sure, spread[1], 1.0))
        found = np.clip((xy - x * y / at_least_one) / under, -1.0, 1.0)
        for row in np.flatnonzero(~sure):
            items = np.repeat(np.arange(self.cells), drawn[row].astype(np.intp))
            found[row] = coefficient("pearson", *(side[items] for side in self._values))
        return np.asarray(found)

    def _spearman(self, drawn: Floats, x: Floats, y: Floats) -> Floats:
        by_x, by_y = ranks(x), ranks(y)
        spread = [np.einsum("ij,ij,ij->i", side, r, r) for side, r in ((x, by_x), (y, by_y))]
        defined = (spread[0] > 0) & (spread[1] > 0)
        together = np.einsum("ij,ij,ij->i", drawn, self._sides[0].spread(by_x), self._sides[1].spread(by_y))
        under = np.where(defined, np.sqrt(spread[0]) * np.sqrt(spread[1]), 1.0)
        return np.where(defined, np.clip(together / under, -1.0, 1.0), np.nan)


def _basis(x: Floats, y: Floats, kept: Codes) -> Floats:
    """(cells, 6): what is summed to moments, of values less their mean by their deviation; none where undefined."""
    if len(x) < 2 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return np.zeros((0, 6))
    sides = []
    for side in (x, y):
        scaled = side / (np.abs(side).max() or 1.0)
        off = scaled - scaled.mean()
        sides.append((off / (off.std() or 1.0))[kept])
    a, b = sides
    return np.stack([np.ones(len(a)), a, b, a * a, b * b, a * b], axis=1)
