"""CoAScore: name the aspects that bear on a target, score them, then score the target with them in view.

    START -> chain -> END

There is one chain per target, a graph of its own: `propose -> rate -> fuse`. Chains stand side by side and none waits
for another; what they write is joined by key in the state. The paper's ablations each leave one of the three out, or
put plain code in its place.

Source: Gong and Mao 2023, arXiv:2312.10355, section 3; ablations section 4.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from judgegraph.agents.average import Average
from judgegraph.agents.chain import chain_of
from judgegraph.agents.definition_fuser import DefinitionFuser
from judgegraph.agents.fuser import Fuser
from judgegraph.agents.proposer import Proposer
from judgegraph.agents.random_rater import RandomRater
from judgegraph.agents.rater import Rater
from judgegraph.agents.score_form import ReplyKind
from judgegraph.calls import JudgeLike
from judgegraph.errors import ConfigError
from judgegraph.graphs.settings import UpToHundred, checked, named
from judgegraph.prompts.criteria_sets import CriteriaLike, CriteriaSet, criteria_set
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
    chain: Literal["generated", "inter"] = "generated", scores: Literal["rated", "none", "random"] = "rated",
    fuse: Literal["judge", "average"] = "judge", seed: int = 0, name: str = "",
) -> Builder:  # fmt: skip
    """CoAScore as a graph to go on building with.

    Args:
        judge: of all three agents; `proposer_judge`: of the proposer alone.
        criteria: the targets: name of a set, a file, or criteria. Any may be a target, "Overall" too.
        aspects: of a chain, 1 to 100; the paper tries 5, 10 and 20.
        reply: of proposer and fuser: "form" is JSON, "text" lines and a number, as in the authors' code.
        reasons: ask for a reason before each aspect's score, for the fuser to read; the paper does not.
        chain: "generated" asks the proposer, "inter" takes the other criteria of the set, however many they are.
        scores: of the aspects: "rated" asks the rater, "none" shows the fuser definitions alone, "random" draws them by
            `seed`.
        fuse: "judge" asks the fuser, "average" takes the mean of the aspects' scores.
        name: put before the agents' names, for two of these in one graph: "a-rater", "a-fuser".

    Raises:
        ConfigError: a setting has none of its values, or nothing is left to score by. CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria)
    _refuse(chosen, chain, scores, fuse)
    common: dict[str, Any] = {"judge": judge, "task": chosen.task}
    targets: dict[str, Any] = {"criteria": chosen.criteria, "reply": reply}
    nodes: dict[str, Any] = {}
    if chain == "generated":
        nodes["propose"] = Proposer(
            **common | {"judge": proposer_judge or judge}, **targets, count=aspects, name=named(name, "proposer"),
            prompt="propose_text" if reply == "text" else "propose",
        )  # fmt: skip
    if scores == "random":
        nodes["rate"] = RandomRater(seed=seed, name=named(name, "random-rater"))
    elif scores == "rated":
        nodes["rate"] = Rater(**common, reasons=reasons, name=named(name, "rater"))
    if fuse == "average":
        nodes["fuse"] = Average(criteria=chosen.criteria, name=named(name, "average"))
    else:
        fuser = DefinitionFuser if scores == "none" else Fuser
        nodes["fuse"] = fuser(**common, **targets, name=named(name, "fuser"))
    return _side_by_side(_row(nodes), chosen.criteria, chain == "inter")


def _refuse(chosen: CriteriaSet, chain: str, scores: str, fuse: str) -> None:
    """
    Raises:
        ConfigError: nothing would be left to score a target by.
    """
    if scores == "none" and fuse == "average":
        raise ConfigError("coascore: fuse: 'average' needs scores, and scores: 'none' has none")
    alone = [c.name for c in chosen.criteria if not chain_of(c, chosen.criteria)]
    if chain == "inter" and alone:
        what = "no other criterion with a scale of numbers"
        raise ConfigError(f"coascore: chain: 'inter' takes the other criteria of a set, and '{alone[0]}' has {what}")


def _row(nodes: dict[str, Any]) -> Any:
    """One target's chain: the nodes in their order."""
    chain = StateGraph(Chain, output_schema=Result)
    for before, (node, agent) in zip((START, *nodes), nodes.items(), strict=False):
        chain.add_node(node, agent)
        chain.add_edge(before, node)
    chain.add_edge([*nodes][-1], END)
    return chain.compile()


def _side_by_side(chain: Any, criteria: Sequence[Criterion], inter: bool) -> Builder:
    """A chain for every target."""

    @never_empty  # a set has one criterion at least
    def each_target(state: EvalState) -> list[Send]:
        asked = state.get("criteria") or criteria
        return [Send("chain", Chain(sample=state["sample"], criteria=[target])) for target in asked]

    @never_empty
    def each_among_others(state: EvalState) -> list[Send]:
        asked, sample = state.get("criteria") or criteria, state["sample"]
        others = {target.name: chain_of(target, asked) for target in asked}
        return [
            Send("chain", Chain(sample=sample, criteria=[target], aspects={target.name: others[target.name]}))
            for target in asked
        ]

    graph = StateGraph(EvalState, input_schema=Asked, output_schema=Result)
    graph.add_node("chain", chain)
    graph.add_conditional_edges(START, each_among_others if inter else each_target, ["chain"])
    graph.add_edge("chain", END)
    return graph


def coascore(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """CoAScore, compiled; settings as `builder` takes them."""
    return builder(judge, **settings).compile(name="coascore")
