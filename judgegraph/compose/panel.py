"""Several judges side by side and what they come to, as one node.

    START -> brief -> panel-1 | panel-2 -> join -> consensus -> END

Without criteria of its own there is no brief.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from langgraph.graph import END, START, StateGraph

from judgegraph.agents.ballots import Combine
from judgegraph.agents.consensus import Consensus
from judgegraph.calls import JudgeLike
from judgegraph.compose.member import JOINED, RUNS, Brief, Join, Node, member
from judgegraph.compose.node import keys, schema, vocabulary
from judgegraph.compose.panel_members import BALLOT, Offer, check
from judgegraph.errors import ConfigError
from judgegraph.prompts.criteria_sets import CriteriaLike, criteria_set
from judgegraph.types import Asked

Member: TypeAlias = Any  # a judge, an agent, a graph, or the name of an agent or a method


def panel(
    *judges: Member | Mapping[str, Member], combine: Combine = "mean", criteria: CriteriaLike | None = None,
    judge: JudgeLike = "embedded", task: str | None = None, samples: int | None = None, name: str = "panel",
    stage: str = "final",
) -> Node:  # fmt: skip
    """A panel of judges as one node: `g.add_node("panel", jg.panel("openai:a", "openai:b", "g-eval"))`.

    Each judge's own scores are kept, and its answer per criterion stands as a score at stage "ballot" under its name in
    the panel: "panel-g-eval", "panel-sageval", or by its place, "panel-2". The panel's scores are what the ballots come
    to (`Consensus`). Judges read the sample, the criteria and the task, and of a state's other keys those that none of
    them writes. Of what they write, entries that several wrote differently are left out with a note.

    Args:
        judges: a judge ("openai:MODEL", an Endpoint, a chat model), which becomes an `Evaluator`; an agent or a graph
            that writes scores; the name of an agent or a method; or a mapping of such by the names they shall have.
        combine: "mean" or "median" of their numbers, or "vote"; labels are always voted.
        criteria: where the state brings none: a set's name, a file, or criteria. None: each judge's own.
        judge: of methods and agents given by name. task: of the evaluators; None: that of the criteria.
        samples: replies per judge where one gives no log-probabilities. None: 5, in a vote the stated number alone, and
            a method's own.
        name: of the panel, whose scores have it; two panels in one graph need two. stage: of its scores.

    Raises:
        ConfigError: no judges, two of one name, one that writes no scores, or what cannot be a judge.
        CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria) if criteria is not None else None
    offer = Offer(judge, chosen, task, samples, combine, name)
    members = offer.members(judges)
    if not members:
        raise ConfigError("panel: no judges given")
    check(members, name)
    consensus = Consensus(combine=combine, members=tuple(members), ballots=BALLOT, name=name, stage=stage)
    brief = Brief(criteria=chosen.criteria, task=task or chosen.task, name=name) if chosen else None
    return _wired(members, brief, consensus)


def panel_of(
    *, judges: Sequence[Member] | Mapping[str, Member], combine: Combine = "mean", criteria: CriteriaLike | None = None,
    judge: JudgeLike = "embedded", task: str | None = None, samples: int | None = None, name: str = "panel",
    stage: str = "final",
) -> Node:  # fmt: skip
    """Several judges and what they come to: their mean, median or vote; `panel` for graph files.

    Args:
        judges: a list, or a mapping by the names they shall have. The others: as of `panel`.

    Raises:
        ConfigError, CriteriaError: as `panel`.
    """
    listed = [judges] if isinstance(judges, Mapping | str) else judges
    return panel(
        *listed, combine=combine, criteria=criteria, judge=judge, task=task, samples=samples, name=name, stage=stage
    )


def _wired(members: Mapping[str, Any], brief: Brief | None, consensus: Consensus) -> Node:
    hints = vocabulary()
    reads = {key: hint for node in members.values() for key, hint in keys(node)[0].items()}
    writes = {key for node in members.values() for key in keys(node)[1]}
    inward = {key: hints[key] for key in Asked.__annotations__}
    inward |= {key: hints.get(key, hint) for key, hint in reads.items() if key not in writes}
    outward = {key: hints[key] for key in JOINED if key in writes or key == "notes"}
    state = schema("Panel", inward | outward | RUNS)

    graph = StateGraph(state, input_schema=schema("Asks", inward), output_schema=schema("Says", outward))
    if brief:
        graph.add_node("brief", brief, input_schema=state)
        graph.add_edge(START, "brief")
    for called, node in members.items():
        graph.add_node(called, member(node, entry=called, ballots=BALLOT))
        graph.add_edge("brief" if brief else START, called)
        graph.add_edge(called, "join")
    graph.add_node("join", Join(name=consensus.name, order=tuple(members)), input_schema=state, defer=True)
    graph.add_node("consensus", consensus)
    graph.add_edge("join", "consensus")
    graph.add_edge("consensus", END)
    return graph.compile(name=consensus.name)
