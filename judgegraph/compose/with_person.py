"""A method, a person who decides on what its critic suggests, and the method again by the new criteria.

START -> judge -> ask -> again -> END
                  ask -> END (the criteria are as they were)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from langgraph.graph import END, START, StateGraph

from judgegraph.agents.person import Person
from judgegraph.errors import ConfigError
from judgegraph.prompts.criteria_sets import CriteriaLike, criteria_set
from judgegraph.types import Asked, Criterion, EvalState

Builder: TypeAlias = StateGraph[EvalState, None, Asked, EvalState]


def with_person(method: Any, *, criteria: CriteriaLike | None = None) -> Builder:
    """A graph that stops where its critic suggests criteria, until a person has decided; then judges by the new ones.

    It is not compiled: give it a checkpointer, which keeps it while it waits, for seconds in memory or for days on
    disk: `with_person(sageval()).compile(checkpointer=InMemorySaver(serde=jg.serializer()))`. What is judged again has
    the place of what was judged before; the checkpointer's history has both.

    Args:
        method: a compiled graph, or a StateGraph, whose critic writes `suggestions`, such as `sageval()`.
        criteria: what it judges by; None: those that its agents hold.

    Raises:
        ConfigError: no graph, or it is not known what it judges by. CriteriaError: no such criteria.
    """
    if hasattr(method, "compile") and not hasattr(method, "ainvoke"):
        method = method.compile()
    if not hasattr(method, "builder"):
        raise ConfigError(f"with_person: expected a compiled LangGraph or a StateGraph, got {type(method).__name__}")
    own = criteria_set(criteria).criteria if criteria is not None else next(_held(method), ())
    if not own:
        raise ConfigError("with_person: no agent of the graph holds criteria; say by criteria=... what it judges by")

    person = Person(criteria=own)

    def changed(state: EvalState) -> str:
        return "again" if person.changed(state.get("notes", {})) else END

    graph = StateGraph(EvalState, input_schema=Asked, output_schema=EvalState)
    graph.add_node("judge", method)
    graph.add_node("ask", person)
    graph.add_node("again", method)
    graph.add_edge(START, "judge")
    graph.add_edge("judge", "ask")
    graph.add_conditional_edges("ask", changed, ["again", END])
    graph.add_edge("again", END)
    return graph


def _held(graph: Any) -> Iterator[tuple[Criterion, ...]]:
    """The criteria of a graph's agents, inner ones included."""
    for node in graph.builder.nodes.values():
        inner = getattr(node.runnable, "func", None) or getattr(node.runnable, "afunc", None) or node.runnable
        if hasattr(inner, "builder"):
            yield from _held(inner)
        elif listed := getattr(inner, "criteria", None):
            yield tuple(listed)
