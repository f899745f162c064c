"""CoAScore: name the aspects that bear on a target, score them, then score the target with them in view.

    START -> chain -> END

There is one chain per target, a graph of its own: `propose -> rate -> fuse`. Chains stand side by side and none waits
for another; what they write is joined by key in the state. The paper's ablations each leave one of the three out, or
put plain code in its place.

Source: Gong and Mao 2023, arXiv:2312.10355, section 3; ablations section 4.6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from judgegraph.agents.aspects import Average, Proposer, RandomRater, chain_of
from judgegraph.agents.fusion import DefinitionFuser, Fuser
from judgegraph.agents.judge import Rater, ReplyKind, chain_key
from judgegraph.calls import JudgeLike
from judgegraph.compose.conditions import never_empty
from judgegraph.errors import ConfigError
from judgegraph.graphs.settings import OwnPrompts, Templates, UpToHundred, checked, named
from judgegraph.prompts.criteria import CriteriaLike, CriteriaSet, criteria_set
from judgegraph.types import Asked, Criterion, EvalState, Notes, Sample, Scores, given_criteria, merged, sample_of

ASPECTS = 10  # of a chain: the paper's m


class Result(TypedDict, total=False):
    """What the graph writes, and no more: so two methods can stand side by side in one graph."""

    aspects: Annotated[dict[str, list[Criterion]], merged]  # from propose; target, target/name -> its chain
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
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike = "summary", aspects: UpToHundred = ASPECTS,
    reply: ReplyKind = "form", reasons: bool = False, proposer_judge: JudgeLike | None = None,
    chain: Literal["generated", "inter"] = "generated", scores: Literal["rated", "none", "random"] = "rated",
    fuse: Literal["judge", "average"] = "judge", seed: int = 0, prompts: OwnPrompts | None = None,
    name: str = "",
) -> Builder:  # fmt: skip
    """CoAScore as a graph to go on building with.

    Args:
        judge: of all three agents; `proposer_judge`: of the proposer alone.
        criteria: the targets: name of a set, a file, or criteria. Any may be a target, "Overall" too.
        aspects: of a generated chain, 1 to 100; the paper tries 5, 10 and 20.
        reply: of proposer and fuser: "form" is JSON, "text" lines and a number, as in the authors' code.
        reasons: ask the rater for a reason before each aspect's score, for the fuser to read; the paper does not.
        chain: "generated" asks the proposer, "inter" takes the other criteria of the set, however many they are.
        scores: of the aspects: "rated" asks the rater, "none" shows the fuser definitions alone, "random" draws them by
            `seed`.
        fuse: "judge" asks the fuser, "average" takes the mean of the aspects' scores; a target with labels, which have
            no mean, is skipped unasked.
        prompts: templates of your own in the place of the method's: {"rate": "mine.md"}, by the names that
            `judgegraph prompts coascore` prints.
        name: put before the agents' names and behind the chains' keys, for two of these in one graph: "a-rater".

    Raises:
        ConfigError: a setting has none of its values, or would do nothing, or nothing is left to score by.
        CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria)
    _refuse_idle(aspects, reasons, chain, scores, seed)
    _refuse(chosen, chain, scores, fuse)
    common: dict[str, Any] = {"judge": judge, "task": chosen.task}
    targets: dict[str, Any] = {"criteria": chosen.criteria, "reply": reply}
    nodes: dict[str, Any] = {}
    templates = Templates("coascore", prompts)
    if chain == "generated":
        nodes["propose"] = Proposer(
            **common | {"judge": proposer_judge or judge}, **targets, count=aspects, name=named(name, "proposer"),
            numbers_only=fuse == "average", chains=name,
            **{"prompt": "propose_text" if reply == "text" else "propose"} | templates.of("propose", "propose_text"),
        )  # fmt: skip
    if scores == "random":
        nodes["rate"] = RandomRater(seed=seed, name=named(name, "random-rater"), chains=name)
    elif scores == "rated":
        nodes["rate"] = Rater(**common, reasons=reasons, name=named(name, "rater"), chains=name, **templates.of("rate"))
    if fuse == "average":
        nodes["fuse"] = Average(criteria=chosen.criteria, name=named(name, "average"), chains=name)
    else:
        fuser, template = (DefinitionFuser, "fuse_definitions") if scores == "none" else (Fuser, "fuse")
        own = templates.of(template, "fuse")
        nodes["fuse"] = fuser(**common, **targets, name=named(name, "fuser"), chains=name, **own)
    templates.refuse_unused()
    among = _among_others(name, numbers_only=fuse == "average") if chain == "inter" else None
    return side_by_side(chain_of_nodes(nodes), chosen.criteria, among)


def _refuse_idle(aspects: int, reasons: bool, chain: str, scores: str, seed: int) -> None:
    """
    Raises:
        ConfigError: a setting would do nothing, and would still stand in the signature.
    """
    if chain == "inter" and aspects != ASPECTS:
        why = "chain: 'inter' takes the other criteria of the set, however many they are"
        raise ConfigError(f"coascore: aspects: {aspects} would do nothing, as {why}; leave one of the two out")
    if scores != "rated" and reasons:
        raise ConfigError(f"coascore: reasons would do nothing, as scores: '{scores}' asks no rater for them")
    if scores != "random" and seed:
        raise ConfigError(f"coascore: seed: {seed} would do nothing, as only scores: 'random' draws by it")


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


def chain_of_nodes(nodes: dict[str, Any]) -> Any:
    """One target's chain: the nodes in their order."""
    chain = StateGraph(Chain, output_schema=Result)
    for before, (node, agent) in zip((START, *nodes), nodes.items(), strict=False):
        chain.add_node(node, agent)
        chain.add_edge(before, node)
    chain.add_edge([*nodes][-1], END)
    return chain.compile()


Others = Callable[[Sequence[Criterion]], dict[str, dict[str, list[Criterion]]]]


def _among_others(name: str, numbers_only: bool) -> Others:
    """Of a set its targets' chains, as each is sent its own: target -> what stands in `aspects`."""

    def others(asked: Sequence[Criterion]) -> dict[str, dict[str, list[Criterion]]]:
        skipped = {target.name for target in asked if numbers_only and target.scale.labels}
        chains = {target.name: {chain_key(target.name, name): chain_of(target, asked)} for target in asked}
        return {target: {} if target in skipped else chain for target, chain in chains.items()}

    return others


def side_by_side(chain: Any, criteria: Sequence[Criterion], among: Others | None = None) -> Builder:
    """A chain for every target, sent along or proposed; CheckEval stands so too (`judgegraph.graphs.checkeval`)."""
    of = among or (lambda asked: {})

    @never_empty  # a set has one criterion at least
    def each_target(state: EvalState) -> list[Send]:
        asked = given_criteria(state) or criteria
        return [Send("chain", Chain(sample=sample_of(state), criteria=[target])) for target in asked]

    @never_empty
    def each_among_others(state: EvalState) -> list[Send]:
        asked, sample = given_criteria(state) or criteria, sample_of(state)
        chains = of(asked)
        return [Send("chain", Chain(sample=sample, criteria=[t], aspects=chains[t.name])) for t in asked]

    graph = StateGraph(EvalState, input_schema=Asked, output_schema=Result)
    graph.add_node("chain", chain)
    graph.add_conditional_edges(START, each_among_others if among else each_target, ["chain"])
    graph.add_edge("chain", END)
    return graph


def coascore(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """CoAScore, compiled; settings as `builder` takes them."""
    return builder(judge, **settings).compile(name="coascore")
