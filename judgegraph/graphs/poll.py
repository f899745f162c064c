"""PoLL: a panel of judges of other model families, one prompt, and what they come to.

    START -> judge-1 | judge-2 | judge-3 -> consensus -> END

It is a jury without debate (`judgegraph.compose.jury`) whose judges have one prompt and different models. Models of one
family favour the same texts, so families must differ: that is what the panel is for.

Source: Verga et al. 2024, "Replacing Judges with Juries", arXiv:2404.18796: three judges of disjoint
families; the mean of scores, or the vote of most where answers are right or wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from judgegraph.agents.juror import Juror
from judgegraph.agents.panel import Combine, first_alike, likeness, refuse_kin
from judgegraph.answers import BALLOT
from judgegraph.calls import JudgeLike
from judgegraph.compose.jury import Result, add_columns, add_consensus
from judgegraph.errors import ConfigError
from judgegraph.graphs.settings import checked, named, narrowed
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.types import Asked, EvalState

Builder: TypeAlias = StateGraph[EvalState, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[EvalState, None, Asked, Result]


@checked("poll")
def builder(
    judge: JudgeLike = "embedded", *, judges: str | Sequence[JudgeLike] = (), criteria: CriteriaLike = "general",
    combine: Combine = "mean", same_family: bool = False, task: str | None = None, name: str = "",
) -> Builder:  # fmt: skip
    """PoLL as a graph to go on building with.

    Args:
        judge: the first judge. judges: the others, a list, or their names with commas between:
            "anthropic:claude-3-haiku,cohere:command-r". Without any the judge sits alone, of which a check warns.
        criteria: name of a set, a file, or criteria.
        combine: "mean" or "median" of the scores, or "vote"; labels are always voted.
        same_family: whether two judges may be of one family (by their models' names).
        task: one sentence that says what kind of text is judged; None: that of the criteria set.
        name: put before the agents' names, for two of these in one graph: "a-judge-1".

    Raises:
        ConfigError: two judges are one, or of one family. CriteriaError: no such criteria.
    """
    others = [one.strip() for one in judges.split(",") if one.strip()] if isinstance(judges, str) else [*judges]
    listed = [judge, *others]
    if not same_family:
        refuse_kin("poll", listed)
    chosen = criteria_set(criteria)
    about: dict[str, Any] = {"criteria": chosen.criteria, "task": task or chosen.task, "stage": BALLOT}
    called = [named(name, f"judge-{place}") for place in range(1, len(listed) + 1)]
    panel = {who: Juror(judge=one, name=who, **about) for who, one in zip(called, listed, strict=True)}
    if (alike := first_alike([likeness(one) for one in panel.values()])) is not None:
        one, other = alike
        raise ConfigError(f"poll: judge {one} and judge {other} are one: its answer is paid for once and counts twice")
    graph = StateGraph(EvalState, input_schema=Asked, output_schema=Result)
    judges_of_panel = {f"judge-{place}": one for place, one in enumerate(panel.values(), 1)}
    add_consensus(graph, add_columns(graph, [judges_of_panel]), called, named(name, "poll"), combine, chosen.criteria)
    return graph


def poll(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """PoLL, compiled; settings as `builder` takes them."""
    return narrowed(builder(judge, **settings)).compile(name="poll")
