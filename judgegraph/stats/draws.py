"""What a bootstrap draws: how often each item, group or system stands in a resample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from judgegraph.stats.arrays import Codes, Floats, Unit

ENTRIES = 2**20  # numbers of resamples held at once: 8 MiB an array, however many items there are
CACHED = 2**14  # draws that are counted together, while their counts stay in the processor's cache


@dataclass(frozen=True)
class Draws:
    """The draws of a seed. They depend on the numbers of units alone: not on metrics, coefficients or memory.

    Attributes:
        unit: what is drawn; "both" draws groups and systems, each on its own.
        n: items. group, system: codes without gaps of the units that are drawn, None of those that are not.
        width: numbers that are held of a resample at a time by what counts it; None: one per item.
    """

    unit: Unit
    n: int
    resamples: int
    seed: int
    group: Codes | None = None
    system: Codes | None = None
    width: int | None = None

    @property
    def units(self) -> int:
        """How many there are to draw; of groups and systems the fewer."""
        return min((_number(code) for code in (self.group, self.system) if code is not None), default=self.n)

    def __iter__(self) -> Iterator[Drawn]:
        # of drawn items one array is held, of what is made of them many
        own = (
            self.n // 4 if self.unit == "item" else sum(_number(c) for c in (self.group, self.system) if c is not None)
        )
        step = max(1, ENTRIES // max(1, own, self.n if self.width is None else self.width))
        of_groups, of_systems = np.random.default_rng(self.seed), np.random.default_rng([self.seed, 1])
        for start in range(0, self.resamples, step):
            made = slice(start, min(start + step, self.resamples))
            rows = made.stop - made.start
            if self.unit == "item":
                yield Drawn(self, made, items=counts(of_groups, self.n, rows))
                continue
            groups = None if self.group is None else counts(of_groups, _number(self.group), rows)
            systems = None if self.system is None else counts(of_systems, _number(self.system), rows)
            yield Drawn(self, made, groups=groups, systems=systems)


@dataclass(frozen=True)
class Drawn:
    """Some resamples: how often each unit was drawn, (resamples, units); None where all stand in each once."""

    draws: Draws
    resamples: slice
    items: Floats | None = None
    groups: Floats | None = None
    systems: Floats | None = None

    def __len__(self) -> int:
        return int(self.resamples.stop - self.resamples.start)

    @cached_property
    def weights(self) -> Floats:
        """How often each item stands in each resample, (resamples, n)."""
        found = self.within(slice(None))
        return found if self.groups is None else found * self.groups[:, self.draws.group]

    def within(self, items: Codes | slice) -> Floats:
        """How often each of these items stands in its group wherever the group is drawn, (resamples, items)."""
        if self.items is not None:
            return self.items[:, items]
        if self.systems is None or self.draws.system is None:
            return np.ones((len(self), len(np.arange(self.draws.n)[items])))
        return self.systems[:, self.draws.system[items]]


def _number(codes: Codes) -> int:
    return int(codes.max(initial=-1)) + 1


def counts(rng: np.random.Generator, n: int, rows: int) -> Floats:
    """How often each of n units is drawn by n draws with replacement, (rows, n)."""
    found = np.zeros((rows, n))
    step = max(1, CACHED // max(1, n))
    for start in range(0, rows if n else 0, step):
        block = found[start : start + step]
        drawn = rng.integers(0, n, block.shape, dtype=np.int32) + (np.arange(len(block)) * n)[:, None]
        block[:] = np.bincount(drawn.ravel(), minlength=block.size).reshape(block.shape)
    return found
