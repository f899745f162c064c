"""Whose scores stand in place of whose, as far as only the wiring tells: a join or a reviewer that a user wrote.

The helpers and agents of this package say it in their scores (`Score.draft`, `votes`, `member`). A node of a user's own
that reads `scores` and writes `scores` came to its answer from those of the nodes before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from judgegraph.answers import Precedence
from judgegraph.wiring.code import function_of
from judgegraph.wiring.drawn import VOCABULARY, Drawn, Part, drawn

SCORES, PACKAGE = "scores", "judgegraph."


def precedence(graph: Any) -> tuple[Precedence, ...]:
    """Of a compiled graph; empty where its scores tell it all.

    Of a function the name of its scores' agent is not known beforehand; where several functions write scores on both
    sides of such a node, nothing is claimed, and each agent's scores are answers.
    """
    if not any(_of_user(runs) for runs in _functions(graph)):
        return ()
    try:
        whole = drawn(graph)
    except Exception:  # whatever stands in a user's annotations: `check` tells of it
        return ()
    known = frozenset(name for part in _leaves(whole) if (name := _name(part)))
    found = []
    for part, before in _readers(whole, ()):
        names = [_name(one) for one in before if one is not part]
        later, earlier = _name(part), frozenset(name for name in names if name)
        if "" in names and later:
            found.append(Precedence(frozenset({later}), None, known))
        if earlier:
            found.append(Precedence(frozenset({later}) if later else None, earlier, known))
    return tuple(found)


def _readers(graph: Drawn, outer: tuple[Part, ...]) -> Iterator[tuple[Part, list[Part]]]:
    """(node of a user's own that scores anew what it read, the nodes before it that write scores), subgraphs' too."""
    for name, part in graph.parts.items():
        if SCORES not in (part.writes or ()):
            continue
        before = [graph.parts[at] for at in _before(graph, name)]
        seen = outer if SCORES in graph.given or not graph.inner else ()
        writers = [*seen, *(leaf for one in before for leaf in _leaves_of(one))]
        if part.inside is not None:
            yield from _readers(part.inside, tuple(writers))
        elif _is_users(part) and SCORES in part.reads | part.may_read and writers:
            yield part, writers


def _before(graph: Drawn, name: str) -> list[str]:
    """Nodes that come before one and never after it, as those of a loop do."""
    after = nx.descendants(graph.arrows, name)
    return [at for at in nx.ancestors(graph.arrows, name) if at in graph.parts and at not in after]


def _is_users(part: Part) -> bool:
    """Not of this package, and it says what it reads and writes: what says nothing reads and writes everything."""
    return _of_user(part.runs) and not (part.writes is not None and part.writes >= VOCABULARY)


def _of_user(runs: Any) -> bool:
    module = getattr(runs if hasattr(runs, "__qualname__") else type(runs), "__module__", "") or ""
    return not f"{module}.".startswith(PACKAGE)


def _functions(graph: Any) -> Iterator[Any]:
    """What the nodes of a graph call, its subgraphs' among them."""
    for node in getattr(getattr(graph, "builder", None), "nodes", {}).values():
        runs = function_of(node.runnable)
        if hasattr(runs, "builder"):
            yield from _functions(runs)
        else:
            yield runs


def _leaves(graph: Drawn) -> Iterator[Part]:
    for part in graph.parts.values():
        yield from _leaves_of(part)


def _leaves_of(part: Part) -> Iterator[Part]:
    """Nodes that write scores, within a node that is a graph."""
    if part.inside is not None:
        yield from _leaves(part.inside)
    elif SCORES in (part.writes or ()):
        yield part


def _name(part: Part) -> str:
    """Of an agent; "" of what has none."""
    name = getattr(part.runs, "name", "")
    return name if isinstance(name, str) else ""
