"""The run of an agent: its steps judged side by side, then the whole.

    START -> step (one per step of the agent) -> whole -> END
    START -> whole -> END (a sample without steps)

What is asked follows AgentRewardBench (Lu et al. 2025, arXiv:2504.08942) and TRAIL (Deshpande et al. 2025,
arXiv:2505.08638).
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from pydantic import Field
from typing_extensions import TypedDict

from judgegraph.agents.trajectory import RunJudge, StepCase, StepJudge, steps_of
from judgegraph.calls import JudgeLike
from judgegraph.graphs.settings import checked, named, narrowed
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.types import Asked, EvalState, Notes, Scores, merged, sample_of

Steps = Annotated[int, Field(ge=0)]


class Result(TypedDict, total=False):
    """What the graph writes: scores by the criteria; "Decisive step", "Kind of fault", "Agent at fault" as labels."""

    scores: Annotated[Scores, merged]
    notes: Annotated[Notes, merged]


Builder: TypeAlias = StateGraph[EvalState, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[EvalState, None, Asked, Result]


def each_step(state: EvalState) -> list[Send] | str:
    """One branch per step of the agent; without any, straight on."""
    sample = sample_of(state)
    return [Send("step", StepCase(sample=sample, step=number)) for number in steps_of(sample)] or "whole"


@checked("trajectory")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike = "trajectory", before: Steps = 0, most: Steps = 0,
    name: str = "",
) -> Builder:  # fmt: skip
    """The judge of runs as a graph to go on building with.

    Args:
        judge: who answers. criteria: name of a set, a file, or criteria, for the whole run.
        before: steps shown to the judge of a step before it, 0 for all. most: steps shown to the judge of the whole, 0
            for all; of a longer run the last ones and those with a finding. So a run that is longer than the judge's
            window is judged in parts.
        name: put before the agents' names, for two of these in one graph.

    Raises:
        ConfigError: a setting has none of its values. CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria)
    whole = RunJudge(
        judge=judge, criteria=chosen.criteria, task=chosen.task, most=most, name=named(name, "run-judge")
    )  # fmt: skip
    graph = StateGraph(EvalState, input_schema=Asked, output_schema=Result)
    graph.add_node("step", StepJudge(judge=judge, before=before, name=named(name, "step-judge")))
    graph.add_node("whole", whole, defer=True)
    graph.add_conditional_edges(START, each_step, ["step", "whole"])
    graph.add_edge("step", "whole")
    graph.add_edge("whole", END)
    return graph


def trajectory(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """The judge of runs, compiled; settings as `builder` takes them."""
    return narrowed(builder(judge, **settings)).compile(name="trajectory")
