"""A critic over the scores of any stage, and the final scores that come of it, as one node.

    START -> critic -> settle -> END
    START -> settle (no score to review, or none that could be read)

With a condition the critic is asked where it finds something in doubt, about what is in doubt:

    START -> doubt -> critic -> settle -> END
             doubt -> settle
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Required

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from judgegraph.agents.under_review import readable
from judgegraph.calls import JudgeLike, Reader
from judgegraph.compose.conditions import Condition, ConditionLike, condition_of, title
from judgegraph.compose.doubt import Doubt, looked_at
from judgegraph.compose.gate import DOUBTS, told
from judgegraph.compose.member import Node
from judgegraph.compose.node import as_node, keys, schema, vocabulary
from judgegraph.compose.settle import Settle
from judgegraph.compose.under_doubt import Reviewed
from judgegraph.errors import ConfigError, one_line
from judgegraph.prompts.criteria_sets import CriteriaLike, criteria_set
from judgegraph.types import Criterion, Score

WRITTEN = ("scores", "rectifications", "suggestions", "notes")  # by a critique
READ = ("sample", "criteria", "task", "scores", "branches")
LEFT = ("sample", "criteria", "task", "scores")  # not by a critic


def critique(
    critic: Any = "judgegraph:sage", *, when: ConditionLike | None = None, judge: JudgeLike = "embedded",
    criteria: CriteriaLike | None = None, task: str | None = None, samples: int = 5, stage: str = "draft",
    of: str | None = None, name: str = "",
) -> Node:  # fmt: skip
    """A critic and the final scores after it: `g.add_node("critique", jg.critique("sage", when=jg.wide()))`.

    Every score under review has a final one beside it, whose agent is the critic and whose `draft` is that score's key;
    the scores themselves stay. Where the critic fails, the final score has its status: an unreviewed score is not a
    reviewed one. A criterion that the condition does not find in doubt is no part of what the critic is asked; its
    final score has the value it had, with a note.

    Args:
        critic: the name of a critic, or an agent or a graph that reads `scores` and writes `rectifications`. It sees
            the scores under review as drafts, and no others at that stage.
        when: a condition (see `jg.gate`); it looks at the scores under review. None: always.
        judge, samples: of a critic given by name; samples as of `Reader`.
        criteria: where the state brings none: a set's name, a file, or criteria. None: as they were written for the
            sample, else their names alone. task: None: that of the criteria.
        stage, of: which scores are reviewed: those at this stage, by this agent. None: by anybody, of several agents'
            the last. So `of="panel", stage="final"` reviews what a panel came to.
        name: of the critic, in all that it writes; "" leaves it its own.

    Raises:
        ConfigError: no such condition, no such critic, or what is named is none: it reads no scores or writes no
            rectifications. CriteriaError: no such criteria. In a run, ConfigError: the critic reviews its own final
            scores.
    """
    review = review_of(critic, when, judge, criteria, task, samples, stage, of, name)
    graph = review.begun({})
    settle = Settle(reviewed=review.reviewed, criteria=review.criteria, name=review.name)
    graph.add_node("settle", settle, input_schema=graph.state_schema)
    review.asks(graph, "settle")
    told(graph, **review.settings)
    graph.add_edge("critic", "settle")
    graph.add_edge("settle", END)
    return graph.compile(name="critique")


@dataclass(frozen=True)
class Review:
    """A critic, what it reviews, and when it is asked.

    Attributes:
        criteria: where the state brings none. name: whom its final scores name. stage: at which it looks for the
            scores that it reviews.
    """

    critic: Any
    reviewed: Reviewed
    when: Condition | None
    criteria: Sequence[Criterion]
    name: str
    stage: str

    def begun(self, private: Mapping[str, Any]) -> StateGraph[Any, None, Any, Any]:
        """A graph with its schemas and the critic in it; `private` keys are those of its state alone.

        What a critic said before, here or elsewhere, does not come in: its verdicts are on other scores.
        """
        reads, writes = keys(self.critic)
        hints = {**reads, **writes, **vocabulary()}  # one annotation for each key
        wanted = dict.fromkeys((*reads, *looked_at(self.when), *READ))
        inward = {key: hints[key] for key in wanted if key not in WRITTEN[1:]}
        inward |= {key: Required[hints[key]] for key in ("sample", "scores")}
        outward = {key: hints[key] for key in WRITTEN}
        more = {key: hints[key] for key in writes if key not in (*outward, *vocabulary())}
        state = {**inward, **outward, **more, **(DOUBTS if self.when is not None else {}), **private}
        made = StateGraph(
            schema("Review", state), input_schema=schema("Reviewable", inward),
            output_schema=schema("Reviewed", outward | more),
        )  # fmt: skip
        made.add_node("critic", self.critic if not hasattr(self.critic, "builder") else _contained(self.critic))
        return made

    def asks(self, graph: StateGraph[Any, None, Any, Any], otherwise: str) -> None:
        """The way to the critic, with the scores in doubt; without one that could be read to the node behind it."""

        known = frozenset(graph.schemas[graph.input_schema if self.when is None else graph.state_schema])

        def to_critic(given: Mapping[str, Any]) -> list[Send] | str:
            state = {key: value for key, value in given.items() if key in known}  # START has all of the graph around
            asked = self.reviewed.asked(state)
            return [Send("critic", self.shown(state, asked.values()))] if readable(asked.values()) else otherwise

        start = START
        if self.when is not None:
            doubt = Doubt(when=self.when, criteria=self.criteria, name=self.name)
            graph.add_node("doubt", doubt, input_schema=graph.state_schema)
            graph.add_edge(START, start := "doubt")
        graph.add_conditional_edges(start, to_critic, ["critic", otherwise])

    @property
    def settings(self) -> dict[str, str]:
        """What a signature says of it."""
        reviewed = {f.name: getattr(self.reviewed, f.name) for f in fields(self.reviewed)}
        usual = {f.name: f.default for f in fields(self.reviewed)}
        told = {name: value for name, value in reviewed.items() if value != usual[name]}
        return told | ({"when": title(self.when)} if self.when is not None else {})

    def shown(self, state: Mapping[str, Any], scores: Collection[Score]) -> dict[str, Any]:
        """What the critic sees of a state."""
        return self.reviewed.shown(state, scores, self.stage, self.criteria)


def review_of(
    critic: Any, when: ConditionLike | None, judge: JudgeLike, criteria: CriteriaLike | None, task: str | None,
    samples: int, stage: str, of: str | None, name: str,
) -> Review:  # fmt: skip
    """From the settings of `critique`, which see."""
    chosen = criteria_set(criteria) if criteria is not None else None
    made = as_node(
        critic, judge=judge, criteria=chosen, task=task, reader=Reader("weighted", samples=samples), name=name or None
    )
    if name and is_dataclass(made) and not isinstance(made, type) and "name" in {f.name for f in fields(made)}:
        made = replace(made, name=name)
    _is_critic(made, critic)
    condition = condition_of(when).at(stage, of, last=True) if when is not None else None
    own = chosen.criteria if chosen else ()
    called = name or name_of(made)
    return Review(made, Reviewed(stage, of), condition, own, called, str(getattr(made, "stage", "draft")))


def _is_critic(made: Any, critic: Any) -> None:
    """A judge in a critic's place would be asked, and every final score would say that there was no verdict.

    Raises:
        ConfigError: it reads no scores, or writes no rectifications.
    """
    reads, writes = keys(made)
    lacks = [*(["reads no scores"] if "scores" not in reads else [])]
    lacks += [*(["writes no rectifications"] if "rectifications" not in writes else [])]
    if lacks:
        called = one_line(critic if isinstance(critic, str) else name_of(made), 80)
        raise ConfigError(
            f"'{called}' is no critic: it {' and '.join(lacks)}; `judgegraph agents` lists critics, and a judge stands "
            f"before one"
        )


def name_of(critic: Any) -> str:
    """What a critic calls itself in what it writes; of a graph and a function their own names."""
    if hasattr(critic, "get_name"):
        return str(critic.get_name())
    own = getattr(critic, "name", None)
    return str(own or (critic.__name__ if inspect.isroutine(critic) else type(critic).__name__))


def _contained(critic: Any) -> Node:
    """A critic that is a graph, without the scores that it gives back: shown to it as drafts, which they are not."""
    reads, writes = keys(critic)
    hints = {**reads, **writes, **vocabulary()}
    inward, outward = {key: hints[key] for key in reads}, {key: hints[key] for key in writes if key not in LEFT}
    state = schema("Shown", inward | outward)
    graph = StateGraph(state, input_schema=schema("Asks", inward), output_schema=schema("Says", outward))
    graph.add_node("review", critic)
    graph.add_edge(START, "review")
    graph.add_edge("review", END)
    return graph.compile(name="critic")
