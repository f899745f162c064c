"""A compiled one-node method carries only the keys it uses; a builder's graph carries the whole shared state."""

import pytest
from langgraph.graph import END, START, StateGraph

from judgegraph.graphs import g_eval, llm_score
from judgegraph.graphs.g_eval import builder as g_eval_builder
from judgegraph.graphs.llm_score import builder as llm_score_builder
from judgegraph.graphs.settings import narrowed
from judgegraph.types import EvalState, Note, Sample

USED = {"sample", "criteria", "task", "scores"}
SAMPLE = Sample(id="a", output="A text.")


@pytest.mark.parametrize("make", [llm_score, g_eval])
async def test_a_method_on_its_own_has_only_the_keys_that_it_uses(make):
    graph = make()
    assert set(graph.builder.channels) == USED
    assert set(await graph.ainvoke({"sample": SAMPLE})) == {"scores"}


@pytest.mark.parametrize("builder", [llm_score_builder, g_eval_builder])
def test_what_one_goes_on_building_with_has_them_all(builder):
    assert set(builder().channels) == set(EvalState.__annotations__)


async def test_a_node_that_reads_the_whole_state_keeps_it():
    async def remark(state: EvalState) -> EvalState:
        return {"notes": {"a": Note(agent="me", text="seen")}}

    graph = StateGraph(EvalState)
    graph.add_node("remark", remark)
    graph.add_edge(START, "remark")
    graph.add_edge("remark", END)
    assert set(narrowed(graph).channels) == set(EvalState.__annotations__)
    assert "notes" in await graph.compile().ainvoke({"sample": SAMPLE})
