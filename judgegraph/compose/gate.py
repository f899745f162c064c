"""A node that is asked only where a condition finds something in doubt.

    START -> doubt -> ask -> END
             doubt -> END (nothing is in doubt)

With another node for that case: doubt -> otherwise -> END.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, START, StateGraph

from judgegraph.calls import JudgeLike
from judgegraph.compose.conditions import ConditionLike, condition_of, title
from judgegraph.compose.doubt import Decided, Doubt, looked_at
from judgegraph.compose.member import Node
from judgegraph.compose.node import as_node, keys, schema, vocabulary
from judgegraph.prompts.criteria_sets import CriteriaLike, criteria_set
from judgegraph.types import Asked

DOUBTS = {"doubts": dict[str, str]}
OWN = {"brief", "doubt", "join", "round", "settle"}  # nodes that ask nobody


def gate(
    node: Any, when: ConditionLike, *, otherwise: Any = None, judge: JudgeLike | None = None,
    criteria: CriteriaLike | None = None, task: str | None = None, name: str = "gate",
) -> Node:  # fmt: skip
    """A node behind a gate: `g.add_node("critic", jg.gate(Sage(), jg.wide()))`.

    The gate opens where any criterion is in doubt, and the node then sees the whole state; `jg.critique` and
    `jg.escalate` ask about those in doubt alone. A sample before which it stays closed has a note.

    Args:
        node: an agent, a function, a graph, or the name of an agent, a critic or a method.
        when: `jg.wide()`, `jg.disagree()`, `jg.low(below=3)`, `jg.failed()`, `jg.either(...)`, a name or {name:
            settings} of these, or a function of the state. Conditions look at the drafts unless they name a stage.
        otherwise: a node for samples of which nothing is in doubt.
        judge, criteria, task: of nodes that are given by name. name: of the graph, and of its notes.

    Raises:
        ConfigError: no such node or condition. CriteriaError: no such criteria.
    """
    condition = condition_of(when).at("draft")
    offered = {"judge": judge, "criteria": criteria, "task": task}
    nodes = {"ask": as_node(node, **offered)}
    if otherwise is not None:
        nodes["otherwise"] = as_node(otherwise, **offered)
    own = criteria_set(criteria).criteria if criteria is not None else ()
    note = "" if "otherwise" in nodes else "closed: nothing was in doubt"
    graph = _empty(nodes, tuple(looked_at(condition)))
    graph.add_node("doubt", Doubt(when=condition, criteria=own, name=name, note=note), input_schema=graph.state_schema)
    shut = "otherwise" if "otherwise" in nodes else END

    def open_or_shut(state: Decided) -> str:
        return "ask" if state.get("doubts") else shut

    graph.add_edge(START, "doubt")
    for place, one in nodes.items():
        graph.add_node(place, one)
        graph.add_edge(place, END)
    graph.add_conditional_edges("doubt", open_or_shut, ["ask", shut])
    told(graph, when=title(condition))
    return graph.compile(name=name)


def _empty(nodes: Mapping[str, Any], looked: tuple[str, ...]) -> StateGraph[Any, None, Any, Any]:
    """A graph that reads what the nodes and the condition read, and writes what the nodes write.

    What holds one answer (`overall`, say) comes in only where it is read: else a closed gate would write it anew.
    """
    reads = {key: hint for node in nodes.values() for key, hint in keys(node)[0].items()}
    writes = {key: hint for node in nodes.values() for key, hint in keys(node)[1].items()}
    hints = {**reads, **writes, **vocabulary()}  # one annotation for each key
    silent = set(vocabulary()) <= set(writes)  # a node that does not say what it writes: methods leave these be
    inward = {key: hints[key] for key in dict.fromkeys((*reads, *looked))}
    outward = {key: hints[key] for key in (*writes, "notes") if not (silent and key in Asked.__annotations__)}
    state = schema("Gated", inward | outward | DOUBTS)
    return StateGraph(state, input_schema=schema("Asks", inward), output_schema=schema("Says", outward))


def told(graph: Any, **settings: Any) -> None:
    """Settings that a run's signature names, in the place of those of the helper's own nodes."""
    graph.method_settings = settings
    graph.method_nodes = frozenset(OWN & set(graph.nodes))
