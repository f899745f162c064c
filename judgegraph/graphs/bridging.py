"""Bridging: from a foreign judgement back to its criterion and guideline, then judged anew under them.

    START -> reverse -> weigh (guide -> compare, or judge) -> merge -> END
             reverse -> merge (no criterion)

It is Fennec's figure with reverse writers in the places of its own, so that what is judged anew is judged as Fennec
judges: a pair in both orders, a single response alone. The samples bring their judgement in `meta["judgement"]`
(`judgegraph.bridging.records` reads them); neither `compare` nor `judge` sees it. What comes of it is filtered
afterwards, by `judgegraph.bridging.consistency`.

Source: "Fennec: Fine-grained Language Model Evaluation and Correction Extended through Branching and Bridging",
sections 3.2 and 4.1.
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from judgegraph.agents.judge import Judge
from judgegraph.agents.merge import Merge
from judgegraph.agents.pairwise import Comparer
from judgegraph.agents.reverse import ReverseCriteriaWriter, ReverseGuidelineWriter
from judgegraph.calls import JudgeLike
from judgegraph.graphs.fennec import TASK, Branch, Builder, Compiled, Result, State, weigh
from judgegraph.graphs.settings import Temperature, checked, named
from judgegraph.types import Asked, Criterion, given_criteria, key_of, sample_of


@checked("bridging")
def builder(
    judge: JudgeLike = "embedded", *, writer_judge: JudgeLike | None = None, rewrite: bool = False,
    task: str = TASK, temperature: Temperature | None = 0.0, name: str = "",
) -> Builder:  # fmt: skip
    """Bridging as a graph.

    Args:
        judge: who judges anew, and who writes where `writer_judge` is None.
        writer_judge: of criteria and guidelines, in the place of the paper's reverse model.
        rewrite: write criterion and guideline anew also where a record brings its own.
        task: one sentence that says what kind of text was judged. temperature: of every call.
        name: put before the agents' names.

    Raises:
        ConfigError: a setting has none of its values.
    """
    common: dict[str, Any] = {"task": task, "temperature": temperature}
    roles = ("reverse-criteria-writer", "reverse-guideline-writer", "judge", "comparer", "merge")
    names = [named(name, role) for role in roles]
    reverse = ReverseCriteriaWriter(judge=writer_judge or judge, rewrite=rewrite, name=names[0], **common)
    guide = ReverseGuidelineWriter(judge=writer_judge or judge, name=names[1], **common)
    single = Judge(judge=judge, name=names[2], **common)
    compare = Comparer(judge=judge, orders="both", labels="response", name=names[3], **common)
    merge = Merge(judge_name=names[2], comparer=names[3], name=names[4])

    def branch_of(criterion: Criterion) -> dict[str, Criterion]:
        return {key_of(criterion.name, reverse.name): criterion}

    def each_criterion(state: State) -> list[Send] | str:
        sample, asked = sample_of(state), given_criteria(state)
        return [Send("weigh", Branch(sample=sample, criterion=c, branches=branch_of(c))) for c in asked] or "merge"

    graph = StateGraph(State, input_schema=Asked, output_schema=Result)
    graph.add_node("reverse", reverse)
    graph.add_node("weigh", weigh("auto", guide, single, compare))
    graph.add_node("merge", merge, defer=True)
    graph.add_edge(START, "reverse")
    graph.add_conditional_edges("reverse", each_criterion, ["weigh", "merge"])
    graph.add_edge("weigh", "merge")
    graph.add_edge("merge", END)
    return graph


def bridging(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """Bridging, compiled; settings as `builder` takes them."""
    return builder(judge, **settings).compile(name="bridging")
