"""Fusion-Eval: a plan says how to use assistant evaluators, they are consulted, a judge fuses what they said.

    START -> plan -> consult -> judge -> END

The plan sees no sample. By default `consult` is a graph of its own, in which a model calls assistants as tools:

    START -> ask -> call -> ask
             ask -> END
             ask -> call_all -> END
                    call -> END

`ask` ends when the model wants no more; `call` when all have been asked or the cap on rounds is reached; `call_all`
calls what the plan names where the model cannot be asked. With `consult="all"` it is that alone, without a model, which
is the paper's way. With `plan=False` there is no `plan`: START goes to consult.

Source: Shu et al. 2023, arXiv:2311.09204, figure 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from judgegraph.agents.consultant import Consultant, ToolCall
from judgegraph.agents.fusion_judge import FusionJudge
from judgegraph.agents.planner import Planner
from judgegraph.graphs.settings import Temperature, UpToFifty, checked, named
from judgegraph.calls import JudgeLike, Reader
from judgegraph.prompts.criteria_sets import CriteriaLike, CriteriaSet, criteria_set
from judgegraph.tools import catalogue
from judgegraph.tools.catalogue import DEFAULTS, AssistantLike
from judgegraph.tools.finding import Assistant
from judgegraph.tools.langchain_tool import as_dict
from judgegraph.tools.panel import Panel
from judgegraph.tools.tool_calls import ToolCalls
from judgegraph.types import Asked, Criterion, EvalState, Finding, Notes, Plan, Sample, Scores, latest, merged


class Result(TypedDict, total=False):
    """What the graph writes, and no more: so two methods can stand side by side in one graph."""

    scores: Annotated[Scores, merged]  # from judge
    overall: Annotated[float | None, latest]
    plan: Annotated[Plan, latest]
    findings: Annotated[dict[str, Finding], merged]  # from consult
    notes: Annotated[Notes, merged]


class Planned(Asked, total=False):  # what is read where no plan is made
    plan: Plan


class Question(TypedDict, total=False):  # what consult is given
    sample: Sample
    criteria: list[Criterion]
    plan: Plan
    findings: Annotated[dict[str, Finding], merged]


class Answer(TypedDict, total=False):  # what it gives back
    findings: Annotated[dict[str, Finding], merged]
    notes: Annotated[Notes, merged]


class Consultation(Question, total=False):
    notes: Annotated[Notes, merged]
    messages: list[Any]  # of this sample's conversation; it stays in here
    calls: list[ToolCall] | None
    rounds: int


Builder: TypeAlias = StateGraph[EvalState, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[EvalState, None, Asked, Result]


@checked("fusion-eval")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike = "summary",
    assistants: AssistantLike | Sequence[AssistantLike] = DEFAULTS, plan: bool = True,
    consult: Literal["tools", "all"] | None = None, rounds: UpToFifty = 4,
    planner_judge: JudgeLike | None = None, predictions: UpToFifty = 8, temperature: Temperature = 1.0,
    name: str = "",
) -> Builder:  # fmt: skip
    """Fusion-Eval as a graph to go on building with.

    Args:
        judge: of all agents; planner_judge: of planner and consultant, where not None.
        criteria: name of a set, a file, or criteria; an overall one is added where there is none.
        assistants: names or objects, one or more (`judgegraph.tools.ASSISTANTS`).
        plan: False leaves the plan out (the paper's NoPlan); a plan handed in with the sample is used then.
        consult: "tools": a model calls the assistants, in at most `rounds` rounds (1 to 50); "all": exactly those
            that the plan names are called, or all without a plan. None: "tools" with a plan, "all" without.
        predictions: replies whose mean is a score, 1 to 50; the paper has eight.
        temperature: of these replies; the paper does not say.
        name: put before the agents' names, for two of these in one graph: "a-planner", "a-fusion-judge".

    Raises:
        ConfigError: an unknown assistant, none at all, or a setting has none of its values.
        CriteriaError: no such criteria.
    """
    chosen, offered = criteria_set(criteria), catalogue.assistants(assistants)
    common: dict[str, Any] = {"criteria": chosen.criteria, "task": chosen.task}
    told: dict[str, Any] = {"assistants": {a.name: str(a.about) for a in offered}, **common}
    reader = Reader("mean", samples=predictions, temperature=temperature)

    graph = StateGraph(EvalState, input_schema=Asked if plan else Planned, output_schema=Result)
    if plan:
        graph.add_node("plan", Planner(judge=planner_judge or judge, name=named(name, "planner"), **told))
    if consult == "all" or (consult is None and not plan):
        graph.add_node("consult", Panel(assistants=offered, name=named(name, "panel")))
    else:
        loop = consultation(planner_judge or judge, offered, chosen, rounds, name)
        graph.add_node("consult", loop.compile())
    graph.add_node("judge", FusionJudge(judge=judge, reader=reader, name=named(name, "fusion-judge"), **told))
    graph.add_edge(START, "plan" if plan else "consult")
    if plan:
        graph.add_edge("plan", "consult")
    graph.add_edge("consult", "judge")
    graph.add_edge("judge", END)
    return graph


def consultation(
    judge: JudgeLike, offered: Sequence[Assistant], chosen: CriteriaSet, rounds: int = 4, name: str = ""
) -> StateGraph[Consultation, None, Question, Answer]:
    """The loop in which a model calls assistants as tools, for any graph with a sample in its state."""
    names = {a.name for a in offered}
    tools = [as_dict(a) for a in offered]

    def after_ask(state: Consultation) -> str:
        calls = state.get("calls")
        return "call_all" if calls is None else "call" if calls else END

    def after_call(state: Consultation) -> str:
        more = names - set(state.get("findings") or {})
        return "ask" if more and state.get("rounds", 0) < rounds else END

    loop = StateGraph(Consultation, input_schema=Question, output_schema=Answer)
    asks = Consultant(
        judge=judge, tools=tools, criteria=chosen.criteria, task=chosen.task, rounds=rounds,
        name=named(name, "consultant"),
    )  # fmt: skip
    loop.add_node("ask", asks)
    loop.add_node("call", ToolCalls(assistants=offered, name=named(name, "tool-calls")))
    loop.add_node("call_all", Panel(assistants=offered, name=named(name, "panel")))
    loop.add_edge(START, "ask")
    loop.add_conditional_edges("ask", after_ask, ["call", "call_all", END])
    loop.add_conditional_edges("call", after_call, ["ask", END])
    loop.add_edge("call_all", END)
    return loop


def fusion_eval(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """Fusion-Eval, compiled; settings as `builder` takes them."""
    return builder(judge, **settings).compile(name="fusion-eval")
