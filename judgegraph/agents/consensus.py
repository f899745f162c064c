"""The consensus: one score per criterion from the ballots of several judges; plain code, no model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypeAlias

from typing_extensions import TypedDict

from judgegraph.agents.ballots import Combine, common_scale, tally, unfit
from judgegraph.errors import ConfigError, one_line
from judgegraph.types import Criterion, Note, Notes, Scale, Score, Scores, Status, given_criteria, keyed, names_of

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


@dataclass(frozen=True, kw_only=True)
class Consensus:
    """Combines the scores that several judges gave at one stage.

    Source: the idea of a panel of judges, their votes or the mean of their scores, is that of "Replacing Judges with
    Juries" (Verga et al. 2024, arXiv:2404.18796). Ours: a ballot that failed, or stands on another scale, is left out
    with a note, never counted as 0; a member without any ballot, or without one on some criteria, is noted too;
    where all failed the score has the status of most of them, and no number.
    The rules of ties: `judgegraph/agents/ballots.py`. Of a pair the rival has a score where the same members count as
    for the output, or where none does: two means of different judges say nothing of which text is better. Else the
    output's score notes who judged what.

    Attributes:
        combine: "mean", "median" or "vote"; labels are always voted.
        members: agents whose scores count, in the order they are named; none: all but its own.
        criteria: whose scales count, where the state brings none; without any the scale of most ballots does.
        ballots: stage of the scores it combines. stage: of the scores it writes.
    """

    combine: Combine = "mean"
    members: Sequence[str] = ()  # a text is one name
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
        for (criterion, _, _), cast in questions.items():
            scale = asked.get(criterion) or common_scale(list(cast.values()))
            for member, ballot in cast.items():
                if ballot.status == "ok" and (why := unfit(ballot, scale)):
                    lost.setdefault(member, []).append(f"{one_line(criterion, 60)} ({one_line(why, 120)})")
        return [
            self._note("panel-scales-differ", f"'{member}' does not count on {', '.join(dict.fromkeys(criteria))}")
            for member, criteria in lost.items()
        ]

    def _unlike(self, questions: Mapping[Question, Ballots], asked: Mapping[str, Scale]) -> dict[Question, Told]:
        """A question of an output -> why its rival has no score, where others judged the rival."""
        found: dict[Question, Told] = {}
        for (criterion, side, repeat), cast in questions.items():
            other = (criterion, "output", repeat)
            if side == "output" or other not in questions:
                continue
            rival, output = (_counted(c, asked.get(criterion)) for c in (cast, questions[other]))
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
