"""Fusion-Eval's consultation: a model calls assistants as tools, in bounded rounds.

    START -> ask -> call -> ask
             ask -> END
             ask -> call_all -> END
                    call -> END

`ask` ends when the model wants no more; `call` when all have been asked or the cap on rounds is reached; `call_all`
calls what the plan names where the model cannot be asked. It is ours: the paper hands the judge all scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from judgegraph.agents.consultant import Consultant, ToolCall
from judgegraph.calls import JudgeLike
from judgegraph.graphs.settings import named
from judgegraph.prompts.criteria_sets import CriteriaSet
from judgegraph.tools.finding import Assistant
from judgegraph.tools.langchain_tool import as_dict
from judgegraph.tools.panel import Panel
from judgegraph.tools.tool_calls import ToolCalls
from judgegraph.types import Criterion, Finding, Notes, Plan, Sample, merged


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
