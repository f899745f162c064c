"""Fennec: branch into criteria, judge by each one's guideline, merge, correct what scored low.

    START -> branch -> weigh (one per criterion, side by side) -> merge -> correct -> END
             branch -> merge (no criteria)                        merge -> END (nothing scored low)

    weigh, mode "single":  START -> guide -> judge -> END
    weigh, mode "pair":    START -> guide -> compare -> END
    weigh, mode "auto":    START -> guide -> judge -> END (no rival)
                                    guide -> compare -> END (a rival)

With `correct="off"` merge goes to END alone.

Source: "Fennec: Fine-grained Language Model Evaluation and Correction Extended through Branching and Bridging",
section 3.1 and tables 7 and 9.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from judgegraph.agents.comparer import Comparer, Orders
from judgegraph.agents.corrector import Corrector
from judgegraph.agents.criteria_writer import CriteriaWriter
from judgegraph.agents.guideline_writer import GuidelineWriter
from judgegraph.agents.judge import Judge
from judgegraph.agents.merge import Merge
from judgegraph.errors import ConfigError
from judgegraph.models import JudgeLike
from judgegraph.prompts.criteria_sets import CriteriaLike, criteria_set
from judgegraph.types import Comparisons, Criterion, EvalState, Notes, Sample, Scores, merged

Mode = Literal["auto", "single", "pair"]
Labels = Literal["response", "position"]
Reply = Literal["form", "text"]
Rule = Literal["sum", "votes"]
Correct = Literal["below", "at-most", "off"]
TASK = "an assistant's response to a user's query"


class State(EvalState, total=False):
    """The shared vocabulary, and what the guides wrote."""

    guidelines: Annotated[dict[str, str], merged]  # criterion -> guideline


class Branch(TypedDict, total=False):
    """What each weigh is sent, and what its two steps add: never the whole state."""

    sample: Sample
    criterion: Criterion
    guidelines: Annotated[dict[str, str], merged]
    scores: Annotated[Scores, merged]
    comparisons: Annotated[Comparisons, merged]
    notes: Annotated[Notes, merged]


class Weighed(TypedDict, total=False):
    """What each weigh writes."""

    guidelines: dict[str, str]
    scores: Scores
    comparisons: Comparisons
    notes: Notes


def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike | None = None, branches: int = 5,
    mode: Mode = "auto", orders: Orders = "AB", labels: Labels = "response", reply: Reply = "form",
    merge: Rule = "sum", correct: Correct = "below", threshold: float = 3.0,
    writer_judge: JudgeLike | None = None, corrector_judge: JudgeLike | None = None,
    task: str | None = None, temperature: float | None = 0.0, name: str = "",
) -> StateGraph[State]:  # fmt: skip
    """Fennec as a graph to go on building with.

    Args:
        judge: who judges, and who writes and corrects where these have no judge of their own.
        criteria: a set's name, a file, or criteria. They replace what branch would write; so do the state's.
        branches: criteria that branch asks for, 1 or more (paper: N = 5).
        mode: "single" scores the output alone, "pair" beside its rival, "auto" does so where there is one.
        orders: "AB", "BA", or "both": ask for both orders of a pair; see `Comparer` and `Merge`.
        labels: "response": they stay with their responses in either order; "position": A is printed first.
        reply: "form" asks for JSON everywhere, "text" for plain replies.
        merge: "sum" of the criteria's scores, or "votes" where judges give verdicts alone.
        correct: a response is corrected where a criterion scores "below" the threshold (paper), "at-most" it
            (the code), or never ("off").
        threshold: on the scale 1-5; carried over to other scales.
        writer_judge: of criteria and guidelines. corrector_judge: of corrections.
        task: one sentence that says what kind of text is judged; None: that of the criteria set.
        temperature: of every call; None leaves it to the judges.
        name: put before the agents' names, for two of these in one graph.

    Raises:
        ConfigError: an option has none of its values. CriteriaError: no such criteria.
    """
    _check(mode=(mode, Mode), orders=(orders, Orders), labels=(labels, Labels))
    _check(reply=(reply, Reply), merge=(merge, Rule), correct=(correct, Correct))
    if branches < 1:
        raise ConfigError(f"fennec: branches={branches}; it takes 1 or more")
    given = criteria_set(criteria) if criteria is not None else None
    common: dict[str, Any] = {"reply": reply, "temperature": temperature}
    common["task"] = task or (given.task if given else TASK)
    writer = {"judge": writer_judge or judge, **common}
    roles = ("criteria-writer", "guideline-writer", "judge", "comparer", "merge", "corrector")
    names = [f"{name}-{role}" if name else role for role in roles]

    branch = CriteriaWriter(criteria=given.criteria if given else (), count=branches, name=names[0], **writer)
    guide = GuidelineWriter(name=names[1], **writer)
    single = Judge(judge=judge, name=names[2], **common)
    compare = Comparer(judge=judge, orders=orders, labels=labels, name=names[3], **common)
    merging = Merge(mode=mode, rule=merge, judge=names[2], comparer=names[3], name=names[4])
    corrector = None if correct == "off" else Corrector(
        judge=corrector_judge or judge, rule=correct, threshold=threshold, scored_by=tuple(names[2:4]),
        name=names[5], **common,
    )  # fmt: skip
    return _wired(mode, branch, _weigh(mode, guide, single, compare), merging, corrector)


def _wired(
    mode: Mode, branch: CriteriaWriter, weigh: Any, merge: Merge, corrector: Corrector | None
) -> StateGraph[State]:
    """The paper's figure."""

    def each_criterion(state: State) -> list[Send] | str:
        """One weigh per criterion; with nothing to judge straight on (an empty fan-out would end the run)."""
        sample = state["sample"]
        unpaired = mode == "pair" and sample.rival is None
        asked = () if unpaired else state.get("criteria", ())
        return [Send("weigh", Branch(sample=sample, criterion=c)) for c in asked] or "merge"

    graph = StateGraph(State)
    graph.add_node("branch", branch)
    graph.add_node("weigh", weigh)
    graph.add_node("merge", merge, defer=True)
    graph.add_edge(START, "branch")
    graph.add_conditional_edges("branch", each_criterion, ["weigh", "merge"])
    graph.add_edge("weigh", "merge")
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


def _weigh(mode: Mode, guide: GuidelineWriter, judge: Judge, compare: Comparer) -> Any:
    """One criterion from its guideline to its judgement: a graph of its own, so that no criterion waits for another."""
    weigh = StateGraph(Branch, output_schema=Weighed)
    weigh.add_node("guide", guide)
    weigh.add_edge(START, "guide")
    if mode != "pair":
        weigh.add_node("judge", judge)
        weigh.add_edge("judge", END)
    if mode != "single":
        weigh.add_node("compare", compare)
        weigh.add_edge("compare", END)
    if mode == "auto":

        def single_or_pair(state: Branch) -> str:
            return "judge" if state["sample"].rival is None else "compare"

        weigh.add_conditional_edges("guide", single_or_pair, ["judge", "compare"])
    else:
        weigh.add_edge("guide", "judge" if mode == "single" else "compare")
    return weigh.compile(name="weigh")


def _check(**options: tuple[Any, Any]) -> None:
    """Options come from the command line too, where no type checker looks."""
    for option, (value, allowed) in options.items():
        if value not in get_args(allowed):
            known = ", ".join(repr(known) for known in get_args(allowed))
            raise ConfigError(f"fennec: {option}={value!r}; it takes {known}")


def fennec(judge: JudgeLike = "embedded", **settings: Any) -> CompiledStateGraph[State]:
    """Fennec, compiled; settings as `builder` takes them."""
    return builder(judge, **settings).compile(name="fennec")
