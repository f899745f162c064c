"""What the readers of free text share: what a reading is, how much of a reply is read, what a refusal is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

HEAD, TAIL = 2000, 4000  # characters: verdicts stand at either end, so the work is bounded by these
_GAP = "\n\n"

_REFUSAL = re.compile(
    r"\bI(?:['’]m|[ ]am)[ ](?:so[ ]|very[ ]|really[ ])?(?:sorry|afraid|unable|not[ ]able)\b"
    r"|\bI[ ](?:can(?:not|['’]t|[ ]not)|won['’]t|will[ ]not|must[ ]decline|apologi[sz]e)\b"
    r"|\bas[ ]an?[ ](?:AI|artificial|(?:large[ ])?language[ ]model)\b"
    r"|\bunable[ ]to[ ](?:rate|score|judge|provide|assist|help|evaluate|comply)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Reading:
    """What a reply says.

    Attributes:
        value: a number on the scale, or a label; None unless status is "ok".
        status: "ok"; "unreadable": no verdict, or several that cannot be ordered, or one off the scale;
            "refused": the model declined and gave no verdict.
        span: start and end of the value in the text, in characters, so that its token can be found.
        rule: which rule read it, or why nothing was read.
    """

    value: float | str | None
    status: Literal["ok", "unreadable", "refused"] = "ok"
    span: tuple[int, int] | None = None
    rule: str = ""


@dataclass(frozen=True)
class Excerpt:
    """The part of a reply that is read: all of it, or its two ends where it is long."""

    text: str
    cut: int  # positions from here on are shifted
    shift: int

    @classmethod
    def of(cls, reply: str) -> Excerpt:
        """Both ends of the reply; a word (or number) that the cut would split is left out."""
        if len(reply) <= HEAD + TAIL:
            return cls(reply, len(reply), 0)
        head = re.sub(r"\S+\Z", "", reply[:HEAD][-200:])
        head = reply[: max(0, HEAD - 200)] + head if head else ""
        start = len(reply) - TAIL
        blank = re.compile(r"\s").search(reply, start, start + 200)
        tail = reply[blank.start() if blank else len(reply) :]
        text = head + _GAP + tail
        return cls(text, len(head) + len(_GAP), len(reply) - len(text))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A place in the excerpt as a place in the reply."""
        shift = self.shift if start >= self.cut else 0
        return start + shift, end + shift


def refuses(text: str) -> bool:
    """The reply declines, at either end."""
    return bool(_REFUSAL.search(text[:400]) or _REFUSAL.search(text[-200:]))


def unread(text: str, why: str) -> Reading:
    """No value: refused where the reply declines, unreadable otherwise."""
    return Reading(None, "refused" if refuses(text) else "unreadable", rule=why)
