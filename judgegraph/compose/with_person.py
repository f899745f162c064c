"""A method, a person who decides on what its critic suggests, and the method again by the new criteria.

START -> judge -> ask -> again -> END
                  ask -> END (the criteria are as they were)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from langgraph.graph import END, START, StateGraph

from judgegraph.agents.person import Person
from judgegraph.compose.node import keys
from judgegraph.errors import ConfigError, one_line
from judgegraph.prompts.criteria_sets import CriteriaLike, CriteriaSet, criteria_set
from judgegraph.types import Asked, EvalState

Builder: TypeAlias = StateGraph[EvalState, None, Asked, EvalState]


def with_person(method: Any, *, criteria: CriteriaLike | None = None, name: str = "person") -> Builder:
    """A graph that stops where its critic suggests criteria, until a person has decided; then judges by the new ones.

    It is not compiled: give it a checkpointer, which keeps it while it waits, for seconds in memory or for days on
    disk: `with_person(sageval()).compile(checkpointer=InMemorySaver(serde=jg.serializer()))`. What is judged again has
    the place of what was judged before; the checkpointer's history has both.

    Args:
        method: a compiled graph, or a StateGraph, whose critic writes `suggestions`, such as `sageval()`.
        criteria: what it judges by; None: those that its agents hold.
        name: of the person, whose decisions are notes under it. A second person is asked about what the first one
            left open, and needs another name.

    Raises:
        ConfigError: no graph, it is not known what it judges by, or a person of this name is in it. CriteriaError: no
            such criteria.
    """
    if hasattr(method, "compile") and not hasattr(method, "ainvoke"):
        method = method.compile()
    if not hasattr(method, "builder"):
        raise ConfigError(f"with_person: expected a compiled LangGraph or a StateGraph, got {type(method).__name__}")
    if any(isinstance(inner, Person) and inner.name == name for inner in _inner(method)):
        raise ConfigError(
            f"with_person: there is a person '{one_line(name, 80)}' in the graph; say name=... of this one"
        )
    own = criteria_set(criteria) if criteria is not None else held(method)
    if own is None:
        raise ConfigError("with_person: no agent of the graph holds criteria; say by criteria=... what it judges by")

    person = Person(criteria=own.criteria, name=name)

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


def held(method: Any) -> CriteriaSet | None:
    """What the agents of a compiled graph judge by: the criteria and the task of the first that holds some."""
    for inner in _inner(method):
        if listed := getattr(inner, "criteria", None):
            task = getattr(inner, "task", None)
            told = {"task": task} if isinstance(task, str) and task else {}
            return CriteriaSet(name="custom", criteria=tuple(listed), **told)
    return None


def suggests(method: Any) -> bool:
    """Whether an agent of a compiled graph says that it writes `suggestions`, and the graph gives them."""
    return "suggestions" in keys(method)[1] and any("suggestions" in keys(inner)[1] for inner in _inner(method))


def _inner(graph: Any) -> Iterator[Any]:
    """What runs at the nodes of a graph, inner ones included."""
    for node in graph.builder.nodes.values():
        inner = getattr(node.runnable, "func", None) or getattr(node.runnable, "afunc", None) or node.runnable
        if hasattr(inner, "builder"):
            yield from _inner(inner)
        else:
            yield inner
