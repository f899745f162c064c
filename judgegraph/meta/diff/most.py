"""The samples that moved most, of any number of them."""

from __future__ import annotations

import heapq

from judgegraph.meta.diff.move import SampleMoves


class Most:
    """Keeps at most so many, however many are added; None keeps all."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._heap: list[tuple[float, int, int, SampleMoves]] = []
        self._count = 0

    def add(self, sample: SampleMoves) -> None:
        """One that moved; of equal ones the first stay."""
        self._count += 1
        entry = (sample.size, len(sample.moves), -self._count, sample)
        if self._limit is None or len(self._heap) < self._limit:
            heapq.heappush(self._heap, entry)
        elif self._heap:
            heapq.heappushpop(self._heap, entry)

    def sorted(self) -> tuple[SampleMoves, ...]:
        """The most moved first."""
        return tuple(entry[-1] for entry in sorted(self._heap, key=lambda entry: entry[:3], reverse=True))
