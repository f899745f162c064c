"""Where a plan's runs of a graph did not come to their end: kinds of it, each with a count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from judgegraph.errors import one_line

KINDS = 20  # that are kept apart: where every sample fails in another way, the first ones tell enough
_OWN = re.compile(r"'[^']*('|$)|\"[^\"]*(\"|$)|\d+")  # what a reason may hold of the sample at hand


def without_own(reason: str) -> str:
    """A reason without what it may hold of one sample alone, so that those of one kind are alike."""
    return _OWN.sub("*", reason)


@dataclass(frozen=True)
class Mishap:
    """A graph that did not come to its end with invented replies: what it would ask after that is not known.

    Attributes:
        sample: the first one. count: samples with the same node and reason; numbers and quoted texts may differ.
    """

    sample: str
    node: str
    reason: str
    count: int = 1

    def __str__(self) -> str:
        where = f"node '{self.node}', " if self.node else ""
        others = f" and {self.count - 1:,} more" if self.count > 1 else ""
        return f"{where}sample '{one_line(self.sample, 60)}'{others}: {self.reason}"


@dataclass
class Mishaps:
    """Of all samples, by node and reason.

    Attributes:
        samples: that met one. unlisted: those of which nothing is kept, as there were too many kinds.
    """

    samples: int = 0
    unlisted: int = 0
    _kinds: dict[tuple[str, str], Mishap] = field(default_factory=dict)

    def add(self, found: Iterable[Mishap]) -> None:
        """Of one sample, whatever the manners they came with; equal ones count once."""
        kinds = {(one.node, without_own(one.reason)): one for one in reversed(list(found))}
        self.samples += bool(kinds)
        listed = False
        for kind, one in reversed(kinds.items()):
            known = self._kinds.get(kind)
            if known is not None:
                self._kinds[kind] = replace(known, count=known.count + 1)
            elif len(self._kinds) < KINDS:
                self._kinds[kind] = one
            listed = listed or kind in self._kinds
        self.unlisted += bool(kinds) and not listed

    def __iter__(self) -> Iterator[Mishap]:
        return iter(sorted(self._kinds.values(), key=lambda one: -one.count))
