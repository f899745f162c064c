"""A pair judge asked in both orders, as one node: any agent, method or graph that writes comparisons.

    START -> run (per order) -> merge -> END
    START -> merge (no rival)

Each run is a graph of its own: in the given order it asks the judge as the sample stands, in the exchanged order with
output and rival in each other's place. `merge` maps what was said back and combines it under a named rule
(`judgegraph.agents.orders`).
"""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_type_hints

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from judgegraph.agents.orders import EXCHANGED, GIVEN, Combine, OrderMerge, exchanged
from judgegraph.compiled import keys, vocabulary
from judgegraph.compose.gate import declare_settings
from judgegraph.compose.nodes import as_node, schema
from judgegraph.compose.panel import RUNS, Node, member
from judgegraph.errors import ConfigError, one_line, settings_checked
from judgegraph.types import Asked, Comparisons, EvalState, Notes, Scores, Verdict, latest, merged, sample_of


class Result(TypedDict, total=False):
    """What it writes: a comparison per criterion and order, per order one over all, and the one of both."""

    scores: Annotated[Scores, merged]
    comparisons: Annotated[Comparisons, merged]
    notes: Annotated[Notes, merged]
    verdict: Annotated[Verdict | None, latest]


@settings_checked
def orders(which: Any, /, *, combine: Combine = "agree-else-tie", name: str = "orders", **settings: Any) -> Node:
    """A node that asks a pair judge in both orders: `g.add_node("fair", jg.orders("fennec", judge="openai:m"))`.

    Its verdicts stand in `comparisons`: those of the exchanged order under "BA", mapped back, so that A is always the
    output; of agent "NAME-merge" one over all criteria for "AB", "BA" and "both". A run's summary and page count from
    these how often both orders gave one verdict, and how often what stood first won. Of all else that a judge writes,
    scores and notes are kept; a note says what was left out.

    Args:
        which: an agent, a graph, or the name of a method or an agent that writes `comparisons` in one order.
        combine: "agree-else-tie" (MT-Bench: both orders, or a tie), or "mean" of the scores, else of the verdicts.
        name: of the graph. settings: of a judge that is given by name.

    Raises:
        ConfigError: no such judge, setting or rule, or the judge compares nothing.
    """
    graph: Any = order_graph(as_node(which, settings), combine=combine, name=name)
    declare_settings(graph, combine=combine)
    return graph.compile(name=name)  # type: ignore[no-any-return]


def order_graph(
    node: Any, *, combine: Combine, name: str, both: bool = True
) -> StateGraph[EvalState, None, Asked, Result]:
    """The graph before it is compiled; without `both` the judge is asked in the given order alone.

    Raises:
        ConfigError: there is no such rule, or the judge compares nothing.
    """
    if combine not in get_args(Combine):
        raise ConfigError(
            f"{name}: combine is {' or '.join(map(repr, get_args(Combine)))}, got {one_line(repr(combine), 60)}"
        )
    if "comparisons" not in keys(node)[1]:
        raise ConfigError(f"{name}: a pair judge writes 'comparisons'; {one_line(repr(node), 80)} writes none")
    reads, hints = keys(node)[0], vocabulary()
    asked = {key: hints[key] for key in Asked.__annotations__}
    inward = {key: hints.get(key, hint) for key, hint in (asked | dict(reads)).items()}
    outward = get_type_hints(Result, include_extras=True)
    state = schema("Orders", inward | outward | RUNS)

    def each_order(state: Any) -> list[Send] | str:
        """A run per order; a sample without a rival is asked in none."""
        sample, sent = sample_of(state), {key: state[key] for key in inward if key in state}
        if sample.rival is None:
            return "merge"
        shown = {GIVEN: sample, **({EXCHANGED: exchanged(sample)} if both else {})}
        return [Send("run", sent | {"sample": one, "entry": order}) for order, one in shown.items()]

    graph: Any = StateGraph(state, input_schema=schema("Asks", inward), output_schema=Result)
    graph.add_node("run", member(node))
    graph.add_node("merge", OrderMerge(combine=combine, single=not both, name=f"{name}-merge"), defer=True)
    graph.add_conditional_edges(START, each_order, ["run", "merge"])
    graph.add_edge("run", "merge")
    graph.add_edge("merge", END)
    return graph  # type: ignore[no-any-return]
