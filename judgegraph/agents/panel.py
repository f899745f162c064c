"""The consensus: one score per criterion from the ballots of several judges; plain code, no model."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, lru_cache
from math import isclose
from statistics import median
from types import NoneType
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, cast, get_args, get_type_hints

from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel
from typing_extensions import TypedDict

from judgegraph import prompts, registry
from judgegraph.agents.sage import PARTS, WEIGHTED, critique_form
from judgegraph.agents.under_review import (
    Critic,
    Critique,
    Outcome,
    Reviewed,
    UnderReview,
    Vote,
    advice,
    agrees,
    at_that_point,
    dropped,
    informed,
    is_other,
    outcome,
    same_point,
)
from judgegraph.calls import Endpoint, JudgeLike, Reader, rate
from judgegraph.calls.ratings import mean_of, tied
from judgegraph.errors import (
    ONE_NAME,
    ConfigError,
    ReplyError,
    ScaleError,
    counted,
    in_words,
    one_line,
    settings_checked,
)
from judgegraph.trace.record import span, status_of, written
from judgegraph.trace.watched import watched
from judgegraph.types import (
    Criterion,
    EvalState,
    Note,
    Notes,
    Rectification,
    Scale,
    Score,
    Scores,
    Status,
    Suggestion,
    given_criteria,
    keyed,
    names_of,
)

# What several judges' answers to one question come to: their mean, their median, or the answer of most.


Combine = Literal["mean", "median", "vote"]


@dataclass(frozen=True)
class Tally:
    """What ballots come to.

    Attributes:
        answer: a number or a label; None where a vote is tied. distribution: answer -> share of the ballots.
        winner: the first ballot whose answer it is, or is nearest to it; None where a vote is tied.
    """

    answer: float | str | None
    distribution: dict[str, float]
    winner: Score | None
    notes: tuple[str, ...] = ()


def tally(ballots: Sequence[Score], combine: Combine, scale: Scale | None) -> Tally:
    """Of ballots on one scale, one or more.

    Labels are always voted: they have no mean. Numbers are voted as points of their scale, a value between two points
    (a weighted one) for the nearer, the lower of two as near, unless all ballots are one number; of points with equally
    many votes the one nearest to the mean of all ballots stands. Labels with equally many votes, and two points as near
    to the mean, are a tie, which nobody decides. No rule depends on the order of the ballots.
    """
    numbers = [b.value for b in ballots if b.value is not None]
    if not numbers:
        return _labels(ballots, combine)
    if combine == "vote":
        return _points(ballots, numbers, scale)
    answer = mean_of(numbers) if combine == "mean" else float(median(numbers))
    return Tally(answer, _shares([f"{n:g}" for n in numbers]), _nearest(ballots, answer))


def _labels(ballots: Sequence[Score], combine: Combine) -> Tally:
    labels = [str(b.label) for b in ballots]
    shares = _shares(labels)
    label = max(shares, key=lambda name: shares[name])
    notes = () if combine == "vote" else (f"labels have no {combine}: they were voted",)
    if tied(shares, label):
        return Tally(None, shares, None, notes)
    return Tally(label, shares, ballots[labels.index(label)], notes)


def _points(ballots: Sequence[Score], numbers: Sequence[float], scale: Scale | None) -> Tally:
    points = scale.points if scale and len(set(numbers)) > 1 else ()
    counted = [min(points, key=lambda p: (abs(p - n), p)) if points else n for n in numbers]
    counts, mean = Counter(counted), mean_of(numbers)
    most = max(counts.values())
    equal = sorted((n for n in counts if counts[n] == most), key=lambda n: (abs(n - mean), n))
    notes = tuple(f"{n:.4g} counts as {c:g}" for n, c in sorted({*zip(numbers, counted, strict=True)}) if n != c)
    shares = _shares([f"{n:g}" for n in counted])
    if len(equal) > 1:
        if isclose(abs(equal[0] - mean), abs(equal[1] - mean)):
            return Tally(None, shares, None, notes)
        others = ", ".join(f"{n:g}" for n in sorted(equal[1:]))
        notes += (f"tied with {others}; {equal[0]:g} is nearest to the mean of all, {mean:.4g}",)
    return Tally(float(equal[0]), shares, ballots[counted.index(equal[0])], notes)


def _nearest(ballots: Sequence[Score], answer: float) -> Score:
    return min(ballots, key=lambda ballot: abs((ballot.value or 0.0) - answer))


def _shares(written: Sequence[str]) -> dict[str, float]:
    return {point: count / len(written) for point, count in sorted(Counter(written).items())}


def common_scale(ballots: Sequence[Score]) -> Scale | None:
    """The scale of most ballots that have an answer, of equally many the first as it is written."""
    counts = Counter(b.scale for b in ballots if b.answer is not None)
    return min(counts, key=lambda scale: (-counts[scale], str(scale or "")), default=None)


def unfit(ballot: Score, scale: Scale | None) -> str:
    """Why a ballot cannot be counted on a scale, "" where it can be: what was said on another is not carried over."""
    if ballot.status != "ok":
        return f"{ballot.status}: {ballot.reason}" if ballot.reason else ballot.status
    if not _same(ballot.scale, scale):
        return f"on {ballot.scale or 'no scale'}, not {scale or 'without one'}"
    try:
        if scale is not None:
            scale.check_label(ballot.label) if scale.labels else scale.check(ballot.value)
    except ScaleError as error:
        return str(error)
    return ""


def _same(one: Scale | None, other: Scale | None) -> bool:
    """The same range or labels; whether only whole numbers are its points does not count."""
    if one is None or other is None:
        return one is other
    return (one.low, one.high, {*one.labels}) == (other.low, other.high, {*other.labels})


GIVEN = frozenset(
    {"abstained", "refused", "filtered", "truncated", "unreadable", "skipped"}
)  # a reply came, and no answer
Question: TypeAlias = tuple[str, Any, int]  # criterion, side, repeat
Ballots: TypeAlias = Mapping[str, Score]  # member -> ballot
Told: TypeAlias = tuple[str, ...]


class Voted(TypedDict):  # what the consensus reads
    scores: Scores
    criteria: NotRequired[list[Criterion]]


class Agreed(TypedDict):  # what it writes
    scores: Scores
    notes: Notes


@settings_checked
@dataclass(frozen=True, kw_only=True)
class Consensus:
    """Combines the scores that several judges gave at one stage.

    Source: the idea of a panel of judges, their votes or the mean of their scores, is that of "Replacing Judges with
    Juries" (Verga et al. 2024, arXiv:2404.18796). Ours: a ballot that failed, or stands on another scale, is left out
    with a note, never counted as 0; a member without any ballot, or without one on some criteria, is noted too;
    where all failed the score has the status of most of them, and no number.
    The rules of ties: `judgegraph/agents/panel.py`. Of a pair the rival has a score where the same members count as
    for the output, or where none does: two means of different judges say nothing of which text is better. Else the
    output's score notes who judged what.

    Attributes:
        combine: "mean", "median" or "vote"; labels are always voted.
        members: agents whose scores count, in the order they are named; none: all but its own.
        criteria: whose scales count, where the state brings none; without any the scale of most ballots does.
        ballots: stage of the scores it combines. stage: of the scores it writes.
    """

    combine: Combine = "mean"
    members: Annotated[Sequence[str], ONE_NAME] = ()
    criteria: Sequence[Criterion] = ()
    ballots: str = "ballot"
    name: str = "panel"
    stage: str = "final"

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", names_of(self.members))
        if self.combine not in ("mean", "median", "vote"):
            raise ConfigError(f"combine is 'mean', 'median' or 'vote', got {one_line(repr(self.combine), 40)}")

    async def __call__(self, state: Voted) -> Agreed:
        asked = {c.name: c.scale for c in given_criteria(state) or self.criteria}
        questions = self._questions(state["scores"].values(), asked)
        if not questions:
            why = "no criteria and no scores: there was nothing to combine"
            return {"scores": {}, "notes": keyed(self._note("nothing-to-combine", why))}
        unlike = self._unlike(questions, asked)
        scores = [
            self._score(question, cast, asked.get(question[0]), unlike.get(question, ()))
            for question, cast in questions.items()
            if (question[0], "output", question[2]) not in unlike or question[1] == "output"
        ]
        notes = [*self._missing(state["scores"].values(), questions), *self._unscaled(questions, asked)]
        return {"scores": keyed(*scores), "notes": keyed(*notes)}

    def _note(self, kind: str, text: str) -> Note:
        return Note(agent=self.name, text=text, status="skipped", kind=kind)

    def _missing(self, scores: Iterable[Score], questions: Mapping[Question, Ballots]) -> list[Note]:
        """Members that cast no ballot at all, and those that cast none on some criteria."""
        cast = {member: {q[0] for q, by in questions.items() if member in by} for member in self.members}
        criteria = list(dict.fromkeys(q[0] for q in questions))
        there = dict.fromkeys(one_line(s.agent, 80) for s in scores if s.stage == self.ballots and s.agent != self.name)
        notes = self._silent(questions)
        for member, seen in cast.items():
            lost = [one_line(c, 60) for c in criteria if c not in seen]
            if not seen:
                found = ", ".join(there) or "none"
                text = f"'{member}' cast no ballot at stage '{self.ballots}'; ballots there are of: {found}"
                notes.append(self._note("panel-member-missing", text))
            elif lost:
                of = f"{len(seen)} of {len(criteria)} criteria"
                text = f"'{member}' cast ballots on {of}, none on {', '.join(lost[:5])}"
                notes.append(self._note("criteria-dropped", text))
        return notes

    def _silent(self, questions: Mapping[Question, Ballots]) -> list[Note]:
        """Members that cast ballots and gave no answer in any of them, where others gave one."""
        statuses: dict[str, Counter[Status]] = {}
        for by in questions.values():
            for member, ballot in by.items():
                statuses.setdefault(member, Counter())[ballot.status] += 1
        if not any(found["ok"] for found in statuses.values()):
            return []
        told = {
            member: ", ".join(f"{count} {status}" for status, count in found.most_common())
            for member, found in statuses.items() if found.keys() & GIVEN and not found["ok"]
        }  # fmt: skip
        return [self._note("panel-member-silent", f"'{member}' gave no answer: {why}") for member, why in told.items()]

    def _unscaled(self, questions: Mapping[Question, Ballots], asked: Mapping[str, Scale]) -> list[Note]:
        """Members whose answers could not be counted, as they stand on another scale than the others'."""
        lost: dict[str, list[str]] = {}
        for (criterion, _, _), votes in questions.items():
            scale = asked.get(criterion) or common_scale(list(votes.values()))
            for member, ballot in votes.items():
                if ballot.status == "ok" and (why := unfit(ballot, scale)):
                    lost.setdefault(member, []).append(f"{one_line(criterion, 60)} ({one_line(why, 120)})")
        return [
            self._note("panel-scales-differ", f"'{member}' does not count on {', '.join(dict.fromkeys(criteria))}")
            for member, criteria in lost.items()
        ]

    def _unlike(self, questions: Mapping[Question, Ballots], asked: Mapping[str, Scale]) -> dict[Question, Told]:
        """A question of an output -> why its rival has no score, where others judged the rival."""
        found: dict[Question, Told] = {}
        for (criterion, side, repeat), votes in questions.items():
            other = (criterion, "output", repeat)
            if side == "output" or other not in questions:
                continue
            rival, output = (_counted(c, asked.get(criterion)) for c in (votes, questions[other]))
            if rival and rival != output:
                who = f"{', '.join(rival)} judged it, {', '.join(output) or 'nobody'} the output"
                found[other] = (f"no score of the rival: {one_line(who, 300)}",)
        return found

    def _questions(self, scores: Iterable[Score], asked: Mapping[str, Scale]) -> dict[Question, dict[str, Score]]:
        """What was asked -> member -> its ballot; criteria and members in their order."""
        found: dict[Question, dict[str, Score]] = {(name, "output", 0): {} for name in asked}
        for s in scores:
            counts = s.agent in self.members if self.members else s.agent != self.name
            if counts and s.stage == self.ballots and (not asked or s.criterion in asked):
                found.setdefault((s.criterion, s.of, s.repeat), {})[s.agent] = s
        order = list(asked)
        by_criterion = sorted(found, key=lambda q: order.index(q[0])) if asked else found
        return {q: {m: found[q][m] for m in self.members or found[q] if m in found[q]} for q in by_criterion}

    def _score(self, question: Question, cast: Ballots, scale: Scale | None, more: Told) -> Score:
        scale = scale or common_scale(list(cast.values()))
        why = {m: unfit(b, scale) for m, b in cast.items()} | {m: "no ballot" for m in self.members if m not in cast}
        counted = [ballot for member, ballot in cast.items() if not why[member]]
        told = tuple(f"{member} left out: {one_line(text, 200)}" for member, text in why.items() if text)
        criterion, side, repeat = question
        about: dict[str, Any] = {
            "criterion": criterion, "of": side, "repeat": repeat, "agent": self.name, "stage": self.stage,
            "scale": scale, "reader": "panel", "votes": tuple(ballot.key for ballot in cast.values()),
        }  # fmt: skip
        if not counted:
            reason = "; ".join(told) or "no ballots"
            return Score(**about, status=_status(cast.values()), reason=reason, notes=more)
        found = tally(counted, self.combine, scale)
        if found.answer is None or found.winner is None:
            each = ", ".join(f"{point} {share:.0%}" for point, share in found.distribution.items())
            return Score(
                **about, status="abstained", reason=f"a tie, which no rule decides: {each} of {len(counted)} votes",
                distribution=found.distribution, notes=(*told, *found.notes, *more),
            )  # fmt: skip
        answer = {"label" if isinstance(found.answer, str) else "value": found.answer}
        reason, notes = _reason(cast, self.members, found.winner), (*told, *found.notes, *more)
        return Score(**about, **answer, reason=reason, distribution=found.distribution, notes=notes)


def _counted(cast: Ballots, scale: Scale | None) -> list[str]:
    """Members whose ballots can be counted, in the order of their names."""
    scale = scale or common_scale(list(cast.values()))
    return sorted(member for member, ballot in cast.items() if not unfit(ballot, scale))


def _status(ballots: Iterable[Score]) -> Status:
    """That of most ballots, of equally many the first by name; "skipped" for those that had an answer."""
    counts: Counter[Status] = Counter("skipped" if b.status == "ok" else b.status for b in ballots)
    return min(counts, key=lambda status: (-counts[status], status), default="skipped")


def _reason(cast: Mapping[str, Score], members: Sequence[str], winner: Score) -> str:
    """Each member's answer, and why the winning side says so."""
    said = ", ".join(f"{m}: {_shown(cast.get(m))}" for m in members or cast)
    return " ".join((f"{said}; {winner.agent} says: {winner.reason}" if winner.reason else said).split())


def _shown(ballot: Score | None) -> str:
    if ballot is None:
        return "nothing"
    return f"{ballot.value:.4g}" if ballot.value is not None else ballot.label or ballot.status


# Who of a panel asks one thing under two names: one call is made for both, and one opinion would count twice.


NAMES = ("name", "judge_name", "comparer", "scored_by", "chains")  # by which a method's agents find each other


def asked_as(judge: Any) -> Any:
    """By what two judges are one: model, address and settings; a chat model is itself alone."""
    if not isinstance(judge, str | Endpoint):
        return id(judge)
    at = Endpoint(model=judge) if isinstance(judge, str) else judge
    return at.model, (at.base_url or "").rstrip("/"), at.temperature, at.top_p, at.max_tokens, at.seed


def likeness(member: Any, unread: Collection[str] = ()) -> Any:
    """By what two members are one: agents and methods of this package by all their settings but their own names.

    Anything else is like nothing, and so is an agent without a judge. unread: settings in whose place the state has
    others.
    """
    if hasattr(member, "builder"):
        return _method(member, unread) if registry.spec_of(member) is not None else object()
    if not type(member).__module__.startswith("judgegraph.") or getattr(member, "judge", None) is None:
        return object()
    kind: Any = type(member)
    called = {"name"} if _reads_scores(kind) else {"name", "stage"}
    return _settings(member, called.union(unread))


@lru_cache(maxsize=64)
def _reads_scores(kind: Any) -> bool:
    """Whether an agent's stage says which scores it is shown; else it names what it writes alone."""
    state = get_type_hints(kind.__call__).get("state")
    return "scores" in getattr(state, "__annotations__", {"scores": Any})


def _method(graph: Any, unread: Collection[str]) -> Any:
    """Of a method what it was made with, and its agents."""
    spec = registry.spec_of(graph) or registry.MethodSpec()
    runs = {name: node.runnable for name, node in graph.builder.nodes.items()}
    agents = {k: getattr(run, "func", None) or getattr(run, "afunc", None) or run for k, run in runs.items()}
    return [dict(spec.settings), {name: _in_method(agent, unread) for name, agent in agents.items()}]


def _in_method(agent: Any, unread: Collection[str]) -> Any:
    return _method(agent, unread) if hasattr(agent, "builder") else _settings(agent, {*NAMES, *unread})


def _settings(one: Any, unread: Collection[str] = ()) -> Any:
    """Of an agent, or of what is in one: its class and its settings."""
    if isinstance(one, list | tuple):
        return [_settings(entry) for entry in one]
    if isinstance(one, Mapping | str | int | float | BaseModel | NoneType) and not hasattr(one, "_llm_type"):
        return one
    if not is_dataclass(one) or isinstance(one, type) or not type(one).__module__.startswith("judgegraph."):
        return object()
    own = {f.name: getattr(one, f.name) for f in fields(one) if f.init and f.name not in unread}
    return [type(one), {k: asked_as(v) if k.endswith("judge") else _settings(v) for k, v in own.items()}]


def first_alike(members: Sequence[Any]) -> tuple[int, int] | None:
    """The places, from 1, of the first two that are one; None where all differ."""
    pairs = ((members.index(one) + 1, place) for place, one in enumerate(members, 1))
    return next((pair for pair in pairs if pair[0] != pair[1]), None)


# Families of models, whose members favour the same texts.


KIN = {"o": "gpt", "chatgpt": "gpt", "davinci": "gpt", "codestral": "mistral", "ministral": "mistral",
       "mixtral": "mistral", "magistral": "mistral", "codellama": "llama", "gemma": "gemini"}  # fmt: skip


def family(judge: JudgeLike) -> str:
    """The family of a model, by its name: "gpt" of "openai:gpt-4.1-mini", "llama" of "openai:meta-llama/Llama-3-8B".

    The first word of the name behind the provider and the owner; "" where a model has no name.
    """
    model = judge if isinstance(judge, str) else judge.model if isinstance(judge, Endpoint) else _model_name(judge)
    model = model if isinstance(model, str) else _model_name(model)
    found = re.search(r"[a-z]+", (model.partition(":")[2] or model).rpartition("/")[2].casefold())
    return KIN.get(found[0], found[0]) if found else ""


def _model_name(model: Any) -> str:
    """What a chat model says that it is called."""
    return str(next((v for key in ("model_name", "model") if isinstance(v := getattr(model, key, None), str)), ""))


def refuse_kin(method: str, judges: Sequence[JudgeLike]) -> None:
    """
    Raises:
        ConfigError: two judges are of one family.
    """
    seen: dict[str, int] = {}
    for place, one in enumerate(judges, 1):
        kin = family(one)
        if kin and kin in seen:
            raise ConfigError(
                f"{method}: judge {seen[kin]} and judge {place} are both of the family {one_line(kin, 40)!r}, which "
                "favours the same texts; name a judge of another family, or set same_family: true"
            )
        seen[kin] = place


# What one critic of a panel says, or why it cannot be heard: a panel goes on without it.


KEYS = frozenset(EvalState.__annotations__)
WRITTEN: Mapping[str, tuple[Any, type]] = {
    "rectifications": (Mapping, Rectification), "suggestions": (list | tuple, Suggestion), "notes": (Mapping, Note),
}  # fmt: skip


async def run_critic(name: str, critic: Critic, state: Reviewed, asked: Iterable[Criterion]) -> Critique:
    """What a critic says; one that raises, or writes no critique, has failed for every criterion.

    Raises:
        Exception: what ends a run (see `errors.ConfigError`), and a stop for a person.
    """
    try:
        with span("agent", name, {"class": type(critic).__name__}) as about:
            said: Any = watched(critic).ainvoke(state) if hasattr(critic, "ainvoke") else critic(state)
            said = await said if inspect.isawaitable(said) else said
            about["writes"] = written(said, KEYS)
            about["status"] = status_of(said, state, about)
    except Exception as error:
        if isinstance(error, GraphBubbleUp) or getattr(error, "ends_run", False):
            raise
        return _failed(name, asked, *_why(error))
    if wrong := _wrong(said):
        return _failed(name, asked, "agent_error", wrong)
    return cast(Critique, said)


def _failed(name: str, asked: Iterable[Criterion], status: str, reason: str) -> Critique:
    lost: dict[str, Any] = {"agent": name, "status": status, "reason": reason}
    failed = [Rectification.model_validate({"criterion": c.name, **lost}) for c in asked]
    return {"rectifications": keyed(*failed), "suggestions": []}


def _why(error: Exception) -> tuple[str, str]:
    """(status, reason); the error's message may be code too, and may fail."""
    if isinstance(error, ReplyError) and error.status in get_args(Status):
        return error.status, one_line(error)
    return "agent_error", one_line(in_words(error), 300)


def _wrong(said: Any) -> str:
    """Why what a critic returned is no critique, "" where it is one."""
    if not isinstance(said, Mapping) or said.get("rectifications") is None:
        return "it wrote no rectifications"
    for key, (whole, part) in WRITTEN.items():
        given = said.get(key)
        if given is None:
            continue
        if not isinstance(given, whole):
            return f"its {key} are of type {type(given).__name__}"
        values = given.values() if isinstance(given, Mapping) else given
        if odd := [one for one in values if not isinstance(one, part)]:
            return f"one of its {key} is of type {type(odd[0]).__name__}"
    return ""


# One seat of a panel of critics: a person who reviews the scores from where they stand.


@settings_checked
@dataclass(frozen=True, kw_only=True)
class PanelRole:
    """SAGE's three duties in one call, by a person of a role.

    The role stands last in the prompt, so that all roles of a panel share what stands before it.

    Attributes:
        role: one sentence that says who reviews, and what they look out for. name: what the role is called.
        judge, criteria, task, reader, stage: as SAGE's.
    """

    role: str
    name: str
    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    prompt: str = "panel_critique"
    reader: Reader = WEIGHTED
    stage: str = "draft"

    async def __call__(self, state: Reviewed) -> Critique:
        held = UnderReview.of(state, self.criteria, self.stage)
        if (idle := held.idle(self.name)) is not None:
            return idle
        role = f"{self.name}: {self.role}"
        messages = prompts.load(self.prompt).render(task=self.task, role=role, **held.fields)
        rating = await rate(self.judge, messages, critique_form(held.asked), held.slots(PARTS[0]), self.reader)
        said = held.verdicts(self.name, rating, PARTS[0])
        found, notes = advice(rating.value, PARTS[1:], self.name), dropped(rating.value, self.name)
        return {"rectifications": keyed(*said), "suggestions": found, "notes": keyed(*notes)}


# Several critics' verdicts on one score made one: by majority, with a note on who did not agree.


SILENT = "said nothing of this criterion"


def reconciled(
    agent: str, criterion: Criterion, draft: Score, said: Mapping[str, Rectification | None]
) -> Rectification:
    """Change a score only where more than half of the critics that could be read move it the same way.

    The value is the median of theirs, in which "keep" counts as the draft's; of labels the one with most votes stands,
    and a tie with the draft's keeps it. A critic that failed is left out, never counted as "keep"; where all failed,
    their most frequent status is the result's. Nothing but the order of critics' names decides a tie.

    Args:
        said: critic's name -> its verdict, None where it gave none.
    """
    seen: dict[str, Any] = {"criterion": criterion.name, "agent": agent, "reader": "panel"}
    if draft.answer is None:  # nothing to change
        return Rectification(criterion=criterion.name, agent=agent)
    votes: dict[str, Vote] = {}
    lost: dict[str, tuple[Status, str]] = {}
    for name, verdict in sorted(said.items()):
        held = _vote(name, verdict, criterion, draft.answer)
        if isinstance(held, Vote):
            votes[name] = held
        else:
            lost[name] = held
    left_out = tuple(f"{name} was left out: {why}" for name, (_, why) in lost.items())
    if not votes:
        return Rectification(**seen, status=_most([status for status, _ in lost.values()]), reason="; ".join(left_out))
    found = outcome([*votes.values()], draft, middle=median, voters="critics")
    seen |= {"reason": found.reason, "distribution": found.distribution}
    seen["notes"] = (*found.notes, *_dissent(votes, found, draft.answer), *left_out)
    if found.action == "keep":
        return Rectification(**seen)
    if isinstance(found.answer, str):
        return Rectification(**seen, action="change", label=found.answer)
    direction: Any = _way(found.answer, draft.answer)
    return Rectification(**seen, action="change", value=found.answer, direction=direction)


def _vote(name: str, said: Rectification | None, criterion: Criterion, old: float | str) -> Vote | tuple[Status, str]:
    """What one critic says, or why it does not count. Its reason names it."""
    if said is None:
        return "skipped", SILENT
    if said.status != "ok":
        return said.status, f"{said.status}: {one_line(said.reason)}" if said.reason else said.status
    reason = f"{name}: {said.reason}" if said.reason else ""
    if said.action == "keep":
        given = said.label if criterion.scale.labels else said.value
        odd = f"{name} said 'keep' but gave {_shown_ballots(given)}; counted as 'keep'"
        return Vote("keep", old, reason, odd if is_other(given, old, criterion.scale) else "")
    try:
        given = _answer(said, criterion)
    except ScaleError as error:
        return "unreadable", str(error)
    if given == old:
        return Vote("keep", old, reason)
    verdict = "change" if isinstance(given, str) else {"up": "raise", "down": "lower"}.get(said.direction, "")
    verdict = verdict or ("raise" if _way(given, old) == "up" else "lower")
    if not agrees(verdict, given, old):
        return Vote("keep", old, reason, f"{name} said {verdict!r} but gave {_shown_ballots(given)}; counted as 'keep'")
    if same_point(given, old, criterion.scale):
        return Vote("keep", old, reason, f"{name} {at_that_point(verdict, given, old)}")
    return Vote(verdict, given, reason)


def _answer(said: Rectification, criterion: Criterion) -> float | str:
    if criterion.scale.labels:
        return criterion.scale.check_label(said.label)
    return criterion.scale.check(said.value)


def _way(given: Any, old: Any) -> str:
    return "up" if given > old else "down"


def _dissent(votes: Mapping[str, Vote], found: Outcome, old: float | str) -> tuple[str, ...]:
    """One note on all that went another way than what was decided."""
    decided = "keep"
    if found.action == "change":
        decided = "change" if isinstance(old, str) else {"up": "raise", "down": "lower"}[_way(found.answer, old)]
    others = {
        name: vote
        for name, vote in votes.items()
        if vote.verdict != decided or (decided == "change" and vote.answer != found.answer)
    }
    told = [f"{name} ({vote.verdict}{_to(vote)})" for name, vote in others.items()]
    return (f"not agreed: {', '.join(told)}",) if told else ()


def _to(vote: Vote) -> str:
    if vote.verdict == "keep":
        return ""
    return f" to {vote.answer:.4g}" if isinstance(vote.answer, float) else f" to {vote.answer}"


def _shown_ballots(answer: Any) -> str:
    return f"{answer:g}" if isinstance(answer, float) else one_line(answer, 80)


def _most(statuses: Sequence[Status]) -> Status:
    """The most frequent, of equals the first by name."""
    counts = Counter(sorted(statuses))
    return counts.most_common(1)[0][0]


def joined_advice(agent: str, said: Mapping[str, Sequence[Suggestion]]) -> list[Suggestion]:
    """All critics' suggestions as the panel's, each once, with the names of who gave it before its reason.

    Definitions are the same if their words are; new criteria if their names are: the first by critic's name stands.
    """
    found: dict[tuple[str, ...], tuple[Suggestion, list[str]]] = {}
    for name, suggestions in sorted(said.items()):
        for one in suggestions:
            key = one.kind, _plain(one.criterion), _plain(one.definition) if one.kind == "definition" else ""
            names = found.setdefault(key, (one, []))[1]
            names += [name] if name not in names else []
    return [
        one.model_copy(update={"agent": agent, "reason": f"{', '.join(names)}: {one.reason}".rstrip(": ")})
        for one, names in found.values()
    ]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


# A panel of critics: several review the same scores side by side, and what most of them say counts.


ROLES: Mapping[str, str] = {
    "close reader": "reads closely: whatever is said for or against the text needs words of the text that show it.",
    "respondent": "is one of the people the text is for, and judges by how easy it is to understand and to use.",
    "editor": "edits for wording and fairness: slips, careless or loaded words, and whoever is left out by them.",
}


@settings_checked
@dataclass(frozen=True, kw_only=True)
class CriticPanel:
    """Changes a score only where more than half of the critics that could be read move it the same way.

    Ours, against one critic's mood. A changed value is the median of all, in which "keep" counts as the draft's; labels
    go by vote. A critic that raises, or writes no critique, has failed: notes tell who did and who did not agree; where
    all failed, so did the panel. Suggestions are joined, each once. In which order the critics are given changes
    nothing.

    Attributes:
        roles: name -> one sentence on who reviews and what they look out for; each asks `judge` once. None is ROLES
            where no `critics` are given, else no roles.
        critics: other critics beside the roles, by registered name, as agents or as compiled graphs. A name gets this
            panel's judge, criteria, task, reader and stage; an agent has its own (the panel's criteria where it
            has none) and must review the same stage.
        judge, criteria, task, reader, stage: as SAGE's. prompt: of the roles; it has a field "role" as well.
    """

    judge: JudgeLike = "embedded"
    criteria: Sequence[Criterion] = ()
    task: str = "a generated text"
    roles: Mapping[str, str] | None = None
    critics: Sequence[str | Critic] = ()
    prompt: str = "panel_critique"
    reader: Reader = WEIGHTED
    name: str = "critic-panel"
    stage: str = "draft"

    def __post_init__(self) -> None:
        if not self.members:
            raise ConfigError(f"{self.name}: a panel has a role or a critic at least; leave `roles` out for its own")

    @cached_property
    def members(self) -> Mapping[str, Critic]:
        """Name -> critic, by name.

        Raises:
            ConfigError: no such critic, two of one name, or something that is none.
        """
        common: dict[str, Any] = {
            "judge": self.judge, "criteria": self.criteria, "task": self.task, "reader": self.reader,
            "stage": self.stage,
        }  # fmt: skip
        given = self._roles()
        found: list[tuple[str, Critic]] = [
            (name, PanelRole(name=name, role=role, prompt=self.prompt, **common)) for name, role in given.items()
        ]
        for which in [self.critics] if isinstance(self.critics, str) else self.critics:
            critic = registry.make("critic", which, **common)
            if not (callable(critic) or hasattr(critic, "ainvoke")):
                raise ConfigError(f"{self.name}: critics: expected names or agents, got {one_line(repr(critic), 60)}")
            if not _may_review(critic):
                raise ConfigError(
                    f"{self.name}: '{_name(which)}' is no critic: it writes no rectifications; "
                    "`judgegraph agents` lists critics"
                )
            found.append((_name(which), critic if isinstance(which, str) else informed(critic, self.criteria)))
        names = [name for name, _ in found]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ConfigError(f"{self.name}: two critics named {', '.join(twice)}; give each a name of its own")
        known = [name if isinstance(critic, PanelRole) else likeness(critic) for name, critic in found]
        if (alike := first_alike(known)) is not None:  # a role is shown its name
            one, other = (found[place - 1][0] for place in alike)
            raise ConfigError(
                f"{self.name}: critics {one!r} and {other!r} differ in their names alone: one call is made for both, "
                "so that one opinion would count twice; give one another judge or prompt"
            )
        return dict(sorted(found, key=lambda pair: pair[0]))

    def _roles(self) -> Mapping[str, str]:
        given = self.roles if self.roles is not None else {} if self.critics else ROLES
        if not isinstance(given, Mapping):
            raise ConfigError(f"{self.name}: roles: expected name -> sentence, got {type(given).__name__}")
        for pair in given.items():
            if not all(isinstance(text, str) and text.strip() for text in pair):
                raise ConfigError(f"{self.name}: a role is a name and a sentence, got {one_line(pair, 80)}")
        return given

    @property
    def prompts(self) -> tuple[str, ...]:
        """Names of the templates that its critics ask by."""
        found = [getattr(c, "prompts", None) or (getattr(c, "prompt", ""),) for c in self.members.values()]
        return tuple(dict.fromkeys(name for names in found for name in names if name))

    @property
    def judges(self) -> tuple[JudgeLike, ...]:
        """Whom its critics ask, each once; of functions and graphs that is not known."""
        found: list[JudgeLike] = []
        for critic in self.members.values():
            own = getattr(critic, "judge", None)
            asked = getattr(critic, "judges", None) or ([own] if own is not None else [])
            found += [judge for judge in asked if judge not in found]
        return tuple(found)

    async def __call__(self, state: Reviewed) -> Critique:
        held = UnderReview.of(state, self.criteria, self.stage)
        if (idle := held.idle(self.name)) is not None:
            return idle
        asked = held.asked.values()
        found = await asyncio.gather(*(run_critic(name, critic, state, asked) for name, critic in self.members.items()))
        said = dict(zip(self.members, found, strict=True))
        verdicts = [
            reconciled(self.name, c, held.drafts[c.name], {name: _of(one, c) for name, one in said.items()})
            for c in asked
        ]
        advice = joined_advice(self.name, {name: one.get("suggestions") or () for name, one in said.items()})
        notes = [note for name, one in said.items() for note in self._notes(name, one)]
        return {"rectifications": keyed(*verdicts), "suggestions": advice, "notes": keyed(*notes)}

    def _notes(self, name: str, said: Critique) -> list[Note]:
        """What one critic noted, and that it failed where it did."""
        inner = said.get("notes") or {}
        notes = [Note(agent=self.name, text=f"{name}: {n.text}", status=n.status, kind=n.kind) for n in inner.values()]
        lost = [r for r in said["rectifications"].values() if r.status != "ok"]
        if lost:
            why = one_line(lost[0].reason or lost[0].status)
            many = counted(len(said["rectifications"]), "criterion", "criteria")
            text = f"{name} was left out for {len(lost)} of {many}: {why}"
            notes.append(Note(agent=self.name, text=text, status=lost[0].status, kind="critic-left-out"))
        return notes


def _may_review(critic: Any) -> bool:
    """Whether it writes rectifications, as far as annotations say."""
    try:
        hint = get_type_hints(critic if inspect.isroutine(critic) else type(critic).__call__).get("return")
    except Exception:  # whatever stands in a user's annotations, and a graph, which has none
        return True
    known = getattr(hint, "__annotations__", None)
    return not known or "rectifications" in get_type_hints(hint)


def _name(critic: Any) -> str:
    """What a panel calls a critic."""
    given = critic if isinstance(critic, str) else getattr(critic, "name", None) or getattr(critic, "__name__", None)
    return str(given or type(critic).__name__)


def _of(said: Critique, criterion: Criterion) -> Rectification | None:
    """A critic's verdict on one criterion, under whatever key it wrote it."""
    found = [r for r in said["rectifications"].values() if r.criterion == criterion.name]
    return found[-1] if found else None
