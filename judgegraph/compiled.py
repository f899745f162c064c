"""A compiled graph: what it tells of itself without being run, and how it goes to its end in one go.

It holds the one bridge from synchronous callers to our coroutines too, which works inside a running loop (notebooks).
"""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, is_dataclass, replace
from functools import lru_cache, partial
from types import FunctionType, NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints
from weakref import WeakKeyDictionary

from judgegraph.errors import ConfigError, one_line

T = TypeVar("T")
GRACE = 5.0  # seconds that an interrupted coroutine has to put its things in order
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_inherited: list[asyncio.AbstractEventLoop] = []


def run_sync(work: Coroutine[Any, Any, T], drain: Callable[[], None] | None = None) -> T:
    """Run a coroutine on the one private background loop and wait for it.

    HTTP clients belong to their loop, so one loop that stays serves them better than a fresh one each time.
    At the first interrupt `drain` asks the coroutine to come to its end, which is waited for; then the interrupt goes
    on to the caller, with a note of what the coroutine raised meanwhile. The second one, or the first where there is
    no `drain`, cancels the coroutine and waits until it has ended, `GRACE` seconds at most.

    Raises:
        ConfigError: called on the loop's own thread, which would wait for itself.
    """
    _refuse_own_thread(work)
    outcome: Future[T] = Future()
    tasks: list[asyncio.Task[T]] = []

    def start() -> None:
        tasks.append(loop.create_task(work))
        tasks[0].add_done_callback(lambda task: _hand_over(task, outcome))

    loop = _background()
    loop.call_soon_threadsafe(start)
    try:
        try:
            return outcome.result()
        except KeyboardInterrupt as interrupt:
            if drain is None or outcome.done():
                raise
            drain()
            if (error := outcome.exception()) is not None:
                interrupt.add_note(f"{type(error).__name__}: {one_line(error, 1000)}")
            raise
    except BaseException:
        if not outcome.done():
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())  # callbacks keep their order: it was started
            wait([outcome], GRACE)
        raise


def _refuse_own_thread(work: Coroutine[Any, Any, Any]) -> None:
    """A loop of its own for the inner run would not do: the outer one stands meanwhile, and with it the replies to its
    requests, for whose end the inner one may have to wait at their judge's limits.
    """
    try:
        inside = asyncio.get_running_loop() is _loop
    except RuntimeError:
        return
    if inside:
        work.close()
        name = getattr(work, "__name__", "aevaluate")
        raise ConfigError(
            f"{name.removeprefix('a')} was called within a run, on the thread that works for it, and would wait for "
            f"itself: in an async node write 'await judgegraph.{name}(...)'; in on_item, on_progress or a "
            "generator of samples leave it until the run has ended, or do it before"
        )


def _hand_over(task: asyncio.Task[T], outcome: Future[T]) -> None:
    if task.cancelled():
        outcome.set_exception(asyncio.CancelledError())
    elif error := task.exception():
        outcome.set_exception(error)
    else:
        outcome.set_result(task.result())


def _after_fork() -> None:
    """A forked child has the loop, but not the thread that ran it, and maybe a lock that nobody will release.

    The loop is held and left alone: what waits for its connections in the kernel is shared with the parent's.
    """
    global _lock, _loop
    _lock = threading.Lock()
    if _loop is not None:
        _inherited.append(_loop)
    _loop = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _background() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_forever, args=(_loop,), name="judgegraph", daemon=True).start()
        return _loop


def _forever(loop: asyncio.AbstractEventLoop) -> None:
    """A SystemExit in a task belongs to the task's caller; asyncio also throws it through the loop."""
    while True:
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt):
            continue
        return


# A graph as a run needs it: from its start to its end in one go, with nothing kept between and nobody to wait for.


STOPS = "__interrupt__"  # LangGraph's key for them
BEGIN, ENTRY = "__start__", "branch:to:"  # its node that hands the input over, and what that writes to begin a node
WAITS = (
    "it stopped to wait for a person (an interrupt), and a run asks nobody: use `judgegraph review`, or the graph "
    "itself in LangGraph with a checkpointer"
)


def without_checkpointer(graph: Any) -> Any:
    """A copy without the checkpointer that the graph was compiled with, which would ask for a thread_id.

    Graphs in it have none either, whatever they were compiled with: LangGraph hands them the outer one's.
    """
    if getattr(graph, "checkpointer", None) in (None, False) or not hasattr(graph, "copy"):
        return graph
    return graph.copy(update={"checkpointer": False})


def entered_at_once(graph: Any) -> Any:
    """A copy for `final_state` whose input goes straight to its first nodes, and not by a step that hands it over.

    That step costs a quarter of a small graph's time. It stays where a condition or a Command chooses the way in, where
    a first node waits for the others' end, and where LangGraph builds a graph otherwise.
    """
    start = getattr(graph, "nodes", {}).get(BEGIN)
    outputs, copies = getattr(graph, "output_channels", None), hasattr(graph, "copy") and hasattr(graph, "builder")
    if start is None or not copies or not isinstance(outputs, list | tuple) or graph.input_channels != BEGIN:
        return graph
    writes = [write for writer in start.writers[1:] for write in getattr(writer, "writes", (None,))]
    first = [getattr(write, "channel", "") for write in writes]
    if not first or not all(_is_plain_entry(graph, name, write) for name, write in zip(first, writes, strict=True)):
        return graph
    keys = [key for key in graph.builder.schemas[graph.builder.input_schema] if key in graph.channels]
    return graph.copy(
        {
            "input_channels": [*first, *keys],
            "nodes": {name: node for name, node in graph.nodes.items() if name != BEGIN},
            "channels": {name: channel for name, channel in graph.channels.items() if name != BEGIN},
            "trigger_to_nodes": {name: nodes for name, nodes in graph.trigger_to_nodes.items() if name != BEGIN},
        }
    )


def _is_plain_entry(graph: Any, name: str, write: Any) -> bool:
    """Whether it is an edge from START to a node that may begin at once."""
    channel = graph.channels.get(name)
    return name.startswith(ENTRY) and write.value is None and type(channel).__name__ == "EphemeralValue"


async def final_state(graph: Any, given: Mapping[str, Any]) -> Any:
    """What a graph's `ainvoke` gives, of LangGraph's own with less: what each node wrote is not told beside the values.

    A graph that stopped at an interrupt gives its state with "__interrupt__", as there.
    """
    outputs, inputs = getattr(graph, "output_channels", None), getattr(graph, "input_channels", None)
    if outputs is None or isinstance(outputs, str) or not hasattr(graph, "builder"):
        return await graph.ainvoke(given)
    at_once = not isinstance(inputs, str | None)
    if at_once:
        given = {key: given.get(key) for key in inputs or () if key in given or key.startswith(ENTRY)}
    state, stops = None, None
    async for values in graph.astream(given, stream_mode="values", output_keys=outputs):
        state, stops = values, values.get(STOPS) or stops
    if state is None and at_once:  # no node wrote anything, and no step handed over what was given
        state = _untouched(graph, outputs, given)
    return {**state, STOPS: stops} if stops and state is not None else state


def _untouched(graph: Any, outputs: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a graph that nobody wrote to, as its channels make it of what was given."""
    state = {}
    for name in outputs:
        channel = graph.channels[name].copy()
        if name in given:
            channel.update([given[name]])
        if channel.is_available():
            state[name] = channel.get()
    return state


def waits(state: Any) -> bool:
    """Whether a graph gave this back because it stopped at an interrupt, not because it came to its end."""
    return isinstance(state, Mapping) and bool(state.get(STOPS))


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


def node_at_work() -> str:
    """The node that is running, subgraphs before it: "weigh/judge"; "" outside of a graph."""
    from langchain_core.runnables.config import var_child_runnable_config

    config = var_child_runnable_config.get() or {}
    place = str((config.get("metadata") or {}).get("langgraph_checkpoint_ns") or "")
    return "/".join(step.partition(":")[0] for step in place.split("|"))


def updates(update: Any) -> Iterator[tuple[str, Any]]:
    """(key, value) of all that a node returned for the state: a mapping, an object with fields, a command, several."""
    if type(update) is dict or isinstance(update, Mapping):
        yield from update.items()
    elif isinstance(update, list | tuple):
        for one in update:
            yield from updates(one)
    elif hasattr(update, "_update_as_tuples"):  # a command
        yield from update._update_as_tuples() if update.graph is None else ()
    elif update is not None and getattr(type(update), "__annotations__", None):
        yield from ((key, getattr(update, key)) for key in type(update).__annotations__ if hasattr(update, key))


# What a graph must say of itself that its nodes and edges do not show.
#
# A method, a helper and a graph file declare it here once, for the uncompiled graph; what compiles that graph keeps it
# as `builder`, so the declaration holds in a subgraph too. LangGraph's own `with_config(metadata=...)` would not do: it
# is set on a compiled graph, so whoever compiles `builder(...)` himself would lose it, and every span would carry it.


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


# What a compiled graph tells of itself without being run: its agents, their judges, and the keys of its nodes.


def agents_of(graph: Any) -> Iterator[tuple[str, Any]]:
    """(node, agent) of every dataclass agent in a compiled graph, subgraphs included ("weigh/judge")."""
    for name, node in getattr(getattr(graph, "builder", None), "nodes", {}).items():
        runnable = node.runnable
        if hasattr(runnable, "builder"):
            yield from ((f"{name}/{inner}", agent) for inner, agent in agents_of(runnable))
        for function in (getattr(runnable, "afunc", None), getattr(runnable, "func", None)):
            if is_dataclass(function) and not isinstance(function, type):
                yield name, function


def judges_of(graph: Any) -> Iterator[Any]:
    """Every judge that its agents ask, or the graphs of its assistants; several times where several do."""
    for _, agent in agents_of(graph):
        yield from several_of(agent, "judge", object)
        offered = getattr(agent, "assistants", None)
        for one in offered if isinstance(offered, Sequence) and not isinstance(offered, str) else ():
            yield from judges_of(getattr(one, "graph", None))
            yield from several_of(one, "judge", object)


def several_of(agent: Any, name: str, kind: type) -> list[Any]:
    """What an agent lists under the plural of a name, else what it has under the name."""
    listed = getattr(agent, f"{name}s", None)
    if isinstance(listed, tuple) and all(isinstance(one, kind) for one in listed):
        return list(listed)
    return [one] if (one := getattr(agent, name, None)) else []


def keys(node: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The keys that a node reads and those that it writes, each with its annotation.

    They are those of its schemas: of a graph its input and output, of an agent or a function the annotations of its
    first argument and of what it returns. What says nothing of itself reads and writes all keys of `EvalState`.
    """
    if (builder := getattr(node, "builder", None)) is not None:
        return fields(builder.input_schema), fields(builder.output_schema)
    function = node if inspect.isroutine(node) else type(node).__call__
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception:  # whatever stands in a user's annotations
        hints = {}
    names = [p for p in inspect.signature(function).parameters if p != "self"]
    first = hints.get(names[0]) if names else None
    return fields(first), fields(hints.get("return"))


def fields(schema: Any) -> Mapping[str, Any]:
    """Key -> annotation of a TypedDict, a dataclass, a pydantic model, or a union of such; else of `EvalState`."""
    if get_origin(schema) in (Union, UnionType):
        parts = [part for part in get_args(schema) if part is not NoneType]
        return {key: hint for part in parts for key, hint in fields(part).items()}
    if not inspect.isclass(schema) or not getattr(schema, "__annotations__", None):
        return vocabulary()
    return get_type_hints(schema, include_extras=True)


@lru_cache(maxsize=1)
def vocabulary() -> Mapping[str, Any]:
    """Key -> annotation of `EvalState`."""
    from judgegraph.types import EvalState  # pydantic: no part of the import of names

    return get_type_hints(EvalState, include_extras=True)


# Whose code something is.


BELOW = ("judgegraph", "pydantic", "pydantic_core", "openai", "httpx")


def function_of(runnable: Any) -> Any:
    """What a node or a branch calls; the runnable itself where it is of another kind."""
    return getattr(runnable, "func", None) or getattr(runnable, "afunc", None) or runnable


def is_ours(thing: Any) -> bool:
    """Whether it comes with this package, with Python or with the libraries below us: a version says what it does."""
    package = str(getattr(thing, "__module__", None) or "").partition(".")[0]
    return package in BELOW or package in sys.stdlib_module_names or package.startswith(("langchain", "langgraph"))


def unwrapped(thing: Any) -> Any:
    """A function without its wrappings, or the class of an object."""
    while isinstance(thing, partial):
        thing = thing.func
    thing = inspect.unwrap(getattr(thing, "__func__", thing)) if callable(thing) else thing
    return thing if isinstance(thing, FunctionType | type) else type(thing)
