"""How many calls a graph makes is counted before any is made, and holds against what a run then asks."""

import asyncio
import operator
import threading
import time
from pathlib import Path
from typing import Annotated

import pytest
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.calls import estimate as in_threads
from judgegraph.calls.estimate import acount_calls, count_calls, to_dict, tried
from judgegraph.registry import factory
from judgegraph.types import EvalState, Sample

pytestmark = pytest.mark.slow

SHAPES = [  # method, settings, per sample, per dataset, one after the other
    ("sageval", {}, "2", "0", "2"),
    ("sageval", {"each": True}, "C + 1", "0", "2"),
    ("sageval", {"critic_calls": "three"}, "4", "0", "2"),
    ("coascore", {}, "2C", "C", "3"),
    ("fennec", {"correct": "off"}, "2C", "0", "2"),
    ("fennec", {}, "2C to 2C + 1", "0", "2 to 3"),
    ("fusion-eval", {"consult": "all"}, "1", "1", "2"),
    ("fusion-eval", {"plan": False}, "1", "0", "1"),
    ("g-eval", {}, "C", "0", "1"),
    ("llm-score", {}, "C", "0", "1"),
]


@pytest.mark.parametrize(("method", "settings", "sample", "dataset", "longest"), SHAPES)
@pytest.mark.sampled(5)
async def test_the_formulas_are_the_methods(method, settings, sample, dataset, longest):
    counts = await acount_calls(factory(method)(**settings))
    assert (counts.per_sample, counts.per_dataset, counts.longest) == (sample, dataset, longest)
    assert not counts.failed


@pytest.mark.parametrize(("method", "settings"), [("sageval", {"each": True}), ("coascore", {}), ("g-eval", {})])
@pytest.mark.sampled(3)
async def test_a_run_asks_what_the_formula_says(method, settings):
    graph = factory(method)(criteria="summary", **settings)
    counts = await acount_calls(graph)
    samples = [Sample(id=str(i), query=f"Q{i}?", source=f"S {i}.", output=f"It is text {i}.") for i in range(5)]
    run = await jg.aevaluate(graph, samples)
    sample, dataset, _ = map(int, counts.plain)
    assert run.manifest["calls"]["replies"] == 5 * sample + dataset


async def test_fields_that_make_a_call_of_their_own_are_told_from_those_that_share():
    nodes = {n.node: n for n in (await acount_calls(factory("coascore")())).nodes}
    assert nodes["chain/propose"].own == ()
    assert nodes["chain/propose"].shared == ("count", "target", "task")
    evidence = {"contexts", "turns", "facts"}
    assert set(nodes["chain/rate"].own) == {"query", "source", "reference", "output", *evidence}
    assert (nodes["chain/rate"].per_sample, nodes["chain/rate"].per_dataset) == ("C", "0")
    assert nodes["chain/propose"].prompts == ("propose",)


class State(EvalState, total=False):
    turns: Annotated[int, operator.add]


def chain_of(length, evaluator):
    graph = StateGraph(State)
    for i in range(length):
        graph.add_node(f"n{i}", evaluator(i))
        graph.add_edge(START if not i else f"n{i - 1}", f"n{i}")
    graph.add_edge(f"n{length - 1}", END)
    return graph


async def test_nodes_in_a_row_wait_for_one_another_and_nodes_side_by_side_do_not():
    def evaluator(i):
        return Evaluator(name=f"e{i}", task=f"text {i}", criteria=jg.criteria_set("general").criteria)

    row = chain_of(4, evaluator).compile()
    side = StateGraph(EvalState)
    for i in range(4):
        side.add_node(f"n{i}", evaluator(i))
        side.add_edge(START, f"n{i}")
        side.add_edge(f"n{i}", END)
    found = [await acount_calls(graph) for graph in (row, side.compile())]
    assert [(c.plain[0], c.plain[2]) for c in found] == [("4", "4"), ("4", "1")]


async def test_a_node_that_asks_twice_counts_twice_also_where_a_slow_thread_stands_between():
    class Read(TypedDict):
        sample: Sample

    class Wrote(TypedDict):
        overall: float

    async def twice(state: Read) -> Wrote:
        await jg.ask("embedded", f"first {state['sample'].output}")
        await asyncio.to_thread(lambda: None)
        await asyncio.gather(*(jg.ask("embedded", f"{i} {state['sample'].output}") for i in range(3)))
        return {"overall": 1.0}

    graph = StateGraph(EvalState)
    graph.add_node("twice", twice)
    graph.add_edge(START, "twice")
    graph.add_edge("twice", END)
    counts = await acount_calls(graph.compile())
    assert counts.plain == ("4", "0", "2")


def side_by_side(in_thread, answered=lambda: None):
    """One node asks at once, another when a thread has done its work."""

    async def asks(state: EvalState) -> EvalState:
        await jg.ask("embedded", f"first {state['sample'].output}")
        answered()
        return {}

    async def later(state: EvalState) -> EvalState:
        await asyncio.to_thread(in_thread)
        await jg.ask("embedded", f"later {state['sample'].output}")
        return {}

    graph = StateGraph(EvalState)
    for name, node in (("asks", asks), ("later", later)):
        graph.add_node(name, node)
        graph.add_edge(START, name)
        graph.add_edge(name, END)
    return graph.compile()


async def test_a_slow_thread_beside_a_call_makes_no_call_wait_for_another():
    graphs = [side_by_side(lambda: time.sleep(0.1)) for _ in range(2)]
    found = await asyncio.gather(*(acount_calls(graph) for graph in graphs))
    assert [counts.plain for counts in found] == [("2", "0", "1")] * 2
    assert "run_in_executor" not in vars(asyncio.get_running_loop())  # it is as it was


async def test_a_thread_that_waits_for_an_answer_itself_is_waited_for_once(monkeypatch):
    monkeypatch.setattr(in_threads, "LOOKS", 20)
    events: list[threading.Event] = []

    def wait():
        events.append(threading.Event())
        assert events[-1].wait(20)

    started = time.monotonic()
    counts = await acount_calls(side_by_side(wait, lambda: events[-1].set()))
    assert counts.plain == ("2", "0", "2")
    assert time.monotonic() - started < 15


async def test_a_node_that_is_never_without_a_thread_can_be_counted():
    async def busy(state: EvalState) -> EvalState:
        async def beat():
            while True:
                await asyncio.to_thread(time.sleep, 0.002)

        task = asyncio.create_task(beat())
        await jg.ask("embedded", f"one {state['sample'].output}")
        await jg.ask("embedded", f"two {state['sample'].output}")
        task.cancel()
        return {}

    graph = StateGraph(EvalState)
    graph.add_node("busy", busy)
    graph.add_edge(START, "busy")
    graph.add_edge("busy", END)
    started = time.monotonic()
    assert (await acount_calls(graph.compile())).plain == ("2", "0", "2")
    assert time.monotonic() - started < 15


async def test_a_plain_function_that_asks_by_a_loop_of_its_own_can_be_counted():
    def asks(state: EvalState) -> EvalState:
        asyncio.run(jg.ask("embedded", f"one {state['sample'].output}"))
        return {}

    graph = StateGraph(EvalState)
    graph.add_node("asks", asks)
    graph.add_edge(START, "asks")
    graph.add_edge("asks", END)
    assert (await acount_calls(graph.compile())).plain == ("1", "0", "1")


async def test_what_stood_in_the_loop_stands_there_again():
    loop = asyncio.get_running_loop()
    before, seen = loop.run_in_executor, []

    def own(executor, func, *args):
        seen.append(func)
        return before(executor, func, *args)

    loop.run_in_executor = own
    by_keywords = side_by_side(time.time)

    async def later(state: EvalState) -> EvalState:
        await loop.run_in_executor(executor=None, func=time.time)
        return {}

    by_keywords.builder.nodes["later"].runnable.afunc = later
    try:
        assert not (await acount_calls(by_keywords)).failed
        assert loop.run_in_executor is own
        assert time.time in seen
    finally:
        del loop.run_in_executor


def low(state):
    """Criteria whose scores are low."""
    return [score.criterion for score in state["scores"].values() if score.value < 3]


CONDITIONED = {  # node -> calls for a sample by four criteria
    "escalate": (jg.escalate(when=jg.low(below=3), criteria="summary"), "1 to 2"),
    "escalate, each alone": (jg.escalate(when=jg.low(below=3), criteria="summary", each=True), "1 to 5"),
    "escalate, by one's own condition": (jg.escalate(when=low, criteria="summary"), "1 to 2"),
    "escalate, another judge": (
        jg.escalate("embedded", "openai:m", when=jg.low(below=3), criteria="summary"),
        "1 to 2",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", CONDITIONED)
async def test_a_doubt_about_some_criteria_counts_beside_one_about_all_or_none(name, monkeypatch):
    """Two equal judges that are asked the same are asked once: about all criteria they are, about some they are not."""
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    graph, expected = CONDITIONED[name]
    assert (await acount_calls(graph)).plain[0] == expected
    samples = list(jg.load(Path(__file__).parents[2] / "examples" / "articles.jsonl", limit=6))
    planned = (await jg.aplan(graph, samples)).total
    if "another judge" not in name:
        run = await jg.aevaluate(graph, samples)
        made, (least, most) = run.manifest["calls"]["replies"], map(int, expected.split(" to "))
        assert 6 * least < made <= 6 * most, "some samples are in doubt"
        assert planned.exact + planned.rest[0] <= made <= planned.exact + planned.rest[1]


async def test_without_conditions_no_third_run_is_made(monkeypatch):
    made = []

    async def counted(graph, state, manner, threads):
        made.append(manner.name)
        return await tried(graph, state, manner)

    monkeypatch.setattr("judgegraph.calls.estimate.tried", counted)
    await acount_calls(factory("llm-score")(criteria="summary"))
    assert "partly" not in made
    await acount_calls(jg.escalate(when=jg.low(below=3), criteria="summary"))
    assert "partly" in made


async def test_a_graph_that_fails_says_why_and_one_without_an_end_is_ended(monkeypatch):
    async def fails(state: EvalState) -> EvalState:
        raise ValueError("no luck")

    async def endless(state: EvalState) -> EvalState:
        while True:
            await jg.ask("embedded", "again")

    said = []
    monkeypatch.setattr("judgegraph.calls.estimate.MOST", 5)
    for node in (fails, endless):
        graph = StateGraph(EvalState)
        graph.add_node("n", node)
        graph.add_edge(START, "n")
        said.append(await acount_calls(graph.compile()))
    assert "ValueError: no luck" in str(said[0])
    assert "no end was found" in str(said[1])


def test_nothing_is_sent_and_no_key_is_needed(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    counts = count_calls(factory("sageval")(judge="openai:m"))
    assert counts.plain == ("2", "0", "2")
    assert to_dict(counts)["nodes"][0]["node"] == "evaluate"
    assert str(counts).splitlines() == [
        "model calls for a sample: 2", "once for all samples: 0", "one after the other: 2",
        "  evaluate: 1 for a sample, anew by contexts, facts, output, query, reference, source, turns; "
        "shared: criteria, task",
        "  critique: 1 for a sample, anew by contexts, facts, output, query, reference, scores, source, turns; "
        "shared: criteria, task",
    ]  # fmt: skip


def test_a_run_of_an_agent_is_counted_by_its_steps():
    counts = count_calls(factory("trajectory")())
    assert counts.per_sample == "2"
    assert "each further step is a call more" in str(counts)
