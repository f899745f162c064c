"""One run of a node per criterion, side by side, as one node.

    START -> brief -> run -> join -> END
             brief -> join (no criteria)

Each run is a graph of its own: `START -> ask -> keep -> END`.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from judgegraph.compose.member import JOINED, RUNS, Brief, Join, Node, member
from judgegraph.compose.node import as_node, keys, schema, vocabulary
from judgegraph.prompts.criteria_sets import CriteriaLike, CriteriaSet, criteria_set
from judgegraph.types import Asked, Criterion, given_criteria

PER_RUN = ("criterion", "guideline")  # what a run is told of its one criterion


def each(node: Any, *, criteria: CriteriaLike | None = None, name: str = "each", **settings: Any) -> Node:
    """A node that runs another once per criterion: `g.add_node("judged", jg.each(MyJudge(), criteria="summary"))`.

    Each run is told what the node reads of the state, with `criteria` the one criterion; a node that reads `criterion`
    gets it, and one that reads `guideline` what `guidelines` of the state says of it, else the criterion's own
    guideline or definition. What runs write is joined in the order of the criteria. Left out of it are keys that hold
    one answer (`plan`, `overall`, `verdict`), as no run's answer is that of all criteria; and, with a note, entries
    that several runs wrote differently, such as a method's own "overall" score or a correction of the output.

    Args:
        node: an agent, a function, a graph, or the name of an agent, a critic or a method.
        criteria: where the state brings none: a set's name, a file, or criteria. None: the agent's own.
        name: of the graph, and of its notes.
        settings: of a node that is given by name (`judge`, say).

    Raises:
        ConfigError: no such node, or a setting it does not take. CriteriaError: no such criteria.
    """
    node = as_node(node, settings, criteria=criteria)
    chosen = _chosen(node, criteria)
    brief = Brief(criteria=chosen.criteria if chosen else (), task=chosen.task if chosen else "", name=name)
    return _wired(node, brief, name)


def _chosen(node: Any, criteria: CriteriaLike | None) -> CriteriaSet | None:
    own = getattr(node, "criteria", None) if criteria is None else criteria
    return criteria_set(own) if own else None


def _wired(node: Any, brief: Brief, name: str) -> Node:
    reads, writes = keys(node)
    hints = vocabulary()
    told = {key: hint for key, hint in reads.items() if key not in PER_RUN}
    if {"guideline", "guidelines"} & set(reads):
        told["guidelines"] = dict[str, str]
    asked = {key: hints[key] for key in Asked.__annotations__}
    inward = {key: hints.get(key, hint) for key, hint in (asked | told).items()}
    outward = {key: hints[key] for key in JOINED if key in writes or key == "notes"}
    state = schema("Each", inward | outward | RUNS)

    def each_criterion(state: Any) -> list[Send] | str:
        """One run per criterion; with none straight on (an empty fan-out would end the graph)."""
        sent = {key: state[key] for key in inward if key in state}
        criteria = given_criteria(state) or ()
        return [Send("run", sent | _told(c, number, reads, state)) for number, c in enumerate(criteria)] or "join"

    graph = StateGraph(state, input_schema=schema("Asks", inward), output_schema=schema("Says", outward))
    graph.add_node("brief", brief, input_schema=state)
    graph.add_node("run", member(node))
    graph.add_node("join", Join(name=name), input_schema=state, defer=True)
    graph.add_edge(START, "brief")
    graph.add_conditional_edges("brief", each_criterion, ["run", "join"])
    graph.add_edge("run", "join")
    graph.add_edge("join", END)
    return graph.compile(name=name)


def _told(criterion: Criterion, number: int, reads: Any, state: Any) -> dict[str, Any]:
    """What one run is told of its criterion."""
    told: dict[str, Any] = {"criteria": [criterion], "entry": str(number)}
    if "criterion" in reads:
        told["criterion"] = criterion
    if "guideline" in reads:
        written = (state.get("guidelines") or {}).get(criterion.name)
        told["guideline"] = written or criterion.guideline or criterion.definition
    return told
