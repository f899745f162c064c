"""ChatEval: readers with roles of their own discuss a text over some rounds, and score it in the last one.

    START -> public -> critic -> public-2 -> critic-2 -> consensus -> END

With `speaking="simultaneous"` the readers of a round do not know of each other, and each round hears all before it:

    START -> public | critic -> public-2 | critic-2 -> consensus -> END

With `speaking="summarized"` a summariser stands between two such rounds, and the next one hears it alone. It is one
node of rounds over a transcript, as MATEval is: speakers (`judgegraph.agents.discussion`) in columns
(`add_rounds` of `judgegraph.compose.jury`), whose last column scores; the scores are combined as a panel's are.

Source: Chan et al. 2023, arXiv:2308.07201: roles, the three ways of speaking, two rounds. Wording of
roles and prompts ours. The scores of the last round come in a form; there they are read off the last lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import Field

from judgegraph.agents.discussion import Listener, Speaker, Transcript, cast_of
from judgegraph.agents.panel import Combine
from judgegraph.answers import BALLOT
from judgegraph.calls import JudgeLike
from judgegraph.compose import jury
from judgegraph.errors import ConfigError
from judgegraph.graphs.settings import Temperature, checked, named, narrowed
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.types import Asked, EvalState, merged

ROLES = {
    "public": "You are a member of the general public. You know no more of the matter than most, and say whether the "
    "text serves a reader like you.",
    "critic": "You are a critic. You look for what is weak: claims without support, gaps, loose wording, and you say "
    "what it costs the text.",
    "psychologist": "You are a psychologist. You look at how the text meets the person it is for: tone, tact, and what "
    "it takes for granted of its reader.",
    "author": "You are a news author. You look at order, weight and plainness: whether what matters stands first, and "
    "every sentence carries something.",
    "scientist": "You are a scientist. You look at what is claimed: whether it is exact, whether it follows, and what "
    "would have to be known for it.",
}
SUMMARY = (
    "You keep the minutes. Say briefly what each speaker of the round holds of the text and why, and where they "
    "differ, so that a reader who heard none of it can go on."
)
Speaking: TypeAlias = Literal["one-by-one", "simultaneous", "summarized"]
Turns = Annotated[int, Field(ge=1, le=10)]


class State(EvalState, total=False):
    """The shared state, with what was said."""

    transcript: Annotated[Transcript, merged]


class Result(jury.Result, total=False):
    """What the graph writes: ballots of the last round, what they come to, and what was said."""

    transcript: Annotated[Transcript, merged]  # round/speaker -> what was said


Builder: TypeAlias = StateGraph[State, None, Asked, Result]
Compiled: TypeAlias = CompiledStateGraph[State, None, Asked, Result]


@checked("chateval")
def builder(
    judge: JudgeLike = "embedded", *, criteria: CriteriaLike = "general",
    roles: str | Mapping[str, str] = "public,critic", turns: Turns = 2,
    speaking: Speaking = "one-by-one", combine: Combine = "mean", task: str | None = None,
    temperature: Temperature | None = 0.0, name: str = "",
) -> Builder:  # fmt: skip
    """ChatEval as a graph to go on building with.

    Args:
        judge: of all readers. criteria: name of a set, a file, or criteria.
        roles: two or more readers: names of those of the paper (public, critic, psychologist, author, scientist) with
            commas between, or a mapping of names to what is said of who they are.
        turns: rounds, 1 to 10; in the last one every reader scores. In one round nobody has heard anybody, except where
            they speak one by one.
        speaking: "one-by-one" each hears all before it, "simultaneous" all of the rounds before, "summarized" a
            summariser's words on the round before, and no more.
        combine: the last scores: "mean", "median" or "vote".
        task: one sentence that says what kind of text is judged; None: that of the criteria set.
        temperature: of what is said; scores are asked for at 0. name: put before the agents' names.

    Raises:
        ConfigError: a setting has none of its values, or would do nothing. CriteriaError: no such criteria.
    """
    if speaking == "summarized" and turns < 2:
        raise ConfigError("chateval: speaking: 'summarized' needs turns: 2 or more, else there is nothing to sum up")
    chosen = criteria_set(criteria)
    common: dict[str, Any] = {"judge": judge, "criteria": chosen.criteria, "task": task or chosen.task}
    readers = {named(name, role): words for role, words in cast_of("chateval", roles, ROLES).items()}
    writer = named(name, "summariser")

    def speak(turn: int) -> dict[str, Any]:
        heard = {"hears": (writer,)} if speaking == "summarized" and turn > 1 else {}
        kind: Any = Listener if turn == turns else Speaker
        how = {"stage": BALLOT} if turn == turns else {"temperature": temperature}
        return {
            n: kind(name=n, instructions=words, round=turn, **common, **heard, **how) for n, words in readers.items()
        }

    def minutes(turn: int) -> dict[str, Any]:
        about = common | {"round": turn, "temperature": temperature}
        return {writer: Speaker(name=writer, instructions=SUMMARY, prompt="moderate", **about)}

    graph = StateGraph(State, input_schema=Asked, output_schema=Result)
    between = minutes if speaking == "summarized" else None
    last = jury.add_rounds(graph, turns, speak, between, together=speaking != "one-by-one")
    jury.add_consensus(graph, last, [*readers], named(name, "chateval"), combine, chosen.criteria)
    return graph


def chateval(judge: JudgeLike = "embedded", **settings: Any) -> Compiled:
    """ChatEval, compiled; settings as `builder` takes them."""
    return narrowed(builder(judge, **settings)).compile(name="chateval")
