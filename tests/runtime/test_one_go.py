"""A run goes through a graph in one go: its checkpointer is left aside, and a stop for a person is no end."""

from dataclasses import replace
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

import judgegraph as jg
from judgegraph.agents.evaluator import Evaluator
from judgegraph.errors import ConfigError
from judgegraph.graphs import sageval
from judgegraph.prompts.criteria import criteria_set
from judgegraph.runs.identity import configuration
from judgegraph.types import EvalState, Sample

EVALUATOR = Evaluator(criteria=criteria_set("summary").criteria)
SAMPLES = [Sample(id=f"s{i}", query="q", source="It rained.", output=f"It rained {i} times.") for i in range(2)]


async def asks(state: EvalState) -> EvalState:
    if state["sample"].id == "s1":
        interrupt("is it so?")
    return {}


def line(*nodes, **compiled):
    graph, before = StateGraph(EvalState), START
    for name, node in zip("abc", nodes, strict=False):
        graph.add_node(name, node)
        graph.add_edge(before, name)
        before = name
    graph.add_edge(before, END)
    return graph.compile(name="line", **compiled)


def called(graph):
    async def node(state: EvalState) -> EvalState:
        return await graph.ainvoke(state)

    return node


GRAPHS = {
    "itself": lambda: line(EVALUATOR, checkpointer=InMemorySaver()),
    "one for a place in another": lambda: line(EVALUATOR, checkpointer=True),
    "both": lambda: line(line(EVALUATOR, checkpointer=InMemorySaver()), checkpointer=InMemorySaver()),
    "one that keeps its own history": lambda: line(line(EVALUATOR, checkpointer=True), checkpointer=InMemorySaver()),
    "one inside alone": lambda: line(line(EVALUATOR, checkpointer=InMemorySaver())),
    "one that a node calls": lambda: line(called(line(EVALUATOR, checkpointer=True)), checkpointer=InMemorySaver()),
}


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.sampled(6)
def test_a_graph_that_was_compiled_with_a_checkpointer_runs_is_planned_and_counted(make):
    graph = make()
    before = graph.checkpointer
    run = jg.evaluate(graph, SAMPLES)
    assert [(item.status, item.reason, item.judged) for item in run.items] == [("ok", "", True)] * 2
    forecast = jg.plan(graph, SAMPLES)
    assert (forecast.total.cost.lowest.calls, forecast.failed) == (2, 0)
    assert jg.check(graph, strict=False).calls.per_sample == "1"
    assert graph.checkpointer is before


def test_nothing_is_written_into_the_checkpointer():
    saver = InMemorySaver()
    jg.evaluate(line(line(EVALUATOR, checkpointer=True), checkpointer=saver), SAMPLES)
    assert not saver.storage


def test_a_checkpointer_is_no_part_of_the_configuration():
    assert configuration(line(EVALUATOR, checkpointer=InMemorySaver())) == configuration(line(EVALUATOR))


STOPS = {
    "a node": lambda: line(EVALUATOR, asks),
    "with a checkpointer": lambda: line(EVALUATOR, asks, checkpointer=InMemorySaver()),
    "a graph inside": lambda: line(EVALUATOR, line(asks, checkpointer=True)),
}


@pytest.mark.parametrize("make", STOPS.values(), ids=STOPS)
def test_a_sample_that_waits_for_a_person_failed_and_says_what_to_use(make):
    fine, stopped = sorted(jg.evaluate(make(), SAMPLES).items, key=lambda item: item.place)
    assert (fine.status, fine.judged) == ("ok", True)
    assert (stopped.status, stopped.judged) == ("agent_error", False)
    assert "wait for a person" in stopped.reason
    assert "judgegraph review" in stopped.reason
    assert "checkpointer" in stopped.reason


def test_a_run_with_such_a_sample_counts_it_as_failed_and_a_retry_takes_it_up(tmp_path):
    run = jg.evaluate(line(EVALUATOR, asks), SAMPLES, out=tmp_path)
    assert run.manifest["samples"] == {"done": 2, "failed": 1, "over_budget": 0, "total": 2}
    again = jg.evaluate(line(EVALUATOR, asks), SAMPLES, out=tmp_path, retry_failed=True)
    assert again.manifest["samples"] == {"done": 2, "failed": 1, "over_budget": 0, "total": 2}


def test_a_method_with_a_person_ends_nowhere_in_a_run():
    form = next(
        one for one in jg.load(Path(__file__).parents[2] / "examples" / "forms.jsonl") if one.id == "school-trip"
    )
    (item,) = jg.evaluate(jg.with_person(sageval(criteria="forms")).compile(), [form]).items
    assert item.status == "agent_error"
    assert "wait for a person" in item.reason


def test_a_plan_says_where_a_person_is_waited_for():
    forecast = jg.plan(line(EVALUATOR, asks, replace(EVALUATOR, name="second")), SAMPLES)
    assert [(one.sample, "wait for a person" in one.reason) for one in forecast.mishaps] == [("s1", True)]


@pytest.mark.parametrize("setting", ["interrupt_before", "interrupt_after"])
@pytest.mark.parametrize("use", [jg.evaluate, jg.plan], ids=["run", "plan"])
def test_a_graph_that_was_compiled_to_stop_at_a_node_is_refused(use, setting):
    inner = line(EVALUATOR, **{setting: ["a"]})
    for graph, where in ((inner, "'a'"), (line(inner), "'a/a'"), (line(EVALUATOR, **{setting: "*"}), "every node")):
        with pytest.raises(ConfigError, match=f"stops at {where}.*without {setting}="):
            use(graph, SAMPLES)
