"""A node that is asked only where a condition finds something in doubt.

    START -> doubt -> ask -> END
             doubt -> END (nothing is in doubt)

With another node for that case: doubt -> otherwise -> END.

Escalated: a cheap judge of all criteria, and a strong one of those that are in doubt.

    START -> cheap -> doubt -> strong -> join -> settle -> END
                      doubt -> join (nothing is in doubt)

With criteria of its own START leads to brief, and brief to cheap.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NotRequired

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from judgegraph import registry
from judgegraph.agents.evaluator import Evaluator
from judgegraph.agents.sage import Rectify
from judgegraph.agents.under_review import nothing_there, readable, unread
from judgegraph.calls import Endpoint, JudgeLike, Reader
from judgegraph.compiled import declare, keys, vocabulary
from judgegraph.compose.conditions import (
    EVERY,
    NOT_ASKED,
    Condition,
    ConditionLike,
    Decided,
    Doubt,
    condition_of,
    either,
    failed,
    looked_at,
    of_these,
    title,
    wide,
)
from judgegraph.compose.nodes import as_node, schema
from judgegraph.compose.panel import JOINED, RUNS, Brief, Join, Node, Runs, is_judge, member
from judgegraph.compose.panel import each as each_of
from judgegraph.errors import ConfigError, one_line, settings_checked
from judgegraph.prompts.criteria import CriteriaLike, CriteriaSet, criteria_set
from judgegraph.types import (
    Asked,
    Criterion,
    EvalState,
    Note,
    Notes,
    Rectification,
    Scale,
    Score,
    Scores,
    given_criteria,
    key_of,
    keyed,
)

DOUBTS = {"doubts": dict[str, str]}
OWN = {"brief", "doubt", "join", "round", "settle"}  # nodes that ask nobody


@settings_checked
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
    scores = (state.get("scores") or {}).values()
    return keyed(nothing_there(critic, reviewed.stage, reviewed.of or "", scores))


def not_read(critic: str, asked: Mapping[str, Score]) -> Notes:
    """A note where the critic was not asked, as no score that it would be shown could be read; else none."""
    return keyed(unread(critic, list(asked.values()))) if asked and not readable(asked.values()) else {}


# One score per criterion from a cheap judge and a strong one that was asked about some: plain code, no model.


class Run(EvalState, Runs, total=False):  # what stands in the state after the cheap judge
    pass


class Judged(Runs, total=False):  # and after both
    doubts: dict[str, str]


class Chosen(TypedDict):
    """What it writes."""

    scores: Scores
    notes: Notes


NOTHING = "nothing-to-decide"


@dataclass(frozen=True, kw_only=True)
class DoubtOfRun:
    """Asks a condition about the scores of one run, which do not stand among those of the state yet; see `Doubt`."""

    when: Condition
    run: str
    criteria: Sequence[Criterion] = ()
    name: str = "escalate"

    async def __call__(self, state: Run) -> Decided:
        seen: Any = {**state, "scores": keyed(*ballots_of(state, self.run).values())}
        return await Doubt(when=self.when, criteria=self.criteria, name=self.name)(seen)


@dataclass(frozen=True, kw_only=True)
class Escalated:
    """Writes a final score per criterion: the strong judge's where it was asked, else the cheap one's.

    Where the strong judge fails, an answer of the cheap one stands, with a note; where neither has one, the score has
    the strong judge's status. Each final score says whether it was escalated and why, and names the cheap judge's
    score as its draft.

    Attributes:
        cheap, strong: whose runs. name: whom the final scores name.
    """

    cheap: str
    strong: str
    name: str = "escalate"

    async def __call__(self, state: Judged) -> Chosen:
        cheap, strong = ballots_of(state, self.cheap), ballots_of(state, self.strong)
        names = dict.fromkeys((*cheap, *strong))
        why = of_these(state.get("doubts") or {}, [*names])
        if not names:
            text = "no criteria and no scores: there was nothing to decide"
            return {"scores": {}, "notes": keyed(Note(agent=self.name, text=text, status="skipped", kind=NOTHING))}
        finals = (self._final(cheap.get(c), strong.get(c), why.get(c, "")) for c in names)
        unanswered = [c for c in why if (score := strong.get(c)) is None or score.answer is None]
        return {"scores": keyed(*finals), "notes": self._noted(unanswered, strong)}

    def _noted(self, unanswered: Sequence[str], strong: Mapping[str, Score]) -> Notes:
        """A note on criteria that were in doubt and of which the strong judge gave no answer."""
        if not unanswered:
            return {}
        said = ", ".join(f"{one_line(c, 60)} ({strong[c].status if c in strong else 'no score'})" for c in unanswered)
        status = next((strong[c].status for c in unanswered if c in strong), "skipped")
        text = f"the strong judge was asked and gave no answer to {one_line(said, 300)}"
        return keyed(Note(agent=self.name, text=text, status=status, kind="escalation-unanswered"))

    def _final(self, cheap: Score | None, strong: Score | None, why: str) -> Score:
        score, note = _better(cheap, strong, why)
        draft = cheap.key if cheap is not None else None
        final = score.model_copy(update={"stage": "final", "agent": self.name, "raw": None, "draft": draft})
        return noted(final, note)


def _better(cheap: Score | None, strong: Score | None, why: str) -> tuple[Score, str]:
    """The score that counts, and what to note of it."""
    if cheap is None or (strong is not None and strong.answer is not None):
        assert strong is not None  # a criterion is one of either's scores
        return strong, f"escalated: {why}"
    if not why:
        return cheap, "not escalated: nothing was in doubt"
    failed = f"the strong judge failed ({strong.status})" if strong is not None else "the strong judge gave no score"
    if cheap.answer is not None:
        return cheap, f"escalated: {why}; {failed}, the cheap judge's score stands"
    return strong or cheap, f"escalated: {why}; {failed}"


def ballots_of(state: Mapping[str, Any], run: str) -> dict[str, Score]:
    """Criterion -> the answer of a run; of a pair that of the output."""
    cast: Scores = (state.get("runs") or {}).get(run, {}).get("ballots", {})
    return {score.criterion: score for score in cast.values() if score.of == "output"}


UNSURE = either(wide(), failed())
DRAFT, SECOND = "draft", "escalated"  # stages of the cheap judge's and of the strong judge's scores


@settings_checked
def escalate(
    cheap: Any = "embedded", strong: Any = "embedded", *, when: ConditionLike = UNSURE,
    criteria: CriteriaLike | None = None, each: bool = False, judge: JudgeLike = "embedded", task: str | None = None,
    samples: int = 5, name: str = "escalate",
) -> Node:  # fmt: skip
    """Two judges as one node: `g.add_node("judge", jg.escalate("embedded", "openai:gpt-4.1", criteria="forms"))`.

    The cheap judge scores every criterion (stage "draft"), the strong one those in doubt (stage "escalated"), and the
    final scores are the strong judge's where it was asked (see `Escalated`). Their agents are "escalate-cheap",
    "escalate-strong" and "escalate", or as `name` has it.

    Args:
        cheap, strong: a judge ("openai:MODEL", an Endpoint, a chat model), which becomes an `Evaluator`; an agent or a
            graph that writes scores; or the name of an agent or a method.
        when: a condition (see `jg.gate`) over the cheap judge's scores: wide, or without an answer.
        criteria: where the state brings none: a set's name, a file, or criteria. None: the cheap judge's own.
        each: the strong judge is asked about each criterion in a run of its own, side by side; else about all at once.
        judge: of methods and agents given by name. task: of the evaluators; None: that of the criteria.
        samples: replies per judge that gives no log-probabilities. name: of the graph, before its judges' names.

    Raises:
        ConfigError: no such judge or condition, a judge that writes no scores, two that go by other criteria, or one
            model as both, which would repeat itself (but for the embedded judge, to look at a graph).
        CriteriaError: no such criteria.
    """
    if not each and cheap == strong and isinstance(cheap, str | Endpoint) and cheap != "embedded":
        named = cheap if isinstance(cheap, str) else cheap.model
        raise ConfigError(
            f"escalate: cheap and strong are both {one_line(named, 80)!r}: the strong judge would repeat what the "
            "cheap one said; name another judge"
        )
    chosen = criteria_set(criteria) if criteria is not None else None
    offer = _Offer(chosen, judge, task, samples)
    names = f"{name}-cheap", f"{name}-strong"
    first, second = offer.node(cheap, names[0], DRAFT), offer.node(strong, names[1], SECOND)
    own = chosen.criteria if chosen else tuple(getattr(first, "criteria", None) or ())
    _judge_alike(own, () if chosen else tuple(getattr(second, "criteria", None) or ()))
    pair = _Pair(first, second, names, condition_of(when).at(DRAFT), own, name, each)
    brief = Brief(criteria=own, task=task or chosen.task, name=f"{name}-brief") if chosen else None
    return pair.wired(brief).compile(name=name)


def _judge_alike(cheap: Sequence[Criterion], strong: Sequence[Criterion]) -> None:
    """The strong judge is asked by the cheap one's criteria.

    Raises:
        ConfigError: it has others of its own, which would not be looked at.
    """
    known = {c.name: c.scale for c in cheap}
    lost = [c.name for c in strong if known.get(c.name) != c.scale]
    if cheap and lost:
        raise ConfigError(
            f"escalate: the strong judge is asked by the cheap judge's criteria, and its own '{one_line(lost[0], 60)}' "
            "is not among them, or on another scale there: give both the same criteria, or escalate(..., criteria=...)"
        )


@dataclass(frozen=True)
class _Offer:
    """What the two judges are made with."""

    criteria: CriteriaSet | None
    judge: JudgeLike
    task: str | None
    samples: int

    def node(self, which: Any, called: str, stage: str) -> Any:
        task = self.task or (self.criteria.task if self.criteria else None)
        if is_judge(which):
            reader = Reader("weighted", samples=self.samples)
            evaluator = Evaluator(judge=which, name=called, stage=stage, reader=reader)
            return replace(evaluator, task=task) if task else evaluator
        offered: dict[str, Any] = {"judge": self.judge, "criteria": self.criteria, "task": self.task}
        made = as_node(which, **offered, name=called if isinstance(which, str) and _is_part(which) else None)
        if "scores" not in keys(made)[1]:
            raise ConfigError(f"escalate: {called} writes no scores; a critic stands behind a judge: see jg.critique")
        return made


def _is_part(which: str) -> bool:
    return registry.find(which)[0] != "assistant"


@dataclass(frozen=True)
class _Pair:
    """The two judges, and when the strong one is asked."""

    cheap: Any
    strong: Any
    names: tuple[str, str]
    when: Condition
    criteria: tuple[Criterion, ...]
    name: str
    each: bool

    def wired(self, brief: Brief | None) -> StateGraph[Any, None, Any, Any]:
        graph, inward = self._empty()
        state, (cheap, strong) = graph.state_schema, self.names
        own, first = self.criteria, START

        def to_strong(state: Mapping[str, Any]) -> list[Send] | str:
            criteria = doubtful(state, cheap, own)
            if not criteria:
                return "join"
            return [Send("strong", {**{k: state[k] for k in inward if k in state}, "criteria": criteria})]

        if brief:
            graph.add_node("brief", brief, input_schema=state)
            graph.add_edge(START, first := "brief")
        doubt = DoubtOfRun(when=self.when, run=cheap, criteria=own, name=self.name)
        graph.add_node("cheap", member(self.cheap, entry=cheap, ballots=DRAFT))
        graph.add_node("doubt", doubt, input_schema=state)
        graph.add_node(
            "strong", member(each_of(self.strong) if self.each else self.strong, entry=strong, ballots=SECOND)
        )
        graph.add_node("join", Join(name=self.name, order=self.names), input_schema=state, defer=True)
        settle = Escalated(cheap=cheap, strong=strong, name=self.name)
        graph.add_node("settle", settle, input_schema=state)
        graph.add_edge(first, "cheap")
        graph.add_edge("cheap", "doubt")
        graph.add_conditional_edges("doubt", to_strong, ["strong", "join"])
        graph.add_edge("strong", "join")
        graph.add_edge("join", "settle")
        graph.add_edge("settle", END)
        declare_settings(graph, when=title(self.when), **({"each": True} if self.each else {}))
        return graph

    def _empty(self) -> tuple[StateGraph[Any, None, Any, Any], tuple[str, ...]]:
        """A graph with its schemas, and the keys that come in: what methods read, and no other that a judge writes."""
        writes = {key for node in (self.cheap, self.strong) for key in keys(node)[1]}
        reads = {key: hint for node in (self.cheap, self.strong) for key, hint in keys(node)[0].items()}
        hints = {**reads, **vocabulary()}  # one annotation for each key
        wanted = (*reads, *looked_at(self.when))
        inward = {key: hints[key] for key in Asked.__annotations__}  # a judge that says nothing of itself writes these
        inward |= {key: hints[key] for key in wanted if key not in {*writes, "scores"}}
        outward = {key: hints[key] for key in JOINED if key in writes or key in ("scores", "notes")}
        state = schema("Escalation", inward | outward | RUNS | DOUBTS)
        graph = StateGraph(state, input_schema=schema("Asks", inward), output_schema=schema("Says", outward))
        return graph, tuple(inward)


def doubtful(state: Mapping[str, Any], cheap: str, own: tuple[Criterion, ...]) -> list[Criterion]:
    """The criteria in doubt: of those that were asked, and of those that the cheap judge scored."""
    scores = ballots_of(state, cheap)
    names: dict[str, Scale | None] = {c.name: None for c in given_criteria(state) or own}
    names |= {criterion: score.scale for criterion, score in scores.items()}
    asked = of_these(state.get("doubts") or {}, names)
    written = (state.get("runs") or {}).get(cheap, {}).get("branches", {})
    return criteria_of({**state, "branches": written}, own, {name: names[name] for name in asked})
