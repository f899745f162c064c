"""One side of a weighted pair of series: its distinct values, how often each was drawn, and its ranks."""

from __future__ import annotations

import numpy as np

from judgegraph.stats.arrays import Codes, Floats


class Side:
    """Codes of values, sorted once.

    Attributes:
        code: 0, 1, ... by size of the value. values: how many there are.
    """

    def __init__(self, code: Codes) -> None:
        self.code = code
        self.values = int(code.max(initial=-1)) + 1
        self._ordered = bool((np.diff(code) >= 0).all())
        self._order = np.argsort(code, kind="stable")
        self._starts = np.searchsorted(code[self._order], np.arange(self.values))

    def counts(self, weights: Floats) -> Floats:
        """How often each value was drawn, (resamples, values)."""
        ordered = weights if self._ordered else np.take(weights, self._order, axis=1)
        return ordered if self.values == len(self.code) else np.add.reduceat(ordered, self._starts, axis=1)

    def spread(self, by_value: Floats) -> Floats:
        """What is known of each value, put to each item: (resamples, values) -> (resamples, items)."""
        if self._ordered and self.values == len(self.code):
            return by_value
        return np.take(by_value, self.code, axis=1)


def ranks(counts: Floats) -> Floats:
    """Average ranks less their mean, of each value in each resample; all of them halves, so exact."""
    found = np.cumsum(counts, axis=1)
    found -= found[:, -1:] / 2
    found -= counts / 2
    return found
