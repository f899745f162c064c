"""The rung of samples: one answer from several replies to the same question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from judgegraph.calls.reply import Reply
from judgegraph.calls.rungs import Rated, Slot, stated, tied


def averaged(got: Sequence[Reply[Any]], slot: Slot, wanted: int) -> Rated:
    """Mean and distribution of the replies that could be read; of labels the most frequent, ties by name.

    Args:
        got: one reply or more. wanted: how many were asked for; what is missing is noted.

    Returns:
        "unreadable" where fewer than half of those wanted could be read: a mean of what is left would say more
        than was heard; "abstained" where more replies abstain than answer.
    """
    answers = [stated(reply, slot) for reply in got]
    good = [a for a in answers if a.status == "ok"]
    left_out = Counter(a.status for a in answers if a.status != "ok")
    left_out["unreadable"] += wanted - len(got)  # these did not even come this far
    notes = tuple(f"{count} of {wanted} replies left out: {status}" for status, count in left_out.items() if count > 0)
    if not good or left_out["abstained"] > len(good) or 2 * (len(good) + left_out["abstained"]) < wanted:
        return _unaveraged(answers, len(good), wanted, notes)
    written = [a.label if a.value is None else f"{a.value:g}" for a in good]
    shares = {str(point): count / len(good) for point, count in sorted(Counter(written).items())}
    said = dict.fromkeys(note for a in good for note in a.notes)
    if slot.scale.labels:
        label = max(sorted(shares), key=lambda label: shares[label])
        notes = (*said, *notes, *tied(shares, label))
        return replace(good[0], label=label, reader="samples", distribution=shares, notes=notes)
    value = mean_of([a.value for a in good if a.value is not None])
    return replace(good[0], value=value, reader="samples", distribution=shares, notes=(*said, *notes))


def _unaveraged(answers: Sequence[Rated], good: int, wanted: int, notes: tuple[str, ...]) -> Rated:
    """Why there is no mean: the status of every reply where they share one, else abstained or unreadable."""
    lost = [a for a in answers if a.status != "ok"]
    abstained = [a for a in lost if a.status == "abstained"]
    readable = good + len(abstained)
    if abstained and 2 * readable >= wanted:
        told = notes if len(abstained) < wanted else ()
        return replace(abstained[0], reader="samples", notes=(*abstained[0].notes, *told))
    if not readable and len({a.status for a in lost}) == 1:
        return lost[0]
    raw = next((a.raw for a in lost if a.raw), None)
    reason = f"{readable} of {wanted} replies could be read, fewer than half"
    return Rated(status="unreadable", reason=reason, raw=raw, notes=notes)


def mean_of(values: Sequence[float]) -> float:
    """Their mean; identical ones give that number, not its float sum."""
    return values[0] if min(values) == max(values) else math.fsum(values) / len(values)
