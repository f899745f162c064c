"""The ways a judge states a rating in free text, as patterns, strongest first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judgegraph.calls.numerals import NUMBER, VALUE

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
    """Places of numbers that settle nothing: one turned into another ("2 -> 3"), or beside "cannot be rated:"."""
    yield from (match.span() for match in _CHANGED.finditer(text))
    yield from (match.span("n") for match in _DENIED.finditer(text))
