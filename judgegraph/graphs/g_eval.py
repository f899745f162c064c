"""G-Eval: one form-filling call per criterion, its score weighted by the probabilities of the scale's points.

    START -> score -> END

The node asks for its criteria side by side by itself: so one edge puts it into any graph, and how many calls are
in flight is bounded where all calls are made.

Source: Liu et al. 2023, arXiv:2303.16634, section 2. Its evaluation steps come with the criteria.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from judgegraph.agents.judge import ReplyKind
from judgegraph.agents.scorer import Scorer
from judgegraph.calls import JudgeLike, Reader
from judgegraph.graphs.settings import Samples, Share, Temperature, checked, named, narrowed
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.types import Asked, EvalState, Scores, merged


class Result(TypedDict, total=False):
    """What the graph writes, and no more: so two methods can stand side by side in one graph."""

    scores: Annotated[Scores, merged]


Builder: TypeAlias = StateGraph[EvalState, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[EvalState, None, Asked, Result]


@checked("g-eval")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike = "summary", samples: Samples = 20,
    temperature: Temperature = 1.0, top_p: Share | None = None, logprobs: bool = True, reply: ReplyKind = "text",
    role: Literal["user", "system"] = "user", first_digit: bool = False, name: str = "",
) -> Builder:  # fmt: skip
    """G-Eval as a graph to go on building with.

    Args:
        judge: who answers. criteria: name of a set, a file, or criteria.
        samples: replies whose mean stands in where the judge gives no log-probabilities; 1 takes the stated number.
        temperature: of those replies; the paper says 1, its code 2. top_p: of those replies; None sends none.
        logprobs: ask for log-probabilities first; without them every score is the mean of `samples` replies.
        reply: "text" is the bare number of the paper, "form" JSON with the score alone.
        first_digit: of a text reply take the first digit on the scale, as the public re-runs do: "2.5" counts as 2.
        role: of the one message; "system" as in the released code, which some servers refuse.
        name: put before the agent's name, for two of these in one graph: "a-g-eval".

    Raises:
        ConfigError: a setting has none of its values. CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria)
    scorer = Scorer(
        judge=judge, criteria=chosen.criteria, task=chosen.task, prompt="g_eval", name=named(name, "g-eval"),
        reply=reply, explain="never", steps=True, role=role,
        reader=Reader(
            "weighted" if logprobs else "mean", samples=samples, temperature=temperature, top_p=top_p,
            first_digit=first_digit,
        ),
    )  # fmt: skip
    graph = StateGraph(EvalState, input_schema=Asked, output_schema=Result)
    graph.add_node("score", scorer)
    graph.add_edge(START, "score")
    graph.add_edge("score", END)
    return graph


def g_eval(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """G-Eval, compiled; settings as `builder` takes them."""
    return narrowed(builder(judge, **settings)).compile(name="g-eval")
