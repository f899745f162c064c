"""What critics suggest, counted by name (SAGEval, arXiv:2411.16077, Figure 4)."""

from __future__ import annotations

from dataclasses import dataclass

from judgegraph.report.sections.commonest import Commonest
from judgegraph.runtime.item import Item

KEPT = 1_000  # characters of an example


@dataclass(frozen=True)
class Example:
    """The first suggestion of its name."""

    name: str
    definition: str
    reason: str


class Advice:
    """Suggestions by kind and name, whatever the name's case.

    Attributes:
        counts: (kind, casefolded name) -> suggestions. samples: the same -> samples that have one.
        advised: samples with any suggestion.
    """

    def __init__(self) -> None:
        self.counts: Commonest[tuple[str, str]] = Commonest()
        self.samples: Commonest[tuple[str, str]] = Commonest()
        self.examples: dict[tuple[str, str], Example] = {}
        self.advised = 0

    def add(self, item: Item) -> None:
        """Count a sample's."""
        here: dict[tuple[str, str], None] = {}
        for one in item.suggestions:
            key = str(one.kind), " ".join(one.criterion[:KEPT].casefold().split())
            if self.counts.add(key):
                self.examples.setdefault(key, Example(one.criterion[:KEPT], one.definition[:KEPT], one.reason[:KEPT]))
                here[key] = None
        for key in here:
            self.samples.add(key)
        self.advised += bool(item.suggestions)
