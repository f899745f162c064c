"""The rung of samples: one answer from several replies to the same question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from judgegraph.calls.reply import Reply
from judgegraph.calls.rungs import Rated, Slot, stated, tied
from judgegraph.errors import ReplyError


def averaged(got: Sequence[Reply[Any]], slot: Slot, wanted: int) -> Rated:
    """Mean and distribution of the replies that could be read; of labels the most frequent, ties by name.

    Args:
        got: one reply or more. wanted: how many were asked for; what is missing is noted.

    Returns:
        "unreadable" where fewer than half of those wanted could be read: a mean of what is left would say more
        than was heard; where some never came, as the budget or the server kept them back, the status of that.
        "abstained" where more replies abstain than answer.
    """
    answers = [stated(reply, slot) for reply in got]
    good = [a for a in answers if a.status == "ok"]
    left_out = Counter[str](a.status for a in answers if a.status != "ok")
    missing = got[0].missing
    left_out[missing.status if missing else "unreadable"] += wanted - len(got)  # these did not even come this far
    notes = tuple(f"{count} of {wanted} replies left out: {status}" for status, count in left_out.items() if count > 0)
    if not good or left_out["abstained"] > len(good) or 2 * (len(good) + left_out["abstained"]) < wanted:
        return _unaveraged(answers, len(good), wanted, notes, missing)
    written = [a.label if a.value is None else f"{a.value:g}" for a in good]
    shares = {str(point): count / len(good) for point, count in sorted(Counter(written).items())}
    said = dict.fromkeys(note for a in good for note in a.notes)
    if slot.scale.labels:
        label = max(sorted(shares), key=lambda label: shares[label])
        notes = (*said, *notes, *tied(shares, label))
        return replace(good[0], label=label, reader="samples", distribution=shares, notes=notes)
    value = mean_of([a.value for a in good if a.value is not None])
    return replace(good[0], value=value, reader="samples", distribution=shares, notes=(*said, *notes))


def _unaveraged(
    answers: Sequence[Rated], good: int, wanted: int, notes: tuple[str, ...], missing: ReplyError | None
) -> Rated:
    """Why there is no mean: what kept replies back, the status of all that came, else abstained or unreadable."""
    lost = [a for a in answers if a.status != "ok"]
    abstained = [a for a in lost if a.status == "abstained"]
    readable = good + len(abstained)
    if abstained and 2 * readable >= wanted:
        told = notes if len(abstained) < wanted else ()
        return replace(abstained[0], reader="samples", notes=(*abstained[0].notes, *told))
    raw = next((a.raw for a in lost if a.raw), None)
    reason = f"{readable} of {wanted} replies could be read, fewer than half"
    if missing is not None:
        status: Any = missing.status
        return Rated(status=status, reason=f"{reason}: {missing}", raw=raw, notes=notes)
    if not readable and len({a.status for a in lost}) == 1:
        return lost[0]
    return Rated(status="unreadable", reason=reason, raw=raw, notes=notes)


def mean_of(values: Sequence[float]) -> float:
    """Their mean; identical ones give that number, not its float sum."""
    return values[0] if min(values) == max(values) else math.fsum(values) / len(values)
