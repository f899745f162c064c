"""G-Eval: one form-filling call per criterion, its score weighted by the probabilities of the scale's points.

    START -> score -> END

The node asks for its criteria side by side by itself: so one edge puts it into any graph, and how many calls are
in flight is bounded where all calls are made.

With `steps="missing"` or `"all"` a node before it writes the criteria's evaluation steps, once for each.

Source: Liu et al. 2023, arXiv:2303.16634, section 2, where a model writes the steps. Ours come with the criteria.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from judgegraph.agents.judge import ReplyKind
from judgegraph.agents.scorer import Scorer
from judgegraph.agents.steps import StepsWriter
from judgegraph.calls import JudgeLike, Reader
from judgegraph.graphs.settings import (
    OwnPrompts,
    Samples,
    Share,
    Temperature,
    Templates,
    checked,
    named,
    narrowed,
)
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.types import Asked, EvalState, Notes, Scores, merged


class Result(TypedDict, total=False):
    """What the graph writes, and no more: so two methods can stand side by side in one graph."""

    scores: Annotated[Scores, merged]


class Noted(Result, total=False):
    """With a note on each criterion whose steps could not be written."""

    notes: Annotated[Notes, merged]


Builder: TypeAlias = StateGraph[EvalState, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[EvalState, None, Asked, Result]


@checked("g-eval")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike = "summary", samples: Samples = 20,
    temperature: Temperature = 1.0, top_p: Share | None = None, logprobs: bool = True, reply: ReplyKind = "text",
    role: Literal["user", "system"] = "user", first_digit: bool = False,
    steps: Literal["given", "missing", "all"] = "given", prompts: OwnPrompts | None = None, name: str = "",
) -> Builder:  # fmt: skip
    """G-Eval as a graph to go on building with.

    Args:
        judge: who answers. criteria: name of a set, a file, or criteria.
        samples: replies whose mean stands in where the judge gives no log-probabilities; 1 takes the stated number.
        temperature: of those replies; the paper says 1, its code 2. top_p: of those replies; None sends none.
        logprobs: ask for log-probabilities first; without them every score is the mean of `samples` replies.
        reply: "text" is the bare number of the paper, "form" JSON with the score alone.
        first_digit: of a text reply take the first digit on the scale, as the public re-runs do: "2.5" counts as 2.
        steps: "missing" has the judge write the evaluation steps of criteria without any, "all" of all, as in the paper
            (auto chain of thought); a call for each criterion, which a run pays for once. `judgegraph criteria SET
            --steps` keeps them in a file instead.
        role: of the one message; "system" as in the released code, which some servers refuse.
        prompts: templates of your own in the place of the method's: {"g_eval": "mine.md"}, by the names that
            `judgegraph prompts g-eval` prints.
        name: put before the agent's name, for two of these in one graph: "a-g-eval".

    Raises:
        ConfigError: a setting has none of its values. CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria)
    templates = Templates("g-eval", prompts)
    scorer = Scorer(
        judge=judge, criteria=chosen.criteria, task=chosen.task, name=named(name, "g-eval"),
        **{"prompt": "g_eval"} | templates.of("g_eval", "score"),
        reply=reply, explain="never", steps=True, role=role,
        reader=Reader(
            "weighted" if logprobs else "mean", samples=samples, temperature=temperature, top_p=top_p,
            first_digit=first_digit,
        ),
    )  # fmt: skip
    graph = StateGraph(EvalState, input_schema=Asked, output_schema=Result if steps == "given" else Noted)
    graph.add_node("score", scorer)
    if steps == "given":
        graph.add_edge(START, "score")
    else:
        writer = StepsWriter(
            judge=judge, criteria=chosen.criteria, task=chosen.task, which=steps, name=named(name, "steps-writer"),
            **templates.of("steps"),
        )  # fmt: skip
        graph.add_node("steps", writer)
        graph.add_edge(START, "steps")
        graph.add_edge("steps", "score")
    graph.add_edge("score", END)
    templates.refuse_unused()
    return graph


def g_eval(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """G-Eval, compiled; settings as `builder` takes them."""
    return narrowed(builder(judge, **settings)).compile(name="g-eval")
