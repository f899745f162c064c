"""The end of each round of a critic that is asked again about what it changed: plain code, no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from typing_extensions import TypedDict

from judgegraph.agents.under_review import readable
from judgegraph.agents.votes import same_point
from judgegraph.compose.doubt import in_plan
from judgegraph.compose.settle import Reviewing, check, kept, not_read, noted, nothing, rectified, was_asked
from judgegraph.compose.under_doubt import Reviewed
from judgegraph.types import Criterion, Notes, Rectification, Score, Scores, key_of, keyed

Answers: TypeAlias = dict[str, float | str | None]
DIGITS = 9  # a value that changes by less does not change


class Turn(Reviewing, total=False):  # what stands in the state after the critic
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

    async def __call__(self, state: Turn) -> Turned:
        first, asked = self.reviewed.all(state), self.reviewed.asked(state)
        if not first:
            return {"notes": nothing(self.name, self.reviewed, state), "going": False}
        check(first.values(), self.name)
        if not readable(asked.values()):
            unasked = (rectified(s, {}, self.name) if c in asked else kept(s, self.name) for c, s in first.items())
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

    def _now(self, path: list[dict[str, Score]], state: Turn) -> dict[str, Score]:
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
            return f"stopped after {done} rounds: the answers are those of {again} again"
        if done >= self.most:
            return f"stopped after {done} round{'s' if done > 1 else ''}: the critic was still changing scores"
        return None

    def _finals(
        self, first: Mapping[str, Score], path: list[dict[str, Score]], state: Turn, why: str
    ) -> dict[str, Score]:
        doubts = state.get("doubts") or {}
        found: dict[str, Score] = {}
        for criterion, draft in first.items():
            if criterion not in path[-1]:
                found[criterion] = kept(draft, self.name)
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
        self, asked: Mapping[str, Score], finals: Mapping[str, Score], state: Turn
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
