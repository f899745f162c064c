"""Kendall's tau of two metrics exchanged unit by unit, for many patterns of exchange at once."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from judgegraph.stats.arrays import Codes, Coefficient, Floats

Counts = NDArray[np.float32]  # whole numbers below 2^24, which single precision holds exactly


class SwappedPairs:
    """Pairs of items counted by quadratic forms over the distinct (human, a, b).

    Of each of these u items stay and c - u are swapped. With H, A, B the signs of differences within human, a and b,
    and X those of a against b, concordant less discordant pairs of a' are, products of signs taken cell by cell,
    u'(HA)u + 2 u'(HX)(c - u) + (c - u)'(HB)(c - u). Pairs that are not tied are the same of squares.
    """

    def __init__(self, human: Floats, a: Floats, b: Floats, unit: Codes) -> None:
        columns = np.stack([human, a, b], axis=1)
        self.rows, code, self.counts = np.unique(columns, axis=0, return_inverse=True, return_counts=True)
        self.items, self.distinct = len(human), len(self.rows)
        order = np.argsort(code.ravel(), kind="stable")
        self.unit, self.starts = unit[order], np.cumsum(self.counts) - self.counts

    def difference(self, name: Coefficient, rows: Floats) -> Floats:
        """tau(human, a') - tau(human, b') per row of 1 and -1 per unit; nan where a swapped side is constant."""
        stays = np.add.reduceat((rows > 0).astype(np.float32)[:, self.unit], self.starts, axis=1)
        human, concordant, untied = self._forms
        first, second = concordant(stays)
        with np.errstate(invalid="ignore", divide="ignore"):
            if name == "kendall-b":
                untied_first, untied_second = untied(stays)
                return np.asarray((first / np.sqrt(untied_first) - second / np.sqrt(untied_second)) / np.sqrt(human))
            return np.asarray(self._c(first, stays, self.rows[:, 1:]) - self._c(second, stays, self.rows[:, :0:-1]))

    @cached_property
    def _forms(self) -> tuple[float, _Form, _Form]:
        """Untied pairs of human; concordant less discordant pairs and untied pairs of swapped sides."""
        human, a, b = self.rows.T
        sign = _signs(human, human)
        untied = float((sign**2 @ self.counts.astype(np.float64)) @ self.counts)
        return untied, _Form(a, b, self.counts, sign), _Form(a, b, self.counts, None)

    def _c(self, concordant: Floats, stays: Counts, sides: Floats) -> Floats:
        """Tau-c: by what is possible where the side with fewer has so many values."""
        values, code = np.unique(sides, return_inverse=True)
        own, other = code.reshape(sides.shape).T
        seen = np.zeros((len(stays), len(values)), dtype=np.bool_)
        for at, count in enumerate(self.counts):
            seen[:, own[at]] |= stays[:, at] > 0
            seen[:, other[at]] |= stays[:, at] < count
        fewer = np.minimum(seen.sum(axis=1), len(np.unique(self.rows[:, 0])))
        return np.asarray(concordant * fewer / (self.items**2 * (fewer - 1)))


class _Form:
    """The form of a' and that of b': they share the square, so that many patterns cost one product of matrices."""

    def __init__(self, a: Floats, b: Floats, counts: Codes, human: Counts | None) -> None:
        within_a, within_b, across = (_signs(x, y) for x, y in ((a, a), (b, b), (a, b)))
        for matrix in (within_a, within_b, across):
            np.multiply(matrix, matrix if human is None else human, out=matrix)
        self.square = within_a - across - across.T + within_b
        c = counts.astype(np.float64)
        self.linear = [2 * (across @ c - within_b @ c), 2 * (across.T @ c - within_a @ c)]
        self.constant = [c @ (within_b @ c), c @ (within_a @ c)]

    def __call__(self, stays: Counts) -> tuple[Floats, Floats]:
        exact = stays.astype(np.float64)
        shared = ((stays @ self.square) * exact).sum(axis=1)
        first, second = (shared + exact @ linear + c for linear, c in zip(self.linear, self.constant, strict=True))
        return first, second


def _signs(x: Floats, y: Floats) -> Counts:
    return np.sign(np.subtract.outer(x, y)).astype(np.float32)
