"""Texts and how often they were met, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
MOST = 2_000


class Commonest(Generic[Key]):
    """A counter of at most `most` different keys; later ones that are new are only counted, in `beyond`."""

    def __init__(self, most: int = MOST) -> None:
        self.counts: Counter[Key] = Counter()
        self.beyond = 0
        self._most = most

    def add(self, key: Key) -> bool:
        """Count one; False where there was no room for it."""
        if key not in self.counts and len(self.counts) >= self._most:
            self.beyond += 1
            return False
        self.counts[key] += 1
        return True

    def first(self, most: int) -> list[tuple[Key, int]]:
        """The commonest; equal ones in the order of their first coming."""
        return self.counts.most_common(most)

    def rest(self, most: int) -> int:
        """How many were counted beyond the first `most` keys."""
        return self.counts.total() + self.beyond - sum(count for _, count in self.first(most))
