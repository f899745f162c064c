"""An answer in a free-text reply: what it says, and the reason that stands beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from judgegraph.types import Scale

if TYPE_CHECKING:
    from judgegraph.calls.reading import Reading

_NAMES = r"(?:scores?|rating|grade|mark|verdict|answer|result|overall|label|evaluation|judge?ment)"
_LEAD = re.compile(  # what may stand before a value that opens a reply: marks, "**Final score:**", "[[", "\boxed{"
    r"[\s*_#>\"'`(-]*"
    rf"(?P<named>(?:[^\W\d]+[ ]){{0,3}}(?:{_NAMES}\b[^\n:：.!?]{{0,40}}|[^\W\d]+[*_]*)[:：][\s*_\"'`(\[]{{0,9}}"
    r"|\[\[[ ]?|\[RESULT\][ :*(\[]{0,5}|\\boxed\{[ ]?|<\w{1,10}>\s{0,3})?",
    re.I,
)
_OUT_OF = r"(?:[*\"']{0,2}[ \t]{0,2}(?:/|out[ ]of)[ \t]{0,2}\d{1,6}|[ -]?(?:stars?|points?)\b|[ \t]?%)?"
_CLOSED = re.compile(rf"{_OUT_OF}(?:</\w{{1,10}}>|[*_\"'`)\]}}])*[ \t]*(?P<stop>[.,;:!–—-]|\n|\Z)?[\s*_]*", re.I)
_HEADING = re.compile(r"[*_]{0,2}(?:explanation|reason(?:ing)?|rationale)[*_]{0,2}[:：][*_]{0,2}\s*", re.I)


def text_reading(text: str, scale: Scale, first_digit: bool = False) -> Reading:
    """A rating or a label in free text."""
    from judgegraph.calls.reading import Reading, read_choice, read_rating  # many expressions: no part of an import
    from judgegraph.calls.reply_text import Excerpt, abstains

    if scale.labels:
        return read_choice(text, scale.labels)
    if not first_digit:
        return read_rating(text, scale)
    excerpt = Excerpt.of(text)
    if abstains(excerpt.text):
        return Reading(None, "abstained", rule="abstained")
    for match in re.finditer(r"\d", excerpt.text):
        if scale.low is not None and scale.high is not None and scale.low <= int(match[0]) <= scale.high:
            return Reading(float(match[0]), "ok", excerpt.span(*match.span()), "first digit")
    return Reading(None, "unreadable", None, "no digit of the scale")


def reason_beside(text: str, span: tuple[int, int] | None) -> str:
    """The reply without the value that opens it ("Rating: 4", "4.", "**yes**"); "" where it says nothing else.

    A value in the midst of the words, as in "4 of the facts are right", is left where it stands.

    Args:
        span: of the value in the text, None where it has none.
    """
    rest = text
    if span is not None:
        lead, closed = _LEAD.fullmatch(text[max(0, span[0] - 100) : span[0]]), _CLOSED.match(text, span[1])
        if lead and span[0] <= 100 and closed and (lead["named"] or closed["stop"] is not None):
            heading = _HEADING.match(text, closed.end())
            rest = text[(heading or closed).end() :]
    return rest.strip() if any(c.isalpha() for c in rest) else ""
