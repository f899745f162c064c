"""A graph whose nodes are recorded and checked: a copy in which each node's function is called within a span.

No callback handler is used: one that does nothing costs a fifth of a graph's time. What a node runs, its name, its
keys and its errors are as they were. What it writes goes to the sample's `Checks`, where a run has one."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Iterator, Mapping
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.errors import GraphBubbleUp

from judgegraph.trace.record import Recorder, failed, recorder, sizes, status_of, within, written
from judgegraph.types import Criterion, Scale

Keys = frozenset[str]
Scales = Mapping[str, tuple[Scale, ...]]  # criterion -> scales by which the agents of a graph judge it


@dataclass(frozen=True)
class NodeInfo:
    """A node of a graph.

    Attributes:
        name: with those that it stands in, such as "weigh/judge". keys: of the graph's state. own: what it returns is
            for this state alone; a graph or a chain may return more. outputs: keys of what a run takes up, None for a
            node of a graph within. scales: as the graph's agents have them. ways: names of nodes that may follow it.
    """

    name: str
    keys: Keys
    own: bool = True
    outputs: Keys | None = None
    scales: Scales = field(default_factory=dict)
    ways: Keys = frozenset()

    @property
    def last(self) -> str:
        """Its own name."""
        return self.name.rpartition("/")[2]


class Checks(Protocol):
    """Looks at what nodes write for one sample. copies: of graphs that agents run, one for a run."""

    copies: dict[int, tuple[Any, Any]]

    def handed(self, state: Any) -> Any:
        """What stands in a state before a node is called."""
        ...

    def written(self, place: NodeInfo, update: Any, before: Any) -> None:
        """Raises what fails the sample."""
        ...

    def left(self, place: NodeInfo, update: Any, was: Any) -> None:
        """Raises what fails the sample; was: what `handed` gave before."""
        ...

    def led(self, place: NodeInfo, targets: Iterable[Any]) -> None:
        """Raises what fails the sample: LangGraph goes nowhere, without a word, where a target is no node."""
        ...


checks: ContextVar[Checks | None] = ContextVar("judgegraph_checks", default=None)


def watched(graph: Any) -> Any:
    """A graph that an agent runs: its copy, made once in a run; itself where nobody records or checks."""
    at = recorder.get() or checks.get()
    if at is None:
        return graph
    known = at.copies.get(id(graph))
    if known is None:
        known = at.copies[id(graph)] = (graph, copied(graph))  # it is held, so that no other gets its id
    return known[1]


def copied(graph: Any, path: str = "", *, whole: bool = False) -> Any:
    """The copy whose nodes are recorded, of the graph as it is now; what is none of LangGraph's is left as it is.

    Args:
        path: what stands before its nodes' names. whole: it is what a run runs: what it gives out is taken up.
    """
    if not (hasattr(graph, "builder") and hasattr(graph, "nodes") and hasattr(graph, "copy")):
        return graph
    keys = frozenset(getattr(graph, "channels", ()))
    given = getattr(graph, "output_channels", ())
    outputs = frozenset([given] if isinstance(given, str) else given) if whole else None
    known, ways = _scales(graph), frozenset(graph.nodes) - {"__start__"}
    nodes = {
        name: _node(NodeInfo(f"{path}{name}", keys, outputs=outputs, scales=known, ways=ways), node)
        for name, node in graph.nodes.items()
    }
    return graph.copy({"nodes": nodes})


def _scales(graph: Any) -> Scales:
    found: dict[str, list[Scale]] = {}
    for criterion in _criteria(graph):
        if criterion.scale not in found.setdefault(criterion.name, []):
            found[criterion.name].append(criterion.scale)
    return {name: tuple(scales) for name, scales in found.items()}


def _criteria(graph: Any) -> Iterator[Criterion]:
    """Those that the agents of a graph, and of graphs within, have as a setting."""
    for node in getattr(graph.builder, "nodes", {}).values():
        runs = node.runnable
        if hasattr(runs, "builder"):
            yield from _criteria(runs)
        for agent in (getattr(runs, "afunc", None), getattr(runs, "func", None)):
            own = getattr(agent, "criteria", None)
            yield from (one for one in own if isinstance(one, Criterion)) if isinstance(own, list | tuple) else ()


def _node(place: NodeInfo, node: Any) -> Any:
    ways = {"writers": [_followed(place, writer) for writer in node.writers]}
    if place.last == "__start__":
        return node.copy(ways)
    return _unheard(node.copy({"bound": _recorded(place, node.bound), **ways}))


def _followed(place: NodeInfo, writer: Any) -> Any:
    """A conditional edge, whose targets are looked at; other writers as they are."""
    settings = getattr(writer, "kwargs", None)
    if not isinstance(settings, dict) or not callable(leads := settings.get("writer")):
        return writer

    def lead(targets: Any, *static: Any) -> Any:
        if (looks := checks.get()) is not None:
            looks.led(place, targets)
        return leads(targets, *static)

    same = copy.copy(writer)
    same.kwargs = {**settings, "writer": lead}
    return same


def _recorded(place: NodeInfo, bound: Any) -> Any:
    """What a node runs: a function, as nearly all do, or another thing that can be run, such as a graph."""
    function = getattr(bound, "afunc", None)
    if type(bound).__name__ == "RunnableCallable" and callable(function):
        same = copy.copy(bound)
        same.afunc = _called(place, function)
        return same
    return _Recorded(replace(place, own=False), _inner(bound, place))


def _inner(runs: Any, place: NodeInfo) -> Any:
    """A graph's own nodes are recorded too, also where something of ours stands around it."""
    if getattr(type(runs), "contains", False):
        same = copy.copy(runs)
        same.runs = _inner(runs.runs, place)
        return same
    return copied(runs, f"{place.name}/")


def _called(place: NodeInfo, function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """The function within a span; of what it returns only the keys of the state are told, as LangGraph takes them."""

    async def call(*args: Any, **settings: Any) -> Any:
        at, looks = recorder.get(), checks.get()
        before = args[0] if args else None
        was = looks.handed(before) if looks is not None else None
        if at is None:
            found = await function(*args, **settings)
            if looks is not None:
                looks.written(place, found, before)
                looks.led(place, _commanded(found))
                looks.left(place, found, was)
            return found
        about: dict[str, Any] = {"reads": sizes(before)}
        begun = at.begin("node", place.last, about)
        token = within.set(begun[0])
        try:
            found = await function(*args, **settings)
            about["writes"] = written(found, place.keys)
            if looks is not None:
                looks.written(place, found, before)
                looks.led(place, _commanded(found))
                looks.left(place, found, was)
            at.end(begun, status_of(found, before, about))
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


def _commanded(update: Any) -> list[Any]:
    """Where the commands that a node returned lead, in its own graph."""
    given = update if isinstance(update, list | tuple) else [update]
    ways = [one.goto for one in given if hasattr(one, "goto") and one.graph is None]
    return [to for way in ways for to in ([way] if isinstance(way, str) or hasattr(way, "node") else way)]


def _bubbled(at: Recorder, begun: list[Any], word: GraphBubbleUp) -> None:
    if type(word).__name__ == "ParentCommand":
        begun[7]["writes"] = written(word.args[0] if word.args else None)
        at.end(begun)
    else:
        at.end(begun, "skipped")


def _unheard(node: Any) -> Any:
    """The node, run with fewer layers where no callback hears of it; as it is where LangGraph builds it otherwise."""
    whole = node.node
    if type(whole).__name__ == "RunnableSeq" and type(whole.steps[0]).__name__ == "RunnableCallable":
        vars(node)["node"] = _Unheard(whole)  # it is a cached property
    return node


class _Unheard(Runnable[Any, Any]):
    """A node's function and what writes its result down, as LangGraph's sequence runs them.

    The sequence makes two managers of callbacks, two configs and a task a call, for whoever listens; here nobody does.
    The function has a context of its own all the same.
    """

    def __init__(self, whole: Any) -> None:
        self.whole, (self._function, *self._writers) = whole, whole.steps

    def invoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        return self.whole.invoke(input, config, **more)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        manager = config.get("callbacks") if config else None
        if getattr(manager, "handlers", True) or getattr(manager, "inheritable_handlers", True) or more:
            return await self.whole.ainvoke(input, config, **more)
        context = copy_context()
        context.run(var_child_runnable_config.set, config)
        found = await _InContext(self._function.ainvoke(input, config), context)
        for writer in self._writers:
            found = await writer.ainvoke(found, config)
        return found

    async def astream(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> AsyncIterator[Any]:
        async for part in self.whole.astream(input, config, **more):
            yield part


class _InContext:
    """A coroutine that runs within a context and in the task that awaits it."""

    __slots__ = ("_context", "_coroutine")

    def __init__(self, coroutine: Coroutine[Any, Any, Any], context: Context) -> None:
        self._coroutine, self._context = coroutine, context

    def __await__(self) -> Generator[Any, Any, Any]:
        run, coroutine = self._context.run, self._coroutine
        step: Callable[[Any], Any] = coroutine.send
        given: Any = None
        try:
            while True:
                try:
                    waited = run(step, given)
                except StopIteration as done:
                    return done.value
                try:
                    given, step = (yield waited), coroutine.send
                except BaseException as error:
                    given, step = error, coroutine.throw
        finally:
            given = None  # an error would hold this frame, and the frame it


class _Recorded(Runnable[Any, Any]):
    """Anything that can be run, within a span."""

    def __init__(self, place: NodeInfo, runs: Any) -> None:
        self.name, self.runs, self._place = place.last, runs, place

    def invoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        return self.runs.invoke(input, config, **more)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        async def run(state: Any) -> Any:
            return await self.runs.ainvoke(state, config, **more)

        return await _called(self._place, run)(input)
