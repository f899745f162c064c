"""Edges as they are written, "a -> b, c -> d" or a mapping, made into arrows and choices between nodes that exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from judgegraph.errors import one_line
from judgegraph.graph_files.shape import hint
from judgegraph.graph_files.source import Place, Source
from judgegraph.graph_files.spec import EdgeSpec

START, END = "start", "end"
MOST_ARROWS = 2_000
Names = tuple[str, ...]


@dataclass(frozen=True)
class Branch:
    """One `when` with where it leads; `path` is where it stands in the file."""

    when: Any
    to: Names
    otherwise: Names
    path: Place


@dataclass
class Arrows:
    """All edges of a file.

    Attributes:
        plain: (source, target) -> where it stands. choices: source -> its branches, in the order of the file.
    """

    plain: dict[tuple[str, str], Place] = field(default_factory=dict)
    choices: dict[str, list[Branch]] = field(default_factory=dict)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Every (source, target) there may be, choices included; a choice without `else` may lead to the end."""
        yield from self.plain
        for source, branches in self.choices.items():
            for branch in branches:
                yield from ((source, to) for to in branch.to)
            yield from ((source, to) for to in branches[-1].otherwise or (END,))


def arrows(source: Source, edges: Iterable[tuple[Place, str | EdgeSpec]], nodes: Iterable[str]) -> Arrows:
    """Edges read; what is wrong with one joins the faults, and it is left out."""
    found, known = Arrows(), [*nodes]
    for path, edge in edges:
        if isinstance(edge, str):
            _chain(source, found, path, edge, known)
        elif edge.when is None:
            if edge.otherwise is not None:
                source.fault(
                    (*path, "else"), "stands only beside a 'when': it is where a run goes that does not meet it"
                )
            targets = _places(source, (*path, "to"), edge.to, [*known, END])
            for one in _places(source, (*path, "from"), edge.source, [START, *known]):
                _add(source, found, path, one, targets)
        else:
            _choice(source, found, path, edge, known)
    for one in {a for a, _ in found.plain} & set(found.choices):
        path = found.choices[one][0].path
        source.fault(path, f"'{one}' has an edge without 'when' too; write where it goes otherwise as its 'else'")
    return found


def _chain(source: Source, found: Arrows, path: Place, text: str, known: list[str]) -> None:
    parts = text.split("->")
    if len(parts) < 2:
        source.fault(path, f"expected an edge such as 'a -> b' or 'a, b -> c -> end', got {source.shown(path)}")
        return
    steps = []
    for place, part in enumerate(parts):
        allowed = [START] * (place == 0) + known + [END] * (place == len(parts) - 1)
        names = [name.strip() for name in part.strip().removeprefix("[").removesuffix("]").split(",")]
        steps.append(_places(source, path, names, allowed))
    for sources, targets in pairwise(steps):
        for one in sources:
            _add(source, found, path, one, targets)


def _places(source: Source, path: Place, names: str | list[str] | None, allowed: list[str]) -> Names:
    """Those of the names that are nodes."""
    listed = [names] if isinstance(names, str) else names or []
    good = []
    for name in listed:
        if name in allowed:
            good.append(name)
        elif name in (START, END):
            source.fault(path, f"'{name}' stands only where a graph {'begins' if name == START else 'ends'}")
        else:
            shown = one_line(name, 60)
            source.fault(path, f"no node '{shown}'{hint(shown, allowed, 'Nodes')}" if shown else "a name is missing")
    return tuple(dict.fromkeys(good))


def _add(source: Source, found: Arrows, path: Place, one: str, targets: Names) -> None:
    for target in targets:
        if (one, target) in found.plain:
            first = source.line(found.plain[one, target])
            source.fault(path, f"{one} -> {target} is given twice, first in line {first}")
        elif len(found.plain) >= MOST_ARROWS:
            source.fault(path, f"there are over {MOST_ARROWS:,} edges")
            return
        found.plain[one, target] = path


def _choice(source: Source, found: Arrows, path: Place, edge: EdgeSpec, known: list[str]) -> None:
    sources = _places(source, (*path, "from"), edge.source, [START, *known])
    if len(sources) > 1:
        source.fault((*path, "from"), "an edge with 'when' starts at one node; let those lead to one node first")
    to = _places(source, (*path, "to"), edge.to, [*known, END])
    otherwise = _places(source, (*path, "else"), edge.otherwise, [*known, END])
    for one in sources[:1]:
        branches = found.choices.setdefault(one, [])
        if branches and branches[-1].otherwise:
            source.fault(
                path, f"'{one}' goes on by 'else' in line {source.line(branches[-1].path)}; this comes too late"
            )
        branches.append(Branch(edge.when, to, otherwise, path))


def ends(arrows: Arrows) -> Mapping[str, set[str]]:
    """Source -> all its targets."""
    found: dict[str, set[str]] = {}
    for one, target in arrows.pairs():
        found.setdefault(one, set()).add(target)
    return found
