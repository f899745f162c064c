"""A critic's verdict on one score: from its replies, or from the one whose tokens were weighed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgegraph.agents.votes import agrees, outcome, same_point, vote_of
from judgegraph.calls import Rated
from judgegraph.calls.form import answer_of
from judgegraph.types import Criterion, Rectification, Score

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
        return answer_of(entry, criterion.scale)
    except ValueError:
        return None


def _changed(seen: dict[str, Any], draft: Score, answer: float | str) -> Rectification:
    if isinstance(answer, str):
        return Rectification(**seen, action="change", label=answer)
    direction: Any = "up" if draft.value is not None and answer > draft.value else "down"
    return Rectification(**seen, action="change", direction=direction, value=answer)
