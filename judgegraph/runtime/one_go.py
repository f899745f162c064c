"""A graph as a run needs it: from its start to its end in one go, with nothing kept between and nobody to wait for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgegraph.errors import ConfigError

WAITS = (
    "it stopped to wait for a person (an interrupt), and a run asks nobody: use `judgegraph review`, or the graph "
    "itself in LangGraph with a checkpointer"
)


def in_one_go(graph: Any) -> Any:
    """A copy without the checkpointer that the graph was compiled with, which would ask for a thread_id.

    Graphs in it have none either, whatever they were compiled with: LangGraph hands them the outer one's.
    """
    if getattr(graph, "checkpointer", None) in (None, False) or not hasattr(graph, "copy"):
        return graph
    return graph.copy(update={"checkpointer": False})


def waits(state: Any) -> bool:
    """Whether a graph gave this back because it stopped at an interrupt, not because it came to its end."""
    return isinstance(state, Mapping) and bool(state.get("__interrupt__"))


def check_stops(graph: Any, path: str = "") -> None:
    """Where a graph was compiled to stop before or after a node, nothing in what it gives back says that it did.

    Raises:
        ConfigError: it was, or one in it.
    """
    for setting in ("interrupt_before", "interrupt_after"):
        if stops := getattr(graph, f"{setting}_nodes", None):
            nodes = "every node" if isinstance(stops, str) else ", ".join(f"'{path}{node}'" for node in stops)
            raise ConfigError(f"the graph stops at {nodes} and nobody would send it on: compile it without {setting}=")
    for name, node in getattr(getattr(graph, "builder", None), "nodes", {}).items():
        check_stops(node.runnable, f"{path}{name}/")
