"""Names across all samples of a redacted run: whatever counts them finds what it found in the run itself."""

from __future__ import annotations

from collections.abc import Iterable

from judgegraph.runtime.item import Item
from judgegraph.runtime.known_names import RANKED, Names, hidden


class RunNames(Names):
    """A name that is not known has one number in the whole run.

    Names that differ in their case alone share the number, and differ in its word's case: what looks a criterion up
    whatever its case finds it, and two names stay two. Systems and groups are numbered in the order of their names,
    because tables of pairs stand in it. It holds every name that it has met.
    """

    def __init__(self, known: frozenset[str], items: Iterable[Item]) -> None:
        super().__init__(known)
        self._folded = {name.casefold() for name in known}
        self._spelled: dict[tuple[str, str], list[str]] = {}
        met: dict[str, set[str]] = {kind: set() for kind in RANKED.values()}
        for item in items:
            for key, kind in RANKED.items():
                if isinstance(value := item.sample.meta.get(key), str) and value.strip():
                    met[kind].add(value)
        self._ranked = {
            (kind, name): f"{kind}-{number:0{len(str(len(names)))}}"
            for kind, names in met.items()
            for number, name in enumerate(sorted(names), 1)
        }

    def known(self, name: str) -> bool:
        """As of all names, whatever the name's case."""
        return super().known(name) or name.casefold() in self._folded

    def label(self, label: str) -> str:
        """Numbered, so that labels are counted apart."""
        return self.of("label", label)

    def meta(self, key: str, value: str) -> str:
        """Of a system or a group its number."""
        return self._ranked.get((RANKED.get(key, ""), value), hidden(value))

    def _new(self, kind: str, name: str) -> str:
        spelled = self._spelled.setdefault((kind, name.casefold()), [])
        spelled.append(_cased(spelled[0], len(spelled)) if spelled else self._numbered(kind, name))
        return spelled[-1]

    def _numbered(self, kind: str, name: str) -> str:
        """What merges comparisons is told by how its name ends."""
        return super()._new(kind, name) + ("-merge" if kind == "agent" and name.endswith("merge") else "")


class KeptTexts(RunNames):
    """The same names, and every text as it is: for counting, never for showing."""

    def __init__(self, names: RunNames) -> None:
        self.__dict__ = names.__dict__  # one numbering for both

    def text(self, text: str) -> str:
        """The text."""
        return text


def _cased(word: str, number: int) -> str:
    """The number-th way to write a word in letters of either case."""
    return "".join(c.upper() if number >> at & 1 else c for at, c in enumerate(word))
