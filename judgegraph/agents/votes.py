"""What a critic's replies say of one score, taken together: each reply is a vote to keep it or to change it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judgegraph.models.form import answer_of
from judgegraph.models.rungs import tied
from judgegraph.models.samples import mean_of
from judgegraph.types import Criterion, Score

Answer = float | str


@dataclass(frozen=True)
class Vote:
    """What one reply says.

    Attributes:
        verdict: "keep", "raise", "lower" or "change"; a change that the reply's own value contradicts is "keep".
        answer: the value or label that follows from it, the draft's where it is kept.
        note: why a change counts as "keep", "" where nothing is odd.
    """

    verdict: str
    answer: Answer
    reason: str = ""
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    """What the votes come to.

    Attributes:
        answer: mean of the values in which "keep" counts as the draft's, or the most frequent changed label; the
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
    if verdict == "keep" or (verdict == "change" and given == old):
        return Vote("keep", old, reason)
    if given is None or not agrees(verdict, given, old):
        shown = f"{old:.4g}" if isinstance(old, float) else old
        what = "no value" if given is None else f"{given:g}" if isinstance(given, float) else given
        return Vote("keep", old, reason, f"said {verdict!r} but gave {what} for a score of {shown}; the score stands")
    return Vote(verdict, given, reason)


def agrees(verdict: str, given: Answer, old: Answer) -> bool:
    """The value goes where the verdict says."""
    if isinstance(given, str) or isinstance(old, str):
        return given != old
    return given > old if verdict == "raise" else given < old


def outcome(votes: Sequence[Vote], draft: Score) -> Outcome:
    """The majority's verdict; a tie keeps the score, and so does a mean that goes against the verdict.

    Args:
        votes: one or more, in the order of the replies.
    """
    counts = Counter(vote.verdict for vote in votes)
    (verdict, most), *others = counts.most_common()
    notes = tuple(dict.fromkeys(vote.note for vote in votes if vote.note))
    if others and others[0][1] == most:
        names = " and ".join(repr(name) for name in sorted(counts) if counts[name] == most)
        verdict, notes = "keep", (*notes, f"equally many replies say {names}; the score stands")
    reason = next((vote.reason for vote in votes if vote.verdict == verdict), votes[0].reason)
    shares = _shares(votes)
    if verdict == "keep":
        return Outcome("keep", votes[0].answer if draft.answer is None else draft.answer, reason, shares, notes)
    answer, tied = _answer(votes, verdict)
    notes = (*notes, *tied)
    old = draft.answer
    if old is not None and not agrees(verdict, answer, old):
        notes = (*notes, f"most replies say {verdict!r} but the mean of all is {answer:.4g}; the score stands")
        return Outcome("keep", old, reason, shares, notes)
    return Outcome("change", answer, reason, shares, notes)


def _answer(votes: Sequence[Vote], verdict: str) -> tuple[Answer, tuple[str, ...]]:
    """The mean of all values, or the label most often changed to, of equals the first by name, with a note."""
    values = [vote.answer for vote in votes if isinstance(vote.answer, float)]
    if values:
        return mean_of(values), ()
    shares = _shares([vote for vote in votes if vote.verdict == verdict])
    label = max(shares, key=lambda name: shares[name])
    return label, tied(shares, label)


def _shares(votes: Sequence[Vote]) -> dict[str, float]:
    written = Counter(f"{v.answer:g}" if isinstance(v.answer, float) else v.answer for v in votes)
    return {point: count / len(votes) for point, count in sorted(written.items())}
