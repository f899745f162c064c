"""A graph whose nodes are recorded: a copy in which each node's function is called within a span.

No callback handler is used: one that does nothing costs a fifth of a graph's time. What a node runs, its name, its
keys and its errors are as they were.
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.errors import GraphBubbleUp

from judgegraph.trace.record import Recorder, failed, recorder, sizes, within, written

Keys = frozenset[str]


def watched(graph: Any) -> Any:
    """A graph that an agent runs: its copy, made once in a run; itself where nobody records."""
    at = recorder.get()
    if at is None:
        return graph
    known = at.copies.get(id(graph))
    if known is None:
        known = at.copies[id(graph)] = (graph, copied(graph))  # it is held, so that no other gets its id
    return known[1]


def copied(graph: Any) -> Any:
    """The copy whose nodes are recorded, of the graph as it is now; what is none of LangGraph's is left as it is."""
    if not (hasattr(graph, "builder") and hasattr(graph, "nodes") and hasattr(graph, "copy")):
        return graph
    keys = frozenset(getattr(graph, "channels", ()))
    return graph.copy({"nodes": {name: _node(name, node, keys) for name, node in graph.nodes.items()}})


def _node(name: str, node: Any, keys: Keys) -> Any:
    if name == "__start__":
        return node
    return node.copy({"bound": _recorded(name, node.bound, keys)})


def _recorded(name: str, bound: Any, keys: Keys) -> Any:
    """What a node runs: a function, as nearly all do, or another thing that can be run, such as a graph."""
    function = getattr(bound, "afunc", None)
    if type(bound).__name__ == "RunnableCallable" and callable(function):
        same = copy.copy(bound)
        same.afunc = _called(name, function, keys)
        return same
    return _Recorded(name, _inner(bound), keys)


def _inner(runs: Any) -> Any:
    """A graph's own nodes are recorded too, also where something of ours stands around it."""
    if getattr(type(runs), "contains", False):
        same = copy.copy(runs)
        same.runs = _inner(runs.runs)
        return same
    return copied(runs)


def _called(name: str, function: Callable[..., Awaitable[Any]], keys: Keys) -> Callable[..., Awaitable[Any]]:
    """The function within a span; of what it returns only the keys of the state are told, as LangGraph takes them."""

    async def call(*args: Any, **settings: Any) -> Any:
        at = recorder.get()
        if at is None:
            return await function(*args, **settings)
        about: dict[str, Any] = {"reads": sizes(args[0] if args else None)}
        begun = at.begin("node", name, about)
        token = within.set(begun[0])
        try:
            found = await function(*args, **settings)
            about["writes"] = written(found, keys)
            at.end(begun)
            return found
        except GraphBubbleUp as word:  # to the graph around: a command, or a stop for a person
            _bubbled(at, begun, word)
            raise
        except BaseException as error:
            at.end(begun, failed(about, error))
            raise
        finally:
            within.reset(token)

    return call


def _bubbled(at: Recorder, begun: list[Any], word: GraphBubbleUp) -> None:
    if type(word).__name__ == "ParentCommand":
        begun[7]["writes"] = written(word.args[0] if word.args else None)
        at.end(begun)
    else:
        at.end(begun, "skipped")


class _Recorded(Runnable[Any, Any]):
    """Anything that can be run, within a span."""

    def __init__(self, name: str, runs: Any, keys: Keys) -> None:
        self.name, self.runs, self._keys = name, runs, keys

    def invoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        return self.runs.invoke(input, config, **more)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        async def run(state: Any) -> Any:
            return await self.runs.ainvoke(state, config, **more)

        return await _called(str(self.name), run, self._keys)(input)
