"""A graph for plain LangGraph use whose state is looked at: at its door, and behind every node.

Runs over samples (`evaluate`) do the same by themselves.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from difflib import get_close_matches
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from judgegraph.errors import ConfigError, StateError, one_line
from judgegraph.runs.state_check import StateCheck
from judgegraph.trace.watched import checks, copied
from judgegraph.types import given_criteria, sample_of


def strict(graph: Any) -> Strict:
    """The graph, with its state validated at the door and what every node writes validated behind it.

    `await jg.strict(graph).ainvoke({"sample": sample})` gives what the graph gives; a wrong value raises where it is
    written, with node, key and cure, instead of somewhere behind. As a node it stands in other graphs.

    Args:
        graph: a compiled LangGraph that reads "sample".

    Raises:
        ConfigError: it is none.
    """
    if not all(hasattr(graph, name) for name in ("builder", "nodes", "copy", "ainvoke")):
        raise ConfigError(f"strict: expected a compiled LangGraph, got {type(graph).__name__}")
    return Strict(graph)


class Strict(Runnable[Any, Any]):
    """What `strict` makes of a graph."""

    def __init__(self, graph: Any) -> None:
        self.name = graph.get_name()
        self.graph = graph
        self._copy = copied(graph, whole=True)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        """Agents are coroutines.

        Raises:
            ConfigError: always.
        """
        raise ConfigError(f"{self.name}: agents are coroutines; await ainvoke(...), or use jg.evaluate in a script")

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        """As the graph's own.

        Raises:
            DataError: the sample or the criteria are none. StateError: the state has a key of no node, or a node wrote
                what cannot be taken up.
        """
        state = self._validated_input(input)
        token = checks.set(looks := StateCheck(sample=state["sample"]))
        try:
            found = await self._copy.ainvoke(state, config, **more)
            looks.ended(found)
            return found
        finally:
            checks.reset(token)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> AsyncIterator[Any]:
        """As the graph's own; raises as `ainvoke`."""
        state = self._validated_input(input)
        token = checks.set(StateCheck(sample=state["sample"]))
        try:
            async for part in self._copy.astream(state, config, **more):
                yield part
        finally:
            checks.reset(token)

    def _validated_input(self, state: Any) -> dict[str, Any]:
        if not isinstance(state, Mapping):
            raise StateError(f"{self.name}: its state is a {type(state).__name__}; give it {{'sample': Sample(...)}}")
        known = [key for key in getattr(self.graph, "channels", ()) if not key.startswith(("__", "branch:"))]
        for key in state:
            if key not in known:
                close = get_close_matches(str(key), known, 1)
                meant = f"did you mean '{close[0]}'?" if close else f"its keys are {', '.join(sorted(known))}"
                raise StateError(f"{self.name}: no node knows the key '{one_line(str(key), 60)}'; {meant}")
        found: dict[str, Any] = {**state, "sample": sample_of(state)}
        if "criteria" in state:
            found["criteria"] = given_criteria(state)
        return found
