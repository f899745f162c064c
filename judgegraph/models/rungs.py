"""How one answer is read from replies, rung by rung: as written, by token probabilities, as a mean of samples."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judgegraph.models.door import Reply
from judgegraph.models.form import answer_key, answer_of
from judgegraph.models.locate import Path, spans
from judgegraph.models.reading import Reading, read_choice, read_rating
from judgegraph.models.tokens import Weighted, expected, masses_at, offset
from judgegraph.types import Scale, Status

FLOOR = 0.5  # least probability that valid points must hold for a weighted score (design, contract 4)
NO_LOGPROBS = "the judge gives no log-probabilities"


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
    return _given(answer, reason=reason, reader="stated", notes=reply.notes)


def _given(answer: float | str, **fields: Any) -> Rated:
    return Rated(label=answer, **fields) if isinstance(answer, str) else Rated(value=answer, **fields)


def _stated_in_text(reply: Reply[Any], slot: Slot) -> Rated:
    reading = text_reading(reply.text, slot.scale, slot.first_digit)
    if reading.value is None:
        status: Any = reading.status
        return Rated(status=status, reason="no rating found in the reply", raw=reply.text, notes=reply.notes)
    return _given(reading.value, reason=reply.text.strip(), reader="stated", notes=reply.notes)


def text_reading(text: str, scale: Scale, first_digit: bool = False) -> Reading:
    """A rating or a label in free text."""
    if scale.labels:
        return read_choice(text, scale.labels)
    if not first_digit:
        return read_rating(text, scale)
    for match in re.finditer(r"\d", text):
        if scale.low is not None and scale.high is not None and scale.low <= int(match[0]) <= scale.high:
            return Reading(float(match[0]), "ok", match.span(), "first digit")
    return Reading(None, "unreadable", None, "no digit of the scale")


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
    at = offset(reply.tokens, reply.text)
    span = _span(reply, slot)
    if at is None or span is None or not _same(reply.text[slice(*span)], answer):
        return "the answer could not be found among the tokens"
    masses = masses_at(reply.tokens, (span[0] + at, span[1] + at), slot.scale)
    return expected(masses, slot.scale, FLOOR) or "log-probabilities hold too little on the scale"


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
        return replace(answer, reader=reader, **seen)
    return replace(answer, value=found.value, reader=reader, **seen)


def _span(reply: Reply[Any], slot: Slot) -> tuple[int, int] | None:
    """Characters of the value in the reply."""
    if slot.path is None:
        return text_reading(reply.text, slot.scale, slot.first_digit).span
    found = spans(reply.text)
    path = (*slot.path, answer_key(slot.scale))
    inner = [at for at in found if at[-len(path) :] == path]  # a surplus level may stand before it
    return found[inner[0]] if len(inner) == 1 else None


def averaged(got: Sequence[Reply[Any]], slot: Slot, wanted: int) -> Rated:
    """Mean and distribution of the replies that could be read; of labels the most frequent, ties by name.

    Args:
        got: one reply or more. wanted: how many were asked for; what is missing is noted.
    """
    answers = [stated(reply, slot) for reply in got]
    good = [a for a in answers if a.status == "ok"]
    if not good:
        return answers[0]
    left_out = Counter(a.status for a in answers if a.status != "ok")
    left_out["unreadable"] += wanted - len(got)  # these did not even come this far
    notes = tuple(f"{count} of {wanted} replies left out: {status}" for status, count in left_out.items() if count > 0)
    written = [a.label if a.value is None else f"{a.value:g}" for a in good]
    shares = {str(point): count / len(good) for point, count in sorted(Counter(written).items())}
    seen: dict[str, Any] = {"reader": "samples", "distribution": shares, "notes": (*good[0].notes, *notes)}
    if slot.scale.labels:
        return replace(good[0], label=max(sorted(shares), key=lambda label: shares[label]), **seen)
    values = [a.value for a in good if a.value is not None]
    same = min(values) == max(values)  # twenty identical replies give that number, not its float sum
    return replace(good[0], value=values[0] if same else math.fsum(values) / len(values), **seen)
