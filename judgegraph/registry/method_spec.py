"""What a graph must say of itself that its nodes and edges do not show.

A method, a helper and a graph file declare it here once, for the uncompiled graph; what compiles that graph keeps it
as `builder`, so the declaration holds in a subgraph too. LangGraph's own `with_config(metadata=...)` would not do: it
is set on a compiled graph, so whoever compiles `builder(...)` himself would lose it, and every span would carry it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary


@dataclass(frozen=True)
class MethodSpec:
    """What is declared of a graph.

    Attributes:
        settings: name -> value, of those that are not their defaults. They stand in the signature of a run.
        own_nodes: nodes that these settings describe; the settings of other nodes' agents stand in the signature too.
        given_nodes: nodes whose agent the user passed in, which the settings do not describe.
        names_outputs: whether its output schema names what it gives; None where the schema tells.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    own_nodes: frozenset[str] = frozenset()
    given_nodes: frozenset[str] = frozenset()
    names_outputs: bool | None = None


_DECLARED: WeakKeyDictionary[Any, MethodSpec] = WeakKeyDictionary()


def declare(graph: Any, **changes: Any) -> None:
    """Set fields of an uncompiled graph's `MethodSpec`; those that are not named stay as they are."""
    _DECLARED[graph] = replace(_DECLARED.get(graph, MethodSpec()), **changes)


def spec_of(graph: Any) -> MethodSpec | None:
    """What was declared of a graph, compiled or not; None where nothing was."""
    builder = getattr(graph, "builder", graph)
    try:
        return _DECLARED.get(builder)
    except TypeError:  # no weak reference or no hash: never a graph of LangGraph's
        return None
