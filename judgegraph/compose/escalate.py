"""A cheap judge of all criteria, and a strong one of those that are in doubt, as one node.

    START -> cheap -> doubt -> strong -> join -> settle -> END
                      doubt -> join (nothing is in doubt)

With criteria of its own START leads to brief, and brief to cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from judgegraph import registry
from judgegraph.agents.evaluator import Evaluator
from judgegraph.calls import JudgeLike, Reader
from judgegraph.compose.conditions import Condition, ConditionLike, condition_of, either, failed, title, wide
from judgegraph.compose.doubt import looked_at, of_these
from judgegraph.compose.each import each as each_of
from judgegraph.compose.escalated import DoubtOfRun, Escalated, ballots_of
from judgegraph.compose.gate import DOUBTS, told
from judgegraph.compose.member import JOINED, RUNS, Brief, Join, Node, member
from judgegraph.compose.node import as_node, keys, schema, vocabulary
from judgegraph.compose.panel_members import is_judge
from judgegraph.compose.under_doubt import criteria_of
from judgegraph.errors import ConfigError
from judgegraph.prompts.criteria_sets import CriteriaLike, CriteriaSet, criteria_set
from judgegraph.types import Asked, Criterion, Scale, given_criteria

UNSURE = either(wide(), failed())
DRAFT, SECOND = "draft", "escalated"  # stages of the cheap judge's and of the strong judge's scores


def escalate(
    cheap: Any = "embedded", strong: Any = "embedded", *, when: ConditionLike = UNSURE,
    criteria: CriteriaLike | None = None, each: bool = False, judge: JudgeLike = "embedded", task: str | None = None,
    samples: int = 5, name: str = "escalate",
) -> Node:  # fmt: skip
    """Two judges as one node: `g.add_node("judge", jg.escalate("embedded", "openai:gpt-4.1", criteria="forms"))`.

    The cheap judge scores every criterion (stage "draft"), the strong one those in doubt (stage "escalated"), and the
    final scores are the strong judge's where it was asked (see `Escalated`). Their agents are "escalate-cheap",
    "escalate-strong" and "escalate", or as `name` has it.

    Args:
        cheap, strong: a judge ("openai:MODEL", an Endpoint, a chat model), which becomes an `Evaluator`; an agent or a
            graph that writes scores; or the name of an agent or a method.
        when: a condition (see `jg.gate`) over the cheap judge's scores: wide, or without an answer.
        criteria: where the state brings none: a set's name, a file, or criteria. None: each judge's own.
        each: the strong judge is asked about each criterion in a run of its own, side by side; else about all at once.
        judge: of methods and agents given by name. task: of the evaluators; None: that of the criteria.
        samples: replies per judge that gives no log-probabilities. name: of the graph, before its judges' names.

    Raises:
        ConfigError: no such judge or condition, or a judge that writes no scores. CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria) if criteria is not None else None
    offer = _Offer(chosen, judge, task, samples)
    names = f"{name}-cheap", f"{name}-strong"
    first, second = offer.node(cheap, names[0], DRAFT), offer.node(strong, names[1], SECOND)
    own = chosen.criteria if chosen else tuple(getattr(first, "criteria", None) or ())
    pair = _Pair(first, second, names, condition_of(when).at(DRAFT), own, name, each)
    brief = Brief(criteria=own, task=task or chosen.task, name=f"{name}-brief") if chosen else None
    return pair.wired(brief).compile(name=name)


@dataclass(frozen=True)
class _Offer:
    """What the two judges are made with."""

    criteria: CriteriaSet | None
    judge: JudgeLike
    task: str | None
    samples: int

    def node(self, which: Any, called: str, stage: str) -> Any:
        task = self.task or (self.criteria.task if self.criteria else None)
        if is_judge(which):
            reader = Reader("weighted", samples=self.samples)
            evaluator = Evaluator(judge=which, name=called, stage=stage, reader=reader)
            return replace(evaluator, task=task) if task else evaluator
        offered: dict[str, Any] = {"judge": self.judge, "criteria": self.criteria, "task": self.task}
        made = as_node(which, **offered, name=called if isinstance(which, str) and _is_part(which) else None)
        if "scores" not in keys(made)[1]:
            raise ConfigError(f"escalate: {called} writes no scores; a critic stands behind a judge: see jg.critique")
        return made


def _is_part(which: str) -> bool:
    return registry.find(which)[0] != "assistant"


@dataclass(frozen=True)
class _Pair:
    """The two judges, and when the strong one is asked."""

    cheap: Any
    strong: Any
    names: tuple[str, str]
    when: Condition
    criteria: tuple[Criterion, ...]
    name: str
    each: bool

    def wired(self, brief: Brief | None) -> StateGraph[Any, None, Any, Any]:
        graph, inward = self._empty()
        state, (cheap, strong) = graph.state_schema, self.names
        own, first = self.criteria, START

        def to_strong(state: Mapping[str, Any]) -> list[Send] | str:
            criteria = doubtful(state, cheap, own)
            if not criteria:
                return "join"
            return [Send("strong", {**{k: state[k] for k in inward if k in state}, "criteria": criteria})]

        if brief:
            graph.add_node("brief", brief, input_schema=state)
            graph.add_edge(START, first := "brief")
        doubt = DoubtOfRun(when=self.when, run=cheap, criteria=own, name=self.name)
        graph.add_node("cheap", member(self.cheap, entry=cheap, ballots=DRAFT))
        graph.add_node("doubt", doubt, input_schema=state)
        graph.add_node(
            "strong", member(each_of(self.strong) if self.each else self.strong, entry=strong, ballots=SECOND)
        )
        graph.add_node("join", Join(name=self.name, order=self.names), input_schema=state, defer=True)
        settle = Escalated(cheap=cheap, strong=strong, name=self.name)
        graph.add_node("settle", settle, input_schema=state)
        graph.add_edge(first, "cheap")
        graph.add_edge("cheap", "doubt")
        graph.add_conditional_edges("doubt", to_strong, ["strong", "join"])
        graph.add_edge("strong", "join")
        graph.add_edge("join", "settle")
        graph.add_edge("settle", END)
        told(graph, when=title(self.when), **({"each": True} if self.each else {}))
        return graph

    def _empty(self) -> tuple[StateGraph[Any, None, Any, Any], tuple[str, ...]]:
        """A graph with its schemas, and the keys that come in: what methods read, and no other that a judge writes."""
        writes = {key for node in (self.cheap, self.strong) for key in keys(node)[1]}
        reads = {key: hint for node in (self.cheap, self.strong) for key, hint in keys(node)[0].items()}
        hints = {**reads, **vocabulary()}  # one annotation for each key
        wanted = (*reads, *looked_at(self.when))
        inward = {key: hints[key] for key in Asked.__annotations__}  # a judge that says nothing of itself writes these
        inward |= {key: hints[key] for key in wanted if key not in {*writes, "scores"}}
        outward = {key: hints[key] for key in JOINED if key in writes or key in ("scores", "notes")}
        state = schema("Escalation", inward | outward | RUNS | DOUBTS)
        graph = StateGraph(state, input_schema=schema("Asks", inward), output_schema=schema("Says", outward))
        return graph, tuple(inward)


def doubtful(state: Mapping[str, Any], cheap: str, own: tuple[Criterion, ...]) -> list[Criterion]:
    """The criteria in doubt: of those that were asked, and of those that the cheap judge scored."""
    scores = ballots_of(state, cheap)
    names: dict[str, Scale | None] = {c.name: None for c in given_criteria(state) or own}
    names |= {criterion: score.scale for criterion, score in scores.items()}
    asked = of_these(state.get("doubts") or {}, names)
    written = (state.get("runs") or {}).get(cheap, {}).get("branches", {})
    return criteria_of({**state, "branches": written}, own, {name: names[name] for name in asked})
