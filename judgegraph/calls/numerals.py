"""Numbers as judges write them, and those in a reply that are no answer: the scale's own, list marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgegraph.types import Scale

WORDS = {
    word: float(value)
    for value, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}
_WORD = "|".join(WORDS)
DIGITS = r"(?:[0-9]{1,6}(?:\.[0-9]{1,20})?|\.[0-9]{1,20})(?:e[-+]?[0-9]{1,3})?"
_END = r"(?!\w|[.,][0-9])"  # "4." and "4, because" end a number; "4,5" is none
_BEFORE = r"(?<![\w.,#$−])(?<![\w?]/)(?<!\?[ ]/[ ])(?<![0-9][-–—])(?<![a-z]-)"  # not in "#4", "3/4", "3-4", "v-4"
NUMBER = rf"(?:{_BEFORE}-?{DIGITS}{_END}|\b(?:{_WORD})\b(?!-(?!stars?\b))(?![ -](?:quarter|third|fifth|tenth)))"
_OF = (
    r"[ \t]{0,2}(?:/|\b(?:sur|von|de|(?:out[ ])?of)(?:[ ]a)?(?:[ ](?:possible|total|maximum|max))?(?:[ ]of)?)[ \t]{0,2}"
)
_COUNTED = r"(?:[ -](?:points?|stars?|marks?)\b(?=[ \t]{0,2}(?:/|out[ ]of\b)))?"  # "1 point out of 5"
_MORE = r"[ ](?:and[ ]a[ ](?P<part>half|quarter)\b(?![-\w])|(?P<half>1/2(?![\w/])|½))"
VALUE = (  # a number, with a half or a quarter behind it, and what it is out of
    rf"(?P<n>{NUMBER})(?:{_MORE})?(?:[ \t]?(?P<percent>%)|[*\"']{{0,2}}{_COUNTED}{_OF}(?P<of>{DIGITS}|\b(?:{_WORD})\b)"
    rf"(?![\w]|[./][0-9]))?"
)

_DASH = r"(?:[-–—~∼〜～]|\.\.|\bto\b|\bthrough\b|\bor\b)"
_RANGE = re.compile(
    rf"(?P<a>{NUMBER})[ \t]{{0,2}}(?P<dash>{_DASH})[ \t]{{0,2}}(?P<b>-?{DIGITS}|(?:{_WORD})\b)(?!\w)", re.I
)
_PAIR = re.compile(rf"[\[(][ ]?(?P<a>-?{DIGITS})[ ]?,[ ]?(?P<b>-?{DIGITS})[ ]?[\])]")  # "[1, 5]"
_STANDS_ALONE = re.compile(  # nothing is counted by the number before this place
    rf"[*_\"'`]{{0,3}}(?:[ \t]?(?:stars?|points?)\b|[ \t]{{0,2}}(?:/|out[ ]of\b)[ \t]{{0,2}}{DIGITS}(?![ \t]+[a-z]))?"
    r"[*_\"'`]{0,3}[ \t]{0,3}(?:\Z|[\n.,;:)\]}])",
    re.I,
)
_ENDS = re.compile(  # "between 1 and 5", "1 (worst) to 5 (best)"
    rf"\b(?:between|from|range[ ]of)[ ]{NUMBER}[ ]?(?:\([^()\n]{{0,40}}\))?[ ]?(?:and|to|-|–)[ ]?{NUMBER}"
    rf"|{NUMBER}[ ]?\([^()\n]{{0,40}}\)[ ]?(?:and|to|-|–)[ ]?{NUMBER}",
    re.I,
)
_SHARED = re.compile(  # "2 on coherence and 4 on fluency"
    rf"(?P<n>{NUMBER})[ ](?:on|for|in)[ ]\w{{1,20}},?"
    rf"[ ](?:and|but)[ ](?:(?:overall|in[ ]all),?[ ])?(?:an?[ ])?{NUMBER}",
    re.I,
)
_POINT_SCALE = re.compile(rf"{NUMBER}[- –]?points?[ ](?:likert[ ])?(?:scale|system|rubric)", re.I)
_MEANING = re.compile(  # "1 = poor", "a score of 5 would require", "(with 5 being the best)"
    rf"(?P<n>{NUMBER})[\"')]{{0,2}}[ \t]{{0,2}}(?:\([^()\n]{{0,40}}\)[ ]?)?"
    r"(?:=|\b(?:being|means?|meaning|represents?|denotes?|indicates?|would|could|might|requires?|needs"
    r"|is[ ](?:for|the[ ](?:best|worst|highest|lowest|top|maximum|minimum)|reserved|best|worst))\b)",
    re.I,
)
_RUBRIC = re.compile(  # "Score 1: no plot"
    rf"^[ \t>*-]{{0,6}}(?:an?[ ])?(?:score|rating)[ ]+(?:of[ ])?(?P<n>{NUMBER})[ *]{{0,3}}:", re.I | re.M
)
_MARK = re.compile(r"^[ \t>*-]{0,4}(?P<n>[0-9]{1,2})[.)][ \t]+(?=\S)", re.M)  # "1. the plot"

_NUMBER_NEXT = re.compile(rf"[*\"'(]{{0,3}}{NUMBER}(?![ ]?[a-z])", re.I)
_SPACED = re.compile(r".*\s[-–—]\s.*")


def number(text: str) -> float:
    """The value of a number written as digits or as a word."""
    return WORDS[text.lower()] if text.lower() in WORDS else float(text)


def valued(match: re.Match[str], scale: Scale) -> float | None:
    """What a VALUE match says on the scale; None where it is off it, or is counted on another scale.

    Three of five is 3 on 1-5 and .6 on a 0-1 scale of any number; "8/10" says nothing on 1-5.
    """
    value, low, high = number(match["n"]) + _part(match), scale.low, scale.high
    if low is None or high is None:
        return None
    of = 100.0 if match["percent"] else number(match["of"]) if match["of"] else high
    if of != high:
        if (low, high, scale.whole) != (0, 1, False) or of <= 0:
            return None
        value /= of
    return value if low <= value <= high else None


def _part(match: re.Match[str]) -> float:
    """What stands behind a whole number: "and a half", "1/2", "and a quarter"."""
    return 0.25 if (match["part"] or "").lower() == "quarter" else 0.5 if match["part"] or match["half"] else 0.0


def _list_marks(text: str) -> Iterator[tuple[int, int]]:
    """Enumerators: they count up, or stand before another number ("1. 2")."""
    marks = list(_MARK.finditer(text))
    values = {int(mark["n"]) for mark in marks}
    for mark in marks:
        value = int(mark["n"])
        if _NUMBER_NEXT.match(text, mark.end()) or value - 1 in values or (value == 1 and 2 in values):
            yield mark.span("n")


def echoes(text: str, scale: Scale) -> list[tuple[int, int]]:
    """Places of numbers that are no answer: the scale itself, and list marks."""
    found = [m.span() for pattern in (_ENDS, _POINT_SCALE) for m in pattern.finditer(text)]
    ends = {scale.low, scale.high}
    found += [m.span() for m in _RANGE.finditer(text) if {number(m["a"]), number(m["b"])} == ends and m["dash"] != "or"]
    found += [m.span() for m in _PAIR.finditer(text) if {float(m["a"]), float(m["b"])} == ends]
    return found + list(_list_marks(text))


def meanings(text: str) -> list[tuple[int, int]]:
    """Places of numbers whose meaning is told ("a 5 would require", "Score 1: ...", "Score 2: ...")."""
    lines = [m.span("n") for m in _RUBRIC.finditer(text)]
    return [m.span("n") for m in _MEANING.finditer(text)] + (lines if len(lines) > 1 else [])


def ranges(text: str) -> list[tuple[int, int]]:
    """Places of answers that are two numbers: "3-4", "3 - 4", "3 or 4", "[3, 4]", "2 on flow and 4 on facts".

    "3 - 4 errors" is one number, with what it is given for.
    """
    found = [m.span() for m in _RANGE.finditer(text) if not _SPACED.match(m[0]) or _STANDS_ALONE.match(text, m.end())]
    found += [m.span() for m in _PAIR.finditer(text)]
    return found + [m.span("n") for m in _SHARED.finditer(text)]
