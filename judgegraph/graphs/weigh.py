"""Fennec's weighing of one criterion, from its guideline to its judgement.

mode "single":  START -> guide -> judge -> END
mode "pair":    START -> guide -> compare -> END
mode "apart":   START -> guide -> judge -> END
                         guide -> judge_rival -> END
mode "auto":    START -> guide -> judge -> END (no rival)
                         guide -> compare -> END (a rival)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from judgegraph.agents.comparer import Comparer
from judgegraph.agents.guideline_writer import GuidelineWriter
from judgegraph.agents.judge import Judge
from judgegraph.types import Comparisons, Criterion, Notes, Sample, Scores, merged, sample_of

Mode = Literal["auto", "single", "pair", "apart"]


class Branch(TypedDict, total=False):
    """What each weigh is sent, and what its two steps add: never the whole state."""

    sample: Sample
    criterion: Criterion
    branches: Annotated[dict[str, Criterion], merged]
    guidelines: Annotated[dict[str, str], merged]
    scores: Annotated[Scores, merged]
    comparisons: Annotated[Comparisons, merged]
    notes: Annotated[Notes, merged]


class Weighed(TypedDict, total=False):
    """What each weigh writes."""

    branches: Annotated[dict[str, Criterion], merged]  # as it was sent
    guidelines: dict[str, str]
    scores: Scores
    comparisons: Comparisons
    notes: Notes


def weigh(mode: Mode, guide: GuidelineWriter, judge: Judge, compare: Comparer) -> Any:
    """One criterion from its guideline to its judgement: a graph of its own, so that no criterion waits for another."""
    graph = StateGraph(Branch, output_schema=Weighed)
    graph.add_node("guide", guide)
    graph.add_edge(START, "guide")
    if mode != "pair":
        graph.add_node("judge", judge)
        graph.add_edge("judge", END)
    if mode == "apart":
        graph.add_node("judge_rival", replace(judge, of="rival"))
        graph.add_edge("guide", "judge_rival")
        graph.add_edge("judge_rival", END)
    if mode in ("auto", "pair"):
        graph.add_node("compare", compare)
        graph.add_edge("compare", END)
    if mode == "auto":

        def single_or_pair(state: Branch) -> str:
            return "judge" if sample_of(state).rival is None else "compare"

        graph.add_conditional_edges("guide", single_or_pair, ["judge", "compare"])
    else:
        graph.add_edge("guide", "compare" if mode == "pair" else "judge")
    return graph.compile(name="weigh")
