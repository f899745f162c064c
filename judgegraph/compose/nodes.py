"""Metrics as a node: assistants asked of every sample, each value a finding and a score."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypeAlias

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from judgegraph import registry
from judgegraph.agents.fusion import off_range, without_evidence
from judgegraph.agents.person import Person
from judgegraph.compiled import keys
from judgegraph.errors import ConfigError, meant_of, one_line, settings_checked
from judgegraph.prompts.criteria import CriteriaLike, CriteriaSet, criteria_set
from judgegraph.registry.lookup import makes_parts
from judgegraph.tools.catalogue import Assistant, AssistantLike, assistants, find_all
from judgegraph.types import Asked, EvalState, Finding, Notes, Sample, Score, Scores, keyed, sample_of


class Measured(TypedDict):  # what a metric node reads
    sample: Sample
    findings: NotRequired[dict[str, Finding]]  # an assistant that was asked before is not asked again


class Values(TypedDict):  # what it writes
    findings: dict[str, Finding]  # assistant -> what it said
    scores: Scores  # the same, a score each
    notes: NotRequired[Notes]  # where none of them has a value


@settings_checked
@dataclass(frozen=True, kw_only=True)
class MetricNode:
    """Asks its assistants side by side, plain ones off the event loop.

    A score's criterion is the metric's name, its value that of the metric in the metric's own units (no scale). Where
    a metric has no value (the sample lacks a reference, say) its score has the finding's status.

    Attributes:
        name: of the agent that its scores name. stage: of those scores.
    """

    assistants: Sequence[Assistant]
    name: str = "metric"
    stage: str = "metric"

    async def __call__(self, state: Measured) -> Values:
        said = state.get("findings") or {}
        found = await find_all([a for a in self.assistants if a.name not in said], sample_of(state))
        mine = [{**said, **found}[a.name] for a in self.assistants]
        about = {a.name: str(a.about) for a in self.assistants}
        silent = without_evidence(self.name, about, {f.assistant: f for f in mine}, None)
        scores = (self._score(finding, off_range(about[finding.assistant], finding)) for finding in mine)
        return {"findings": found, "scores": keyed(*scores), "notes": keyed(*silent)}

    def _score(self, finding: Finding, off: str) -> Score:
        answer = {"label" if isinstance(finding.value, str) else "value": finding.value}
        return Score.model_validate({
            "criterion": finding.assistant, "agent": self.name, "stage": self.stage, "reader": "plain",
            "status": finding.status, "reason": finding.reason, "notes": (off,) if off else (),
            **(answer if finding.status == "ok" else {}),
        })  # fmt: skip


@settings_checked
def metric_node(*which: AssistantLike, name: str = "metric", stage: str = "metric") -> MetricNode:
    """A node that writes what metrics say of a sample: `g.add_node("rouge", jg.metric_node("rouge-l", "chrf"))`.

    Args:
        which: assistants by name, or assistant objects; one or more.
        name, stage: of the scores, beside the metric's name as their criterion.

    Raises:
        ConfigError: none at all, no such name, no assistant, or two of one name.
    """
    return MetricNode(assistants=assistants(which), name=name, stage=stage)


# What may stand in a graph: a name, an agent, a function, a builder or a graph, made into what `add_node` takes.


def as_node(which: Any, settings: Mapping[str, Any] | None = None, /, **offered: Any) -> Any:
    """A node: an agent, a function or a compiled graph.

    Args:
        which: a registered name ("evaluator", "sage", "g-eval", "rouge-l"), with its kind before it where two kinds
            share it ("critic/NAME"), `file.py:factory`, a graph file, an agent, a function, a StateGraph or a
            compiled graph.
        settings: of what is made by name; each must be a setting of it.
        offered: what the graph around has to give (judge, criteria, task, reader, name, stage): what is made by name is
            given those that it has a setting for; of None it keeps its own.

    Raises:
        ConfigError: no such name or setting, settings for what is made already, or nothing that can be a node.
    """
    if isinstance(which, str):
        return _named(which, dict(settings or {}), {k: v for k, v in offered.items() if v is not None})
    if settings:
        raise ConfigError(f"{_shown(which)} is made already: {', '.join(settings)} would change nothing")
    if isinstance(which, StateGraph):
        return which.compile()
    if inspect.isclass(which):
        raise ConfigError(f"a node is made of an agent, not of its class: write {which.__name__}(...)")
    if maker := makes_parts(which):
        raise ConfigError(f"{maker} takes no state, so it is no node: call it, and give what it makes")
    if not (callable(which) or hasattr(which, "ainvoke")):
        raise ConfigError(
            f"a node is a name, an agent, a function, a StateGraph or a compiled graph; got {_shown(which)}"
        )
    return which


def _named(which: str, settings: dict[str, Any], offered: dict[str, Any]) -> Any:
    kind, name = registry.find(which)
    if kind == "assistant":
        return metric_node(registry.make(kind, name, settings) if settings else name)
    if kind == "method":
        return as_node(_method(name, settings, offered))
    if "criteria" in offered:  # agents take the criteria themselves, methods any way to name them
        chosen = criteria_set(offered["criteria"])
        offered = {"task": chosen.task, **offered, "criteria": chosen.criteria}
    return registry.make(kind, name, settings, **offered)


def _method(name: str, settings: dict[str, Any], offered: dict[str, Any]) -> Any:
    if name in registry.names("method"):
        return registry.make("method", name, settings, **offered)
    build = registry.factory(name)  # of a file
    takes, any_more = registry.settings_of(build)
    if not any_more and (unknown := sorted(set(settings) - set(takes))):
        raise ConfigError(f"{name} has no setting {', '.join(unknown)}{meant_of(unknown[0], takes)}")
    return build(**{k: v for k, v in offered.items() if k in takes} | settings)


def schema(name: str, annotations: Mapping[str, Any]) -> Any:
    """A TypedDict, so that a helper's state has the keys that its node needs and no more."""
    return TypedDict(name, dict(annotations), total=False)  # type: ignore[operator]


def _shown(which: Any) -> str:
    return one_line(repr(which), 80)


# A method, a person who decides on what its critic suggests, and the method again by the new criteria.
#
# START -> judge -> ask -> again -> END
#                   ask -> END (the criteria are as they were)


Builder: TypeAlias = StateGraph[EvalState, None, Asked, EvalState]


@settings_checked
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
