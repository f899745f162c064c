"""What a critic's replies say of one score, taken together: each reply is a vote to keep it or to change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judgegraph.calls.form import answer_of
from judgegraph.calls.rungs import tied
from judgegraph.calls.samples import mean_of
from judgegraph.types import Criterion, Scale, Score

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
        given = answer_of(entry, criterion.scale)
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
    if given is None or not agrees(verdict, given, old):
        return Vote("keep", old, reason, _against(verdict, given, old))
    if same_point(given, old, criterion.scale):
        return Vote("keep", old, reason, at_that_point(verdict, given, old))
    return Vote(verdict, given, reason)


def _against(verdict: str, given: Answer | None, old: Answer) -> str:
    shown = f"{old:.4g}" if isinstance(old, float) else old
    what = "no value" if given is None else f"{given:g}" if isinstance(given, float) else given
    return f"said {verdict!r} but gave {what} for a score of {shown}; the score stands"


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
