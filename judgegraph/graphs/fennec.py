"""Fennec: branch into criteria, judge by each one's guideline, merge, correct what scored low.

    START -> branch -> weigh (one per criterion, side by side) -> merge -> correct -> END
             branch -> merge (no criteria)                        merge -> END (nothing scored low)

With `mode="pair"` or "apart" a sample without a rival has no criteria, and nothing is asked. With `correct="off"` merge
goes to END alone. Each `weigh` is a graph of its own: `judgegraph/graphs/fennec.py`.

Source: "Fennec: Fine-grained Language Model Evaluation and Correction Extended through Branching and Bridging",
section 3.1 and tables 7 and 9.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from judgegraph.agents.corrector import Corrector
from judgegraph.agents.criteria import CriteriaWriter, GuidelineWriter
from judgegraph.agents.judge import Judge
from judgegraph.agents.merge import Merge
from judgegraph.agents.pairwise import Comparer, Orders
from judgegraph.agents.reverse import ReverseGuidelineWriter
from judgegraph.calls import JudgeLike
from judgegraph.errors import ConfigError
from judgegraph.graphs.settings import OneToFive, OwnPrompts, Temperature, Templates, UpToFifty, checked, named
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.types import (
    Asked,
    Comparisons,
    Correction,
    Criterion,
    EvalState,
    Notes,
    Sample,
    Scores,
    Verdict,
    given_criteria,
    key_of,
    latest,
    merged,
    sample_of,
)

# Fennec's weighing of one criterion, from its guideline to its judgement.
#
# mode "single":  START -> guide -> judge -> END
# mode "pair":    START -> guide -> compare -> END
# mode "apart":   START -> guide -> judge -> END
#                          guide -> judge_rival -> END
# mode "auto":    START -> guide -> judge -> END (no rival)
#                          guide -> compare -> END (a rival)


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


def weigh(mode: Mode, guide: GuidelineWriter | ReverseGuidelineWriter | None, judge: Judge, compare: Comparer) -> Any:
    """One criterion from its guideline to its judgement: a graph of its own, so that no criterion waits for another.

    Without a writer of guidelines a criterion is judged by what it says itself (`judgegraph.graphs.bsm`).
    """
    graph = StateGraph(Branch, output_schema=Weighed)
    first = START
    if guide is not None:
        graph.add_node("guide", guide)
        graph.add_edge(START, first := "guide")
    if mode != "pair":
        graph.add_node("judge", judge)
        graph.add_edge("judge", END)
    if mode == "apart":
        graph.add_node("judge_rival", replace(judge, of="rival"))
        graph.add_edge(first, "judge_rival")
        graph.add_edge("judge_rival", END)
    if mode in ("auto", "pair"):
        graph.add_node("compare", compare)
        graph.add_edge("compare", END)
    if mode == "auto":

        def single_or_pair(state: Branch) -> str:
            return "judge" if sample_of(state).rival is None else "compare"

        graph.add_conditional_edges(first, single_or_pair, ["judge", "compare"])
    else:
        graph.add_edge(first, "compare" if mode == "pair" else "judge")
    return graph.compile(name="weigh")


Labels = Literal["response", "position"]
Reply = Literal["form", "text"]
Rule = Literal["sum", "votes"]
Correct = Literal["below", "at-most", "off"]
TASK = "an assistant's response to a user's query"


class State(EvalState, total=False):
    """The shared vocabulary, and what the guides wrote."""

    guidelines: Annotated[dict[str, str], merged]  # criterion -> guideline


class Result(TypedDict, total=False):
    """What the graph writes, and no more: so two methods can stand side by side in one graph.

    The criteria that branch wrote are in `branches`, as `criteria` may be another method's too.
    """

    branches: Annotated[dict[str, Criterion], merged]  # criterion/writer -> as it was judged by
    guidelines: Annotated[dict[str, str], merged]
    scores: Annotated[Scores, merged]
    comparisons: Annotated[Comparisons, merged]
    corrections: Annotated[dict[str, Correction], merged]
    overall: Annotated[float | None, latest]
    verdict: Annotated[Verdict | None, latest]
    notes: Annotated[Notes, merged]


Builder: TypeAlias = StateGraph[State, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[State, None, Asked, Result]


@checked("fennec")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike | None = None, branches: UpToFifty = 5,
    mode: Mode = "auto", orders: Orders = "AB", labels: Labels = "position", reply: Reply = "form",
    merge: Rule = "sum", correct: Correct = "below", threshold: OneToFive = 3.0,
    writer_judge: JudgeLike | None = None, corrector_judge: JudgeLike | None = None,
    task: str | None = None, temperature: Temperature | None = 0.0, prompts: OwnPrompts | None = None, name: str = "",
) -> Builder:  # fmt: skip
    """Fennec as a graph to go on building with.

    Args:
        judge: who judges, and who writes and corrects where these have no judge of their own.
        criteria: a set's name, a file, or criteria. They replace what branch would write; so do the state's.
        branches: criteria that branch asks for, 1 to 50 (paper: N = 5).
        mode: "single" scores the output alone, "pair" beside its rival, "auto" does so where there is one. "apart"
            scores output and rival each alone, by the same criteria, and compares their sums (paper: section 5.2).
        orders: "AB", "BA", or "both": ask for both orders of a pair; see `Comparer` and `Merge`.
        labels: "position": A is printed first in either order, so that a liking for a letter cancels out; "response":
            letters stay with their responses (the paper).
        reply: "form" asks for JSON everywhere, "text" for plain replies.
        merge: "sum" of the criteria's scores, or "votes" where judges give verdicts alone.
        correct: a response is corrected where a criterion scores "below" the threshold (paper), "at-most" it
            (the code), or never ("off").
        threshold: 1 to 5, as on the scale 1-5; carried over to other scales.
        writer_judge: of criteria and guidelines. corrector_judge: of corrections.
        task: one sentence that says what kind of text is judged; None: that of the criteria set.
        temperature: of every call; None leaves it to the judges.
        prompts: templates of your own in the place of the method's: {"judge_pair": "mine.md"}, by the names that
            `judgegraph prompts fennec` prints.
        name: put before the agents' names, for two of these in one graph: "a-judge", "a-comparer".

    Raises:
        ConfigError: a setting has none of its values, or would do nothing. CriteriaError: no such criteria.
    """
    _refuse_idle(mode, orders, labels, merge)
    given = criteria_set(criteria) if criteria is not None else None
    common: dict[str, Any] = {"reply": reply, "temperature": temperature}
    common["task"] = task or (given.task if given else TASK)
    writer = {"judge": writer_judge or judge, **common}
    roles = ("criteria-writer", "guideline-writer", "judge", "comparer", "merge", "corrector")
    names = [named(name, role) for role in roles]

    templates, judging, pairs = Templates("fennec", prompts), mode != "pair", mode in ("auto", "pair")
    branch = CriteriaWriter(
        criteria=given.criteria if given else (), count=branches, pairs_only=mode in ("pair", "apart"), name=names[0],
        **writer, **templates.of("branch", "branch_text"),
    )  # fmt: skip
    guide = GuidelineWriter(name=names[1], **writer, **templates.of("guideline", "guide"))
    own = templates.of("judge_single", "judge_single_text", "judge") if judging else {}
    single = Judge(judge=judge, name=names[2], **common, **own)
    own = templates.of("judge_pair", "judge_pair_text", "compare") if pairs else {}
    compare = Comparer(judge=judge, orders=orders, labels=labels, name=names[3], **common, **own)
    merging = Merge(mode=mode, rule=merge, judge_name=names[2], comparer=names[3], name=names[4])
    corrector = None if correct == "off" else Corrector(
        judge=corrector_judge or judge, rule=correct, threshold=threshold, scored_by=tuple(names[2:4]),
        name=names[5], **common, **templates.of("correct"),
    )  # fmt: skip
    templates.refuse_unused()
    return branching(branch, weigh(mode, guide, single, compare), merging, corrector)


def _refuse_idle(mode: Mode, orders: Orders, labels: Labels, merge: Rule) -> None:
    """
    Raises:
        ConfigError: a setting would do nothing, and would still stand in the signature.
    """
    found = [f"orders: '{orders}'"] if orders != "AB" else []
    found += [f"labels: '{labels}'"] if labels != "position" else []
    found += [f"merge: '{merge}'"] if merge != "sum" and mode == "single" else []
    if found and mode in ("single", "apart"):
        why = f"mode: '{mode}' shows each response alone" if mode == "apart" else "mode: 'single' compares nothing"
        raise ConfigError(
            f"fennec: {' and '.join(found)} would do nothing, as {why}; leave it out, or set mode: 'pair'"
        )


def branching(
    branch: CriteriaWriter, weighing: Any, merge: Merge, corrector: Corrector | None = None,
    node: str = "weigh",
) -> Builder:  # fmt: skip
    """The paper's figure: criteria, a weighing of each, their merge, and a correction where there is a corrector.

    Args:
        node: what the weighing is called in the graph.
    """

    def branch_of(criterion: Criterion) -> dict[str, Criterion]:
        return {key_of(criterion.name, branch.name): criterion}

    def each_criterion(state: State) -> list[Send] | str:
        """One weigh per criterion; with nothing to judge straight on (an empty fan-out would end the run)."""
        sample = sample_of(state)
        unpaired = branch.pairs_only and sample.rival is None
        asked = [] if unpaired else given_criteria(state)
        return [Send(node, Branch(sample=sample, criterion=c, branches=branch_of(c))) for c in asked] or "merge"

    graph = StateGraph(State, input_schema=Asked, output_schema=Result)
    graph.add_node("branch", branch)
    graph.add_node(node, weighing)
    graph.add_node("merge", merge, defer=True)
    graph.add_edge(START, "branch")
    graph.add_conditional_edges("branch", each_criterion, [node, "merge"])
    graph.add_edge(node, "merge")
    if corrector is None:
        graph.add_edge("merge", END)
        return graph
    low = corrector.low

    def any_low(state: State) -> str:
        return "correct" if low(state.get("scores", {})) else END

    graph.add_node("correct", corrector)
    graph.add_conditional_edges("merge", any_low, ["correct", END])
    graph.add_edge("correct", END)
    return graph


def fennec(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """Fennec, compiled; settings as `builder` takes them."""
    return builder(judge, **settings).compile(name="fennec")
