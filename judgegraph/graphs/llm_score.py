"""LLMScore: one plain score per criterion, CoAScore's last step without the aspects; a baseline.

    START -> score -> END

Source: Gong and Mao 2023 (CoAScore), arXiv:2312.10355, section 4.2 and appendix A.1.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from judgegraph.agents.judge import ReplyKind
from judgegraph.agents.scorer import Scorer
from judgegraph.calls import JudgeLike
from judgegraph.graphs.settings import OwnPrompts, Templates, checked, named, narrowed
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.types import Asked, EvalState, Scores, merged


class Result(TypedDict, total=False):
    """What the graph writes, and no more: so two methods can stand side by side in one graph."""

    scores: Annotated[Scores, merged]


Builder: TypeAlias = StateGraph[EvalState, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[EvalState, None, Asked, Result]


@checked("llm-score")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike = "summary", cot: bool = False,
    reply: ReplyKind = "form", prompts: OwnPrompts | None = None, name: str = "",
) -> Builder:  # fmt: skip
    """LLMScore as a graph to go on building with.

    Args:
        judge: who answers. criteria: name of a set, a file, or criteria; their steps are not shown.
        cot: think step by step before the score (LLMScore-CoT); without it a reason comes after the score,
            where it cannot move it.
        reply: "form" asks for JSON, "text" for free text.
        prompts: templates of your own in the place of the method's: {"llm_score": "mine.md"}, by the names that
            `judgegraph prompts llm-score` prints.
        name: put before the agent's name, for two of these in one graph: "a-llm-score".

    Raises:
        ConfigError: a setting has none of its values. CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria)
    templates = Templates("llm-score", prompts)
    scorer = Scorer(
        judge=judge, criteria=chosen.criteria, task=chosen.task, reply=reply,
        explain="before" if cot else "after", name=named(name, "llm-score"),
        **{"prompt": "llm_score_cot" if cot else "llm_score"} | templates.of("llm_score", "llm_score_cot", "score"),
    )  # fmt: skip
    templates.refuse_unused()
    graph = StateGraph(EvalState, input_schema=Asked, output_schema=Result)
    graph.add_node("score", scorer)
    graph.add_edge(START, "score")
    graph.add_edge("score", END)
    return graph


def llm_score(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """LLMScore, compiled; settings as `builder` takes them."""
    return narrowed(builder(judge, **settings)).compile(name="llm-score")
