"""What a level makes of drawn weights: one coefficient, the mean over drawn groups, or one of drawn systems' means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy import sparse

from judgegraph.stats.arrays import Codes, Coefficient, Constant, Floats
from judgegraph.stats.draws import Drawn, Draws
from judgegraph.stats.levels import settled
from judgegraph.stats.rows import of_groups, of_rows
from judgegraph.stats.weighted import Weighted


class Leveled(Protocol):
    """One metric at a level.

    Attributes:
        width: numbers that are held of a resample at a time.
    """

    width: int

    def made(self, name: Coefficient, resamples: int) -> int: ...  # so many of the resamples are made

    def __call__(self, drawn: Drawn, names: Sequence[Coefficient]) -> Floats:
        """(coefficients, resamples)."""
        ...


class OverItems:
    """One coefficient over all drawn items."""

    def __init__(self, human: Floats, metric: Floats) -> None:
        self._pair, self.width = Weighted(human, metric), len(human)

    def made(self, name: Coefficient, resamples: int) -> int:
        return self._pair.made(name, resamples)

    def __call__(self, drawn: Drawn, names: Sequence[Coefficient]) -> Floats:
        return self._pair.coefficients(drawn.weights, names)


class OverWholeGroups:
    """The mean over drawn groups, each of which is whole: its coefficient is the same in all resamples."""

    def __init__(
        self, human: Floats, metric: Floats, group: Codes, names: Sequence[Coefficient], constant: Constant
    ) -> None:
        self._names = list(names)
        each = of_groups(human, metric, group, names)
        self._counts = np.ones_like(each) if constant == "zero" else np.isfinite(each).astype(np.float64)
        self._each, self.width = np.nan_to_num(each, nan=0.0), each.shape[1]

    def made(self, name: Coefficient, resamples: int) -> int:
        return resamples

    def __call__(self, drawn: Drawn, names: Sequence[Coefficient]) -> Floats:
        assert drawn.groups is not None
        rows = [self._names.index(name) for name in names]
        return _mean(self._each[rows] @ drawn.groups.T, self._counts[rows] @ drawn.groups.T)


class OverGroups:
    """The mean over groups (drawn ones, where groups are drawn), of each what was drawn within it."""

    def __init__(self, human: Floats, metric: Floats, group: Codes, constant: Constant) -> None:
        count = int(group.max(initial=-1)) + 1
        ends = np.searchsorted(np.sort(group), np.arange(1, count))
        self._items = np.split(np.argsort(group, kind="stable"), ends) if count else []
        self._pairs = [Weighted(human[items], metric[items]) for items in self._items]
        self._zero, self.width = constant == "zero", int(np.bincount(group).max(initial=0))

    def made(self, name: Coefficient, resamples: int) -> int:
        return min((pair.made(name, resamples) for pair in self._pairs), default=resamples)

    def __call__(self, drawn: Drawn, names: Sequence[Coefficient]) -> Floats:
        total = np.zeros((2, len(names), len(drawn)))
        for g, (items, pair) in enumerate(zip(self._items, self._pairs, strict=True)):
            inside = drawn.within(items)
            each = pair.coefficients(inside, names)
            times = np.ones(len(drawn)) if drawn.groups is None else drawn.groups[:, g]
            counts = (inside.any(axis=1) if self._zero else np.isfinite(each)) * times
            total += np.stack([np.nan_to_num(each, nan=0.0) * times, np.broadcast_to(counts, each.shape)])
        return _mean(*total)


class OverSystems:
    """One coefficient over the means of systems (drawn ones, where systems are drawn)."""

    def __init__(self, human: Floats, metric: Floats, system: Codes, draws: Draws) -> None:
        self.width = int(system.max(initial=-1)) + 1
        unit = np.arange(len(human)) if draws.unit == "item" else draws.group
        at = (np.zeros(len(human), dtype=np.intp) if unit is None else unit, system)
        shape = (int(at[0].max(initial=-1)) + 1, self.width)
        # transposed, as scipy multiplies from the left: (systems, units) by (units, resamples)
        self._sums = [sparse.csr_array((s, at), shape=shape).T for s in (human, metric, np.ones(len(human)))]
        self._scales = [float(np.abs(s).max(initial=0.0)) for s in (human, metric)]

    def made(self, name: Coefficient, resamples: int) -> int:
        return resamples

    def __call__(self, drawn: Drawn, names: Sequence[Coefficient]) -> Floats:
        by_unit = drawn.items if drawn.items is not None else drawn.groups
        by_unit = np.ones((1, self._sums[0].shape[1])) if by_unit is None else by_unit
        human, metric, counts = (np.asarray(s @ by_unit.T).T for s in self._sums)
        means = [_mean(side, counts) for side in (human, metric)]
        x, y = (settled(side, scale) for side, scale in zip(means, self._scales, strict=True))
        if drawn.systems is not None:
            rows, systems = drawn.systems.shape
            times = drawn.systems.astype(np.intp).ravel()
            which = np.repeat(np.tile(np.arange(systems), rows), times).reshape(rows, systems)
            x, y = (np.take_along_axis(np.broadcast_to(side, which.shape), which, axis=1) for side in (x, y))
        return of_rows(x, y, names)


def _mean(total: Floats, counts: Floats) -> Floats:
    return np.where(counts > 0, total / np.where(counts > 0, counts, 1.0), np.nan)
