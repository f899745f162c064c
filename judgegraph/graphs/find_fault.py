"""The search for the decisive mistake of an agent's run that failed.

    START -> search -> END

Source: Zhang et al. 2025 (Who&When, arXiv:2505.00212), section 4.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from judgegraph.agents.trajectory import FaultSearch, Search
from judgegraph.calls import JudgeLike
from judgegraph.graphs.settings import checked, named, narrowed
from judgegraph.types import Asked, EvalState, Notes, Scores, merged


class Result(TypedDict, total=False):
    """What the graph writes: "Decisive step" and, of several agents, "Agent at fault", as labels."""

    scores: Annotated[Scores, merged]
    notes: Annotated[Notes, merged]


Builder: TypeAlias = StateGraph[EvalState, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[EvalState, None, Asked, Result]


@checked("find-fault")
def builder(
    judge: JudgeLike = "embedded", *, search: Search = "at-once", reference: bool = True, name: str = ""
) -> Builder:
    """The search as a graph to go on building with.

    Args:
        judge: who answers. search: "at-once" (the whole run in one call), "by-step" (step by step, up to the first that
            is called the mistake) or "by-halves" (which half holds it, again and again).
        reference: show the right answer of the task, where the sample has one. name: put before the agent's name.

    Raises:
        ConfigError: a setting has none of its values.
    """
    graph = StateGraph(EvalState, input_schema=Asked, output_schema=Result)
    agent = FaultSearch(judge=judge, search=search, reference=reference, name=named(name, "find-fault"))
    graph.add_node("search", agent)
    graph.add_edge(START, "search")
    graph.add_edge("search", END)
    return graph


def find_fault(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """The search, compiled; settings as `builder` takes them."""
    return narrowed(builder(judge, **settings)).compile(name="find-fault")
