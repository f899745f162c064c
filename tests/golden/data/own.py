"""Graphs of one's own: one that fails for a sample, and one that is wired wrong."""

from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

import judgegraph as jg
from judgegraph.graphs import llm_score
from judgegraph.types import Sample, Score, Scores, merged


class Reads(TypedDict):
    sample: Sample


class Reviews(TypedDict):
    sample: Sample
    overall: Score


class Writes(TypedDict):
    scores: Annotated[Scores, merged]


def _length(state: Reads) -> Writes:
    if state["sample"].id == "fox-1":
        raise ValueError("this one cannot be measured")
    return {"scores": {}}


def _review(state: Reviews) -> Writes:
    return {"scores": {}}


def failing() -> CompiledStateGraph[Any, Any, Any, Any]:
    graph = StateGraph(jg.EvalState)
    graph.add_node("score", llm_score(criteria="general"))
    graph.add_node("length", _length)
    graph.add_edge(START, "score")
    graph.add_edge("score", "length")
    graph.add_edge("length", END)
    return graph.compile(name="failing")


def unwired() -> CompiledStateGraph[Any, Any, Any, Any]:
    graph = StateGraph(jg.EvalState)
    graph.add_node("review", _review)
    graph.add_edge(START, "review")
    graph.add_edge("review", END)
    return graph.compile(name="unwired")
