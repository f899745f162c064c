"""A node that is asked only where a condition finds something in doubt.

    START -> doubt -> ask -> END
             doubt -> END (nothing is in doubt)

With another node for that case: doubt -> otherwise -> END.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from judgegraph.agents.rectify import Rectify
from judgegraph.agents.under_review import nothing_there, places, readable, unread
from judgegraph.calls import JudgeLike
from judgegraph.compose.conditions import EVERY, ConditionLike, Decided, Doubt, condition_of, looked_at, of_these, title
from judgegraph.compose.nodes import as_node, schema
from judgegraph.compose.panel import Node
from judgegraph.compose.scores_in_doubt import NOT_ASKED
from judgegraph.errors import ConfigError
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.registry import declare
from judgegraph.registry.lookup import keys, vocabulary
from judgegraph.types import Asked, Criterion, Notes, Rectification, Scale, Score, Scores, given_criteria, key_of, keyed

DOUBTS = {"doubts": dict[str, str]}
OWN = {"brief", "doubt", "join", "round", "settle"}  # nodes that ask nobody


def gate(
    node: Any, when: ConditionLike, *, otherwise: Any = None, judge: JudgeLike | None = None,
    criteria: CriteriaLike | None = None, task: str | None = None, name: str = "gate",
) -> Node:  # fmt: skip
    """A node behind a gate: `g.add_node("critic", jg.gate(Sage(), jg.wide()))`.

    The gate opens where any criterion is in doubt, and the node then sees the whole state; `jg.critique` and
    `jg.escalate` ask about those in doubt alone. A sample before which it stays closed has a note.

    Args:
        node: an agent, a function, a graph, or the name of an agent, a critic or a method.
        when: `jg.wide()`, `jg.disagree()`, `jg.low(below=3)`, `jg.failed()`, `jg.either(...)`, a name or {name:
            settings} of these, or a function of the state. Conditions look at the drafts unless they name a stage.
        otherwise: a node for samples of which nothing is in doubt.
        judge, criteria, task: of nodes that are given by name. name: of the graph, and of its notes.

    Raises:
        ConfigError: no such node or condition. CriteriaError: no such criteria.
    """
    condition = condition_of(when).at("draft")
    offered = {"judge": judge, "criteria": criteria, "task": task}
    nodes = {"ask": as_node(node, **offered)}
    if otherwise is not None:
        nodes["otherwise"] = as_node(otherwise, **offered)
    own = criteria_set(criteria).criteria if criteria is not None else ()
    note = "" if "otherwise" in nodes else "closed: nothing was in doubt"
    graph = _empty(nodes, tuple(looked_at(condition)))
    graph.add_node("doubt", Doubt(when=condition, criteria=own, name=name, note=note), input_schema=graph.state_schema)
    shut = "otherwise" if "otherwise" in nodes else END

    def open_or_shut(state: Decided) -> str:
        return "ask" if state.get("doubts") else shut

    graph.add_edge(START, "doubt")
    for place, one in nodes.items():
        graph.add_node(place, one)
        graph.add_edge(place, END)
    graph.add_conditional_edges("doubt", open_or_shut, ["ask", shut])
    declare_settings(graph, when=title(condition))
    return graph.compile(name=name)


def _empty(nodes: Mapping[str, Any], looked: tuple[str, ...]) -> StateGraph[Any, None, Any, Any]:
    """A graph that reads what the nodes and the condition read, and writes what the nodes write.

    What holds one answer (`overall`, say) comes in only where it is read: else a closed gate would write it anew.
    """
    reads = {key: hint for node in nodes.values() for key, hint in keys(node)[0].items()}
    writes = {key: hint for node in nodes.values() for key, hint in keys(node)[1].items()}
    hints = {**reads, **writes, **vocabulary()}  # one annotation for each key
    silent = set(vocabulary()) <= set(writes)  # a node that does not say what it writes: methods leave these be
    inward = {key: hints[key] for key in dict.fromkeys((*reads, *looked))}
    outward = {key: hints[key] for key in (*writes, "notes") if not (silent and key in Asked.__annotations__)}
    state = schema("Gated", inward | outward | DOUBTS)
    return StateGraph(state, input_schema=schema("Asks", inward), output_schema=schema("Says", outward))


def declare_settings(graph: Any, **settings: Any) -> None:
    """Settings that a run's signature names, in the place of those of the helper's own nodes."""
    declare(graph, settings=settings, own_nodes=frozenset(OWN & set(graph.nodes)))


# Which scores a critic reviews, and how it sees them: as drafts, whatever stage they are of.


State = Mapping[str, Any]


@dataclass(frozen=True)
class Reviewed:
    """The scores of a stage and an agent, one per criterion.

    Attributes:
        stage: theirs. of: the agent whose they are; None: anybody's, of several the last one's.
    """

    stage: str = "draft"
    of: str | None = None

    def all(self, state: State) -> dict[str, Score]:
        """Criterion -> score; of a pair those of the output."""
        given: Mapping[str, Score] = state.get("scores") or {}
        met = (s for s in given.values() if s.stage == self.stage and s.of == "output")
        return {s.criterion: s for s in met if self.of in (None, s.agent)}

    def asked(self, state: State) -> dict[str, Score]:
        """Those that the critic is asked about: where a gate stands before it, the ones in doubt."""
        scores = self.all(state)
        if "doubts" not in state:
            return scores
        return {criterion: scores[criterion] for criterion in of_these(state["doubts"], scores)}

    def shown(
        self, state: State, scores: Collection[Score], stage: str, own: Sequence[Criterion] = ()
    ) -> dict[str, Any]:
        """A state in which these are the only scores at the critic's stage, and their criteria all there are.

        Args:
            own: criteria, where the state brings none.
        """
        given: Scores = state.get("scores") or {}
        others = {key: s for key, s in given.items() if s.stage not in (stage, self.stage)}
        mine = keyed(*(score.model_copy(update={"stage": stage}) for score in scores))
        criteria = criteria_of(state, own, {s.criterion: s.scale for s in scores})
        return {**state, "scores": {**others, **mine}, "criteria": criteria}


def criteria_of(state: State, own: Sequence[Criterion], names: Mapping[str, Scale | None]) -> list[Criterion]:
    """Criteria of these names, in the order they were asked, on the scales that their scores have.

    Args:
        own: where the state brings none. names: criterion -> scale of its score, None where it has none. One that
            neither knows is as it was written for the sample, else nothing but its name.
    """
    known = {c.name: c for c in (state.get("branches") or {}).values()}
    listed = {c.name: c for c in given_criteria(state) or own}
    ordered = [name for name in listed if name in names] + [name for name in names if name not in listed]
    found = [listed.get(name) or known.get(name) or Criterion(name=name) for name in ordered]
    return [c if (scale := names[c.name]) in (None, c.scale) else c.model_copy(update={"scale": scale}) for c in found]


# Final scores beside all that a critic might have reviewed, asked about or not: plain code, no model.


class Reviewing(TypedDict):  # what stands in the state after the critic
    scores: Scores
    rectifications: NotRequired[dict[str, Rectification]]
    doubts: NotRequired[dict[str, str]]  # where a gate stands before the critic


class Settled(TypedDict):
    """What it writes."""

    scores: Scores
    notes: Notes


@dataclass(frozen=True, kw_only=True)
class Settle:
    """Writes a final score beside every score under review.

    What the critic was asked about is rectified as it says (see `Rectify`). The rest has the value it had, and a note
    that says so. The draft's key stands in each.

    Attributes:
        reviewed: which scores are under review. name: the critic, whom the final scores name as their agent.
        criteria: that the critic was shown where the state brought none; here a run's configuration finds them.
    """

    reviewed: Reviewed
    criteria: Sequence[Criterion] = ()
    name: str = "sage"

    async def __call__(self, state: Reviewing) -> Settled:
        scores, asked = self.reviewed.all(state), self.reviewed.asked(state)
        if not scores:
            return {"scores": {}, "notes": nothing(self.name, self.reviewed, state)}
        check(scores.values(), self.name)
        said, doubts = state.get("rectifications") or {}, state.get("doubts") or {}
        finals = [
            noted(rectified(s, said, self.name), *was_asked(doubts, c))
            if c in asked
            else unreviewed_final(s, self.name)
            for c, s in scores.items()
        ]
        return {"scores": keyed(*finals), "notes": not_read(self.name, asked)}


def rectified(score: Score, said: Mapping[str, Rectification], critic: str) -> Score:
    """The final score beside one that a critic reviewed; see `Rectify`."""
    made = Rectify(stage=score.stage, name=critic)({"scores": keyed(score), "rectifications": dict(said)})
    (final,) = made["scores"].values()
    return final


def unreviewed_final(score: Score, critic: str) -> Score:
    """The final score beside one that the critic was not asked about: as it was, and it says so."""
    notes = (*score.notes, NOT_ASKED)
    return score.model_copy(
        update={"stage": "final", "agent": critic, "raw": None, "draft": score.key, "notes": notes}
    )  # fmt: skip


def was_asked(doubts: Mapping[str, str], criterion: str) -> tuple[str, ...]:
    """Why the critic was asked about a criterion, where a gate had to open for it."""
    why = doubts.get(criterion) or doubts.get(EVERY, "")
    return (f"the critic was asked: {why}",) if why else ()


def noted(score: Score, *notes: str) -> Score:
    """The score with more to say of it."""
    return score.model_copy(update={"notes": tuple(dict.fromkeys((*score.notes, *notes)))}) if notes else score


def check(scores: Iterable[Score], critic: str) -> None:
    """A critic that reviews its own finals would overwrite them.

    Raises:
        ConfigError: it would.
    """
    for score in scores:
        if score.key == key_of(score.criterion, critic, "final", 0):
            raise ConfigError(
                f"the scores under review are the final ones of '{critic}', and what it says of them would overwrite "
                f"them: give this critic another name, such as name='second-{critic}'"
            )


def nothing(critic: str, reviewed: Reviewed, state: Mapping[str, Any]) -> Notes:
    """A note for a sample without a score to review."""
    there = places((state.get("scores") or {}).values())
    return keyed(nothing_there(critic, reviewed.stage, reviewed.of or "", there))


def not_read(critic: str, asked: Mapping[str, Score]) -> Notes:
    """A note where the critic was not asked, as no score that it would be shown could be read; else none."""
    return keyed(unread(critic, list(asked.values()))) if asked and not readable(asked.values()) else {}
