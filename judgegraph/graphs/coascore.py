"""CoAScore: name the aspects that bear on a target, score them, then score the target with them in view.

    START -> chain -> END

There is one chain per target, a graph of its own: `propose -> rate -> fuse`. Chains stand side by side and none waits
for another; what they write is joined by key in the state.

Source: Gong and Mao 2023, arXiv:2312.10355, section 3.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from judgegraph.agents.fuser import Fuser
from judgegraph.agents.proposer import Proposer
from judgegraph.agents.rater import Rater
from judgegraph.agents.score_form import ReplyKind
from judgegraph.graphs.settings import UpToHundred, checked, named
from judgegraph.calls import JudgeLike
from judgegraph.prompts.criteria_sets import CriteriaLike, criteria_set
from judgegraph.types import Asked, Criterion, EvalState, Notes, Sample, Scores, merged
from judgegraph.wiring.marks import never_empty


class Result(TypedDict, total=False):
    """What the graph writes, and no more: so two methods can stand side by side in one graph."""

    aspects: Annotated[dict[str, list[Criterion]], merged]  # from propose
    scores: Annotated[Scores, merged]  # from rate and fuse
    notes: Annotated[Notes, merged]


class Chain(Result, total=False):
    """The state of one target's chain."""

    sample: Sample  # in
    criteria: list[Criterion]  # in: the one target


Builder: TypeAlias = StateGraph[EvalState, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[EvalState, None, Asked, Result]


@checked("coascore")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike = "summary", aspects: UpToHundred = 10,
    reply: ReplyKind = "form", reasons: bool = False, proposer_judge: JudgeLike | None = None,
    name: str = "",
) -> Builder:  # fmt: skip
    """CoAScore as a graph to go on building with.

    Args:
        judge: of all three agents; `proposer_judge`: of the proposer alone.
        criteria: the targets: name of a set, a file, or criteria. Any may be a target, "Overall" too.
        aspects: of a chain, 1 to 100; the paper tries 5, 10 and 20.
        reply: of proposer and fuser: "form" is JSON, "text" lines and a number, as in the authors' code.
        reasons: ask for a reason before each aspect's score, for the fuser to read; the paper does not.
        name: put before the agents' names, for two of these in one graph: "a-rater", "a-fuser".

    Raises:
        ConfigError: a setting has none of its values. CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria)
    common: dict[str, Any] = {"judge": judge, "task": chosen.task}
    targets: dict[str, Any] = {"criteria": chosen.criteria, "reply": reply}
    proposer = Proposer(
        **common | {"judge": proposer_judge or judge}, **targets, count=aspects, name=named(name, "proposer"),
        prompt="propose_text" if reply == "text" else "propose",
    )  # fmt: skip

    chain = StateGraph(Chain, output_schema=Result)
    chain.add_node("propose", proposer)
    chain.add_node("rate", Rater(**common, reasons=reasons, name=named(name, "rater")))
    chain.add_node("fuse", Fuser(**common, **targets, name=named(name, "fuser")))
    chain.add_edge(START, "propose")
    chain.add_edge("propose", "rate")
    chain.add_edge("rate", "fuse")
    chain.add_edge("fuse", END)

    @never_empty  # a set has one criterion at least
    def each_target(state: EvalState) -> list[Send]:
        asked = state.get("criteria") or chosen.criteria
        return [Send("chain", Chain(sample=state["sample"], criteria=[target])) for target in asked]

    graph = StateGraph(EvalState, input_schema=Asked, output_schema=Result)
    graph.add_node("chain", chain.compile())
    graph.add_conditional_edges(START, each_target, ["chain"])
    graph.add_edge("chain", END)
    return graph


def coascore(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """CoAScore, compiled; settings as `builder` takes them."""
    return builder(judge, **settings).compile(name="coascore")
