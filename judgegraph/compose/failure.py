"""A node that raises, among others that go on: what it raised is written to the state."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph

from judgegraph.errors import ReplyError, one_line
from judgegraph.types import Status


class Failure(NamedTuple):
    """Why a run wrote nothing."""

    status: Status
    reason: str

    @classmethod
    def of(cls, error: Exception) -> Self:
        """What an exception says."""
        status: Any = error.status if isinstance(error, ReplyError) else "agent_error"
        return cls(status, _why(error))


class _Contained(Runnable[Any, Any]):
    """What a node runs, with its failure in the place of what it would have written."""

    contains = True  # what is in `runs` is recorded for itself

    def __init__(self, runs: Runnable[Any, Any]) -> None:
        self.runs = runs

    def invoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        try:
            return self.runs.invoke(input, config, **more)
        except Exception as error:
            if _goes_on(error):
                raise
            return {"failure": Failure.of(error)}

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        try:
            return await self.runs.ainvoke(input, config, **more)
        except Exception as error:
            if _goes_on(error):
                raise
            return {"failure": Failure.of(error)}


def contained(graph: CompiledStateGraph[Any, None, Any, Any], name: str) -> CompiledStateGraph[Any, None, Any, Any]:
    """The graph, in which one node writes its `Failure` to the key "failure" instead of raising.

    What ends a run still does, and so do a stop for a person and a command to a graph around. The builder has the node
    as it was: a check, a signature and a configuration read that.
    """
    node = graph.nodes[name]
    graph.nodes[name] = node.copy({"bound": _Contained(node.bound)})
    return graph


def _goes_on(error: Exception) -> bool:
    """Whether it is for the graph around, or for the whole run."""
    return isinstance(error, GraphBubbleUp) or getattr(error, "ends_run", False)


def _why(error: Exception) -> str:
    """What an error says; its message may be code too, and may fail."""
    try:
        return one_line(f"{type(error).__name__}: {error}")
    except Exception:
        return type(error).__name__
