"""What a critic looks at: a sample, the scores of one stage, and the criteria they were given by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, NotRequired, Protocol

from typing_extensions import TypedDict

from judgegraph import prompts
from judgegraph.calls import Rated, Slot
from judgegraph.calls.asking import answer_of
from judgegraph.calls.context import context
from judgegraph.calls.ratings import GAINSAID, Rating, entry_of, mean_of, tied
from judgegraph.errors import one_line
from judgegraph.prompts.template import criteria_text, left_out_examples, scores_text, slugs
from judgegraph.types import (
    Criterion,
    Note,
    Notes,
    Rectification,
    Sample,
    Scale,
    Score,
    Scores,
    Suggestion,
    given_criteria,
    keyed,
    sample_of,
)

# What a critic's replies say of one score, taken together: each reply is a vote to keep it or to change it.


Answer = float | str
DIGITS = 9  # of a distance; what comes behind is the floats'


@dataclass(frozen=True)
class Vote:
    """What one reply says.

    Attributes:
        verdict: "keep", "raise", "lower" or "change"; a change that the reply's own value contradicts is "keep".
        answer: the value or label that follows from it, the draft's where it is kept.
        note: what of the reply contradicts itself, which counts as "keep"; "" where nothing does.
    """

    verdict: str
    answer: Answer
    reason: str = ""
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    """What the votes come to.

    Attributes:
        answer: mean of the values in which "keep" counts as the draft's, or the label with most votes; the
            draft's where it is kept. distribution: value or label -> share of the replies.
    """

    action: Literal["keep", "change"]
    answer: Answer
    reason: str
    distribution: dict[str, float]
    notes: tuple[str, ...] = ()


def vote_of(entry: Any, criterion: Criterion, draft: Score) -> Vote | None:
    """The vote in one reply's entry of the form; None where it cannot be read, or there is no draft to change."""
    try:
        given = answer_of(entry, criterion.scale, criterion.name)
    except ValueError:
        return None
    old = draft.answer
    if old is None:
        return None
    verdict, reason = str(entry.get("verdict") or "keep"), str(entry.get("reason") or "")
    if verdict == "keep":
        return Vote("keep", old, reason, _against(verdict, given, old) if is_other(given, old, criterion.scale) else "")
    if verdict == "change" and given == old:
        return Vote("keep", old, reason)
    if given is not None and same_point(given, old, criterion.scale):
        return Vote("keep", old, reason, at_that_point(verdict, given, old))
    if given is None or not agrees(verdict, given, old):
        return Vote("keep", old, reason, _against(verdict, given, old))
    return Vote(verdict, given, reason)


def _against(verdict: str, given: Answer | None, old: Answer) -> str:
    shown = f"{old:.4g}" if isinstance(old, float) else old
    what = "no value" if given is None else f"{given:g}" if isinstance(given, float) else given
    return f"said {verdict!r}{GAINSAID}{what} for a score of {shown}; the score stands"


def is_other(given: Answer | None, old: Answer, scale: Scale) -> bool:
    """Whether what stands beside "keep" is another answer than the one that is kept.

    A weighted draft lies between the points of a whole scale, where a critic can only name a point beside it; on other
    scales critics see four digits of it.
    """
    if given is None or isinstance(given, str) or isinstance(old, str):
        return given is not None and given != old
    return abs(given - old) >= 1 if scale.whole else f"{given:.4g}" != f"{old:.4g}"


def same_point(given: Answer | None, old: Answer | None, scale: Scale | None) -> bool:
    """Whether a critic that names a point of a whole scale names the one that a fractional score is at already.

    The one rule on when a weighted draft counts as changed. Such a draft (3.62) lies between the points, and a critic
    that is shown it can name points alone: 4 is where the draft stands, whatever the verdict is called, 3 is not. A
    score halfway is at both. What is a fraction itself was measured (weighted by probabilities as SAGEval, section 4.4,
    does for both agents; a mean of replies) and is compared as it is: only whether it was a change is asked of the
    point that the critic named, by how much is the fraction's to say.
    """
    if isinstance(given, str) or isinstance(old, str) or given is None or old is None:
        return False
    if scale is None or scale.labels or not scale.whole or given % 1 or not old % 1:
        return False
    return round(abs(given - old), DIGITS) <= 0.5


def at_that_point(verdict: str, given: Answer, old: Answer) -> str:
    """A note for a verdict that names the point that the score is at."""
    return f"said {verdict!r} to {given:g} for a score of {old:.4g}, which is at that point; the score stands"


def agrees(verdict: str, given: Answer, old: Answer) -> bool:
    """The value goes where the verdict says."""
    if isinstance(given, str) or isinstance(old, str):
        return given != old
    return given > old if verdict == "raise" else given < old


def outcome(
    votes: Sequence[Vote],
    draft: Score,
    *,
    middle: Callable[[Sequence[float]], float] = mean_of,
    voters: str = "replies",
) -> Outcome:
    """What the replies decide, against the draft only where enough of them agree.

    Of labels each vote counts for its answer, "keep" for the draft's: the score changes where a changed label has
    more votes than the draft's, and a tie with the draft's keeps it. Of numbers more than half of the readable
    replies must say one verdict, "raise" or "lower", and the middle of all must go that way; else the score stands.

    Args:
        votes: of the readable replies, one or more, in their order. middle: of their values, by default the mean.
        voters: what notes call them.
    """
    old = votes[0].answer if draft.answer is None else draft.answer
    answer, notes = _label(votes, old, voters) if isinstance(old, str) else _value(votes, old, middle, voters)
    if same_point(answer, old, draft.scale):  # of a mean by chance
        answer, notes = old, (*notes, f"the mean of all is {answer:g}, where the score is already; it stands")
    notes = (*dict.fromkeys(vote.note for vote in votes if vote.note), *notes)
    sides = [vote for vote in votes if _with(vote, answer, old)]
    reason = (sides or votes)[0].reason
    return Outcome("keep" if answer == old else "change", answer, reason, _shares(votes), notes)


def _label(votes: Sequence[Vote], old: str, voters: str) -> tuple[str, tuple[str, ...]]:
    """The label with most votes, of equals the first by name, with a note why."""
    shares = _shares(votes)
    changed = {name: share for name, share in shares.items() if name != old}
    if not changed:
        return old, ()
    label = max(changed, key=lambda name: changed[name])
    if changed[label] > shares.get(old, 0.0):
        return label, tied(changed, label)
    equal = sorted(name for name, share in shares.items() if share == shares[old])
    names = " and ".join(map(repr, equal))
    return old, (f"equally many {voters} say {names}; the score stands",) if len(equal) > 1 else ()


def _value(
    votes: Sequence[Vote], old: float, middle: Callable[[Sequence[float]], float], voters: str
) -> tuple[Answer, tuple[str, ...]]:
    """The middle of all values where more than half go one way, else the draft's, with a note why."""
    counts = Counter(vote.verdict for vote in votes)
    verdict, most = counts.most_common(1)[0]
    if 2 * most <= len(votes):
        equal = sorted(name for name in counts if counts[name] == most)
        said = f"equally many {voters} say {' and '.join(map(repr, equal))}"
        few = said if len(equal) > 1 else f"no more than half of the {voters} say one verdict"
        return old, (f"{few}; the score stands",)
    if verdict == "keep":
        return old, ()
    mean = middle([vote.answer for vote in votes if isinstance(vote.answer, float)])
    if agrees(verdict, mean, old):
        return mean, ()
    return old, (f"most {voters} say {verdict!r} but the mean of all is {mean:.4g}; the score stands",)


def _with(vote: Vote, answer: Answer, old: Answer) -> bool:
    """The vote goes the way that was decided."""
    if isinstance(answer, str) or isinstance(old, str) or answer == old:
        return vote.answer == answer
    return vote.verdict == ("raise" if answer > old else "lower")


def _shares(votes: Sequence[Vote]) -> dict[str, float]:
    written = Counter(f"{v.answer:g}" if isinstance(v.answer, float) else v.answer for v in votes)
    return {point: count / len(votes) for point, count in sorted(written.items())}


# A critic's verdict on one score: from its replies, or from the one whose tokens were weighed.


NO_VERDICT = "the critic's verdict could not be read"


def rectification(
    agent: str, criterion: Criterion, draft: Score, answer: Rated, entries: Sequence[Any]
) -> Rectification:
    """Keep or change; a value that goes against its own verdict changes nothing, and a note says so.

    Nor does a verdict that names the point which a fractional draft is at (`votes.same_point`). Where the critic's
    tokens were weighed, the point that it named decides whether this is a change, and the weighted value is the new
    score.

    Args:
        answer: the critic's own score as read. entries: what each reply it was read from says, one or more.
    """
    seen: dict[str, Any] = {
        "criterion": criterion.name, "agent": agent, "reason": answer.reason, "reader": answer.reader,
        "distribution": answer.distribution, "unseen": answer.unseen, "notes": answer.notes,
    }  # fmt: skip
    if answer.status not in ("ok", "abstained"):
        return Rectification(**seen, status=answer.status)
    if (weighed := _weighed(entries[0], criterion, draft, answer)) is not None:
        return _changed(seen, draft, weighed)
    votes = [vote for entry in entries if (vote := vote_of(entry, criterion, draft))]
    if draft.answer is None:  # nothing to change
        return Rectification(**seen)
    if 2 * len(votes) < len(entries) or not votes:
        return Rectification(**seen | {"reason": NO_VERDICT}, status="unreadable")
    found = outcome(votes, draft)
    seen |= {"reason": found.reason, "notes": tuple(dict.fromkeys((*answer.notes, *found.notes)))}
    if answer.reader == "samples":
        seen["distribution"] = found.distribution
    if found.action == "keep":
        return Rectification(**seen)
    if answer.reader == "logprobs" and answer.value is not None:  # the weighted value goes the other way
        seen["reader"] = "stated"
    return _changed(seen, draft, found.answer)


def _weighed(entry: Any, criterion: Criterion, draft: Score, answer: Rated) -> float | None:
    """The weighted value, if it goes the way that the verdict says, and the point that was named is another one."""
    verdict = entry.get("verdict") if isinstance(entry, Mapping) else None
    if answer.reader != "logprobs" or answer.value is None or draft.value is None or verdict not in ("raise", "lower"):
        return None
    if same_point(_named(entry, criterion), draft.value, criterion.scale):
        return None
    return answer.value if agrees(verdict, answer.value, draft.value) else None


def _named(entry: Mapping[str, Any], criterion: Criterion) -> float | str | None:
    """The point or label that stands in a reply."""
    try:
        return answer_of(entry, criterion.scale, criterion.name)
    except ValueError:
        return None


def _changed(seen: dict[str, Any], draft: Score, answer: float | str) -> Rectification:
    if isinstance(answer, str):
        return Rectification(**seen, action="change", label=answer)
    direction: Any = "up" if draft.value is not None and answer > draft.value else "down"
    return Rectification(**seen, action="change", direction=direction, value=answer)


UNREAD = "no draft could be read, so there is nothing to rectify and the critic was not asked"


class Reviewed(TypedDict):  # what a critic reads
    sample: Sample
    scores: Scores
    criteria: NotRequired[list[Criterion]]  # else its own


class Critique(TypedDict):  # what it writes
    rectifications: dict[str, Rectification]  # criterion/agent -> what it says of its score
    suggestions: list[Suggestion]
    notes: NotRequired[Notes]  # advice that could not be had


class Critic(Protocol):
    """Any agent that reviews scores: a frozen dataclass with this verb."""

    async def __call__(self, state: Reviewed) -> Critique:
        """Read the scores, say what to change."""
        ...


@dataclass(frozen=True)
class UnderReview:
    """The part of a state that a critic reviews.

    Attributes:
        asked: key of a form -> criterion, of those that were scored. drafts: criterion -> its score; of several
            agents' scores at the stage the last one's. stage: that is reviewed. scores: all, of every stage.
    """

    sample: Sample
    asked: Mapping[str, Criterion]
    drafts: Mapping[str, Score]
    stage: str = "draft"
    scores: Collection[Score] = ()

    @classmethod
    def of(cls, state: Reviewed, criteria: Sequence[Criterion], stage: str) -> UnderReview:
        """What a state holds of a stage, by its own criteria or else by these.

        Where there are none at all, by the names and scales of the drafts: scores are never left unreviewed because
        nobody said what they mean.
        """
        drafts = {s.criterion: s for s in state["scores"].values() if s.stage == stage}
        asked = slugs(given_criteria(state) or criteria or _scored(drafts.values()))
        held = {key: c for key, c in asked.items() if c.name in drafts}
        return cls(sample_of(state), held, drafts, stage, state["scores"].values())

    def idle(self, agent: str) -> Critique | None:
        """What a critic writes that asks nobody, as no reply could change a score; None where one could.

        That is so without a score at its stage, without one by a criterion that is asked about, and where no draft
        could be read: a critic changes scores and gives none.
        """
        if readable(self.drafts[c.name] for c in self.asked.values()):
            return None
        lost: dict[str, Any] = {"agent": agent, "status": "skipped", "reason": UNREAD}
        verdicts = [Rectification(criterion=c.name, **lost) for c in self.asked.values()]
        return {"rectifications": keyed(*verdicts), "suggestions": [], "notes": keyed(self._why(agent))}

    def _why(self, agent: str) -> Note:
        if self.asked:
            return unread(agent, [self.drafts[c.name] for c in self.asked.values()])
        if not self.drafts:
            return nothing_there(agent, self.stage, "", self.scores)
        scored = ", ".join(f"'{one_line(name, 60)}'" for name in list(self.drafts)[:5])
        text = f"the scores at stage '{self.stage}' are of {scored}, and none of these is a criterion it is given"
        return Note(agent=agent, text=text, status="skipped", kind="nothing-to-review")

    @property
    def fields(self) -> dict[str, Any]:
        """For a template: "criteria", "query", "source", "reference", "output", "scores", and "examples" if any."""
        return {
            "criteria": criteria_text(self.asked), **prompts.material(self.sample, self.asked.values()),
            "scores": scores_text(self.drafts[c.name] for c in self.asked.values()),
        }  # fmt: skip

    def slots(self, *path: str) -> dict[str, Slot]:
        """Where the answers stand in a form whose entries stand at a path."""
        return {key: Slot(c.scale, (*path, key)) for key, c in self.asked.items()}

    def verdicts(self, agent: str, rating: Rating[dict[str, Any]], *path: str) -> list[Rectification]:
        """One for each criterion asked about; `path` as in `slots`."""
        return [
            rectification(agent, c, self.drafts[c.name], self._noted(c, rating.answers[key]),
                          _entries_of(rating, key, path))
            for key, c in self.asked.items()
        ]  # fmt: skip

    def _noted(self, criterion: Criterion, answer: Rated) -> Rated:
        return replace(answer, notes=(*answer.notes, *left_out_examples(criterion, self.sample)))


def readable(drafts: Iterable[Score]) -> bool:
    """Whether a critic could change any of these scores: one without an answer stays without one.

    In a plan invented scores count as readable: whether a judge will abstain is not known beforehand.
    """
    held, run = list(drafts), context.get()
    invented = run is not None and run.doubted is not None and run.doubted() is not None
    return any(invented or draft.answer is not None for draft in held)


def nothing_there(agent: str, stage: str, of: str, scores: Iterable[Score]) -> Note:
    """A note for a sample without a score to review, with the stages and agents of those that it has."""
    others = list(dict.fromkeys(f"'{one_line(s.stage, 40)}' by '{one_line(s.agent, 60)}'" for s in scores))
    whose = f" by '{of}'" if of else ""
    there = f"; scores stand at {', '.join(others[:5])}" if others else ""
    text = f"no score at stage '{stage}'{whose}: nothing to review{there}"
    return Note(agent=agent, text=text, status="skipped", kind="nothing-to-review")


def unread(agent: str, drafts: Sequence[Score]) -> Note:
    """A note for a sample of which no draft could be read: nobody is asked about it."""
    statuses = ", ".join(f"{n} {status}" for status, n in Counter(d.status for d in drafts).most_common())
    return Note(agent=agent, text=f"{UNREAD} ({statuses})", status="skipped", kind="drafts-unread")


def _scored(drafts: Iterable[Score]) -> list[Criterion]:
    """What scores were given for, as far as they say; without a scale nobody knows what else they could be."""
    return [Criterion(name=d.criterion, scale=d.scale) for d in drafts if d.scale is not None]


def informed(critic: Any, criteria: Sequence[Criterion]) -> Any:
    """A critic with these criteria, where it is a frozen dataclass with a field for them and none in it; else as is."""
    if not criteria or not is_dataclass(critic) or isinstance(critic, type):
        return critic
    kind: Any = type(critic)
    frozen = kind.__dataclass_params__.frozen  # a copy of another might not share what it collects
    if not frozen or "criteria" not in {f.name for f in fields(critic) if f.init}:
        return critic
    own = getattr(critic, "criteria", None)
    return replace(critic, criteria=criteria) if own is None or own in ((), []) else critic


def _entries_of(rating: Rating[dict[str, Any]], key: str, path: tuple[str, ...]) -> list[Any]:
    """What the replies that an answer was read from say of one criterion."""
    values = rating.values if rating.answers[key].reader == "samples" else (rating.value,)
    return [entry_of(value, (*path, key)) for value in values]


def dropped(value: Mapping[str, Any] | None, agent: str) -> list[Note]:
    """A note on suggestions in a critique that could not be used."""
    lost: Sequence[str] = (value or {}).get("dropped") or ()
    if not lost:
        return []
    text = f"{len(lost)} suggestion{'s' if len(lost) > 1 else ''} left out: {'; '.join(dict.fromkeys(lost[:5]))}"
    return [Note(agent=agent, text=text, status="skipped", kind="suggestions-dropped")]


def advice(value: Mapping[str, Any] | None, parts: Iterable[str], agent: str) -> list[Suggestion]:
    """The suggestions in some parts of a critique, as those of an agent."""
    return [s.model_copy(update={"agent": agent}) for part in parts for s in (value or {}).get(part) or ()]
