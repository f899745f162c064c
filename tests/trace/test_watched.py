"""A recorded graph is the graph: what nodes do, raise and send on is as it was, and each is told as what it was."""

import asyncio
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.runnables import Runnable
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.compiled import entered_at_once, final_state
from judgegraph.trace.record import SPANS, RecordedTrace, recorded_traces
from judgegraph.trace.watched import copied

SAMPLE = jg.Sample(id="s1", output="A short and clear text about nothing much.")


class State(TypedDict, total=False):
    sample: Any
    log: Any


def graph(*nodes: tuple[str, Any]) -> StateGraph:
    """One node after the other."""
    made = StateGraph(State)
    for name, node in nodes:
        made.add_node(name, node)
    made.add_edge(START, nodes[0][0])
    for (one, _), (other, _) in pairwise(nodes):
        made.add_edge(one, other)
    made.add_edge(nodes[-1][0], END)
    return made


def run(compiled: Any, out: Path, **settings: Any) -> tuple[Any, RecordedTrace | None]:
    """The item, and its journey."""
    done = jg.evaluate(compiled, [SAMPLE], out=out, **settings)
    (item,) = done.items
    return item, next(recorded_traces(out / SPANS), None)


async def same(state: State) -> State:
    return {"log": 1}


async def slow(state: State) -> State:
    await asyncio.sleep(0.3)
    return {"log": 1}


def test_a_graph_that_was_changed_since_is_run_as_it_is_now(tmp_path: Path):
    compiled = graph(("slow", slow)).compile()
    assert run(compiled, tmp_path / "a")[0].status == "ok"
    compiled.step_timeout = 0.05
    assert run(compiled, tmp_path / "b")[0].status == run(compiled, tmp_path / "c", trace=False)[0].status == "timeout"


def test_a_command_to_the_graph_around_is_no_failure(tmp_path: Path):
    async def leave(state: State) -> Command:
        return Command(graph=Command.PARENT, goto="after", update={"log": "a secret text"})

    inner = graph(("leave", leave)).compile()
    outer = StateGraph(State)
    outer.add_node("inner", inner, destinations=("after",))
    outer.add_node("after", same)
    outer.add_edge(START, "inner")
    outer.add_edge("after", END)
    item, journey = run(outer.compile(), tmp_path / "run")
    assert item.status == "ok"
    assert journey is not None
    assert {span.status for span in journey.spans} == {"ok"}
    assert "secret" not in (tmp_path / "run" / SPANS).read_text()


def test_a_run_within_a_node_has_spans_of_its_own(tmp_path: Path):
    async def judges(state: State) -> State:
        from judgegraph.graphs import llm_score

        inside = await jg.aevaluate(llm_score(criteria="summary"), [state["sample"]])
        return {"log": len(list(inside.items))}

    item, journey = run(graph(("judges", judges)).compile(), tmp_path / "run")
    assert item.other == {"log": 1}
    assert journey is not None
    assert [(span.kind, span.name) for span in journey.spans] == [("graph", "LangGraph"), ("node", "judges")]


class Counting(Runnable[Any, Any]):
    """Of a user's own, with an attribute that something of ours has too."""

    def __init__(self) -> None:
        self.runs: Any = self
        self.count = 0

    def invoke(self, input: Any, config: Any = None, **more: Any) -> Any:
        self.count += 1
        return {"log": self.count}


def test_what_a_user_can_run_is_run_itself(tmp_path: Path):
    counting = Counting()
    item, journey = run(graph(("count", counting)).compile(), tmp_path / "run")
    assert (item.other, counting.count) == ({"log": 1}, 1)
    assert journey is not None
    assert journey.spans[1].name == "count"


class Loud(list):
    def __len__(self) -> int:
        raise RuntimeError("no length")


class Odd(Exception):
    @property
    def status(self) -> str:
        raise RuntimeError("no status")


ODD: dict[str, Any] = {"loud": Loud, "huge": lambda: 10**5000, "nan": lambda: float("nan"), "object": object}


@pytest.mark.parametrize("kind", ODD)
def test_what_a_node_writes_cannot_stop_the_recording(tmp_path: Path, kind: str):
    async def write(state: State) -> State:
        return {"log": ODD[kind]()}

    ends = []
    for trace in (True, False):
        out = tmp_path / str(trace)
        ends.append(jg.evaluate(graph(("write", write), ("read", same)).compile(), [SAMPLE], out=out, trace=trace))
    assert [run.manifest["state"] for run in ends] == ["finished", "finished"]
    traced, plain = ([item.status for item in run.items] for run in ends)
    assert traced == plain
    assert next(recorded_traces(tmp_path / "True" / SPANS)).spans[1].status == "ok"


@pytest.mark.parametrize("redact", [(), ("texts",)])
def test_a_key_that_the_state_does_not_have_is_not_told(tmp_path: Path, redact: tuple[str, ...]):
    async def write(state: State) -> Any:
        return {"log": 1, "what a model wrote": 2}

    _, journey = run(graph(("write", write)).compile(), tmp_path / "run", redact=redact, check=False)
    assert journey is not None
    assert journey.spans[1].about["writes"] == {"log": 1}


def test_a_journey_ends_as_its_item_does(tmp_path: Path):
    async def write(state: jg.EvalState) -> jg.EvalState:
        return {"notes": {"a": jg.Note(agent="a", text="half \ud83d of a pair")}}

    made = StateGraph(jg.EvalState)
    made.add_node("write", write)
    made.add_edge(START, "write")
    made.add_edge("write", END)
    item, journey = run(made.compile(), tmp_path / "run")
    assert journey is not None
    assert item.status == journey.spans[0].status == "agent_error"


def test_what_a_node_raises_arrives_as_it_was(tmp_path: Path):
    async def fail(state: State) -> State:
        raise Odd("odd")

    traced, journey = run(graph(("fail", fail)).compile(), tmp_path / "a")
    plain, none = run(graph(("fail", fail)).compile(), tmp_path / "b", trace=False)
    assert (traced.status, traced.reason) == (plain.status, plain.reason)
    assert none is None
    assert journey is not None
    assert journey.spans[1].about["error"] == "Odd: odd"


def test_nodes_with_odd_names_are_recorded(tmp_path: Path):
    _, journey = run(graph(("__x", same), ("y", same)).compile(), tmp_path / "run")
    assert journey is not None
    assert [span.name for span in journey.spans[1:]] == ["__x", "y"]


WORD: ContextVar[str] = ContextVar("word", default="")


async def speak(state: State) -> State:
    heard, step = WORD.get(), get_config()["metadata"]["langgraph_step"]
    WORD.set("said by a node")
    return {"log": [*(state.get("log") or ()), (heard, step)]}


def test_a_node_that_nobody_listens_to_has_a_context_of_its_own_and_its_config(tmp_path: Path):
    async def twice() -> Any:
        made = copied(graph(("one", speak), ("two", speak)).compile(), whole=True)
        return [await final_state(made, {"sample": SAMPLE}) for _ in range(2)], WORD.get()

    states, left = asyncio.run(twice())
    assert [state["log"] for state in states] == [[("", 1), ("", 2)]] * 2
    assert left == ""


class Listener(AsyncCallbackHandler):
    """Who hears of the runs of nodes."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, Any]] = []

    async def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, **about: Any) -> None:
        self.heard.append((about.get("name") or "", about.get("parent_run_id") is not None))

    async def on_chain_end(self, outputs: Any, *, run_id: Any, **about: Any) -> None:
        self.heard.append(("ended", about.get("parent_run_id") is not None))


def test_who_listens_hears_of_the_copys_nodes_as_of_the_graphs_own():
    compiled = graph(("one", speak), ("two", speak)).compile()

    def heard(made: Any) -> list[tuple[str, Any]]:
        listener = Listener()
        asyncio.run(made.ainvoke({"sample": SAMPLE}, {"callbacks": [listener]}))
        return listener.heard

    assert heard(copied(compiled, whole=True)) == heard(compiled)
    assert ("one", True) in heard(compiled)


async def stop(state: State) -> State:
    interrupt("a person")
    return {"log": 2}


async def nothing(state: State) -> None:
    return None


@pytest.mark.parametrize("nodes", [[("one", speak)], [("one", same), ("two", stop)], [("one", nothing)]])
def test_the_final_state_is_what_the_graph_itself_gives(nodes: list[tuple[str, Any]]):
    compiled = graph(*nodes).compile()

    async def both() -> tuple[Any, Any]:
        return await final_state(compiled, {"sample": SAMPLE}), await compiled.ainvoke({"sample": SAMPLE})

    ours, theirs = asyncio.run(both())
    stops = [[one.value for one in state.pop("__interrupt__", ())] for state in (ours, theirs)]
    assert stops[0] == stops[1]
    assert ours == theirs


def entries() -> dict[str, tuple[StateGraph, bool]]:
    """Graphs by the way into them, and whether their input can go straight to the first nodes."""

    async def silent(state: State) -> None:
        return None

    found = {"one": (graph(("same", same)), True), "no node writes": (graph(("silent", silent)), True)}
    found["one after the other"] = (graph(("silent", silent), ("same", same)), True)
    two = graph(("same", same))
    two.add_node("other", silent)
    two.add_edge(START, "other")
    found["two"] = (two, True)
    chosen = StateGraph(State)
    chosen.add_node("same", same)
    chosen.add_conditional_edges(START, lambda state: "same", ["same"])
    found["a condition"] = (chosen, False)
    late = graph(("silent", silent))
    late.add_node("join", same, defer=True)
    late.add_edge(START, "join")
    found["a node that waits for the end"] = (late, False)
    return found


@pytest.mark.parametrize(("made", "straight"), entries().values(), ids=list(entries()))
async def test_a_graph_entered_at_once_gives_what_it_gives(made: StateGraph, straight: bool):
    copy = copied(made.compile(), whole=True)
    entered = entered_at_once(copy)
    assert ("__start__" not in entered.nodes) == straight
    assert "__start__" in copy.nodes
    assert await final_state(entered, {"sample": SAMPLE}) == await copy.ainvoke({"sample": SAMPLE})
    assert await final_state(entered, {"sample": SAMPLE, "unknown": 1}) == await copy.ainvoke({"sample": SAMPLE})


async def test_a_graph_entered_at_once_may_stop_for_a_person():
    async def ask(state: State) -> State:
        return {"log": interrupt("which?")}

    entered = entered_at_once(copied(graph(("ask", ask)).compile(), whole=True))
    assert (await final_state(entered, {"sample": SAMPLE}))["__interrupt__"][0].value == "which?"


own: ContextVar[str] = ContextVar("own", default="")


async def test_a_node_runs_in_a_context_of_its_own_and_is_cancelled_and_closed_like_any_other():
    seen: list[str] = []
    begun = asyncio.Event()

    async def first(state: State) -> State:
        own.set("the first node's")
        await asyncio.sleep(0)
        seen.append(own.get())
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(10)
        except TimeoutError:
            seen.append("late")
        return {"log": get_config()["metadata"]["langgraph_node"]}

    async def second(state: State) -> State:
        seen.append(own.get())
        begun.set()
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return {}

    run_once = asyncio.ensure_future(
        final_state(copied(graph(("first", first), ("second", second)).compile(), whole=True), {"sample": SAMPLE})
    )
    await asyncio.wait_for(begun.wait(), 30)
    run_once.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run_once
    assert seen == ["the first node's", "late", "", "cancelled"]
