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
_MARK = r"[*_\"'`)\]]{0,3}"
_NAMED = (  # "Score", "**Final rating**", "Score for Relevance", then a colon
    r"(?:[a-z]{1,20}[ ]){0,2}(?:score|rating|grade|mark|verdict|answer|result|label|judge?ment)"
    rf"(?:[ ](?:for|of|on)(?:[ ]\w{{1,20}}){{1,4}})?{_MARK}[:=]"
)
_NOTHING = r"(?:n/?a|null|not[ ]applicable|no[ ]evidence|(?:I[ ](?:must[ ]|have[ ]to[ ])?)?abstain(?:s|ed|ing)?)"
_ABSTAINS_AT_START = re.compile(
    rf"[\W_]*(?:{_NAMED}[\W_]{{0,9}})?(?:no[ ]evidence\s{{0,3}}:|(?:I[ ](?:must[ ]|have[ ]to[ ])?)?abstain\b"
    rf"|not[ ]applicable[ ](?:to|for|here|in|as|because|since)\b"
    rf"|(?:n/?a|null|not[ ]applicable)(?={_MARK}\s{{0,3}}(?:[:;.,(–—-]|\n)))",
    re.IGNORECASE,
)
_ABSTAINS = re.compile(rf"[\W_]*(?:[a-z][\w ]{{0,40}}{_MARK}:)?[\W_]{{0,9}}{_NOTHING}[\W_]*", re.IGNORECASE)
_ABSTAINS_AT_END = re.compile(rf"(?:^|[.!?][ ]){_MARK}{_NAMED}[\W_]{{0,9}}{_NOTHING}[\W_]*\Z", re.I | re.M)


@dataclass(frozen=True)
class Reading:
    """What a reply says.

    Attributes:
        value: a number on the scale, or a label; None unless status is "ok".
        status: "ok"; "unreadable": no verdict, or several that cannot be ordered, or one off the scale;
            "refused": the model declined and gave no verdict; "abstained": it says that it cannot judge.
        span: start and end of the value in the text, in characters, so that its token can be found.
        rule: which rule read it, or why nothing was read.
    """

    value: float | str | None
    status: Literal["ok", "unreadable", "refused", "abstained"] = "ok"
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


def abstains(text: str) -> bool:
    """The reply opens or ends by saying that there is nothing to judge by ("N/A", "No evidence: ...").

    Then no other rule is tried: a "no" or a number that stands beside it is no verdict.
    """
    whole = len(text) < 200 and _ABSTAINS.fullmatch(text)
    return bool(whole or _ABSTAINS_AT_START.match(text[:400]) or _ABSTAINS_AT_END.search(text[-200:]))


def unread(text: str, why: str) -> Reading:
    """No value: refused where the reply declines, unreadable otherwise."""
    return Reading(None, "refused" if refuses(text) else "unreadable", rule=why)
