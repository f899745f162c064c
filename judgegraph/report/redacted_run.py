"""A run whose judged and generated texts are replaced by their lengths, for whatever reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from judgegraph.runtime.item import Item
from judgegraph.runtime.known_names import Names, known_names
from judgegraph.runtime.redacted import redacted_item
from judgegraph.runtime.run import Run
from judgegraph.runtime.run_names import KeptTexts, RunNames
from judgegraph.runtime.summary import Summary, summarise


@dataclass(frozen=True)
class RedactedRun(Run):
    """As the run, without texts. Attributes: names: of a whole run; None: each sample numbers its own."""

    names: Names | None = None

    @property
    def items(self) -> Iterator[Item]:
        """The finished samples, in the order of finishing."""
        return self._redacted(super().items)

    def _in_order(self) -> Iterator[Item]:
        return self._redacted(super()._in_order())

    def _redacted(self, items: Iterator[Item]) -> Iterator[Item]:
        known = self.names or known_names(self.manifest)
        return (redacted_item(item, known) for item in items)

    def summary(self) -> Summary:
        """As of the run; reasons and notes are told by their lengths."""
        return summarise(self.items, self.signature)


def two_levels(run: Run) -> tuple[RedactedRun, RedactedRun, RunNames]:
    """(for numbers, for showing, names): in the first only names are replaced, in the second texts too.

    What counts words or compares texts counts those of the run itself, so that a number is the same with or without
    texts on the page.
    """
    names = RunNames(known_names(run.manifest), run.items)
    levels = (RedactedRun(run.manifest, run.held, run.folder, one) for one in (KeptTexts(names), names))
    counted, shown = levels
    return counted, shown, names
