"""The ways a judge states a rating in free text, as patterns, strongest first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgegraph.calls.numerals import DIGITS, NUMBER, VALUE
from judgegraph.calls.reply_text import RETRACTS, RETRACTS_AT_ALL

_FLAGS = re.IGNORECASE | re.MULTILINE
_OPEN = r"[\s*_\"'`\[({]{0,6}"
_COLON = r"[*_\"'`\])]{0,4}[ \t]{0,3}(?::|：|=|[-–—](?=\s))"
_RANGE = r"\[[ ]?-?[0-9.]{1,8}[ ]?(?:,|-|–|to)[ ]?-?[0-9.]{1,8}[ ]?\]"
_ASIDE = rf"(?:[ \t]{{0,2}}(?:\([^()\n]{{0,40}}\)|{_RANGE}))?"
_STARS = r"(?:[ -]?(?:stars?|points?)\b)?"
_NAME = r"(?:scores?|ratings?|grade|mark|verdict|answer|result|overall|final|evaluation|judge?ment)"
_OF_WHAT = r"(?:[ \t](?:for|of|on)(?:[ \t][\w'’]{1,20}){1,4})?"
_LINK = (  # what may stand between "rate" and the number: no content words but the thing that is rated
    r"(?:[ \t]+(?:of|as|at|is|was|be|would|should|will|it|this|that|the|an?|to|only|just|about|around|one|its"
    r"|my|out|overall|final|perfect|solid|score|rating|grade|summary|response|answer|output|text|article|story"
    r"|conversation|dialogue|therefore|with|consistency|coherence"
    r"|(?:for|on|in)(?:[ ](?:terms[ ]of|the|its|this))?[ ][a-z]{1,20})\b)"
)
_VERB = (
    r"\b(?:scor(?:es?|ed|ing)|rat(?:es?|ed|ings?)|grad(?:es?|ed|ing)|g[ia]v(?:es?|en|ing)|assign\w{0,3}|award\w{0,3}|"
    r"receiv(?:es?|ed|ing)|earn\w{0,3}|deserv(?:es?|ed|ing)|gets?|got|merit\w{0,3}|warrant\w{0,3})\b"
)
_SAYING = r"\b(?:(?:is|as|be|it['’]s|say)[ ]an?|I['’](?:d|ll)[ ](?:say|go[ ]with))"

_OUT_OF = r"(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?[*_\"'`)\]]{0,3}"
_ARROW = rf"{_OUT_OF}[ \t]{{0,2}}(?:[-–—=]{{1,2}}>|[→⇒⟶➜])[ \t]{{0,2}}[*_\"'`(\[]{{0,3}}"
_CHANGED = re.compile(rf"{NUMBER}(?:{_ARROW}{NUMBER}){{1,9}}", re.I)  # "2 -> 3"
_DENIED = re.compile(  # "cannot be rated: 2"
    r"(?:\b(?:cannot|can[ ]not|not|never|(?:unable|impossible)[ ]to)|n['’]t)[ ](?:be[ ])?"
    r"(?:rat|scor|grad|judg|evaluat|assess)(?:ed|e|able|eable)?\b"
    rf"(?:[ ](?:at[ ]all|here|it|(?:this|the)[ ][a-z]{{1,20}}))?{_COLON}{_OPEN}(?P<n>{NUMBER})",
    re.I,
)

_REACHED = (
    rf"{_OUT_OF}(?=[*_\"'`)\]]{{0,3}}(?:[.,;:!?)\n]|\s*\Z"
    r"|[ ](?:for|because|as|since|due|overall|given|rather|instead|points?|stars?|by)\b))"
)
_CHANGES = (
    r"lower|reduc|drop|chang|adjust|revis|correct|downgrad|rais|br(?:ing|ought)|cut|settl|becom|became|amend|bump|mov"
)
_CHANGES_AT_ALL = re.compile(rf"\b(?:{_CHANGES})", re.I)
_LOWERED = re.compile(  # "5, but the errors lower it to 2"
    rf"(?P<n>{NUMBER})(?:(?!\b(?:could|would|might|can|may|should|not|never|if|unless|from)\b|n['’]t)[^.!?\n]){{0,80}}?"
    rf"\b(?:{_CHANGES})\w{{0,5}}\b(?:(?!\bfrom\b)[^.!?\n0-9]){{0,30}}?\b(?:to|on|at|into|as)[ ](?:an?[ ])?[\[*]{{0,2}}"
    rf"{NUMBER}{_REACHED}",
    re.I,
)
_RETRACTED = re.compile(  # "5, no, 2", "5... hm, 2 rather"
    rf"(?P<n>{NUMBER}){_OUT_OF}[\W_]{{1,6}}{RETRACTS}[\[*\"']{{0,3}}{NUMBER}{_REACHED}", re.I
)
_SUM = re.compile(rf"{NUMBER}[ ]?(?:[-–−+]|minus|plus)[ ]?{DIGITS}[ ]?=[ ]?{DIGITS}", re.I)  # "5 - 3 = 2"
_ROW = re.compile(rf"(?P<n>{NUMBER})(?:[ ,;|>]{{1,4}}|[ ]?(?:\.{{3}}|…)[ ]?)(?!(?P=n)\b){NUMBER}[ \t.]*$", re.I | re.M)
_KEY = re.compile(
    r"[{,\[\s][\"']?(?P<key>[^\W\d][^\"'\n:{},]{0,60})[\"']?\s{0,3}:(?:\s{0,3}\"[^\"\n]{0,400}|[\s\[\"'{]{0,5})\Z"
)
_ANSWERS_KEY = re.compile(
    rf"(?:\A|(?<=[\W_]))(?:{_NAME}|value|label|stars|note|winner|choice|choose|prefer\w{{0,5}}|better|decision|selected)"
    r"(?=[\W_]|\Z)|(?<=[a-z])(?-i:Score|Rating|Grade)",
    re.I,
)
_ANOTHERS_KEY = re.compile(
    r"claim|request|demand|inject|want|max|possible|candidate|author|initial|draft|example", re.I
)


@dataclass(frozen=True)
class Rule:
    """One way of stating a rating.

    Attributes:
        name: as it stands in a reading.
        patterns: each has a number in group `n`, perhaps what it is out of in `of`, perhaps a `name`.
        loose: the words around may turn the number into something else: denied, supposed, or a count.
        named: numbers of different names do not add up to one verdict.
    """

    name: str
    patterns: Sequence[re.Pattern[str]]
    loose: bool = False
    named: bool = False


def _patterns(*sources: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(source, _FLAGS) for source in sources)


RULES = (
    Rule(
        "marked",
        _patterns(
            rf"(?:\[\[[ ]?(?:(?:rating|score)[: ]{{1,2}})?|\[RESULT\][ :*(\[]{{0,5}}|\\boxed\{{[ ]?"
            rf"|<(?:score|rating|result|answer)>\s{{0,3}}){VALUE}"
        ),
    ),
    Rule(
        "named",
        _patterns(rf"(?:(?<!\ba[ ])\b|(?<=\\n))(?P<name>{_NAME}{_OF_WHAT})(?:[ ]is)?{_ASIDE}{_COLON}{_OPEN}{VALUE}"),
        named=True,
    ),
    Rule(
        "own line",
        _patterns(
            rf"\A{_OPEN}{VALUE}{_STARS}(?=\s{{0,9}}\Z|[ \t*_]{{0,3}}[\n.:;,)\]\"'(–—-])",
            rf"(?:^|(?<=[^\W\d])[\"')]?[.!?][\"')]?[ ])"
            rf"[ \t*_\"'`(]{{0,6}}(?:-[ ])?{VALUE}{_STARS}[*_\"'`).]{{0,4}}\s{{0,9}}\Z",
        ),
    ),
    Rule(
        "criterion",
        _patterns(rf"^[ \t>*#•_-]{{0,6}}(?P<name>[a-z][a-z \t/&'’-]{{0,40}}){_ASIDE}{_COLON}{_OPEN}{VALUE}"),
        loose=True,
        named=True,
    ),
    Rule("counted", _patterns(VALUE + r"(?P<stars>[ -]?stars?\b)?"), loose=True),
    Rule(
        "phrase",
        _patterns(rf"(?:{_VERB}|{_SAYING}){_LINK}{{0,6}}[ \t]+[\"'*(\[]{{0,3}}{VALUE}"),
        loose=True,
    ),
    Rule("lone", _patterns(VALUE), loose=True),
)


def unclear(text: str) -> Iterator[tuple[int, int]]:
    """Places of numbers that settle nothing: one turned into another ("2 -> 3"), or beside "cannot be rated:", sums."""
    yield from (match.span() for match in _CHANGED.finditer(text))
    yield from (match.span("n") for match in _ROW.finditer(text))  # "5, 2"
    if "=" in text:
        yield from (match.span() for match in _SUM.finditer(text))
    yield from (match.span("n") for match in _DENIED.finditer(text))


def superseded(text: str) -> Iterator[tuple[int, int]]:
    """Places of numbers that another takes the place of, in one breath: "5, lowered to 2", "5, no, 2"."""
    if _CHANGES_AT_ALL.search(text):
        yield from (match.span("n") for match in _LOWERED.finditer(text))
    if RETRACTS_AT_ALL.search(text):
        yield from (match.span("n") for match in _RETRACTED.finditer(text))


def of_another_key(text: str, place: int) -> bool:
    """Whether a place in JSON is the value of a key that names no answer: `{"words": 3}`."""
    opened = text.rfind("{", 0, place)
    if opened < 0 or text.rfind("}", 0, place) > opened:
        return False
    key = _KEY.search(text, max(opened, place - 480), place)
    return key is not None and (not _ANSWERS_KEY.search(key["key"]) or _ANOTHERS_KEY.search(key["key"]) is not None)
