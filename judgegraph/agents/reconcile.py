"""Several critics' verdicts on one score made one: by majority, with a note on who did not agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from judgegraph.agents.votes import Outcome, Vote, agrees, at_that_point, is_other, outcome, same_point
from judgegraph.errors import ScaleError, one_line
from judgegraph.types import Criterion, Rectification, Score, Status, Suggestion

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
        odd = f"{name} said 'keep' but gave {_shown(given)}; counted as 'keep'"
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
        return Vote("keep", old, reason, f"{name} said {verdict!r} but gave {_shown(given)}; counted as 'keep'")
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


def _shown(answer: Any) -> str:
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
