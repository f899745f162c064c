"""The ways a judge states a rating in free text, as patterns, strongest first."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from judgegraph.replies.quotation import unquoted
from judgegraph.replies.reply import TURN_OPENS, own_turn, parts, refuses
from judgegraph.types import Scale

# Numbers as judges write them, and those in a reply that are no answer: the scale's own, list marks.

WORDS = {
    word: float(value)
    for value, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}
_WORD = "|".join(WORDS)
DIGITS = r"(?:[0-9]{1,6}(?:\.[0-9]{1,20})?|\.[0-9]{1,20})(?:e[-+]?[0-9]{1,3})?"
_POINT = rf"[ ]point[ ](?:[0-9]|(?:{_WORD})\b)"
_END = rf"(?![^\W½]|[.,'’·][0-9]|[ ]000\b|{_POINT})"  # "4." ends a number; "4,5" and "2 point 5" are none
_OF_WORDS = (  # "3 of 5" in languages that are written with these letters
    "of", "out[ ]of", "von", "sur", "sobre",
    "de", "van", "van[ ]de", "af", "ud[ ]af", "av", "z", "ze", "na", "od", "pa",
    "pe", "din", "su", "dari", "daripada", "trên", "из", "от", "από", "στα",
)  # fmt: skip
POINTS = (
    r"(?:points?|stars?|marks?|punkte?n?|puntos?|punti|ponto?s|punten|sterne?n?|estrellas?|estrelas?|étoiles?|stelle)"
)
_OUT = "".join(f"(?<![0-9][ ]{word}[ ])" for word in _OF_WORDS)  # in "3,5 of 5" it is no 5
_BEFORE = (  # not in "#4", "3/4", "3-4", "v-4"
    rf"{_OUT}(?<![\w.,#$−])(?<![0-9]['’·])(?<![\w?]/)(?<![\w?][ ]/)(?<![\w?][ ]/[ ])(?<![0-9][-–—])(?<![a-z]-)"
)
NUMBER = (
    rf"(?:{_BEFORE}-?{DIGITS}{_END}|{_OUT}(?<!point[ ])\b(?:{_WORD})\b(?!-(?!stars?\b))(?!{_POINT})"
    r"(?![ -](?:quarter|third|fifth|tenth)))"
)
_OF = (
    rf"[ \t]{{0,2}}(?:/|\b(?:{'|'.join(sorted(_OF_WORDS, key=len, reverse=True))})(?:[ ]a)?"
    r"(?:[ ](?:possible|total|maximum|max))?(?:[ ]of)?)[ \t]{0,2}"
)
_COUNTED = r"(?:[ -](?:points?|stars?|marks?)\b(?=[ \t]{0,2}(?:/|out[ ]of\b)))?"  # "1 point out of 5"
_MORE = r"(?:[ ](?:and[ ]a[ ](?P<part>half|quarter)\b(?![-\w])|(?P<half>1/2(?![\w/])|½))|(?P<glued>½))"
VALUE = (  # a number, with a half or a quarter behind it, and what it is out of
    rf"(?P<n>{NUMBER})(?:{_MORE})?(?:[ \t]?(?P<percent>%)|[*\"']{{0,2}}{_COUNTED}{_OF}(?P<of>{DIGITS}|\b(?:{_WORD})\b)"
    rf"(?![\w]|[./][0-9]))?"
)

_DASH = (
    r"(?:[-–—~∼〜～到至]|\.\.|\b(?:to|through|or|versus|bis|oder|à|ou|al?(?=[ ][0-9])|o(?=[ ][0-9])|hasta|até|tot)\b"
    r"|\bvs\.?(?=\s))"
)
_NUMERALS_RANGE = re.compile(
    rf"(?P<a>{NUMBER})[ \t]{{0,2}}(?P<dash>{_DASH})[ \t]{{0,2}}(?P<b>-?{DIGITS}|(?:{_WORD})\b)(?!\w)", re.I
)
_LOW = rf"(?:-?{DIGITS}|\b(?:{_WORD}))[ ]?(?:-|–|to\b|and\b)[ ]?"
_RECITED = re.compile(
    r"(?<![\w.])\d{1,2}(?:(?:[ ]?[,/|][ ]?|[ ])(?:(?:or|and)[ ])?\d{1,2}){2,10}(?!\w|\.\d)"
)  # "1, 2, or 3"
_RECITED_LINE = re.compile(
    r"^[ \t>*-]{0,4}(?P<n>\d{1,2})[*_]{0,2}[ ]?[-–—:=.)(][ ]?[*_]{0,2}[^\W\d_]", re.M
)  # "1 - Very poor"
_RECITED_BEHIND = re.compile(r"[^\W\d_][ ]\((?P<n>\d{1,2})\)(?=[,;.][ \n]|\s*\Z)")  # "dull (1), fine (2)"
_NUMBERED = re.compile(  # "criteria 1, 2 and 4"
    r"\b(?:[a-z]{3,}s|criteria|steps)[ ](?P<all>\d{1,2}(?:,[ ]\d{1,2}){0,9},?[ ](?:and|or|but[ ]not|to)[ ]\d{1,2})"
    r"(?![\w/]|\.\d)",
    re.I,
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
_COUNTED_ON = re.compile(  # "4 (out of 10)", "4 on a scale of 1 to 10", "4 on a 1-10 scale", "4 on a 10-point scale"
    rf"(?P<n>{NUMBER})[*_\"'`)\]]{{0,3}}[ ]"
    r"(?:\([ ]?(?:out[ ]of|of|max(?:imum)?\.?:?)[ ](?:an?[ ])?(?:(?:possible|total|maximum|max)[ ])?"
    rf"(?P<aside>{DIGITS}|(?:{_WORD})\b)"
    rf"(?:[ ]points?)?[ ]?\)"
    rf"|\(?on[ ](?:an?|the)[ ](?:scale[ ](?:of[ ]|from[ ])(?:{_LOW})?(?P<high>{DIGITS}|(?:{_WORD})\b)"
    r"(?=[*_]{0,2}[ ]?(?:[),;:!\n]|\.(?!\d)|\Z|(?:because|since|as|for)\b))"
    rf"|(?:{_LOW})?(?P<points>{DIGITS}|(?:{_WORD})\b)(?:[- –]?points?)?[ ](?:likert[ ])?scale\b))",
    re.I,
)
_WITH_PART = re.compile(  # "3 3/4"
    rf"(?P<n>{NUMBER})[ ](?:[13]/(?P<den>4)|[12]/(?P<third>3)|[¾¼⅓⅔])(?=[*_)\]]{{0,3}}(?:[.,;:!\n]|\s*\Z))"
)
_POINT_SCALE = re.compile(rf"{NUMBER}[- –]?points?[ ](?:likert[ ])?(?:scale|system|rubric)", re.I)
_MEANING = re.compile(  # "1 = poor", "a score of 5 would require", "(with 5 being the best)"
    rf"(?P<n>{NUMBER})[\"')]{{0,2}}(?:[ -](?:stars?|points?))?[ \t]{{0,2}}(?:\([^()\n]{{0,40}}\)[ ]?)?"
    r"(?:=|\b(?:being|means?|meaning|represents?|denotes?|indicates?|would|could|might|requires?|needs"
    r"|is[ ](?:for|the[ ](?:best|worst|highest|lowest|top|maximum|minimum)|reserved|best|worst))\b)",
    re.I,
)
_OPENS_AS = re.compile(r"[\W_]{0,4}[0-9]{1,2}[*_]{0,2}[ ]?=[ ]?[*_]{0,2}[^\W\d]")  # "4 = Good" is an answer
_DEMANDED = re.compile(  # "as required by a score of 5", "a base score of 5", "starting from 5"
    r"\b(?:(?:required|demanded|needed|expected|necessary|reserved|called[ ]for|typical|characteristic|worthy"
    r"|short)[ ](?:by|for|of|at|to[ ](?:get|reach|earn|deserve|receive|achieve))[ ](?:an?[ ]|the[ ])?"
    r"(?:(?:full[ ]|top[ ]|perfect[ ])?(?:score|rating|level|grade|mark)[ ](?:of[ ])?(?:an?[ ])?)?"
    r"|(?:base|starting|baseline|default)[ ](?:score|value|grade|point|rating)[ ](?:of|is|was|at)[ ](?:an?[ ])?"
    r"|(?:start(?:ed|ing|s)?|begin(?:ning|s)?|began)[ ](?:out[ ])?(?:from|at|with)[ ](?:an?[ ])?(?:(?:score"
    r"|rating)[ ]of[ ])?)"
    rf"(?P<n>{NUMBER})",
    re.I,
)
_SUCH = re.compile(  # "Any good text would get a 5" is said of texts, not of this one
    r"(?:^|[.!?:;][ ])[ ]{0,3}(?:(?:any|every|each)[ ](?:\w{2,12}[ ]){0,2}"
    r"|an?[ ](?:\w{2,12}[ ]){1,2}(?=\w+[ ](?:would|should)))(?:text|output|response|summary|answer|essay|story|dialogue"
    r"|form|reply)[ ](?:(?:would|should|will|usually|always)[ ])?"
    r"(?:gets?|deserves?|earns?|receives?|scores?|merits?|be|is[ ]worth)[ ]"
    rf"(?:(?:an?|the|score|rating|of|at[ ]least|given)[ ]){{0,4}}(?P<n>{NUMBER})",
    re.I | re.M,
)
_SUPPOSED = re.compile(  # "could be a 4", "would be a 5 with sources", "unlike the 5-star answer"
    rf"\b(?:could|might|may)[ ](?:have[ ]been|be|get|earn|deserve)[ ](?:an?[ ])?(?P<n>{NUMBER})"
    rf"|\bwould(?:[ ]have[ ]been|[ ]be)[ ]an?[ ](?P<m>{NUMBER})[ ](?:with|if|had|were|without)\b"
    rf"|\bunlike[ ](?:the|an?)[ ](?P<o>{NUMBER})"
    rf"|(?:^|[.!?][ ])if[ ][^.,:;!?\n0-9]{{1,40}}[ ,:](?:[ ]?(?:score|rating)?:?[ ]?)(?P<p>{NUMBER})",
    re.I | re.M,
)
_RUBRIC = re.compile(  # "Score 1: no plot"
    rf"^[ \t>*-]{{0,6}}(?:an?[ ])?(?:score|rating)[ ]+(?:of[ ])?(?P<n>{NUMBER})[ *]{{0,3}}:", re.I | re.M
)
_TERM = (
    rf"{DIGITS}(?:[ ]?\([a-z][^()\n0-9]{{0,30}}\)|(?:[ ](?!(?:minus|plus|less|makes|gives|leaves|is|equals)\b)"
    r"[a-z]{2,15}\b){1,3})?"
)
_TO = r"(?:[-–—=]{1,2}>|[→⇒⟶➜])"  # an arrow
_SUM = (  # "(5+1)/2 = ", "6 + 1 bonus = ", "9 minus 2 makes ": what follows is the result; "4/5 = 80%" is no sum
    rf"(?!{DIGITS}[ ]?/[ ]?{DIGITS}[ ]?=)(?:\b(?:avg|average|mean|sum)[ ]?)?[(]{{0,3}}{_TERM}"
    rf"(?:[) ]{{0,4}}(?:(?:,[ ]?)?[-–−+*×·x/÷][( ]{{0,4}}|,[( ]{{0,4}}|\b(?:minus|plus|less)[ ]){_TERM}){{1,12}}"
    rf"[) ]{{0,4}}"
    rf"(?:=(?!>)|{_TO}|\b(?:makes|gives|leaves|is|equals)\b)[ ]?"
)
_STEP = rf"(?:[ ]?/[ ]?[0-9]{{1,3}})?[*_\"'`)\]]{{0,3}}[ \t]{{0,2}}{_TO}[ \t]{{0,2}}[*_\"'`(\[]{{0,3}}"  # of "5 -> 4"
_STEPS = rf"(?:{NUMBER}{_STEP}){{1,9}}"
_LED = rf"(?:{_SUM}|{_STEPS})"
OPERANDS = re.compile(rf"(?<![\w.]){_SUM}(?=[*_]{{0,2}}-?[.0-9])", re.I)
_SUMS_AT_ALL = re.compile(r"=|[-–—]>|[→⇒⟶➜]|\b(?:makes|gives|leaves|equals|minus|plus|less)\b", re.I)
STEPS = re.compile(rf"\A\W{{0,4}}{_STEPS}", re.I)
_CHANGED = re.compile(rf"(?P<first>{NUMBER}){_STEP}(?:{NUMBER}{_STEP}){{0,8}}(?P<last>{NUMBER})", re.I)
NUMERAL = re.compile(NUMBER, re.I)
_WITHOUT_RESULT = re.compile(  # "1+1+1"
    rf"(?<![\w.])(?:{DIGITS}[ ]?[+*×÷·][ ]?{DIGITS}(?![ ]?[%\w])|{DIGITS}[ ]?분의[ ]?{DIGITS})", re.I
)
_FULL_MARKS = re.compile(  # "5点満点中4点", "满分5分": what a score is out of; points and blanks stand for 点, 分
    rf"(?P<a>(?<![a-zA-Z0-9.]){DIGITS})[ ]{{0,2}}(?:満点|满分|滿分|만점|制|段階|中|중)(?:에|評価"
    rf"|下)?[で中得]?(?:[^0-9\n]{{0,8}}?(?P<n>{DIGITS}))?|(?:满分|滿分|満点"
    r"|总分(?![ ]{0,2}[:：是为])|总分(?=[^/，,\n]{1,8}[，,][^0-9\n]{0,8}[0-9]))[ 是为は:：]{0,2}"
    rf"(?P<b>{DIGITS})(?:[^0-9\n]{{0,8}}?(?P<m>{DIGITS}))?",
)
_MARK = re.compile(r"^[ \t>*-]{0,4}(?P<n>[0-9]{1,2})[.)][ \t]+(?=\S)", re.M)  # "1. the plot"

_NUMBER_NEXT = re.compile(  # "1. 4", "1. **Coherence**: 4"
    rf"(?:[*_\"'(]{{0,3}}(?!(?:[a-z]+[ ]){{0,3}}(?:errors?|issues?|mistakes?|typos?|words?|facts?|reasons?|number"
    rf"|count)\b)"
    r"[^\W\d_][^\n\d.:：=]{0,60}(?:[:：=]|[ ][-–—][ ])[*_ \t\[(]{0,5}"
    r"|(?:(?:so|thus|therefore|overall),?[ ])?(?:I\b(?=[^\n.]{0,40}\b(?:rate|give|score|grade|assign|award|choose"
    r"|put)\b)"
    r"|(?:the|my)[ ](?:final[ ]|overall[ ])?(?:score|rating|grade)\b)[^\n.\d]{0,60}?)?"
    rf"[*\"'(]{{0,3}}{NUMBER}(?![ ]?[a-z])",
    re.I,
)
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
    half = any(match[group] for group in ("part", "half", "glued"))
    return 0.25 if (match["part"] or "").lower() == "quarter" else 0.5 if half else 0.0


def _list_marks(text: str) -> Iterator[tuple[int, int]]:
    """Enumerators: they count up, or stand before another number ("1. 2")."""
    marks = list(_MARK.finditer(text))
    values = {int(mark["n"]) for mark in marks}
    for mark in marks:
        value = int(mark["n"])
        if _NUMBER_NEXT.match(text, mark.end()) or value - 1 in values or (value == 1 and 2 in values):
            yield mark.span("n")


def summed(text: str) -> list[tuple[int, int]]:
    """Places of what is summed up: "(5+1)/2 =", "9 minus 2 makes"."""
    return [match.span() for match in OPERANDS.finditer(text)] if _SUMS_AT_ALL.search(text) else []


def _changed(text: str) -> list[re.Match[str]]:
    """Numbers that arrows turn into others: "5 -> 4"."""
    return [*_CHANGED.finditer(text)] if re.search(_TO, text) else []


def echoes(text: str, scale: Scale) -> list[tuple[int, int]]:
    """Places of numbers that are no answer: the scale itself, list marks, what hangs on a condition ("4 if ...")."""
    moved = {m.start("n") for m in _FROM_TO.finditer(text)} if _CHANGES_AT_ALL.search(text) else set()
    found = [m.span() for m in _ENDS.finditer(text) if moved.isdisjoint(range(*m.span()))]
    found += [m.span() for m in _POINT_SCALE.finditer(text)]
    ends = {scale.low, scale.high}
    found += [
        m.span()
        for m in _NUMERALS_RANGE.finditer(text)
        if {number(m["a"]), number(m["b"])} == ends and m["dash"] != "or"
    ]
    found += [m.span() for m in _PAIR.finditer(text) if {float(m["a"]), float(m["b"])} == ends]
    found += [m.span("all") for m in _NUMBERED.finditer(text)]
    found += _recited(text, scale)
    found += summed(text)
    found += [m.span() for m in _changed(text) if [number(m["first"]), number(m["last"])] == [scale.low, scale.high]]
    if not text.isascii():
        found += [m.span("a" if m["a"] else "b") for m in _FULL_MARKS.finditer(text)]
    if _IF_AT_ALL.search(text):
        found += [m.span("n" if m["n"] else "m") for m in _ONLY_IF.finditer(text)]
    return found + list(_list_marks(text))


def _recited(text: str, scale: Scale) -> Iterator[tuple[int, int]]:
    """Places of all points of the scale one after the other: "1, 2, 3, 4, or 5", "1 - Poor", "2 - Fair", ..."""
    points = [float(point) for point in scale.points]
    if len(points) < 3:
        return
    for match in _RECITED.finditer(text):
        if [*map(float, re.findall(r"\d+", match[0]))] in (points, points[::-1]):
            yield match.span()
    for pattern in (_RECITED_LINE, _RECITED_BEHIND):
        listed = list(pattern.finditer(text))
        for at in range(len(listed) - len(points) + 1):
            row = listed[at : at + len(points)]
            if [float(match["n"]) for match in row] in (points, points[::-1]):
                yield from (match.span("n") for match in row)


def meanings(text: str) -> list[tuple[int, int]]:
    """Places of numbers whose meaning is told ("a 5 would require", "Score 1: ...", "Score 2: ...")."""
    lines = [m.span("n") for m in _RUBRIC.finditer(text)]
    said_of_texts = [m.span("n") for m in _SUCH.finditer(text)]
    supposed = [m.span(m.lastgroup or 0) for m in _SUPPOSED.finditer(text)]
    told = [m.span("n") for pattern in (_MEANING, _DEMANDED) for m in pattern.finditer(text)]
    if len(told) == 1 and _OPENS_AS.match(text):
        told = []
    return told + said_of_texts + supposed + (lines if len(lines) > 1 else [])


def elsewhere(text: str, scale: Scale) -> Iterator[tuple[int, int]]:
    """Places of numbers that are counted on another scale ("4 (out of 10)"), or with a part that is not read."""
    for match in _COUNTED_ON.finditer(text):
        if number(match["aside"] or match["high"] or match["points"]) != scale.high:
            yield match.span("n")
    if not text.isascii():
        full = ((m, m["a"] or m["b"], "n" if m["n"] else "m") for m in _FULL_MARKS.finditer(text))
        yield from (m.span(n) for m, best, n in full if m[n] and number(best) != scale.high)
    best = "" if scale.high is None else f"{scale.high:g}"
    yield from (match.span("n") for match in _WITH_PART.finditer(text) if (match["den"] or match["third"]) != best)


def ranges(text: str) -> list[tuple[int, int]]:
    """Places of answers that are two numbers: "3-4", "3 - 4", "3 or 4", "[3, 4]", "2 on flow and 4 on facts".

    "3 - 4 errors" is one number, with what it is given for.
    """
    found = [
        m.span()
        for m in _NUMERALS_RANGE.finditer(text)
        if not _SPACED.match(m[0]) or _STANDS_ALONE.match(text, m.end())
    ]
    if _CHANGES_AT_ALL.search(text) and (moved := {m.start("n") for m in _FROM_TO.finditer(text)}):
        found = [span for span in found if span[0] not in moved]
    found += [m.span() for m in _PAIR.finditer(text)]
    return found + [m.span("n") for m in _SHARED.finditer(text)]


# What the readers of free text share: what a reading is, how much of a reply is read, what a refusal is.


HEAD, TAIL = 2000, 4000  # characters: verdicts stand at either end, so the work is bounded by these
_GAP = "\n\n"

CHANGES = (
    r"lower|reduc|drop|chang|adjust|revis|correct|(?:down|up)grad|rais|br(?:ing|ought)|cut|settl|becom|became|amend"
    r"|bump|mov"
    r"|(?:in|de)creas|pull"
)
REVISED = r"(?:edit(?:ed)?|updated?|revis(?:ed|ion)|amend(?:ed|ment)|adjust(?:ed|ment)|correct(?:ed|ion)|reconsidered)"
_RETRACTING = (
    r"(?:no(?:pe)?|nein|non|sorry|pardon|(?:or[ ])?rather|I[ ]mean|h+m+|wait|make[ ](?:that|it)|corrected"
    r"|correction|well"
    r"|perdón|ou[ ]plutôt|(?:oder[ ])?besser|mejor|нет|то[ ]есть|不|いや)"
)
RETRACTS = (  # what stands between an answer and the one that takes its place: "5, no, 2"
    rf"\b{_RETRACTING}\b(?:[\s,，、.:;…—–-]{{1,5}}"
    r"(?:or|rather|it['’]s|it|make|an?|to|is|more|like|better|mean|I|give|say|score|no)){0,5}[\s,，、.:;…—–-]{1,5}"
)
RETRACTS_AT_ALL = re.compile(rf"\b{_RETRACTING}\b", re.I)


@dataclass(frozen=True)
class Reading:
    """What a reply says.

    Attributes:
        value: a number on the scale, or a label; None unless status is "ok".
        status: "ok"; "unreadable": no verdict, or several that cannot be ordered, or one off the scale;
            "refused": the model declined and gave no verdict; "abstained": it says that it cannot judge.
        span: start and end of the value in the text, in characters, so that its token can be found.
        rule: which rule read it, or why nothing was read.
        earlier: an answer before it that the reply takes back, None where there is none.
        other: a different answer before it, given in the same way; the last one counts. None where there is none.
    """

    value: float | str | None
    status: Literal["ok", "unreadable", "refused", "abstained"] = "ok"
    span: tuple[int, int] | None = None
    rule: str = ""
    earlier: float | str | None = None
    other: float | str | None = None


@dataclass(frozen=True)
class Excerpt:
    """The part of a reply that is read: its answer without quotations, all of it, or its two ends where it is long."""

    text: str
    cut: int  # positions from here on are shifted
    shift: int
    lead: int = 0  # characters before it: blanks, and thoughts that were blanked

    @classmethod
    def of(cls, reply: str) -> Excerpt:
        """Both ends of the reply; a word (or number) that the cut would split is left out."""
        answer = TURN_OPENS.sub(lambda tokens: " " * len(tokens[0]), parts(reply).answer)
        bare = own_turn(answer.strip())
        lead = len(answer) - len(answer.lstrip())
        if len(bare) <= HEAD + TAIL:
            return cls(unquoted(latin(bare)), len(bare), 0, lead)
        head = re.sub(r"\S+\Z", "", bare[:HEAD][-200:])
        head = bare[: max(0, HEAD - 200)] + head if head else ""
        start = len(bare) - TAIL
        blank = re.compile(r"\s").search(bare, start, start + 200)
        tail = bare[blank.start() if blank else len(bare) :]
        text = latin(head + _GAP + tail)
        return cls(unquoted(text), len(head) + len(_GAP), len(bare) - len(text), lead)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A place in the excerpt as a place in the reply."""
        shift = self.lead + (self.shift if start >= self.cut else 0)
        return start + shift, end + shift


_STARRED = re.compile(r"(?<![★☆⭐])(?P<on>[★⭐]{1,10})️?(?P<off>☆{0,9})(?![★☆⭐])")
_MINUS = re.compile(r"(?<![\w.)\]])−(?=[0-9])")
_LEADS_IN = re.compile(r"(?<![不没非未別别])[给給得為为は是で中](?=[0-9０-９]{1,3}(?![0-9]|[个個つ]))")  # 我给4分
_COUNTER = re.compile(r"(?<=[0-9０-９])(?:[分点點점](?![钟鐘之类類数數])|で(?=す))")  # 4分 is four points
_GIVES_POINTS = re.compile(
    r"(?<![不没非未別别])(?:(?<=[给給打])出|[打评評](?:一?[个個])?)(?=[0-9０-９]{1,2}[ ]?[分点點星])"
)  # 打2分, 给出3分
_POINTS_IN_WORDS = re.compile(  # 四分, 得分：四
    r"(?<![一二三四五六七八九十百千第几幾])(?:[一二三四五六七八九](?=[分星](?![钟鐘之类類数數]))"
    r"|(?<=[:：])[一二三四五六七八九](?=[。，,.\n]|\Z))"
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_TEENS = "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_IN_WORDS = {  # beside `WORDS`: words that mean nothing else in English, and tens with units
    **{
        word: value
        for value, words in enumerate(
            (
                "zéro cero ноль", "eins uno", "deux zwei dos dois twee två dwa iki два",
                "trois drei tres três tre drie trzy üç три",
                "quatre vier cuatro quattro quatro fyra cztery dört четыре",
                "cinq fünf cinco cinque vijf fem pięć beş пять",
                "sechs seis zes sześć altı шесть", "sept sieben siete sette sete zeven sju siedem yedi семь",
                "huit acht ocho otto oito åtta osiem sekiz восемь",
                "neuf neun nueve nove negen nio dziewięć dokuz девять",
                "dix zehn diez dieci dez tien tio dziesięć десять", *_TEENS.split(),
            )
        )
        for word in words.split()
    },
    **{ten + unit: 20 + 10 * at + more for at, ten in enumerate(_TENS)
       for more, unit in enumerate(("", *(f"-{word}" for word in [*WORDS][1:10])))},
    "one hundred": 100, "hundred": 100,
}  # fmt: skip
_SPELLED = "|".join(sorted(_IN_WORDS, key=len, reverse=True))
_NUMBER_IN_WORDS = re.compile(  # where a number may be a rating: it ends its clause, or stands before what it is out of
    rf"(?<![\w'’-])(?:{_SPELLED})(?=[*_\"'”)\]]{{0,3}}(?:\s{{0,3}}(?:\Z|[.,;:!()\n/–—]|{POINTS}\b)"
    rf"|[ ](?:{'|'.join(_OF_WORDS)}|out[ ]of)[ ](?:an?[ ])?(?:[0-9]|(?:{_WORD}"
    rf"|{_SPELLED})\b)"
    r"|[ ](?:and[ ]a[ ]half|because|car|weil|porque|perché|parce|omdat|överall|overall)\b))",
    re.I,
)
_COMMA_POINT = re.compile(  # "6,5", "3,5 sur 5", "Note : 3,5", "eine 2,5", not "Scores: 4,3"
    rf"(?<![\w.,])[0-9]{{1,2}},(?=[0-9]{{1,2}}[ ]?(?:(?:/|(?:{'|'.join(_OF_WORDS)})\b)[ ]?[0-9]|{POINTS}\b))"
    r"|\A[\s*_\"'`]{0,6}[0-9]{1,2},(?=[0-9]{1,2}[\s*_\"'`.]{0,6}\Z)"
    r"|^[ \t>*#•_-]{0,6}[^\W\d_]{3,30}(?:(?<![sS])|(?<=ss))(?:[ ](?:final|total|global|general|overall)[e]?)?"
    r"[*_]{0,3}[ ]?(?:\([^()\n]{0,20}\))?[ ]?[:：=][ *_]{0,4}[0-9]{1,2},(?=[0-9]{1,2}(?![\w,]))"
    r"|\b(?:not[ae]|voto|bewertung|wertung|puntuación|calificación|valoración|punteggio|betyg|cijfer|оценка|ocena)\b"
    r"[^\n,:=0-9]{0,20}[:=][ *_]{0,4}[0-9]{1,2},(?=[0-9]{1,2}(?![\w,]))"
    r"|\b(?:une?|eine[nr]?|uma?|een|note[ ]de|nota[ ]de|(?:nota|Note|voto)[ ](?=[0-9]))[ ]?[*_]{0,2}[0-9]{1,2},"
    r"(?=[0-9]{1,2}(?![\w,]))",
    re.I | re.M,
)


def latin(text: str) -> str:
    """The text at its length, with numbers of other scripts and in words as Latin digits: "★★★☆☆" is "3/5"."""
    text = _NUMBER_IN_WORDS.sub(_digits, text)
    if "," in text:
        text = _COMMA_POINT.sub(lambda part: f"{part[0][:-1]}.", text)
    if text.isascii():
        return text
    text = _POINTS_IN_WORDS.sub(lambda word: str("一二三四五六七八九".index(word[0]) + 1), text)
    text = _LEADS_IN.sub(
        " ",
        re.sub(
            r"[点點分]中(?=[0-9０-９])", "中 ", _GIVES_POINTS.sub(lambda one: " " * len(one[0]), _MINUS.sub("-", text))
        ),
    )
    text = _STARRED.sub(_stars, _COUNTER.sub(" ", text))
    return "".join(str(unicodedata.decimal(at)) if at.isdecimal() and not at.isascii() else at for at in text)


def _digits(match: re.Match[str]) -> str:
    """ "quatre" is "000004": as long as it was."""
    word = match[0].lower()
    if match[0][0].isupper() and word in ("sept", "otto", "dez"):  # September, a name, December
        return match[0]
    return f"{_IN_WORDS[word]:0{min(6, len(word))}}".rjust(len(word))


def _stars(match: re.Match[str]) -> str:
    on, width = len(match["on"]), match.end() - match.start()
    whole = f"{on}/{on + len(match['off'])}" if match["off"] else str(on)
    if match.string.startswith("½", match.end()):
        return whole.rjust(width)
    return whole.ljust(width) if len(whole) <= width else match[0]


def unread(text: str, why: str) -> Reading:
    """No value: refused where the reply declines, unreadable otherwise."""
    return Reading(None, "refused" if refuses(text) else "unreadable", rule=why)


_FLAGS = re.IGNORECASE | re.MULTILINE
_OPEN = r"[\s*_\"'`\[({]{0,6}"
_COLON = r"[*_\"'`\])]{0,4}[ \t]{0,3}(?::|：|=|[-–—](?=\s))"
_RANGE = r"\[[ ]?-?[0-9.]{1,8}?[ ]?(?:,|-|–|to|\.\.)[ ]?-?[0-9.]{1,8}[ ]?\]"
_ASIDE = rf"(?:[ \t]{{0,2}}(?:\([^()\n]{{0,40}}\)|{_RANGE}))?"
_STARS = r"(?:[ -]?(?:stars?|points?)\b)?"
NAME = (
    r"(?:scores?|ratings?|grade|mark|verdict|answer|result|overall|final|evaluation|judge?ment|chosen|choice"
    r"|评分|得分|分数|总分|評分|評価|スコア|点数|점수|평점|оценка|балл|puntuación|puntaje|bewertung|wertung"
    r"|punteggio|beoordeling|betyg|ocena|hodnocení|puan|điểm|skor|insgesamt|gesamt(?:note|urteil|wertung|punktzahl)?"
    r"|总体|综合|総合)"
)
_OF_WHAT = r"(?:[ \t](?:for|of|on|after|upon|following)(?:[ \t][\w'’]{1,20}){1,4})?"
LINK = (  # what may stand between "rate" and the number: no content words but the thing that is rated
    r"(?:[ \t]+(?:(?:response|answer|summary|output|text|article|story|model|option|essay|translation|assistant"
    r"|candidate)"
    r"[ ]#?(?:[0-9]{1,2}|[a-d])(?=[ ](?:as|at|an?|with|to|is)\b)|of|as|at|is|was|be|would|should|will|it|this"
    r"|that|the|an?|to|only|just|about|around|one|its"
    r"|my|out|overall|final|perfect|solid|score|rating|grade|summary|response|answer|output|text|article|story"
    r"|conversation|dialogue|therefore|with|consistency|coherence"
    r"|generous|decent|respectable|bare|firm|borderline|mediocre|passing|fair|strong|weak|mere"
    r"|(?:for|on|in)(?:[ ](?:terms[ ]of|the|its|this))?[ ][a-z]{1,20})\b)"
)
VERB = (
    r"\b(?:scor(?:es?|ed|ing)|rat(?:es?|ed|ings?)|grad(?:es?|ed|ing)|g[ia]v(?:es?|en|ing)|assign\w{0,3}|award\w{0,3}|"
    r"receiv(?:es?|ed|ing)|earn\w{0,3}|deserv(?:es?|ed|ing)|gets?|got|merit\w{0,3}|warrant\w{0,3})\b"
)
SAYING = (
    r"\b(?:(?:final|overall|total)[ ](?:score|rating|grade|mark)(?:[ ](?:for|of)(?:[ ][a-z]{1,20}){1,4}?)?"
    r"(?:(?:,[^,.:\n]{1,60},)?[ ](?:is|was|comes[ ]to|remains|(?:would|should|will|must)[ ](?:be|remain))|(?=[ ][0-9]))"
    r"|(?:(?:closest|close|closer|correspond\w*|equivalent|equal|amounts?|belongs?)[ ]to|(?:meets?|fits?|match(?:es)?"
    r"|reach(?:es)?|achieves?|qualifies[ ]for|falls[ ](?:in|into|under|at)))(?:[ ](?:the|an?))?(?:[ ]rubric)?"
    r"[ ](?:level|band|tier|category|grade)|(?:sits|stands|comes[ ](?:in|out)|lands|ends[ ]up|hovers)[ ](?:at|around)"
    r"|(?:is|as|be|it['’]?s|say)[ ](?:(?:about|around|roughly|probably|maybe|perhaps|closer[ ]to"
    r"|more[ ]like)[ ])?an?"
    r"|I(?:['’](?:d|ll)|[ ](?:would|will|must|should|have[ ]to))?[ ](?:say|go[ ](?:with|for)|put|place|peg|assess"
    r"|evaluate"
    r"|estimate|mark|call|settle[ ](?:on|for)|land[ ](?:on|at)))"
)

OUT_OF = r"(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?[*_\"'`)\]]{0,3}"
_DEFAULT = re.compile(  # "default score: 3", "Score: 3 (default)": a number that stands for none
    rf"\b(?:default(?:s|ed|ing)?|fall[ -]?back|placeholder)\b(?:[ ](?:score|rating|value|grade))?(?:[ ](?:to|of|is))?"
    rf"(?:[ ]an?)?{_OPEN}[:=]?{_OPEN}(?P<n>{NUMBER})|(?P<m>{NUMBER})[ ]?\([^()\n]{{0,20}}\b(?:default|placeholder)\b",
    re.I,
)
_DEFAULTS_AT_ALL = re.compile("default|fall|placeholder", re.I)
_NOT_KNOWN = re.compile(  # "Score: unknown, maybe 3"
    rf"\b{NAME}{_COLON}{_OPEN}(?:unknown|unclear|unsure|undecided|none|n/?a)\b[^.!?\n0-9]{{0,30}}(?P<n>{NUMBER})", re.I
)
_TOLD_TWICE = re.compile(rf"(?P<one>{NUMBER})[ ]?\([ ]?(?P<other>{NUMBER})[ ]?\)", re.I)  # "three (4)"

REACHED = (
    rf"{OUT_OF}(?=[*_\"'`)\]]{{0,3}}(?:[.,;:!?)\n]|\s*\Z"
    r"|[ ](?:for|because|as|since|due|overall|given|rather|instead|points?|stars?|by|after|on[ ](?:account|balance"
    r"|reflection"
    r"|the[ ]grounds)|in[ ](?:light|view|the[ ]end))\b))"
)
_FROM_TO = re.compile(  # "I lower it from 5 to 2", "upgrade my 6 to a 7"
    rf"\b(?:{CHANGES})\w{{0,5}}[^.!?\n0-9]{{0,30}}?[ ](?:from|my|the)[ ](?:an?[ ])?(?P<n>{NUMBER}){OUT_OF}"
    r"[ ](?:(?:down|up)[ ])?to\b",
    re.I,
)
_CHANGES_AT_ALL = re.compile(rf"\b(?:{CHANGES})", re.I)
_LOWERED = re.compile(  # "5, but the errors lower it to 2"
    rf"(?P<n>{NUMBER})(?:(?!\b(?:could|would|might|can|may|should|not|never|if|unless|from|how)\b"
    rf"|n['’]t)[^.!?\n]){{0,80}}?"
    rf"\b(?:{CHANGES})\w{{0,5}}\b(?:(?!\bfrom\b)[^.!?\n0-9]){{0,30}}?\b(?:to|on|at|into|as)[ ](?:an?[ ])?[\[*]{{0,2}}"
    rf"{NUMBER}{REACHED}",
    re.I,
)
_RETRACTED = re.compile(  # "5, no, 2", "5... hm, 2 rather"
    rf"(?P<n>{NUMBER}){OUT_OF}[\W_]{{1,6}}{RETRACTS}[\[*\"']{{0,3}}{NUMBER}{REACHED}", re.I
)
_OVERALL = re.compile(  # "4 for style, 2 overall"
    rf"(?P<n>{NUMBER}){OUT_OF}[ ](?:for|on|in)[ ]\w{{1,20}},?[ ](?:and[ ]|but[ ])?{NUMBER}{OUT_OF}[ ]"
    r"(?:overall|in[ ]all)\b",
    re.I,
)
_ASIDE_OF = r"[ ]\((?!before|initial|at[ ]first)[^()\n0-9]{1,30}\)"
_HEDGED = re.compile(  # "4, or perhaps 2", "4 unless style matters, then 2", "4 (strict) / 2 (lenient)"
    rf"{NUMBER}{OUT_OF}(?:{_ASIDE_OF})?[ ]?[,;]?[ ]?\(?"
    r"(?:or(?![ ](?:rather|better)\b)|alternatively|unless|otherwise|else|voire|oder(?![ ](?:besser|eher)\b)"
    r"|ou(?![ ]plut[ôo]t\b)|bzw\.?|peut-être|vielleicht|eventuell|quizás?|tal[ ]?vez|forse)\b"
    rf"[^.!?\n0-9]{{0,50}}?[\[*_(]{{0,3}}{NUMBER}{REACHED}"
    rf"|{NUMBER}{OUT_OF}{_ASIDE_OF}[ ]?[,;/]?[ ]?{NUMBER}{OUT_OF}[ ]\([^()\n]{{1,30}}\)"
    rf"|{NUMBER}[*_]{{0,2}},?[ ]but[ ][*_]{{0,2}}{NUMBER}[*_]{{0,2}}[ ]for\b",
    re.I,
)
_NO_CRITERION = r"(?!(?:the[ ])?\w{1,20}(?:ness|lity|cy|nce|ty|mar|le)\b)"
_ON_TERMS = rf"(?:if|when|for[ ]{_NO_CRITERION}|assuming|strict\w*|lenient\w*|generous\w*|literal\w*)"
_GIVES = (
    r"(?:(?:I(?:['’]d|[ ]would)?[ ](?:give|say|rate)|it['’]s|it[ ]is|(?:the[ ])?score[ ]is|then|an?|only|read)[ ]){0,3}"
)
_BY_TERMS = re.compile(  # "If experts read it, 2; if others do, 4", "4 if sources are optional, 2 if required"
    rf"\b{_ON_TERMS}\b[^.!?\n0-9]{{1,60}}?[,: ][ ]?{_GIVES}{NUMBER}{OUT_OF}[;,.][ ](?:(?:but|and|or|read|taken"
    rf"|judged|seen)[ ]){{0,2}}(?:{_ON_TERMS}"
    rf"|otherwise|else)\b[^.!?\n0-9]{{0,60}}?[,: ][ ]?{_GIVES}{NUMBER}{REACHED}"
    rf"|{NUMBER}{OUT_OF}[ ](?:if|when|assuming|for[ ]{_NO_CRITERION})\b[^.!?\n0-9]{{1,60}}[,;][ ](?:and[ ]|but[ ]"
    rf"|or[ ])?(?:an?[ ])?"
    rf"{NUMBER}{OUT_OF}[ ](?:if|when|otherwise|for[ ]{_NO_CRITERION})\b"
    rf"|{NUMBER}{OUT_OF},?[ ](?:if|when|assuming)\b[^.!?\n0-9]{{1,60}}[,;][ ](?:but[ ]|and[ ])?(?:strict|literal|honest"
    rf"|realistic)\w*[^.!?\n0-9]{{0,30}}?[ ,:]{NUMBER}{REACHED}",
    re.I,
)
_HEDGES_AT_ALL = re.compile(
    r"\b(?:or|alternatively|unless|otherwise|else|but|voire|oder|ou|bzw|peut-être|vielleicht|eventuell|quizás?|tal|forse)\b"
    r"|[0-9][ ]\(",
    re.I,
)
_TERMS_AT_ALL = re.compile(rf"\b{_ON_TERMS}\b", re.I)
_IF_AT_ALL = re.compile(
    rf"(?:[0-9]|\b(?:{_WORD}))[*_\"')\]]{{0,3}}(?:[ -](?:stars?|points?))?,?[ ](?:but[ ])?(?:only[ ])?(?:if|provided"
    rf"|assuming|as|wenn|falls|sofern|si|se|mits)[ ]"
)
_ONLY_IF = re.compile(  # "4 if we are generous", not "4 if I had to choose"
    rf"(?P<n>{NUMBER}){OUT_OF}(?:[ -](?:stars?|points?))?,?[ ](?:only[ ]|but[ ]only[ ])?(?-i:if|provided|assuming|as"
    rf"[ ]long[ ]as)[ ](?:that[ ])?"
    r"(?!(?:I|we|you|one)(?:['’]d|[ ](?:really[ ])?(?:had|have|must|may|ask|was|were)\b(?![ ](?:being[ ])?"
    r"(?:generous|kind|lenient|strict)))"
    r"|(?:that|this|it)[ ](?:makes[ ]sense|helps|has|had|must|matters))"
    r"(?:(?:I|we|you|one|it|they|this|that|these|those|its|the|their|there|all|every\w*|some\w*|no\w*)(?:['’]\w+)?[ ]"
    r"|(?:being|feeling|judged|taken|read|seen)[ ])"
    rf"|(?P<m>{NUMBER}){OUT_OF}(?:[ ]{POINTS}\b)?,?[ ](?:wenn|falls|sofern|si|se|mits)[ ](?!(?:ich|je|ik)\b|tuviera"
    r"|tivesse|dovessi|no\b|não\b|non\b)",
    re.I,
)
_BOUND = re.compile(  # "Score: >4", "Score: 4+"
    rf"(?<![-=\w\"'/>])(?:[<>]=?|[≥≤])[ ]?(-?{DIGITS})|(?<![\w.])({DIGITS})(?:\+(?![\d+])|-(?=[*_]{{0,2}}\s*\Z))"
)
_TWO_TAGS = re.compile(  # "<score>4</score><score>2</score>"
    rf"<(?P<tag>score|rating|result|answer)>\s{{0,3}}(?P<one>{DIGITS})\s{{0,3}}</(?P=tag)>[ \t]*<(?P=tag)>\s{{0,3}}"
    rf"(?!(?P=one)\s{{0,3}}<){DIGITS}",
    re.I,
)
_TWO_MARKS = re.compile(
    rf"\[\[[ ]?({DIGITS})[ ]?\]\][ \t]*(?:(?:,?[ ]?\bor\b|,|/|\bto\b|\bvs\.?|[-–])[ \t]*)?"
    rf"\[\[[ ]?(?!\1[ ]?\]){DIGITS}[ ]?\]\]",
    re.I,
)
_TWO_BOXES = re.compile(rf"\\boxed\{{[ ]?({DIGITS})[ ]?\}}[ \t$,]*\\boxed\{{[ ]?(?!\1[ ]?\}}){DIGITS}[ ]?\}}")
_BUT = r"(?:but|pero|aber|mais|mas?|maar|men|но)"
_OTHER_PLACE = re.compile(
    rf"{_BUT}[ ][^.!?\n0-9]{{1,80}}[:→]|[0-9][ ](?:to[ ]be"
    r"|rather)[ ]"
)
_IN_ITS_PLACE = re.compile(  # "I would give a 4, but there are errors: 3", "7, 6.5 to be precise"
    rf"(?P<n>{NUMBER}){OUT_OF},?[ ](?:{_BUT}[ ][^.!?\n0-9]{{1,80}}[:→]"
    rf"[ ]*{NUMBER}{REACHED}"
    rf"|(?:or[ ]|more[ ](?:precisely|exactly),?[ ])?{NUMBER}{OUT_OF}[ ](?:to[ ]be[ ](?:precise|exact|fair|honest)"
    rf"|rather)\b)",
    re.I,
)
_THEN = re.compile(  # "4 -> after reflection, 2", "4, then down to 2"
    rf"(?P<n>{NUMBER}){OUT_OF}[ ]?(?:,|->|→)?[ ](?:then|after)\b[^.!?\n0-9]{{0,40}}{NUMBER}{REACHED}", re.I
)
_REDUCED = re.compile(  # "Deducted 2 points from 5", "5 points minus 2", "Score of others: 4"
    rf"\b(?:deduct|subtract|took|taking|take)\w{{0,4}}[ ](?:off[ ])?{NUMBER}[ ](?:(?:points?|marks?)[ ])?(?:off|from)"
    rf"[ ]{NUMBER}|{NUMBER}[ ](?:points?|stars?|marks?)[ ](?:minus|less)[ ]{NUMBER}|^\W{{0,4}}(?:minus|less)[ ]{NUMBER}"
    rf"|\b(?:scores?|ratings?)[ ](?:of|by|from)[ ](?:the[ ])?(?:others?|users?|people|candidates?)[ ]?:[ ]?{NUMBER}"
    rf"|\bif\b[^.!?\n0-9]{{1,60}}\b(?:score|rating):[ ]{NUMBER}"
    rf"|\b(?:normally|usually|ordinarily|typically)\b[^.!?\n0-9]{{0,40}}{NUMBER}"  # "I'd normally give 4; so: 2"
    rf"|{NUMBER}[ ](?:is|was|would[ ]be|seems)[ ](?:out[ ]of[ ](?:the[ ]question|reach)|undeserved|unthinkable"
    rf"|unjustified|unwarranted)\b|{NUMBER}[ ]üzerinden\b",
    re.I | re.M,
)
_ITEM = rf"^[ \t]*[-*•][ ]?[a-z][a-z ]{{0,30}}[ ]{NUMBER}/[0-9]"  # "- Clarity 4/5"
_EACH = re.compile(  # "coherence a 4 and fluency a 2", "4 on coherence, 2 on fluency", "Coherence (4/5), Fluency (2/5)"
    rf"\ban?[ ]{NUMBER},?[ ](?:and|but|while|whereas)[ ](?!(?:overall|in[ ]all)\b|{VERB})\w{{1,20}}[ ]an?[ ]{NUMBER}"
    rf"|{NUMBER}[ ](?:on|for|in)[ ]\w{{1,20}}[,;][ ]{NUMBER}[ ](?:on|for|in)[ ]\w"
    rf"|\ban?[ ]{NUMBER}[ ](?:on|for|in)[ ]\w{{1,20}},?[ ](?:and|but)[ ]an?[ ]{NUMBER}[ ](?:on|for|in)[ ](?!all\b)\w"
    rf"|\([ ]?{NUMBER}{OUT_OF}\)[,;]?[ ](?:and[ ])?(?!overall\b)[a-z]{{1,20}}[ ]\([ ]?{NUMBER}{OUT_OF}\)"
    rf"|\b(?:score|rating|grade)[ ]is[ ]{NUMBER},?[ ](?:and|but|while|whereas)[ ](?:the[ ]|its[ ])?"
    rf"(?!overall\b|final\b|my\b)\w{{1,20}}[ ](?:score|rating|grade)[ ]is[ ]{NUMBER}"
    rf"|{NUMBER}[ ]?\|[ ]?{NUMBER}(?=[ ]?\}})"
    rf"|{_ITEM}+[ \t]*\n{_ITEM}"
    rf"|\bwith[ ][^.!?\n0-9]{{1,40}}{NUMBER}[.,;]+[ ](?:and[ ]|but[ ])?without\b[^.!?\n0-9]{{0,40}}{NUMBER}"
    rf"|{NUMBER}[ ]\(?(?:minus|less|plus)[ ](?:(?:an?[ ])?(?:point|half|quarter)\b|{NUMBER})"
    rf"|{NUMBER}{OUT_OF},?[ ](?:although|though|but)[ ](?:an?|the)[ ]{NUMBER}[ ](?:is|seems|(?:would|might|may)[ ]be)"
    r"[ ](?:fairer|more[ ](?:appropriate|accurate|realistic|reasonable|honest))\b",
    re.I | re.M,
)
_OTHER_PART = re.compile(  # "The facts deserve 4, the style 2"
    r"[,;][ ](?:(?:and|but|while)[ ])?(?:the|its)[ ](?!overall\b)\w{2,20}[ ](?:(?:only|just|about)[ ])?(?:an?[ ])?"
    rf"(?P<n>{NUMBER}){REACHED}",
    re.I,
)
_ENDS_IN_ONE = re.compile(rf"(?P<n>{NUMBER}){OUT_OF}\Z", re.I)
_ROW = re.compile(
    rf"(?P<n>{NUMBER})(?:[ ,;|>]{{1,4}}|[ ]?(?:\.{{3}}|…)[ ]?)(?!(?P=n)\b){NUMBER}(?:[ \t.]*$|\.[ ])", re.I | re.M
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


_LETTER = r"[^\W\d_]"
_GIVES_ELSEWHERE = (  # of giving a rating, in other languages
    r"(?:ver)?gebe|würde|поставил|дал|calificaría|puntúo|erhält|bekommt|verdient|bewerte|donne(?:rais?|rai)?|attribue(?:rais?|rai)?|accorde(?:rais)?"
    r"|mets|mettrais|noterais|mérite|obtient|reçoit|dirais|doy|daría|otorgo|otorgaría|asigno|asignaría|pongo|pondría"
    r"|califico|merece|obtiene|recibe|diría|dou|daria|atribuo|atribuiria|recebe|obtém|avalio|diria|darei|assegno"
    r"|c['’]est(?=[ ]une?[ ])|ist(?=[ ]eine[ ])|es(?=[ ]un[ ])|è(?=[ ]un[ ])|é(?=[ ]um[ ])|assegnerei"
    r"|merita|ottiene|riceve|attribuisco|direi|valuto|geef|krijgt|ставлю|даю|оцениваю|заслуживает|получает"
)
_LIMITS = (  # words that make of the number behind them a bound, a denial or a condition
    r"höchstens|mindestens|maximal|minimal|weniger|mehr|fast|nicht|keine?n?r?|nie|niemals|wenn|falls|außer|statt|ohne"
    r"|au|plus|moins|presque|pas|ne|jamais|si|sans|maximum|máximo|mínimo|más|menos|casi|nunca|sin|sumo|mais|quase|não"
    r"|sem|se|massimo|minimo|più|meno|quasi|non|mai|senza|als|niet|geen|bijna|не|если|почти|aber|sondern|mais|pero"
    r"|sino|mas|ma|maar|но"
)
_BECAUSE = (
    r"von|sur|de|sobre|su|van|из|aus|parce|weil|denn|da|car|porque|perché|poiché|ya[ ]que|já[ ]que|pois|puisque|omdat"
    r"|want|потому|geben|vergeben|pour|für|por|per|wegen|dado|vu|visto|étant|à[ ]cause"
)
_RECKONS = rf"{DIGITS}(?:[ ]?\([^()\n]{{1,40}}\))?"
_WEIGHS = (
    r"(?:(?:base|start(?:ing)?|full|from|at|with|of|scores?|rating|points?|total|sum|average|mean|depth|style|tone|plot"
    r"|flow|structure|grammar|content|language|\w{2,16}(?:ness|[aei]lity|cy|nce|ty))[ :]{1,2})"
)
_RECKONED = (  # a line that does nothing but reckon: "Base 5, -1, -1 = ", "Accuracy 3 + depth 4 = 7 / 2 = "
    rf"^[ \t>*_(]{{0,6}}(?P<name>{_WEIGHS}{{1,3}}){_RECKONS}"
    rf"(?:[) ]{{0,2}}(?:[,;]?[ ]?[-–−+*×·/÷]|[,;])[( ]{{0,2}}{_WEIGHS}{{0,3}}{_RECKONS}){{1,9}}[) ]{{0,2}}"
    rf"=[ ]?(?:{DIGITS}[ ]?[/÷][ ]?{DIGITS}[ ]?=[ ]?)?[*_]{{0,2}}"
)
_FAIRER = r"(?:fairer|more[ ](?:appropriate|accurate|realistic|reasonable|honest))"
_RETAKEN = (  # "However, a fairer score is 2", "Revised: 2", "I lower it to 2"
    rf"(?:^|[.!?;,][ ])[ \t>*#_-]{{0,6}}(?:(?:my|so|then|thus|therefore)[ ])?(?P<name>{REVISED}{_COLON}"
    rf"|(?:score|rating|grade)[ ](?:(?:is|was|now)[ ]){{0,2}}(?:{CHANGES})\w{{0,5}}[ ](?:(?:down|up)[ ])?to"
    rf"|(?:[^.!?\n]{{0,60}}?,?[ ])?(?:(?:I(?:['’]d|['’]ll|['’]m|[ ](?:am|would|will|must|should|need[ ]to|have[ ]to"
    rf"|now|therefore|thus|then)){{0,2}}|let[ ]me)"
    rf"|(?:that|this|it|which|error|omission)(?=[ ](?:{CHANGES})\w{{0,2}}s[ ](?:it|this|that|the[ ](?:score"
    rf"|rating))\b))"
    rf"[ ](?:{CHANGES})\w{{0,5}}(?:[ ](?:it|this|that|my|the|its|score|rating|grade|mark|down|up|back)){{0,4}}"
    rf"(?:[ ](?:from[ ])?(?:an?[ ])?{NUMBER}{OUT_OF})?(?:[ ](?:down|up|back))?"
    rf"[ ]to|(?<![,;][ ])(?:(?:however|but|still|yet),?[ ])?(?:an?|the)[ ]{_FAIRER}[ ](?:score|rating|grade)[ ]is)"
    rf"(?:[ ]an?)?{_OPEN}{VALUE}{REACHED}"
)
RETAKES = re.compile(_RETAKEN, _FLAGS)

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
        _patterns(
            rf"(?:(?<!\ba[ ])\b|(?<=\\n))(?P<name>{NAME}{_OF_WHAT})(?:[ ]is)?{_ASIDE}{_COLON}{_OPEN}"
            rf"(?:{_LED}{_OPEN})?{VALUE}",
            _RETAKEN,
            r"\b(?:my(?:[ ](?:own|personal|overall|final|honest))?[ ](?P<name>view|opinion|take|estimate"
            rf"|impression|number)|mine)(?:[ ]is|{_COLON}){_OPEN}(?:an?[ ])?{_OPEN}{VALUE}{REACHED}",
            rf"\b(?P<name>average|mean)[ ](?:of|from|over)[ ](?:(?:[0-9.,;&+/ ]|and){{3,60}}[:=]"
            rf"|(?:the|all|these)[ ](?:\w+[ ]){{0,2}}(?:criteria|scores|ratings|aspects|dimensions)(?:[ ]?[:=]"
            rf"|[ ]is\b))[ ]?{_OPEN}{VALUE}{REACHED}",
            rf"\b(?:for|to|giv\w+|mak\w+|yield\w*)[ ]an?[ ](?P<name>total)[ ](?:score[ ])?of[ ]{_OPEN}{VALUE}{REACHED}",
            rf"\b(?:let['’]?s[ ]say|(?:I['’]ll|I[ ]will|let['’]?s)[ ](?:now[ ]|then[ ])?(?:settle|go|say|record)"
            rf"(?:[ ](?:on|for|with|at))?)[ ](?P<name>)(?:an?[ ])?{_OPEN}{VALUE}{REACHED}",
            r"\b(?=average|mean|overall)(?:(?<=[,;:./|>→=][ ])|(?<=[ ]on[ ])|(?<=[ ]an[ ])|(?<=so[ ])|(?<=the[ ]))"
            rf"(?P<name>average|mean|overall)(?:[ ](?:score|rating))?(?:[ ](?:of|is|to|at|an?)){{0,2}}"
            rf"[ :=]{{1,3}}{VALUE}{REACHED}",
            rf"(?:^|[,;:.][ ]|\b(?:and|but|so|an?)[ ])(?=[ *_]{{0,4}}[0-9.])[ *_]{{0,4}}"
            rf"{VALUE}[ ](?P<name>overall|all[ ]in[ ]all|on"
            rf"[ ]balance)\b",
            rf"(?:{_TO}|^[ \t>*_]{{0,4}}=)[ ]?{_OPEN}(?P<name>){VALUE}(?=[*_.!)\]]{{0,4}}\s*\Z)",
            rf"{_RECKONED}{VALUE}(?=[*_)]{{0,4}}(?:[.;(]|[ ]?\n|\s*\Z))",
            rf"(?:{VERB}|\b(?:{_GIVES_ELSEWHERE})\b)[^.!?\n0-9]{{0,30}}{NUMBER}{OUT_OF},?[ ](?P<name>){_BUT}[ ]"
            rf"[^.!?\n0-9]{{1,80}}[:→][ ]*{VALUE}{REACHED}",
            rf"(?P<name>最终|最終|最后|最後)[^。！？，,\n0-9不没]{{0,10}}?{VALUE}",
            rf"(?P<name>\b(?:if|were|when|since|as)[ ](?:(?:I|you)[ ](?:\w+[ ])?)?(?:forced|pressed|pushed|obliged"
            rf"|pushed|had|have|must)\b"
            rf"[^.!?:\n0-9]{{0,40}}?)[,:][ ](?:(?:I(?:['’]d|[ ]would)?[ ](?:say|give|go[ ]with|choose|pick)|it['’]s)"
            rf"[ ](?:it[ ])?)?(?:an?[ ])?{_OPEN}{VALUE}{REACHED}",
            rf"\|[ *_]{{0,4}}(?P<name>(?:overall|final|total)(?:[ ](?:score|rating"
            rf"|grade))?)[ *_]{{0,4}}\|[ ]{{0,60}}{_OPEN}{VALUE}",
        ),
        named=True,
    ),
    Rule(
        "own line",
        _patterns(
            rf"\A{_OPEN}(?:(?:(?:somewhere[ ])?around|about|roughly|approximately|approx\.|circa|ca\.|[~≈])[ ]?"
            rf"|{_LED}{_OPEN})?{VALUE}{_STARS}(?=\s{{0,9}}\Z|[ \t*_]{{0,3}}[\n.:;,)\]\"'(–—-])",
            rf"(?:^|(?<=[^\W\d])[\"')]?[.!?][\"')]?[ ])"
            rf"[ \t*_\"'`(]{{0,6}}(?:-[ ])?{VALUE}{_STARS}[*_\"'`).]{{0,4}}\s{{0,9}}\Z",
        ),
    ),
    Rule(
        "criterion",
        _patterns(
            r"(?:^|(?<=[;,.|)。，；、])|(?<=[0-9][ ]))[ \t>*#•_-]{0,6}"
            rf"(?P<name>{_LETTER}(?:{_LETTER}|[ \t/&'’-]){{0,40}})[*_]{{0,3}}{_ASIDE}{_COLON}{_OPEN}(?:{_LED}{_OPEN})?"
            rf"{VALUE}",
            rf"^[ \t]*\|[ *_]{{0,4}}(?P<name>{_LETTER}(?:{_LETTER}|[ /&'’-]){{0,40}}?)[ *_]{{0,4}}\|[ ]{{0,60}}{_OPEN}"
            rf"{VALUE}"
            r"[ *_]{0,4}(?=\|(?![ *_]{0,4}[0-9])|$)",
        ),
        loose=True,
        named=True,
    ),
    Rule("counted", _patterns(VALUE + r"(?P<stars>[ -]?stars?\b)?"), loose=True),
    Rule(
        "phrase",
        _patterns(
            rf"(?:{VERB}|{SAYING}){LINK}{{0,6}}[ \t]+[\"'*(\[]{{0,3}}{VALUE}",
            rf"\b(?:is|be|remains),[ ](?![^,]{{0,30}}\b(?:best|most|least|not|sa[iy]\w*|claim\w*|if)\b)"
            rf"[^,.:;!?\n0-9]{{1,40}},[ ](?:an?[ ]|only[ ]|about[ ]){{0,2}}[\"'*(\[]{{0,3}}"
            rf"{VALUE}{REACHED}",
            rf"\b(?P<gives>{_GIVES_ELSEWHERE})\b(?:[ ](?!(?:{_LIMITS})\b){_LETTER}[\w'’-]{{0,20}}){{0,7}}?[ ]{{1,9}}"
            rf"[\"'*(\[]{{0,3}}{VALUE}(?=[*_\"')\]]{{0,3}}(?:[ ]{POINTS}\b)?[*_\"')\]]{{0,3}}(?:[.,;:!)\n]|\s*\Z"
            rf"|[ ](?:{_BECAUSE})\b))",
        ),
        loose=True,
    ),
    Rule("lone", _patterns(VALUE), loose=True),
)


_TABLE = re.compile(r"(?:^[ \t]*\|.*\|[ \t]*(?:\n|\Z)){3,40}", re.M)
_CELL = re.compile(r"(?<=\|)[^|\n]*\|")
_SCORES = re.compile(rf"[\s*_]*(?:{NAME}|points?|note|nota|punkte|voto)s?\b[^|]*\|", re.I)


def other_columns(text: str) -> Iterator[tuple[int, int]]:
    """Cells of tables that stand between a name and its score, as weights do, where one column is headed as scores."""
    for table in _TABLE.finditer(text):
        rows = [[*_CELL.finditer(text, *span)] for span in _lines(table)]
        heads = [at for at, cell in enumerate(rows[0]) if at and _SCORES.match(cell[0])]
        if len(heads) == 1 and set("".join(cell[0] for cell in rows[1])) <= set("-|: "):
            yield from (cell.span() for row in rows[2:] for cell in row[1 : heads[0]])


def _lines(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Places of the lines of a match."""
    start = match.start()
    for line in match[0].splitlines(keepends=True):
        yield start, start + len(line)
        start += len(line)


def unclear(text: str) -> Iterator[tuple[int, int]]:
    """Places of numbers that settle nothing: one beside "cannot be rated:", sums, several turned into others."""
    steps = _changed(text)
    if len({number(match["last"]) for match in steps}) > 1:  # "1 -> 4, 2 -> 3"
        yield from (match.span() for match in steps)
    yield from (match.span() for match in _EACH.finditer(text))
    for match in _OTHER_PART.finditer(text):
        if one := _ENDS_IN_ONE.search(text, max(0, match.start() - 12), match.start()):
            yield from (one.span("n"), match.span("n"))
    yield from (match.span() for match in _REDUCED.finditer(text))
    if _HEDGES_AT_ALL.search(text):
        yield from (match.span() for match in _HEDGED.finditer(text))
    if _TERMS_AT_ALL.search(text):
        yield from (match.span() for match in _BY_TERMS.finditer(text))
    yield from (match.span("n") for match in _ROW.finditer(text))  # "5, 2"
    sums = summed(text)
    for match in _WITHOUT_RESULT.finditer(text):
        if not any(start <= match.start() < end for start, end in sums):
            yield match.span()
    if _DEFAULTS_AT_ALL.search(text):
        yield from (match.span("n" if match["n"] else "m") for match in _DEFAULT.finditer(text))
    yield from (match.span("n") for match in _NOT_KNOWN.finditer(text))
    if "(" in text:
        twice = (match for match in _TOLD_TWICE.finditer(text) if number(match["one"]) != number(match["other"]))
        yield from (match.span() for match in twice)
    yield from (match.span(1) for match in _BOUND.finditer(text) if match[1])
    yield from (match.span(2) for match in _BOUND.finditer(text) if match[2])
    if "</" in text:
        yield from (match.span() for match in _TWO_TAGS.finditer(text))
    if "boxed" in text:
        yield from (match.span() for match in _TWO_BOXES.finditer(text))
    if "]]" in text:
        yield from (match.span() for match in _TWO_MARKS.finditer(text))


def superseded(text: str) -> Iterator[tuple[int, int]]:
    """Places of numbers that another takes the place of, in one breath: "5, lowered to 2", "5, no, 2", "5 -> 2"."""
    for match in _changed(text):
        yield from (one.span() for one in NUMERAL.finditer(text, match.start(), match.start("last")))
    if _CHANGES_AT_ALL.search(text):
        yield from (match.span("n") for pattern in (_LOWERED, _FROM_TO) for match in pattern.finditer(text))
    for pattern in (_OVERALL, _THEN, *([_IN_ITS_PLACE] if _OTHER_PLACE.search(text) else ())):
        yield from (match.span("n") for match in pattern.finditer(text))
    if RETRACTS_AT_ALL.search(text):
        yield from (match.span("n") for match in _RETRACTED.finditer(text))
