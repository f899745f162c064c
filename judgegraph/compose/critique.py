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
from typing import Any, Required, TypeAlias

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from judgegraph.agents.under_review import readable, same_point
from judgegraph.calls import JudgeLike, Reader
from judgegraph.compiled import keys, vocabulary
from judgegraph.compose.conditions import Condition, ConditionLike, Doubt, condition_of, in_plan, looked_at, title
from judgegraph.compose.gate import (
    DOUBTS,
    Reviewed,
    Reviewing,
    Settle,
    check,
    declare_settings,
    not_read,
    noted,
    nothing,
    rectified,
    unreviewed_final,
    was_asked,
)
from judgegraph.compose.nodes import as_node, schema
from judgegraph.compose.panel import Node
from judgegraph.errors import ConfigError, counted, one_line, settings_checked
from judgegraph.prompts.criteria import CriteriaLike, criteria_set
from judgegraph.types import Criterion, Notes, Rectification, Score, Scores, key_of, keyed

WRITTEN = ("scores", "rectifications", "suggestions", "notes")  # by a critique
READ = ("sample", "criteria", "task", "scores", "branches")
LEFT = ("sample", "criteria", "task", "scores")  # not by a critic


@settings_checked
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
        criteria: where the state brings none: a set's name, a file, or criteria. None: the critic's own; without any
            as they were written for the sample, else their names alone. task: None: that of the criteria.
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
    declare_settings(graph, **review.settings)
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
    own = chosen.criteria if chosen else tuple(getattr(made, "criteria", None) or ())
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


# The end of each round of a critic that is asked again about what it changed: plain code, no model.


Answers: TypeAlias = dict[str, float | str | None]
DIGITS = 9  # a value that changes by less does not change


class AfterCritic(Reviewing, total=False):  # what stands in the state after the critic
    rounds: int


class Turned(TypedDict, total=False):
    """What it writes."""

    scores: Scores
    rectifications: dict[str, Rectification]
    notes: Notes
    rounds: int  # that are done
    going: bool  # whether there is another one


@dataclass(frozen=True, kw_only=True)
class Rounds:
    """Keeps what a round came to, and after the last one writes the final scores.

    A round's scores are kept at stage "round-1", "round-2" and so on, each with the key of the one that it rectifies.
    There is another round while the critic changes any value or label, unless the answers are those of an earlier round
    (it goes in a circle) or the rounds are spent: both are noted in the final scores that were still changing. Where
    the critic fails in the first round, the score has its status and is asked about no more; where it fails later, what
    it said before stands, with a note. What the critic says of a score on the whole, from draft to final, is its
    verdict in the end.

    Attributes:
        most: rounds, 1 or more. reviewed: which scores are under review. name: the critic's.
        criteria: as of `Settle`.
    """

    most: int
    reviewed: Reviewed
    criteria: Sequence[Criterion] = ()
    name: str = "sage"

    async def __call__(self, state: AfterCritic) -> Turned:
        first, asked = self.reviewed.all(state), self.reviewed.asked(state)
        if not first:
            return {"notes": nothing(self.name, self.reviewed, state), "going": False}
        check(first.values(), self.name)
        if not readable(asked.values()):
            unasked = (
                rectified(s, {}, self.name) if c in asked else unreviewed_final(s, self.name) for c, s in first.items()
            )
            return {"scores": keyed(*unasked), "notes": not_read(self.name, asked), "going": False}
        done = state.get("rounds", 0) + 1
        path = [asked, *(self._round(state, number, asked) for number in range(1, done))]
        path.append(self._now(path, state))
        why = self._stops(path)
        scores = keyed(*(s for c, s in path[-1].items() if s.stage == stage_of(done)))
        if why is None:
            return {"scores": scores, "rounds": done, "going": True}
        finals = self._finals(first, path, state, why)
        verdicts = self._verdicts(asked, finals, state) if done > 1 else {}
        written = {**scores, **keyed(*finals.values())}
        return {"scores": written, "rectifications": verdicts, "rounds": done, "going": False}

    def open(self, state: Mapping[str, Any]) -> dict[str, Score]:
        """What the next round reviews: the latest scores, without those that have no answer."""
        asked = self.reviewed.asked(state)
        latest = self._round(state, state.get("rounds", 0), asked)
        return {criterion: score for criterion, score in latest.items() if score.answer is not None}

    def _round(self, state: Mapping[str, Any], number: int, asked: Mapping[str, Score]) -> dict[str, Score]:
        """Criterion -> its score after a round; after none the one under review."""
        if number == 0:
            return dict(asked)
        scores: Scores = state.get("scores") or {}
        own = {c: scores.get(key_of(c, self.name, stage_of(number), 0)) for c in asked}
        before = self._round(state, number - 1, asked)
        return {c: own[c] or before[c] for c in asked}

    def _now(self, path: list[dict[str, Score]], state: AfterCritic) -> dict[str, Score]:
        """What this round came to."""
        number, said = len(path), state.get("rectifications") or {}
        return {c: self._turned(s, said, number) for c, s in path[-1].items()}

    def _turned(self, score: Score, said: Mapping[str, Rectification], number: int) -> Score:
        if number > 1 and score.answer is None:
            return score  # it was in no further round
        made = rectified(score, said, self.name)
        if number > 1 and made.answer is None:
            note = f"round {number}: the critic failed ({made.status}), what it said before stands"
            made = noted(score.model_copy(update={"draft": score.key}), note)
        return made.model_copy(update={"stage": stage_of(number)})

    def _stops(self, path: list[dict[str, Score]]) -> str | None:
        """Why this was the last round, "" where nothing changed any more; None where it was not."""
        done, answers = len(path) - 1, [_answers(scores, path[-1]) for scores in path]
        if (forced := in_plan()) is not None:
            return None if forced and done < self.most and answers[-1] else ""
        if answers[-1] == answers[-2]:
            return ""
        if answers[-1] in answers[:-1]:
            where = answers.index(answers[-1])
            again = f"round {where}" if where else "the draft"
            return f"stopped after {counted(done, 'round')}: the answers are those of {again} again"
        if done >= self.most:
            return f"stopped after {counted(done, 'round')}: the critic was still changing scores"
        return None

    def _finals(
        self, first: Mapping[str, Score], path: list[dict[str, Score]], state: AfterCritic, why: str
    ) -> dict[str, Score]:
        doubts = state.get("doubts") or {}
        found: dict[str, Score] = {}
        for criterion, draft in first.items():
            if criterion not in path[-1]:
                found[criterion] = unreviewed_final(draft, self.name)
                continue
            last, before = path[-1][criterion], path[-2][criterion]
            notes = [*was_asked(doubts, criterion), *([why] if why and _answer(last) != _answer(before) else [])]
            final = last.model_copy(update={"stage": "final", "agent": self.name, "draft": draft.key})
            if same_point(last.value, draft.value, draft.scale):
                notes.append(f"after all rounds it is at {last.value:g}, where {draft.value:.4g} was; the score stands")
                stood = {"value": draft.value, "distribution": draft.distribution, "unseen": draft.unseen}
                final = final.model_copy(update={**stood, "reader": draft.reader})
            found[criterion] = noted(final, *notes)
        return found

    def _verdicts(
        self, asked: Mapping[str, Score], finals: Mapping[str, Score], state: AfterCritic
    ) -> dict[str, Rectification]:
        """The critic's verdicts over all rounds, under its own name."""
        found = [whole(asked[c], finals[c], self.name) for c in asked if finals[c].answer is not None]
        said = state.get("rectifications") or {}
        return {r.key: r for r in found if r.key in said}


def whole(draft: Score, final: Score, critic: str) -> Rectification:
    """What a critic said of a score from draft to final."""
    about: dict[str, Any] = {
        "criterion": draft.criterion, "agent": critic, "reason": final.reason, "distribution": final.distribution,
        "unseen": final.unseen, "reader": final.reader, "notes": final.notes,
    }  # fmt: skip
    if _answer(draft) == _answer(final):
        return Rectification(**about)
    if final.value is None or draft.value is None:
        return Rectification(**about, action="change", label=final.label, value=final.value)
    direction: Any = "up" if final.value > draft.value else "down"
    return Rectification(**about, action="change", direction=direction, value=final.value)


def stage_of(number: int) -> str:
    """Of the scores of a round, 1 for the first."""
    return f"round-{number}"


def _answers(scores: Mapping[str, Score], last: Mapping[str, Score]) -> Answers:
    """Criterion -> answer, of those that have one in the end."""
    return {c: _answer(scores[c]) for c, score in last.items() if score.answer is not None}


def _answer(score: Score) -> float | str | None:
    return score.label if score.value is None else round(score.value, DIGITS)


# A critic that is asked again until it changes nothing, as one node.
#
#     START -> critic -> round -> END
#                        round -> critic (it changed something, and rounds are left)
#     START -> round (no score to review, or none that could be read)
#
# With a condition START leads to doubt, and doubt to critic or round, as in `critique`.


MOST = 20  # rounds
COUNTERS = {"rounds": int, "going": bool}


@settings_checked
def refine(
    critic: Any = "judgegraph:sage", *, rounds: int = 3, when: ConditionLike | None = None,
    judge: JudgeLike = "embedded",
    criteria: CriteriaLike | None = None, task: str | None = None, samples: int = 5, stage: str = "draft",
    of: str | None = None, name: str = "",
) -> Node:  # fmt: skip
    """A critique that goes on until nothing changes: `g.add_node("refine", jg.refine("sage", rounds=3))`.

    Each round shows the critic what the round before came to, as drafts. The scores under review stay as they are, each
    round's are kept at stage "round-1", "round-2" and so on, and the final ones name the score under review as their
    draft. What ends the rounds, and what a failure does: `judgegraph.compose.critique.Rounds`.

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
    declare_settings(graph, rounds=most, **review.settings)
    graph.add_edge("critic", "round")
    graph.add_conditional_edges("round", once_more, ["critic", END])
    return graph
