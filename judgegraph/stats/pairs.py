"""Paired statistics: two metrics exchanged unit by unit at random, and verdicts in both orders."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from judgegraph.stats.correlation import Codes, Coefficient, Floats, coefficient

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


# Two metrics exchanged unit by unit at random, and what the difference of their coefficients then is.


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


# Verdicts on pairs that were asked for in both orders: are they right, and do they hold?


@dataclass(frozen=True)
class Orders:
    """Shares of n pairs, 0 to 1, nan of none.

    Attributes:
        accuracy_first, accuracy_second, accuracy_mean: right in the given order, in the exchanged one, their mean.
        agreement: right in both orders. consistency: the same verdict in both.
        unread_first, unread_second: how many pairs had no verdict that could be read.
    """

    accuracy_first: float
    accuracy_second: float
    accuracy_mean: float
    agreement: float
    consistency: float
    n: int
    unread_first: int = 0
    unread_second: int = 0


def both_orders(
    human: Sequence[float | str],
    first: Sequence[float | str | None],
    second: Sequence[float | str | None],
    *,
    unread_agree: bool = False,
) -> Orders:
    """Compares verdicts in the given and the exchanged order with people's; the exchanged ones are mapped back before.

    Args:
        first, second: None where a verdict could not be read; it is wrong.
        unread_agree: whether a pair unread in both orders counts as consistent.
    """
    rows = list(zip(human, first, second, strict=True))
    n = len(rows)

    def share(count: int) -> float:
        return count / n if n else math.nan

    right = [(h == one, h == two) for h, one, two in rows]
    one, two = share(sum(a for a, _ in right)), share(sum(b for _, b in right))
    same = sum(a == b and (unread_agree or a is not None) for _, a, b in rows)
    agreement = share(sum(a and b for a, b in right))
    unread = [sum(verdict is None for verdict in order) for order in (first, second)]
    return Orders(one, two, (one + two) / 2, agreement, share(same), n, *unread)
