"""A LangGraph agent with two tools and a scripted model, to make exports of by the formats' own libraries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

QUESTION = "Should I take an umbrella to Oslo today?"
ANSWER = "Yes: rain is forecast for Oslo, at 7 degrees."


@tool
def weather(city: str) -> str:
    """The weather in a city today."""
    if city == "Osl":
        raise ValueError("no such city: Osl")
    return f"{city}: rain, 7 degrees"


@tool
def search(query: str) -> str:
    """Pages about anything."""
    return "nothing found"


def call(name: str, number: int, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": f"call-{number}", "type": "tool_call"}


SAID = (
    AIMessage("", tool_calls=[call("weather", 1, city="Osl")], id="ai-1"),
    AIMessage(
        "That was misspelt.", tool_calls=[call("weather", 2, city="Oslo"), call("search", 3, query="Oslo")], id="ai-2"
    ),
    AIMessage(ANSWER, id="ai-3", usage_metadata={"input_tokens": 90, "output_tokens": 12, "total_tokens": 102}),
)


class Scripted(BaseChatModel):
    """Says what it is told to, one after the other."""

    said: Any = None

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **more: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=next(self.said))])


def agent(name: str = "forecaster") -> Any:
    said: Iterator[AIMessage] = iter(SAID)
    model = Scripted(said=said).bind_tools([weather, search])

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode([weather, search], handle_tool_errors=True))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    return graph.compile(name=name)


def run() -> dict[str, Any]:
    found: dict[str, Any] = agent().invoke({"messages": [("user", QUESTION)]})
    return found
