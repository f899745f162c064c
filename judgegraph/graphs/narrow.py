"""A method on its own needs no more of the shared state than its nodes touch; every further key costs each run."""

from __future__ import annotations

from typing import Any, TypeVar

from langgraph.graph import StateGraph

G = TypeVar("G", bound="StateGraph[Any, Any, Any, Any]")


def narrowed(graph: G) -> G:
    """The same graph without the keys of its state that no node of it reads, that are no input and no output.

    For a graph that is compiled as it is: whoever goes on building with one wants all keys. A node or a branch that
    reads the whole state keeps all of it.
    """
    whole = graph.state_schema
    reads_all = any(spec.input_schema is whole for spec in graph.nodes.values()) or any(graph.branches.values())
    if reads_all or whole in (graph.input_schema, graph.output_schema):
        return graph
    used = {key for schema, keys in graph.schemas.items() if schema is not whole for key in keys}
    for key in set(graph.channels) - used:
        del graph.channels[key]
        graph.schemas[whole].pop(key, None)
    return graph
