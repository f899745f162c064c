"""MATEval: two evaluators discuss a text over three rounds, with feedback between; a summary scores, a report says.

    START -> ann -> ben -> feedback -> ann-2 -> ben-2 -> feedback-2 -> ann-3 -> ben-3 -> summary -> report -> END

It is one node of rounds over a transcript, as ChatEval is: speakers (`judgegraph.agents.discussion`) in columns of one
(`add_rounds` of `judgegraph.compose.jury`). Here they score nothing themselves: one who has heard all of it does.

Source: Li et al. 2024, arXiv:2403.19305, and the authors' code: two evaluators of one model, feedback after
rounds 1 and 2 of 3, a summary in questions and answers, a report in free text; self-reflection and chain of thought
change what the evaluators are told, and nothing else. Wording ours.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from langgraph.graph import END, StateGraph
from langgraph.graph.state import CompiledStateGraph

from judgegraph.agents.discussion import Listener, Reporter, Speaker
from judgegraph.agents.judge import ReplyKind
from judgegraph.calls import JudgeLike
from judgegraph.compose.jury import add_columns, add_rounds
from judgegraph.graphs.chateval import Result as Discussion
from judgegraph.graphs.chateval import State as Discussed
from judgegraph.graphs.chateval import Turns
from judgegraph.graphs.settings import Temperature, checked, named, narrowed
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.types import Asked, latest

EVALUATORS = {
    "ann": "You are an evaluator called Ann. You speak first in each round.",
    "ben": "You are an evaluator called Ben. You speak second in each round, and look at what Ann may have missed.",
}
MANNER = {
    "plain": "",
    "reflect": "Before you speak, look at what you said in earlier rounds as if somebody else had said it, and take "
    "back what you would not say again.",
    "steps": "Work in steps: pick the point that is most in question, settle it from the words of the text, then go on "
    "to the next.",
}
FEEDBACK = (
    "You give feedback after a round. Say where the evaluators do not agree and what would settle it, what was said "
    "twice or beside the point, and which criteria nobody has looked at. Say what the next round should do."
)
SUMMING = (
    "You have heard a discussion and bring it to its end: score the text by each criterion as the reasons in the "
    "discussion and the text itself bear out."
)
Strategy: TypeAlias = Literal["plain", "self-reflection", "cot", "self-reflection+cot"]
_SAID: dict[str, tuple[str, ...]] = {
    "plain": (), "self-reflection": ("reflect",), "cot": ("steps",), "self-reflection+cot": ("reflect", "steps"),
}  # fmt: skip


class State(Discussed, total=False):
    """The shared state, with what was said and reported."""

    report: Annotated[str, latest]


class Result(Discussion, total=False):
    """What the graph writes: what was said, scores from summary, and a paragraph for people from report."""

    report: Annotated[str, latest]


Builder: TypeAlias = StateGraph[State, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[State, None, Asked, Result]


@checked("mateval")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike = "story-errors",
    strategy: Strategy = "self-reflection+cot", rounds: Turns = 3, feedback: bool = True,
    report: bool = True, reply: ReplyKind = "form", task: str | None = None,
    temperature: Temperature | None = 0.0, name: str = "",
) -> Builder:  # fmt: skip
    """MATEval as a graph to go on building with.

    Args:
        judge: of all agents. criteria: name of a set, a file, or criteria; "story-errors" has the paper's five.
        strategy: how the evaluators are told to go about it: "self-reflection", "cot" (chain of thought), both
            together as in the paper's best row, or "plain".
        rounds: 1 to 10; feedback: whether an agent speaks of the discussion after each round but the last.
        report: whether a paragraph for people is written in the end.
        reply: of the summary: "form" is JSON, "text" the paper's questions and answers, read block by block.
        task: one sentence that says what kind of text is judged; None: that of the criteria set.
        temperature: of what is said; scores are asked for at 0. name: put before the agents' names.

    Raises:
        ConfigError: a setting has none of its values. CriteriaError: no such criteria.
    """
    chosen = criteria_set(criteria)
    common: dict[str, Any] = {"judge": judge, "criteria": chosen.criteria, "task": task or chosen.task}
    manner = " ".join(MANNER[way] for way in _SAID[strategy])
    speaking: dict[str, Any] = common | {"temperature": temperature}

    def speak(turn: int) -> dict[str, Any]:
        told = {who: f"{words} {manner}".strip() for who, words in EVALUATORS.items()}
        return {n: Speaker(name=named(name, n), instructions=told[n], round=turn, **speaking) for n in told}

    def moderate(turn: int) -> dict[str, Any]:
        about = speaking | {"instructions": FEEDBACK, "prompt": "moderate", "round": turn}
        return {"feedback": Speaker(name=named(name, "feedback"), **about)}

    graph = StateGraph(State, input_schema=Asked, output_schema=Result)
    heard = add_rounds(graph, rounds, speak, moderate if feedback else None)
    summary = Listener(name=named(name, "summary"), instructions=SUMMING, reply=reply, round=rounds + 1, **common)
    reporter = {"report": Reporter(name=named(name, "reporter"), **speaking)} if report else {}
    ending = [{who: one} for who, one in {"summary": summary, **reporter}.items()]
    graph.add_edge(add_columns(graph, ending, heard)[0], END)
    return graph


def mateval(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """MATEval, compiled; settings as `builder` takes them."""
    return narrowed(builder(judge, **settings)).compile(name="mateval")
