"""What the words around a number make of it: a count, a rating denied, or the rating of one thing."""

from __future__ import annotations

import re

from judgegraph.calls.numerals import WORDS

_SAME_CLAUSE = r"(?:(?!\b(?:and|so|but|I|thus|hence|therefore|which|that|because|as)\b)[^.,;:\n]){0,30}"
_DENIED = re.compile(
    r"(?:(?:\bnot?\b|n['’]t|\bcannot|\bnever|\brather than|\binstead of|\bwithout|\bneither|\bnor)[ \t]+"
    rf"{_SAME_CLAUSE}|\b(?:than|least|most|above|below|over|under)[ \t]+(?:an?[ ])?"
    r"|\b(?:hardly|far[ ]from|short[ ]of|anything[ ]but|up[ ]to|almost|nearly)[ ](?:(?:an?|the|it|worth)[ ])*|<[ ]?)\Z",
    re.I,
)
_NUMBERED = re.compile(  # "Summary 2" is no rating
    r"\b(?:summary|response|output|answer|option|assistant|sentence|paragraph|line|step|question|point|turn"
    r"|article|version|part|section|page|item|criterion|in|of the|the|first|last|all|these|those|has|have|had"
    r"|contains?|out[ ]of|errors?|errno|exception|http|status|code|null|none|nan)[ ]{1,2}\Z",
    re.I,
)
_NEXT = re.compile(r"[ \t]{1,2}(?P<word>[a-z][a-z'’-]*)|[ \t]?(?:[a-z]|%)")
_GOES_ON = frozenset(  # words that may follow a rating; another word in lower case is what is counted
    re.findall(
        r"\w+",
        """out for on in because as since and but due with given to overall which while based star stars at
        from if although though however considering reflecting indicating meaning is rating score so this it
        that or per by regarding when where there would could rather instead then""",
    )
)
_POINTS = re.compile(  # "it scores 1 point." is all of a rating, "1 point for style" and "1 point less" are not
    r"[ ](?:points?|marks?)(?=[*_\"')\]]{0,3}[ \t]{0,3}(?:\Z|[\n.,;:!)–—]|"
    r"(?:out[ ]of|because|since|as|overall|in[ ]total)\b))",
    re.I,
)
_BEFORE_NAME = re.compile(r"([a-z]{1,20})[ _-]{1,2}\Z", re.I)
_PLAIN_NAMES = frozenset(
    re.findall(
        r"\w+",
        """score scores rating ratings grade mark verdict answer result overall final evaluation judgement
        judgment for of on the this my a an is so and total response summary output dialogue text story
        conversation individual""",
    )
)
_COUNTED = r"\b(?:errors?|issues?|mistakes?|problems?|number|count|words?|steps?|page|year|questions?|sentences?)\b"
_COUNT_NAMES = re.compile(_COUNTED, re.I)
_COUNT_BEFORE = re.compile(rf"{_COUNTED}[^\n.]{{0,12}}[:=][ *]{{0,4}}\Z", re.I)
FINAL = "!"  # the subject of a rating that says it is the final one


def counts_something(text: str, match: re.Match[str], rule: str) -> bool:
    """The words around a loosely stated number make it something else than a rating."""
    before, after = text[max(0, match.start() - 40) : match.start()], _NEXT.match(text, match.end())
    if _DENIED.search(before):
        return True
    if rule == "criterion" and _COUNT_NAMES.search(match["name"]):
        return True
    if rule == "counted" and (match["stars"] or not match["of"]):
        return not match["stars"]
    if rule == "lone" and (match["n"].lower() in WORDS or _NUMBERED.search(before) or _COUNT_BEFORE.search(before)):
        return True
    if rule == "phrase" and _POINTS.match(text, match.end()):
        return False
    return after is not None and after["word"] not in _GOES_ON and (after["word"], rule) != ("points", "counted")


def subject(text: str, match: re.Match[str]) -> str:
    """What a named rating rates: "clarity" of "Clarity score", "" for all of it, FINAL where it says so."""
    before = _BEFORE_NAME.search(text[max(0, match.start() - 22) : match.start()])
    words = re.findall(r"\w+", f"{before[1] if before else ''} {match['name']}".lower())
    if "final" in words or "overall" in words:
        return FINAL
    return " ".join(word for word in words if word not in _PLAIN_NAMES)
