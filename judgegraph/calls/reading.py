"""Read a rating from a free-text reply: by a clear rule or not at all, never a guess.

The rules, first to last; the first that finds a number decides, also where that number is off the scale:
    1. marked: "[[4]]", "[RESULT] 4", "<score>4</score>", "\\boxed{4}"
    2. named: "Final score: 4", "**Rating:** 4", '"score": 4'
    3. own line: the reply opens with the number, or it is the last sentence ("4", "4 stars. Because")
    4. criterion: "Coherence: 4"
    5. counted: "4 out of 5", "4/5", "four stars"
    6. phrase: "a score of four", "I rate it a 4", "is a 4"
    7. lone: the only number on the scale, where it counts nothing else
Of several numbers by one rule the last counts, as judges reason towards a verdict, but a final or overall one
before others; different numbers for things of different names, and different lone ones, give no verdict.
What was thought, what is quoted, and what another is said to have said are no answers; of an answer that is taken
back ("Actually, wait: I give it a 2") the later one stands.
The scale's own numbers, list marks, and what a point would mean are no answers either; a number turned into another
("2 -> 3") or beside a denial ("cannot be rated: 2") gives no verdict. A reply that abstains ("N/A",
"No evidence: ...") is read by none of the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from judgegraph.calls.choices import read_choice
from judgegraph.calls.numerals import NUMBER, echoes, meanings, ranges, valued
from judgegraph.calls.quotation import SPEECH, attributed, disowned
from judgegraph.calls.rating_context import FINAL, counts_something, subject
from judgegraph.calls.rating_rules import RULES, Rule, of_another_key, superseded, unclear
from judgegraph.calls.reply_text import Excerpt, Reading, abstains, only_answers, refuses, turn_of, unread, withdrawn
from judgegraph.types import Scale

__all__ = ["Reading", "read_choice", "read_rating"]

SHORT = 200  # characters of a reply that may be numbers alone
MOST = 60  # numbers looked at from either end: a reply with more is a table, and the work is bounded


@dataclass(frozen=True)
class _Found:
    value: float | None  # None: off the scale, two numbers at once, or a rating denied
    start: int
    end: int
    subject: str


@dataclass(frozen=True)
class _Reply:
    """A reply with the places (character positions) of numbers that are not one answer."""

    text: str
    scale: Scale
    echo: frozenset[int]
    told: frozenset[int]
    unsettled: frozenset[int]
    superseded: frozenset[int]
    speech: bool

    @classmethod
    def of(cls, text: str, scale: Scale) -> _Reply:
        unsettled = _places([*ranges(text), *unclear(text)])
        return cls(
            text,
            scale,
            _places(echoes(text, scale)),
            _places(meanings(text)),
            unsettled,
            _places(superseded(text)),
            bool(SPEECH.search(text)),
        )

    def of_another(self, start: int, number: int, end: int) -> bool:
        """What stands there is what another is said to have said, or what the judge will not say."""
        places = {start, number}
        return (
            (self.speech and any(attributed(self.text, place) for place in places))
            or any(disowned(self.text, place, end) for place in places)
            or of_another_key(self.text, number)
        )


def _places(spans: Iterable[tuple[int, int]]) -> frozenset[int]:
    return frozenset(at for span in spans for at in range(*span))


def _found(reply: _Reply, rule: Rule) -> list[_Found]:
    """What a rule finds, in the order of the text."""
    text, found = reply.text, []
    for pattern in rule.patterns:
        matches = list(pattern.finditer(text))
        for match in matches[:MOST] + matches[MOST:][-MOST:]:
            start, end = match.start("n"), max(match.end(group) for group in ("n", "part", "half"))
            if start in reply.echo or start in reply.superseded or reply.of_another(match.start(), start, match.end()):
                continue
            if rule.loose and (start in reply.told or counts_something(text, match, rule.name)):
                continue
            value = None if start in reply.unsettled else valued(match, reply.scale)
            if value is not None or rule.name != "lone":
                found.append(_Found(value, start, end, subject(text, match) if rule.named else ""))
    return sorted(found, key=lambda one: one.start)


_LIST_MARK = re.compile(r"\A\s*\d{1,2}[.)]\s+(?=\d)")
_BARE = re.compile(rf"\W*?(?:{NUMBER})(?:\s*/\s*[0-9.]+)?\W*")


def _without_words(text: str) -> bool:
    """Several different numbers and no word that says which of them is the rating: "2\n5", "[1, 2, 3]"."""
    text = _LIST_MARK.sub("", text)
    if any(map(str.isalpha, text)) or _BARE.fullmatch(text):
        return False
    return len(set(re.findall(r"\d+(?:\.\d+)?", text))) > 1


def _decided(found: list[_Found], rule: Rule) -> _Found | None:
    """The verdict among what one rule found; None where nothing orders them."""
    for name in (FINAL, ""):  # a final or an unnamed rating says more than one of a single trait
        found = [one for one in found if one.subject == name] or found
    unordered = rule.name == "lone" or len({one.subject for one in found}) > 1
    if unordered and len({one.value for one in found}) > 1:
        return None
    return found[-1]


def read_rating(text: str, scale: Scale | str) -> Reading:
    """The rating in a free-text reply, as the scale counts it.

    Args:
        text: the reply; of a long one, the first 2,000 and the last 4,000 characters are read.
        scale: a numeric scale ("1-5", "0-1 any"), or one of labels (then as `read_choice`).

    Returns:
        A value between the scale's ends, also between its whole points ("2.5"); never clipped, never rescaled
        but for shares of one on a 0-1 scale of any number ("80%", "4/5"). Otherwise None, with a status.
    """
    scale = Scale.of(scale)
    if scale.labels:
        return read_choice(text, scale.labels)
    excerpt = Excerpt.of(text)
    reading = _read(excerpt.text, scale)
    if (turn := turn_of(excerpt.text)) and (later := _taken_back(excerpt.text[turn:], scale)):
        reading = replace(later, span=(later.span[0] + turn, later.span[1] + turn) if later.span else None)
    if reading.span and withdrawn(excerpt.text, reading.span[1]):
        return unread(excerpt.text, "an answer that is taken back")
    return replace(reading, span=excerpt.span(*reading.span)) if reading.span else reading


def _taken_back(later: str, scale: Scale) -> Reading | None:
    """What stands in the place of an answer that was taken back; None where these words hold no other."""
    reading = _read(later, scale)
    if reading.status == "ok":
        return reading if reading.rule not in ("lone", "criterion") or only_answers(later) else None
    return reading if reading.status != "unreadable" or reading.rule.startswith(("marked", "named", "phrase")) else None


def _read(text: str, scale: Scale) -> Reading:
    """The rating in the words of an answer, by the first rule that finds a number."""
    if abstains(text):
        return Reading(None, "abstained", rule="abstained")
    if len(text) < SHORT and _without_words(text):
        return unread(text, "several numbers, and no word that says which is the rating")
    reply = _Reply.of(text, scale)
    for rule in RULES:
        if rule.name == "lone" and refuses(reply.text):
            break
        found = _found(reply, rule)
        if not found:
            continue
        verdict = _decided(found, rule)
        if verdict is None:
            return unread(text, f"{rule.name}: several numbers that cannot be ordered")
        if verdict.value is None:
            return unread(text, f"{rule.name}: not one number on the scale {scale}")
        return Reading(verdict.value, span=(verdict.start, verdict.end), rule=rule.name)
    return unread(text, "no number that is a rating")
