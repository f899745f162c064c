"""`jg.strict`: in plain LangGraph use a wrong state is told at the door, a wrong value where it is written."""

import pytest
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.errors import ConfigError, DataError, StateError
from judgegraph.graphs import llm_score

SAMPLE = {"id": "1", "query": "Why?", "output": "Because short waves are scattered most by the air."}
DEPTH = jg.Criterion(name="Depth")


class Reads(TypedDict):
    sample: jg.Sample


class Writes(TypedDict):
    scores: jg.Scores


def graph(node):
    made = StateGraph(jg.EvalState)
    made.add_node("mine", node)
    made.add_edge(START, "mine")
    made.add_edge("mine", END)
    return made.compile(name="mine-graph")


async def good(state: Reads) -> Writes:
    return {"scores": jg.keyed(jg.Score(criterion="Depth", agent="mine", value=4.0, scale=DEPTH.scale))}


async def off_the_scale(state: Reads) -> Writes:
    return {"scores": {"Depth": 4}}  # type: ignore[dict-item]


async def test_it_gives_what_the_graph_gives():
    plain = llm_score(criteria=[DEPTH])
    state = {"sample": jg.Sample(**SAMPLE)}
    assert (await jg.strict(plain).ainvoke(state))["scores"] == (await plain.ainvoke(state))["scores"]
    assert list((await jg.strict(graph(good)).ainvoke({"sample": SAMPLE}))["scores"]) == ["Depth/mine/final/0"]
    parts = [part async for part in jg.strict(graph(good)).astream({"sample": SAMPLE})]
    assert [list(part) for part in parts] == [["mine"]]


async def test_a_wrong_value_is_told_with_node_and_key():
    with pytest.raises(StateError, match=r"node 'mine'.*scores"):
        await jg.strict(graph(off_the_scale)).ainvoke({"sample": SAMPLE})


@pytest.mark.parametrize(
    ("state", "kind", "why"),
    [
        ({"sample": SAMPLE, "critera": []}, StateError, "no node knows the key 'critera'; did you mean 'criteria'"),
        ({}, DataError, "sample is missing"),
        ({"sample": {"output": 3.5}}, DataError, "output"),
        ({"sample": SAMPLE, "criteria": "Depth"}, DataError, "write a list"),
        ([SAMPLE], StateError, "its state is a list"),
    ],
)
async def test_a_wrong_state_is_told_at_the_door(state, kind, why):
    with pytest.raises(kind, match=why):
        await jg.strict(graph(good)).ainvoke(state)


def test_what_is_no_graph_is_refused_and_so_is_a_call_without_await():
    with pytest.raises(ConfigError, match="expected a compiled LangGraph, got int"):
        jg.strict(5)
    with pytest.raises(ConfigError, match="await ainvoke"):
        jg.strict(graph(good)).invoke({"sample": SAMPLE})


async def test_it_is_a_node_of_other_graphs():
    outer = StateGraph(jg.EvalState)
    outer.add_node("inner", jg.strict(graph(off_the_scale)))
    outer.add_edge(START, "inner")
    outer.add_edge("inner", END)
    with pytest.raises(StateError, match="node 'mine'"):
        await outer.compile().ainvoke({"sample": jg.Sample(**SAMPLE)})
