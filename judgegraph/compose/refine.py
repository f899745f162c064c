"""A critic that is asked again until it changes nothing, as one node.

    START -> critic -> round -> END
                       round -> critic (it changed something, and rounds are left)
    START -> round (no score to review, or none that could be read)

With a condition START leads to doubt, and doubt to critic or round, as in `critique`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.graph import END, StateGraph
from langgraph.types import Send

from judgegraph.calls import JudgeLike
from judgegraph.compose.conditions import ConditionLike
from judgegraph.compose.critique import Review, review_of
from judgegraph.compose.gate import told
from judgegraph.compose.member import Node
from judgegraph.compose.rounds import Rounds
from judgegraph.errors import ConfigError
from judgegraph.prompts.criteria_sets import CriteriaLike

MOST = 20  # rounds
COUNTERS = {"rounds": int, "going": bool}


def refine(
    critic: Any = "judgegraph:sage", *, rounds: int = 3, when: ConditionLike | None = None,
    judge: JudgeLike = "embedded",
    criteria: CriteriaLike | None = None, task: str | None = None, samples: int = 5, stage: str = "draft",
    of: str | None = None, name: str = "",
) -> Node:  # fmt: skip
    """A critique that goes on until nothing changes: `g.add_node("refine", jg.refine("sage", rounds=3))`.

    Each round shows the critic what the round before came to, as drafts. The scores under review stay as they are, each
    round's are kept at stage "round-1", "round-2" and so on, and the final ones name the score under review as their
    draft. What ends the rounds, and what a failure does: `judgegraph.compose.rounds.Rounds`.

    Args:
        rounds: at most, 1 to 20; each is one critique. A critic that keeps everything is asked once.
        when: a condition, asked before the first round alone. The other settings are those of `critique`.

    Raises:
        ConfigError: rounds out of range, and as `critique`. CriteriaError: no such criteria.
    """
    if not isinstance(rounds, int) or isinstance(rounds, bool) or not 1 <= rounds <= MOST:
        raise ConfigError(f"refine: rounds: expected a whole number from 1 to {MOST}, got {rounds!r:.40}")
    review = review_of(critic, when, judge, criteria, task, samples, stage, of, name)
    turn = Rounds(most=rounds, reviewed=review.reviewed, criteria=review.criteria, name=review.name)
    return _wired(review, turn, rounds).compile(name="refine")


def _wired(review: Review, turn: Rounds, most: int) -> StateGraph[Any, None, Any, Any]:
    def once_more(state: Mapping[str, Any]) -> list[Send] | str:
        if not state.get("going") or state.get("rounds", 0) >= most:
            return END
        return [Send("critic", review.shown(state, turn.open(state).values()))]

    graph = review.begun(COUNTERS)
    graph.add_node("round", turn, input_schema=graph.state_schema)
    review.asks(graph, "round")
    told(graph, rounds=most, **review.settings)
    graph.add_edge("critic", "round")
    graph.add_conditional_edges("round", once_more, ["critic", END])
    return graph
