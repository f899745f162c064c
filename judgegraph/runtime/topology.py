"""The shape of a compiled graph: its nodes, its edges, and how its state is joined; subgraphs included."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from judgegraph.runtime.code_digest import digest
from judgegraph.runtime.setting_value import code_set, told
from judgegraph.wiring.ways import way_of

ENDS = {"__start__": "START", "__end__": "END"}


def nodes(graph: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(name, what runs there) of every node, an inner one as "weigh/judge"; a subgraph stands before its nodes."""
    for name, node in getattr(getattr(graph, "builder", None), "nodes", {}).items():
        runs = function_of(node.runnable)
        yield f"{path}{name}", runs
        yield from nodes(runs, f"{path}{name}/")


def function_of(runnable: Any) -> Any:
    """What a node or a branch calls; the runnable itself where it is of another kind."""
    return getattr(runnable, "func", None) or getattr(runnable, "afunc", None) or runnable


def edges(graph: Any, path: str = "") -> list[str]:
    """Lines such as "weigh/guide -> weigh/judge", sorted: a choice with its function, a join with all it awaits."""
    builder = getattr(graph, "builder", None)
    if builder is None:
        return []

    def named(node: str) -> str:
        return ENDS.get(node, node) if not path else f"{path}{ENDS.get(node, node)}"

    found = [f"{named(a)} -> {named(b)}" for a, b in builder.edges]
    found += [f"{' and '.join(named(a) for a in sorted(many))} -> {named(b)}" for many, b in builder.waiting_edges]
    for source, branches in builder.branches.items():
        for branch in branches.values():
            to = " or ".join(_labelled(label, named(end)) for label, end in sorted((branch.ends or {}).items()))
            found.append(f"{named(source)} -> {to or 'any'} by {_function(function_of(branch.path))}")
    for name, node in builder.nodes.items():
        found += [f"{named(name)} awaits all"] if node.defer else []
        found += [f"{named(name)} -> {named(end)} by its command" for end in sorted(node.ends or ())]
        found += edges(node.runnable, f"{path}{name}/")
    return sorted(found)


def fan_outs(graph: Any, path: str = "") -> list[str]:
    """Of a graph's edges those that may be taken many times at once, each as "weigh/guide -> weigh/judge", sorted."""
    builder = getattr(graph, "builder", None)
    if builder is None:
        return []
    found: list[str] = []
    for source, branches in builder.branches.items():
        for branch in branches.values():
            sent = way_of(source, branch, builder.nodes).sent
            found += [f"{path}{ENDS.get(source, source)} -> {path}{ENDS.get(end, end)}" for end in sent]
    for name, node in builder.nodes.items():
        found += fan_outs(function_of(node.runnable), f"{path}{name}/")
    return sorted(set(found))


def _labelled(label: Any, end: str) -> str:
    return end if end.endswith(ENDS.get(str(label), str(label))) else f"{end} ({label})"


def reducers(graph: Any, path: str = "") -> list[str]:
    """Lines such as "scores: merged", sorted: keys of the state that several nodes may write, and what joins them."""
    builder = getattr(graph, "builder", None)
    channels = getattr(builder, "channels", {})
    found = [f"{path}{key}: {_function(c.operator)}" for key, c in channels.items() if hasattr(c, "operator")]
    for name, node in getattr(builder, "nodes", {}).items():
        found += reducers(node.runnable, f"{path}{name}/")
    return sorted(found)


def _function(function: Any) -> str:
    name, code = getattr(function, "__name__", None) or type(function).__name__, code_set(function)
    if code is None and isinstance(function, partial):  # of a function that is not the caller's
        code = digest(json.dumps(told(function), sort_keys=True))
    return f"{name}@{code}" if code else str(name)
