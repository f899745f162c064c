"""A run whose judged and generated texts are replaced by their lengths, for whatever reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from judgegraph.runtime.item import Item
from judgegraph.runtime.known_names import known_names
from judgegraph.runtime.redacted import redacted_item
from judgegraph.runtime.run import Run
from judgegraph.runtime.summary import Summary, summarise


@dataclass(frozen=True)
class RedactedRun(Run):
    """As the run, without texts."""

    @property
    def items(self) -> Iterator[Item]:
        """The finished samples, in the order of finishing."""
        return self._redacted(super().items)

    def _in_order(self) -> Iterator[Item]:
        return self._redacted(super()._in_order())

    def _redacted(self, items: Iterator[Item]) -> Iterator[Item]:
        known = known_names(self.manifest)
        return (redacted_item(item, known) for item in items)

    def summary(self) -> Summary:
        """As of the run; reasons and notes are told by their lengths."""
        return summarise(self.items, self.signature)
