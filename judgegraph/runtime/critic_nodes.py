"""Which nodes of a graph are the critic behind the final scores of a name: what they ask is what the critic costs."""

from __future__ import annotations

from typing import Any

from judgegraph.compose.node import keys
from judgegraph.runtime.topology import nodes


def critic_nodes(graph: Any) -> dict[str, list[str]]:
    """Agent of the final scores -> the critic's nodes.

    What turns verdicts into scores (it reads `rectifications`, writes `scores` and has a name) names the final scores.
    Its critic stands beside it in the same graph, and writes `rectifications`: of several the one with that name, else
    all of them.
    """
    named: dict[str, tuple[str, str]] = {}  # path of what applies verdicts -> graph around it, name
    critics: dict[str, str] = {}  # path of a critic -> its name, "" where it has none
    for path, thing in nodes(graph):
        reads, writes = _keys(thing)
        name = getattr(thing, "name", None)
        if "rectifications" in reads and "scores" in writes and isinstance(name, str) and not _is_graph(thing):
            named[path] = _around(path), name
        elif "rectifications" in writes:
            critics[path] = str(name or "")
    found: dict[str, list[str]] = {}
    for around, name in named.values():
        beside = [path for path in critics if _around(path) == around]
        own = [path for path in beside if critics[path] == name]
        found[name] = sorted({*found.get(name, ()), *(own or beside)})
    return found


def _keys(thing: Any) -> tuple[Any, Any]:
    """What it reads and writes; nothing where it does not say, and so is neither critic nor what follows one."""
    try:
        reads, writes = keys(thing)
    except (TypeError, ValueError, AttributeError):  # a callable without a signature
        return {}, {}
    says_all = "findings" in writes and "comparisons" in writes and not _is_graph(thing)
    return ({}, {}) if says_all else (reads, writes)


def _is_graph(thing: Any) -> bool:
    return hasattr(thing, "builder")


def _around(path: str) -> str:
    return path.rpartition("/")[0]
