"""Rounds of agents: columns of nodes, each of which waits for all of the column before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph.graph import START


def add_columns(graph: Any, columns: Iterable[Mapping[str, Any]], after: Sequence[str] = (START,)) -> list[str]:
    """Adds columns of nodes to a graph; each node of a column has an edge from every node of the one before.

    In a column of one node it has the floor alone; those of a wider one do not know of each other.

    Args:
        columns: node's name -> what it runs. after: nodes that the first column waits for.

    Returns:
        The names of the last column, for the edges that lead on.
    """
    before = [*after]
    for column in columns:
        for name, node in column.items():
            graph.add_node(name, node)
            graph.add_edge(before if len(before) > 1 else before[0], name)
        before = [*column]
    return before
