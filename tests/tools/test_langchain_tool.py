"""An assistant as a LangChain tool: no arguments for the model, the sample from the state."""

from typing import Annotated, Any

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode
from typing_extensions import TypedDict

from judgegraph.tools import Metric, assistant
from judgegraph.tools.langchain import as_dict, as_tool
from judgegraph.types import Finding, Sample

SAMPLE = Sample(id="s", output="the cat sat", source="the cat sat down")


class State(TypedDict):
    sample: Sample
    messages: Annotated[list[Any], lambda old, new: [*old, *new]]


def tool_node(*names):
    graph = StateGraph(State)
    graph.add_node("tools", ToolNode([as_tool(assistant(name)) for name in names]))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    return graph.compile()


def test_the_model_sees_a_tool_without_arguments():
    shown = as_dict(assistant("chrf"))["function"]
    assert shown["name"] == "chrf"
    assert shown["parameters"]["properties"] == {}
    assert shown["description"].startswith("Measures: ")


async def test_a_tool_node_gives_it_the_sample_of_the_state():
    call = {"name": "coverage", "args": {}, "id": "c1"}
    state = {"sample": SAMPLE, "messages": [AIMessage("", tool_calls=[call])]}
    answer = (await tool_node("coverage").ainvoke(state))["messages"][-1]
    assert answer.content == "coverage: 1"
    assert answer.artifact == Finding(assistant="coverage", value=1.0, reason="against the source")


async def test_a_failure_comes_back_as_text():
    broken = as_tool(Metric(name="broken", about="fails", measure=lambda s: 1 / 0))
    call = {"type": "tool_call", "name": "broken", "id": "c1", "args": {"sample": SAMPLE}}
    answer = await broken.ainvoke(call)
    assert answer.content == "broken: absent (ZeroDivisionError: division by zero)"
    assert answer.artifact.status == "agent_error"
