"""How one answer is read from a reply, rung by rung: as written, or by token probabilities."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from judgegraph.calls.door import Reply
from judgegraph.calls.form import answer_key, answer_of, off_points
from judgegraph.calls.locate import Path, spans
from judgegraph.calls.reasoning import parts
from judgegraph.calls.stated_text import reason_beside, text_reading
from judgegraph.calls.tokens import UNSOUND, Weighted, expected, masses_at, offset, unsound
from judgegraph.types import Scale, Status

FLOOR = 0.5  # least probability that valid points must hold for a weighted score (design, contract 4)
NO_LOGPROBS = "the judge gives no log-probabilities"
NOT_FOUND = "the answer could not be found among the tokens"
TOO_LITTLE = "log-probabilities hold too little on the scale"


@dataclass(frozen=True)
class Slot:
    """Where one answer stands: the path to its entry in the form, None for a free text reply; and its scale."""

    scale: Scale
    path: Path | None = None
    first_digit: bool = False  # see Reader


@dataclass(frozen=True)
class Rated:
    """One answer as read; the fields are those of `types.Score`, to be passed on as they are."""

    value: float | None = None
    label: str | None = None
    status: Status = "ok"
    reason: str = ""
    distribution: dict[str, float] | None = None
    unseen: float | None = None
    reader: str = ""
    raw: str | None = None
    notes: tuple[str, ...] = ()

    def fields(self) -> dict[str, Any]:
        """As keyword arguments of a Score."""
        return dict(self.__dict__)


def entry_of(data: Any, path: Path) -> Any:
    """The part of parsed JSON at a path, None where it is not there."""
    for step in path:
        data = data.get(step) if isinstance(data, Mapping) else None
    return data


def stated(reply: Reply[Any], slot: Slot) -> Rated:
    """The answer as written."""
    answer = _stated(reply, slot)
    if reply.ends is not None:
        reply.ends.end(answer.status)
    return answer


def _stated(reply: Reply[Any], slot: Slot) -> Rated:
    if slot.path is None:
        return _stated_in_text(reply, slot)
    entry = entry_of(reply.data, slot.path)
    try:
        answer = answer_of(entry, slot.scale)
    except ValueError as error:
        return Rated(status="unreadable", reason=str(error), raw=reply.text, notes=reply.notes)
    reason = str(entry.get("reason") or "")
    if answer is None:
        return Rated(status="abstained", reason=reason, reader="stated", notes=reply.notes)
    return _given(answer, reply, slot, reason)


def _given(answer: float | str, reply: Reply[Any], slot: Slot, reason: str) -> Rated:
    if isinstance(answer, str):
        return Rated(label=answer, reason=reason, reader="stated", notes=reply.notes)
    notes = (*reply.notes, *off_points(answer, slot.scale))
    return Rated(value=answer, reason=reason, reader="stated", notes=notes)


def _stated_in_text(reply: Reply[Any], slot: Slot) -> Rated:
    reading = text_reading(reply.text, slot.scale, slot.first_digit)
    if reading.status == "abstained":
        return Rated(status="abstained", reason=parts(reply.text).said.strip(), reader="stated", notes=reply.notes)
    if reading.value is None:
        reason = "no rating found in the reply"
        return Rated(status=reading.status, reason=reason, raw=reply.text, notes=reply.notes)
    return _given(reading.value, reply, slot, _reason(reply, reading.span))


def _reason(reply: Reply[Any], span: tuple[int, int] | None) -> str:
    """What the answer says beside its value; nothing of what was thought."""
    found = parts(reply.text)
    if not found.spans:
        return reason_beside(reply.text, span)
    start = len(found.answer) - len(found.answer.lstrip())
    beside = reason_beside(found.answer[start:], (span[0] - start, span[1] - start) if span else None)
    return re.sub(r"[ ]{9,}", " ", beside)  # the place of a thought


def weighted(reply: Reply[Any], slot: Slot, answer: Rated) -> Rated:
    """The first rung, where the judge gave log-probabilities that hold enough; else the answer as it was."""
    if answer.status != "ok":
        return answer
    found: Weighted | str = "the scale has no points to weigh"
    if slot.scale.labels or slot.scale.points:
        found = _found(reply, slot, answer)
    if isinstance(found, str):
        return replace(answer, notes=(*answer.notes, found))
    return _by(answer, found, "logprobs")


def _found(reply: Reply[Any], slot: Slot, answer: Rated) -> Weighted | str:
    """What the tokens say of an answer, or why they say nothing."""
    if reply.tokens is None:
        return NO_LOGPROBS
    at = offset(reply.tokens, reply.text, last=bool(reply.reasoning))
    span = _span(reply, slot)
    if at is None or span is None or not _same(reply.text[slice(*span)], answer):
        return NOT_FOUND
    place = (span[0] + at, span[1] + at)
    if why := unsound(reply.tokens, place):
        return why
    masses = masses_at(reply.tokens, place, slot.scale)
    return expected(masses, slot.scale, FLOOR) or TOO_LITTLE


def rung_left(notes: Iterable[str]) -> str:
    """Why a score was not read by its first rung, as its notes say; "" where it was, or had none."""
    return next((note for note in notes if note.startswith((NO_LOGPROBS, NOT_FOUND, TOO_LITTLE, UNSOUND))), "")


def _same(written: str, answer: Rated) -> bool:
    """What stands at the place found is the answer that was read: never a weight of another number."""
    if answer.value is None:
        return answer.label is not None and written.casefold() == answer.label.casefold()
    try:
        return float(written) == answer.value
    except ValueError:
        return False


def _by(answer: Rated, found: Weighted, reader: str) -> Rated:
    seen: dict[str, Any] = {"distribution": found.distribution, "unseen": round(found.unseen, 6)}
    if found.value is None:
        notes = (*answer.notes, *tied(found.distribution, answer.label))
        return replace(answer, reader=reader, notes=notes, **seen)
    return replace(answer, value=found.value, reader=reader, **seen)


def _span(reply: Reply[Any], slot: Slot) -> tuple[int, int] | None:
    """Characters of the value in the reply."""
    if slot.path is None:
        return text_reading(reply.text, slot.scale, slot.first_digit).span
    found = spans(reply.answer)
    path = (*slot.path, answer_key(slot.scale))
    inner = [at for at in found if at[-len(path) :] == path]  # a surplus level may stand before it
    return found[inner[0]] if len(inner) == 1 else None


def tied(shares: Mapping[str, float], label: str | None) -> tuple[str, ...]:
    """A note where other labels have the chosen one's share: the order of names decided."""
    best = shares.get(label or "", 0.0)
    others = [other for other, share in shares.items() if other != label and math.isclose(share, best, abs_tol=1e-6)]
    return (f"tied with {', '.join(others)}",) if others and best else ()
