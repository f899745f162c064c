"""Read a rating from a free-text reply: by a clear rule or not at all, never a guess.

The rules, first to last; the first that finds a number decides, also where that number is off the scale:
    1. marked: "[[4]]", "[RESULT] 4", "<score>4</score>", "\\boxed{4}"
    2. named: "Final score: 4", "**Rating:** 4", '"score": 4'
    3. own line: the reply opens with the number, or it is the last sentence ("4", "4 stars. Because")
    4. criterion: "Coherence: 4"
    5. counted: "4 out of 5", "4/5", "four stars"
    6. phrase: "a score of four", "I rate it a 4", "is a 4"
    7. lone: the only number on the scale that stands apart from other words ("So 4.")
By rules 4 to 7 a number is read only where its sentence makes it a rating (`judgegraph.replies.sentences`).
Of several numbers by one rule the last counts, as judges reason towards a verdict, but a final or overall one
before others; different numbers for things of different names, and different lone ones, give no verdict.
What was thought, what is quoted, and what another is said to have said are no answers; of an answer that is taken
back ("Actually, wait: I give it a 2") the later one stands.
The scale's own numbers, list marks, what a point would mean and what hangs on a condition ("4 if we are generous") are
no answers either; of a number turned into another ("2 -> 3") the last counts. One that is bounded ("4+") or beside a
denial ("cannot be rated: 2") gives no verdict, nor does an answer that is taken back without another ("Score: 5. That
is wrong."). A reply that abstains ("N/A", "No evidence: ...") or declines ("I refuse.") is read by none of the rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judgegraph.errors import settings_checked
from judgegraph.replies.choices import NEGATIVE, read_choice
from judgegraph.replies.quotation import SPEECH, attributed, blanked, disowned, enclosed, unquoted
from judgegraph.replies.reply import (
    CRITERIA,
    DECLINED,
    GIVEN,
    JUDGES,
    abstains,
    best_of,
    declines,
    names_another,
    other_name,
    refuses,
    unjudged,
)
from judgegraph.replies.sentences import (
    WISHED,
    affirmed,
    disclaims,
    given_elsewhere,
    heads_another,
    introduces,
    is_alone,
    later_rating,
    lowered,
    measures_else,
    names_a_quality,
    of_another_key,
    of_several,
    only_answers,
    rates,
    restates,
    retractions_of,
    sentence_before,
    taken_back,
    taking_back,
    withdrawn,
)
from judgegraph.replies.text import (
    LINK,
    NUMBER,
    OPERANDS,
    RETAKES,
    REVISED,
    RULES,
    SAYING,
    STEPS,
    VERB,
    WORDS,
    Excerpt,
    Reading,
    Rule,
    echoes,
    elsewhere,
    meanings,
    number,
    other_columns,
    ranges,
    superseded,
    unclear,
    unread,
    valued,
)
from judgegraph.types import Scale

if TYPE_CHECKING:
    from judgegraph.replies.text import Reading


# What the words around a number make of it: a count, a rating denied, or the rating of one thing.


_SAME_CLAUSE = r"(?:(?!\b(?:and|so|but|I|thus|hence|therefore|which|that|because|as)\b)[^.,;:\n]){0,30}"
_DENIED = re.compile(
    r"(?:(?:\bnot?\b|n['’]t|\bcannot|\bnever|\brather than|\binstead of|\bwithout|\bneither|\bnor)[ \t]+"
    rf"{_SAME_CLAUSE}|\b(?:than|least|most|above|below|over|under)[ \t]+(?:an?[ ])?"
    r"|\bat[ ](?:best|most|least),[ ](?:an?[ ])?"
    r"|\b(?:hardly|far[ ]from|short[ ]of|anything[ ]but|up[ ]to|almost|nearly)[ ](?:(?:an?|the|it|worth)[ ])*|<[ ]?)\Z",
    re.I,
)
_REPORTED = re.compile(  # "The summary says the film scored 4 out of 5"
    r"\b(?:summary|response|output|text|article|story|essay|passage|source|document|author|writer|speaker|user"
    r"|candidate)"
    r"(?:[ ](?:also|even|itself|then))?[ ]"
    rf"(?:says?|said|states?|stated|mentions?|mentioned|claims?|claimed|reports?|reported|notes?|tells?|told"
    rf"|writes?|wrote)\b"
    rf"(?:[ ]that\b)?{_SAME_CLAUSE}\Z",
    re.I,
)
_OF_OTHERS = re.compile(  # "A typical answer gets a 7", "The reference would get 10"
    r"\b(?:an?|any|most|the)[ ](?:typical|usual|reference|other|gold|previous|earlier)\b[^.,;:\n]{0,30}\Z", re.I
)
_NUMBERED = re.compile(  # "Summary 2" is no rating
    r"\b(?:summary|sample|response|output|answer|option|assistant|sentence|paragraph|line|step|question|point|turn"
    r"|article|version|part|section|page|item|criterion|in|of the|the|first|last|all|these|those|has|have|had"
    r"|contains?|out[ ]of|chapter|figure|table|errors?|errno|exception|http|status|code|null|none|nan)[ ]{1,2}\Z",
    re.I,
)
_NEXT = re.compile(r"[ \t]{1,2}(?P<word>[a-zà-öø-ÿ][a-zà-öø-ÿ'’-]*)|[ \t]?(?:[a-z]|%)")
_GOES_ON = frozenset(  # words that may follow a rating; another word in lower case is what is counted
    """out for on in because as since and but due with given to overall which while based star stars at
        from if although though however considering reflecting indicating meaning is rating score so this it
        that fits or per by regarding when where there would could rather instead then here feels seems after estrellas
        honestly imo tbh probably perhaps car parce weil denn porque pues perché omdat want
        sterne sternen étoiles stelle estrelas puntos punkte punkten punti pontos""".split()
)
_POINTS = re.compile(  # "it scores 1 point." is all of a rating, "1 point for style" and "1 point less" are not
    r"[ ](?:points?|marks?)(?=[*_\"')\]]{0,3}[ \t]{0,3}(?:\Z|[\n.,;:!)–—]|"
    r"(?:out[ ]of|because|since|as|overall|in[ ]total)\b))|[ ](?:of|on|in)[ ](?:the|this|your)[ ](?:scoring[ ])?"
    r"(?:rubric|scale)\b",
    re.I,
)
_BEFORE_NAME = re.compile(r"([a-z]{1,20})[ _-]{1,2}\Z", re.I)
_PLAIN_NAMES = frozenset(
    """score scores rating ratings grade mark verdict answer result overall final evaluation judgement
        judgment for of on the this my a an is so and total response summary output dialogue text story
        conversation individual""".split()
)
_COUNTED = r"\b(?:errors?|issues?|mistakes?|problems?|number|count|words?|steps?|page|year|questions?|sentences?)\b"
_COUNT_NAMES = re.compile(_COUNTED, re.I)
_COUNT_BEFORE = re.compile(rf"{_COUNTED}[^\n.]{{0,12}}[:=][ *]{{0,4}}\Z", re.I)
_LATEST = frozenset(
    """final new newer second actual true real later latest last honest proper after upon following
        revision correction amendment adjustment edit update to fairer appropriate accurate realistic reasonable
        honest chosen choice""".split()
)
_PARTICIPLE = re.compile(  # "revised", "lowered"; what was extracted, predicted or submitted is of the judged text
    r"(?:re\w{2,12}|up\w{3,8}|down\w{3,8}|lower|rais|chang|correct|adjust|amend|edit|modif|final\w{1,3}|conclud|weight"
    r"|averag|combin|normali[sz]|calibrat|round|moderat|aggregat|summ|cut|improv|increas|decreas|penali[sz])e?i?d"
)
_OVER_ALL = frozenset(
    "overall average mean insgesamt gesamt global globale general geral complessivo 总体 综合 総合".split()
)
OVERALL = "~"  # the subject of a rating over all
FINAL = "!"  # the subject of a rating that says it is the final one, or takes another's place


def _wished(text: str, match: re.Match[str]) -> bool:
    """The words that change a rating say what they would do: "I would raise it to 4 if it cited sources"."""
    behind = re.compile(r"[^.!?\n]{0,80}").match(text, match.end())
    return WISHED.search(f"{sentence_before(text, match.start('n'))}{behind[0] if behind else ''}") is not None


def counts_something(text: str, match: re.Match[str], rule: str, criterion: str = "") -> bool:
    """The words around a loosely stated number make it something else than a rating."""
    if text.endswith("out of ", 0, match.start("n")):  # "Score out of 5: 3"
        return True
    before, after = text[max(0, match.start() - 40) : match.start()], _NEXT.match(text, match.end())
    if _DENIED.search(before) or _REPORTED.search(text[max(0, match.start() - 100) : match.start()]):
        return True
    if rule in ("phrase", "lone") and _OF_OTHERS.search(before):
        return True
    if "gives" in match.re.groupindex:
        return not given_elsewhere(text, match.start(), match.end(), match["gives"])
    if rule == "criterion":
        on_scale = re.search(r"[(\[][ ]?-?[0-9]", text[match.end("name") : match.start("n")]) is not None
        if _COUNT_NAMES.search(match["name"]) or not (on_scale or names_a_quality(match["name"], criterion)):
            return True
    if rule == "counted" and (match["stars"] or not match["of"]):
        return not match["stars"] or not _rates_by_stars(text, match)
    if rule == "phrase" and not rates(text, match.start(), match.end()):
        return True
    if rule == "lone" and not is_alone(text, match.start("n"), match.end(), criterion):
        return True
    if rule == "lone" and (match["n"].lower() in WORDS or _NUMBERED.search(before) or _COUNT_BEFORE.search(before)):
        return True
    if rule == "phrase" and _POINTS.match(text, match.end()):
        return False
    if match["of"] and after and after["word"] in ("available", "possible", "points" if rule == "counted" else ""):
        return False
    return after is not None and after["word"] not in _GOES_ON


_RATING_VERB = re.compile(rf"(?:{VERB}|{SAYING}){LINK}{{0,6}}[ \t]+[\"'*(\[]{{0,3}}\Z", re.I)


def _rates_by_stars(text: str, match: re.Match[str]) -> bool:
    """ "4 stars.", "It gets 4 stars", not "The hotel has 4 stars"."""
    verb = _RATING_VERB.search(text, max(0, match.start() - 80), match.start())
    if verb is not None:
        return rates(text, verb.start(), match.end())
    return is_alone(text, match.start(), match.end(), "")


def subject(text: str, match: re.Match[str]) -> str:
    """What a named rating rates: "clarity" of "Clarity score", "" for all of it, FINAL where it says so."""
    before = _BEFORE_NAME.search(text[max(0, match.start() - 22) : match.start()])
    words = re.findall(r"\w+", f"{before[1] if before else ''} {match['name']}".lower())
    if any(word in _LATEST or _PARTICIPLE.fullmatch(word) for word in words):
        return FINAL
    if _OVER_ALL & {*words}:
        return OVERALL
    side = words[-1:] == ["a"]  # "Response A" is no article
    return " ".join([word for word in words if word not in _PLAIN_NAMES] + ["a"] * side)


SHORT = 200  # characters of a reply that may be numbers alone
SIDE = 2000  # characters of a JSON object that are looked at on either side of a number
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
    name: str

    @classmethod
    def of(cls, text: str, scale: Scale, name: str) -> _Reply:
        unsettled = _places([*ranges(text), *unclear(text), *elsewhere(text, scale)])
        return cls(
            text,
            scale,
            _places(echoes(text, scale)),
            _places(meanings(text)),
            unsettled,
            _places(superseded(text)),
            bool(SPEECH.search(text)),
            name,
        )

    def of_another(self, start: int, number: int, end: int) -> bool:
        """What stands there is what another is said to have said, or what the judge will not say."""
        places = {start, number}
        return (
            (self.speech and any(attributed(self.text, place) for place in places))
            or any(disowned(self.text, place, end) for place in places)
            or of_another_key(self.text, number, self.name)
            or _with_own_score(self.text, number)
            or measures_else(self.text, number, self.name)
        )


_ANSWER_KEY = re.compile(r"[{,\s][\"']?(?:answer|result|verdict)[\"']?\s{0,3}:\s{0,3}\Z", re.I)
_SCORE_KEY = re.compile(r"[{,\s][\"']?(?:score|rating|grade)[\"']?\s{0,3}:\s{0,3}-?[0-9]", re.I)


_THEIR_ANSWER = re.compile(  # "Extracted answer: 7", "The student's answer is \\boxed{3}"
    r"\b(?:(?:extracted|predicted|submitted|reference|gold(?:en)?|ground[ -]?truth|expected|generated|given|provided"
    r"|computed|stated|target|true|model|student|candidate|assistant|user|response|solution|submission"
    r"|author)(?:['’]s)?"
    r"[ ](?:final[ ]|own[ ])?(?:answer|result|solution|output|value|response|number)"
    r"|reference|gold[ ]standard|ground[ -]truth"
    r"|(?:student|response|candidate|solution|submission|assistant)[ ](?:gives|gets|got|obtains|finds|computes"
    r"|arrives[ ]at"
    r"|answers|outputs|writes))[*_]{0,2}"
    r"(?:[ ]?[:=]|[ ](?:is|was|of|as|gives|reads|has))?[ *_\"'`$(:=]{0,6}(?:\\boxed\{)?\Z",
    re.I,
)
_CALLED_TRUE = re.compile(
    r"[*_\"'`$)\]}]{0,4}[ ](?:is|was)[ ](?:also[ ]|not[ ])?(?:wrong|incorrect|false|mistaken|right|correct)\b", re.I
)


def _of_the_judged(text: str, match: re.Match[str]) -> bool:
    """Whether a number is an answer that the judged text or its reference gives: "Extracted answer: 7", "Answer: 4 is
    wrong"."""
    opens = match.start("n")
    if "answer" in match[0].lower() and _CALLED_TRUE.match(text, match.end()):
        return True
    return _THEIR_ANSWER.search(text, max(0, opens - 60), opens) is not None


def _with_own_score(text: str, place: int) -> bool:
    """Whether a number in JSON is an answer, a result or a verdict where the same object has a score."""
    if not _ANSWER_KEY.search(text, max(0, place - 20), place):
        return False
    opened, closed = text.rfind("{", max(0, place - SIDE), place), text.find("}", place, place + SIDE)
    return min(opened, closed) >= 0 and _SCORE_KEY.search(text, opened, closed) is not None


_OF_TRAIT = re.compile(  # "For relevance I give 5"
    r"\b(?:for|on|regarding|as[ ]to|in[ ]terms[ ]of)[ ](?:the[ ])?(?P<trait>[a-z]{4,20}),?[ ](?:I|it|this|the[ ]\w+)\b"
    r"[^.,;:!?\n0-9]{0,40}\Z",
    re.I,
)


def _trait(text: str, place: int) -> str:
    """The criterion of which a phrase gives a rating, "" where it names none."""
    named = _OF_TRAIT.search(text, max(0, place - 90), place)
    return named["trait"].lower() if named and named["trait"].lower() in CRITERIA else ""


def _places(spans: Iterable[tuple[int, int]]) -> frozenset[int]:
    return frozenset(at for span in spans for at in range(*span))


def _found(reply: _Reply, rule: Rule) -> list[_Found]:
    """What a rule finds, in the order of the text."""
    text, found = reply.text, []
    for pattern in rule.patterns:
        matches = list(pattern.finditer(text))
        for match in matches[:MOST] + matches[MOST:][-MOST:]:
            start, end = match.start("n"), max(match.end(group) for group in ("n", "part", "half", "glued"))
            if start in reply.echo or start in reply.superseded or reply.of_another(match.start(), start, match.end()):
                continue
            if _of_the_judged(text, match):
                continue
            if rule.loose and (start in reply.told or counts_something(text, match, rule.name, reply.name)):
                continue
            if pattern.pattern == RETAKES.pattern and _wished(text, match):
                continue
            value = None if start in reply.unsettled else valued(match, reply.scale)
            if value is not None or rule.name != "lone" or start in reply.unsettled:
                found.append(_Found(value, start, end, subject(text, match) if rule.named else _trait(text, start)))
    return sorted(found, key=lambda one: one.start)


_SHARE = re.compile(
    r"(?P<share>[01]?\.[0-9]{1,4})[ ]?\([ ]?(?P<percent>[0-9]{1,3}(?:\.[0-9]{1,2})?)[ ]?%[ ]?\)"
)  # "0.8 (80%)"
_LIST_MARK = re.compile(r"\A\s*\d{1,2}[.)]\s+(?=\d)")
_BARE = re.compile(rf"\W*?(?:{NUMBER})(?:[\s*_]*/\s*[0-9.]+)?\W*")


def _without_words(text: str) -> bool:
    """Several different numbers and no word that says which of them is the rating: "2\n5", "[1, 2, 3]"."""
    text = STEPS.sub("", OPERANDS.sub("", _LIST_MARK.sub("", text)))
    if (both := _SHARE.search(text)) and abs(float(both["share"]) - float(both["percent"]) / 100) < 1e-9:
        text = text[: both.end("share")] + text[both.end() :]
    if any(map(str.isalpha, text)) or _BARE.fullmatch(text):
        return False
    return len(set(re.findall(r"\d+(?:\.\d+)?", text))) > 1


def _decided(found: list[_Found], rule: Rule) -> _Found | None:
    """The verdict among what one rule found; None where nothing orders them."""
    for name in (FINAL, OVERALL, ""):  # a final or an unnamed rating says more than one of a single trait
        found = [one for one in found if one.subject == name] or found
    unordered = rule.name == "lone" or len({one.subject for one in found}) > 1
    if unordered and len({one.value for one in found}) > 1:
        return None
    return found[-1]


def _other(found: list[_Found], verdict: _Found) -> float | None:
    """A different rating of the same thing that stands before the verdict, None where there is none."""
    rivals = [one.value for one in found if one.subject == verdict.subject and one.value != verdict.value]
    return rivals[-1] if rivals else None


_ALONE = re.compile(
    r"\s*[*_]{0,2}(?:(?:final[ ])?(?:score|rating)[*_]{0,2}:[*_]{0,2}[ ])?(?P<n>[0-9]{1,3})[*_]{0,2}\s*", re.I
)


@settings_checked
def read_rating(text: str, scale: Scale | str, name: str = "") -> Reading:
    """The rating in a free-text reply, as the scale counts it.

    Args:
        text: the reply; of a long one, the first 2,000 and the last 4,000 characters are read.
        scale: a numeric scale ("1-5", "0-1 any"), or one of labels (then as `read_choice`).
        name: of the criterion, where it is known: a number of that name is its rating.

    Returns:
        A value between the scale's ends, also between its whole points ("2.5"); never clipped, never rescaled
        but for shares of one on a 0-1 scale of any number ("80%", "4/5"). Otherwise None, with a status.
    """
    scale = Scale.of(scale)
    if scale.labels:
        return read_choice(text, scale.labels)
    if (plain := _ALONE.fullmatch(text)) and scale.low is not None and scale.high is not None:
        value = float(plain["n"])
        if scale.low <= value <= scale.high:
            return Reading(value, span=plain.span("n"), rule="named" if ":" in text else "own line")
    excerpt = Excerpt.of(text)
    if "|" in text:
        excerpt = replace(excerpt, text=blanked(excerpt.text, other_columns(excerpt.text)))
    reading = _read(excerpt.text, scale, name)
    for turn in retractions_of(excerpt.text):
        if later := _instead(excerpt.text[turn:], scale, name):
            reading = taking_back(_read(excerpt.text[:turn], scale, name), later, turn)
            break
    if reading.span and withdrawn(excerpt.text, reading.span[1], _poor(reading.value, scale)):
        return unread(excerpt.text, "an answer that is taken back")
    if reading.span and isinstance(reading.value, float) and of_several(excerpt.text, reading.span[0]):
        return unread(excerpt.text, "ratings of several texts")
    if reading.span and isinstance(reading.value, float):
        reading = _overtaken(reading, reading.value, reading.span[1], excerpt.text, scale)
    if reading.span and reading.value == scale.high and lowered(excerpt.text, reading.span[1]):
        return unread(excerpt.text, "points are deducted from the best score there is")
    return replace(reading, span=excerpt.span(*reading.span)) if reading.span else reading


def _overtaken(reading: Reading, value: float, end: int, text: str, scale: Scale) -> Reading:
    """The reading, or the different rating that a later sentence gives in its place."""
    later = later_rating(text, end, value, scale)
    if later is None or any(attributed(text, place) for place in later[1:2]) or disowned(text, *later[1:]):
        return reading
    if later[0] is None:
        return unread(text, f"another rating behind it: {text[later[1] : later[2]]}")
    return replace(reading, value=later[0], span=later[1:], rule="named", earlier=value, other=None)


def _poor(value: float | str | None, scale: Scale) -> bool:
    """Whether a value says that something is bad: it lies in the lower half of its scale."""
    if scale.low is None or scale.high is None or not isinstance(value, int | float):
        return False
    return value < (scale.low + scale.high) / 2


_ON_TERMS = re.compile(r"[*_\"')\]]{0,3},?[ ](?:if|with|when|unless|without|in|on|(?-i:[A-Z]))", re.I)


def _instead(later: str, scale: Scale, name: str) -> Reading | None:
    """What stands in the place of an answer that was taken back; None where these words hold no other."""
    reading = _read(later, scale, name)
    if reading.status == "ok":
        if reading.rule not in ("lone", "criterion"):
            return reading
        ended = reading.span is not None and not _ON_TERMS.match(later, reading.span[1])
        return reading if ended and only_answers(later) else None
    return reading if reading.status != "unreadable" or reading.rule.startswith(("marked", "named", "phrase")) else None


def _read(text: str, scale: Scale, name: str) -> Reading:
    """The rating in the words of an answer, by the first rule that finds a number."""
    if abstains(text):
        return Reading(None, "abstained", rule="abstained")
    if declines(text):
        return Reading(None, "refused", rule="declined")
    if unjudged(text):
        return unread(text, "it says that it cannot be judged")
    if len(text) < SHORT and _without_words(text):
        return unread(text, "several numbers, and no word that says which is the rating")
    if "{" in text and _contradicts_itself(text):
        return unread(text, "JSON that gives several scores")
    if "{" in text and name and (said := _other_criterion(text, name)) is not None:
        return unread(text, f"JSON that rates {said[:60]!r}")
    reply = _Reply.of(text, scale, name)
    if own := _of_own_name(reply):
        return Reading(own.value, span=(own.start, own.end), rule="criterion")
    asked = affirmed(text, scale)
    for rule in RULES:
        if rule.name == "lone" and refuses(reply.text):
            break
        if asked and rule.name == "criterion":
            return Reading(asked[0], span=asked[1:], rule="phrase")
        found = _found(reply, rule)
        if not found:
            continue
        verdict = _decided(found, rule)
        if verdict is None:
            return unread(text, f"{rule.name}: several numbers that cannot be ordered")
        if verdict.value is None:
            return unread(text, f"{rule.name}: not one number on the scale {scale}")
        if rule.name == "criterion" and _others_are_rated(text, verdict, name):
            return unread(text, "several things are rated, and none over all")
        if names_another(verdict.subject, name):
            return unread(text, f"a rating of {verdict.subject!r}, which was not asked about")
        earlier = next((number(text[slice(*span)]) for span in superseded(text)), None) if reply.superseded else None
        return Reading(verdict.value, "ok", (verdict.start, verdict.end), rule.name, earlier, _other(found, verdict))
    return unread(text, "no number that is a rating")


_LINE_RATED = re.compile(
    rf"^[ \t>*#•_-]{{0,6}}(?P<name>[a-z][a-z \t&'’-]{{0,40}}?)[*_]{{0,2}}[ ]?[:：][ *_]{{0,4}}(?P<n>{NUMBER})[ ]?/"
    r"[ ]?(?P<of>[0-9]{1,3})[*_]{0,2}[ \t]*$",
    re.I | re.M,
)


def _others_are_rated(text: str, verdict: _Found, name: str) -> bool:
    """Whether lines of other names give other ratings than a criterion's, whose name was not asked for."""
    if "/" not in text or (name and name.casefold() in verdict.subject):
        return False
    lines = list(_LINE_RATED.finditer(text))
    best = next((line["of"] for line in lines if line.start("n") == verdict.start), None)
    return len({number(line["n"]) for line in lines if line["of"] == best}) > 1


def _of_own_name(reply: _Reply) -> _Found | None:
    """The one rating that carries the criterion's own name, beside ratings over all or by other criteria.

    None where nothing else is rated, or a rating without a name, or a final one, says something else.
    """
    key = " ".join(re.findall(r"\w+", reply.name.lower()))
    if not key or key not in reply.text.lower():
        return None
    rated = {rule.name: _found(reply, rule) for rule in RULES if rule.named}
    own = [one for one in rated["criterion"] if one.subject == key]
    others = [one for found in rated.values() for one in found if one.subject != key]
    if len({one.value for one in own}) != 1 or own[0].value is None or not others:
        return None
    named = {one.subject for one in others if one.value != own[0].value}
    return None if named & {FINAL, ""} else own[-1]


_OBJECT = re.compile(r"\{[^{}]{1,2000}\}")
_LOOSE_PAIR = re.compile(
    r"(?:[\"'](?P<key>[\w -]{1,40})[\"']|[{,]\s{0,9}(?P<bare>[a-z_]\w{0,39}))\s{0,3}:\s{0,3}"
    r"(?P<number>-?[0-9]{1,6}(?:\.[0-9]{1,6})?)(?(bare)(?=\s{0,3}[,}])|(?![\w.]))",
    re.I,
)
_LOOSE_TEXT = re.compile(r"""(:\s{0,3})(?:"[^"]*"|'[^']*'(?=\s{0,3}[,}]))""")
_RATES_ALL = re.compile(r"(?:final|overall|total)?[ _-]?(?:score|rating|grade|mark)|overall", re.I)


def _other_criterion(text: str, name: str) -> str | None:
    """What the JSON of a reply says that it rates, where none of it rates what was asked about."""
    objects = [_pairs(match[0]) for match in [*_OBJECT.finditer(text)][:MOST]]
    named = [other_name(pairs, name) for pairs in objects]
    return named[0] if named and all(named) else None


def _contradicts_itself(text: str) -> bool:
    """Whether JSON objects, or one of them, say different things under one key, or under keys that mean the same."""
    numbers: dict[str, set[str]] = {}
    for match in [*_OBJECT.finditer(text)][:MOST]:
        for key, value in _pairs(match[0]):
            name = "score" if _RATES_ALL.fullmatch(key) else key.casefold().removesuffix("s")
            given = value if isinstance(value, list) and name == "score" else [value]
            told = [one for one in given if isinstance(one, int | float) and not isinstance(one, bool)]
            numbers.setdefault(name, set()).update(str(one).removesuffix(".0") for one in told)
    return any(len(values) > 1 for values in numbers.values())


def _pairs(text: str) -> list[tuple[str, Any]]:
    """Keys and values of an object, also those that stand twice; of what is no JSON the numbers behind its keys."""
    found: list[tuple[str, Any]] = []
    try:
        json.loads(text, object_pairs_hook=found.extend)
    except (ValueError, RecursionError):
        loose = _LOOSE_PAIR.finditer(_LOOSE_TEXT.sub(r"\1", text))
        return [(match["key"] or match["bare"], float(match["number"])) for match in loose]
    return found


# An answer in a free-text reply: what it says, and the reason that stands beside it.


_NAMES = r"(?:scores?|rating|grade|mark|verdict|answer|result|overall|label|evaluation|judge?ment)"
_LEAD = re.compile(  # what may stand before a value that opens a reply: marks, "**Final score:**", "[[", "\boxed{"
    r"[\s*_#>\"'`(-]*"
    rf"(?P<named>(?:[^\W\d]+[ ]){{0,3}}(?:{_NAMES}\b[^\n:：.!?]{{0,40}}|[^\W\d]+[*_]*)[:：][\s*_\"'`(\[]{{0,9}}"
    r"|\[\[[ ]?|\[RESULT\][ :*(\[]{0,5}|\\boxed\{[ ]?|<\w{1,10}>\s{0,3})?",
    re.I,
)
_STATED_OUT_OF = r"(?:[*\"']{0,2}[ \t]{0,2}(?:/|out[ ]of)[ \t]{0,2}\d{1,6}|[ -]?(?:stars?|points?)\b|[ \t]?%)?"
_CLOSED = re.compile(rf"{_STATED_OUT_OF}(?:</\w{{1,10}}>|[*_\"'`)\]}}])*[ \t]*(?P<stop>[.,;:!–—-]|\n|\Z)?[\s*_]*", re.I)
_HEADING = re.compile(r"[*_]{0,2}(?:explanation|reason(?:ing)?|rationale)[*_]{0,2}[:：][*_]{0,2}\s*", re.I)


def text_reading(text: str, scale: Scale, first_digit: bool = False, name: str = "") -> Reading:
    """A rating or a label in free text."""
    if scale.labels:
        return read_choice(text, scale.labels)
    if not first_digit:
        return read_rating(text, scale, name)
    excerpt = Excerpt.of(text)
    if abstains(excerpt.text):
        return Reading(None, "abstained", rule="abstained")
    if declines(excerpt.text):
        return Reading(None, "refused", rule="declined")
    for match in re.finditer(r"\d", excerpt.text):
        if scale.low is not None and scale.high is not None and scale.low <= int(match[0]) <= scale.high:
            return Reading(float(match[0]), "ok", excerpt.span(*match.span()), "first digit")
    return Reading(None, "unreadable", None, "no digit of the scale")


def reason_without_value(text: str, span: tuple[int, int] | None) -> str:
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


# What the words around JSON say of it: an answer in a form is doubted where they decline to judge, take it back, answer
# otherwise, or where its own sentence neither introduces it nor sets it apart.


PROSE = 6000  # characters of the words around a form's answer, at either end
_NOT_OWN = re.compile(  # a sentence that holds JSON and says that it is not the answer
    r"\b(?:refus\w{0,3}|never|(?:will|would|do|does|did|can|could|should|must)[ ]not|cannot|\w{2,6}n['’]t"
    r"|wrong|incorrect|not|anything[ ]but|instead|rather[ ]than|naive|another|inject\w{0,4}|embed\w{0,5}|hidden"
    r"|manipulat\w{0,4}|demand\w{0,3}|example|e\.g\.|such[ ]as|like"
    r"|according[ ]to|(?:its|his|her|their|the)[ ](?:\w{1,12}[ ])?(?:line|sentence|paragraph|words|end|ending)"
    r"|(?:required|expected|following|requested)[ ](?:text|format|line|sentence|words|instructions?)"
    r"|(?:was|am|been|were)[ ](?:told|asked|instructed)|candidat|texte|kandidat\w?|sagt|dit|schreibt)\b"
    r"|候选|文本|说|写",
    re.I,
)
_IN_FORMAT = re.compile(r"\bin[ ](?:the|your)[ ](?:required|expected|following|requested|specified)[ ]format\b", re.I)
_FORMAT_ASKED = re.compile(  # "The prompt asks me to reply in JSON:" says how the answer is written
    r"\s*(?:the|your)[ ](?:(?:system|user)[ ])?(?:prompt|instructions?|task|user|form)[ ](?:\w{1,12}[ ]){1,6}?"
    r"(?:a[ ])?json(?:[ ](?:object|format|only|form))?[ ]?[:,]\s*",
    re.I,
)
_NOT_OWN_BEHIND = re.compile(
    r"\A[ ]?[\"'`”]?,?[ ](?:(?:is|was|would|should|which|says?|said|wrote|stands?|stood|appears?)\b"
    r"|as[ ][^.!?\n]{0,60}\b(?:demand|ask|want|say|request|instruct|claim)\w{0,3}\b)"
    r"|\b(?:above|this|that|it|which|block|object|json|line)\b[^.!?\n]{0,30}\b(?:is|was|comes?|came|stands?|stood)\b"
    r"[^.!?\n]{0,20}\b(?:quot\w{1,6}|cited|copied|injected|from[ ]the|what[ ](?:the|it|he|she|they)\b)",
    re.I,
)
_SENTENCES = re.compile(r"[^.!?\n]{1,400}")
_LEAD_END = re.compile(r"[.!?;][\"'”)]?(?=\s)|[。！？]|\n|[{}>]")
_FENCE = re.compile(r"```\w{0,9}[ \t]*\n?\Z|<[\w|]{1,12}>\s{0,3}\Z")
_PAIRS = {'"': '"', "`": "'", "'": "'", "“": "”", "„": "“”", "‘": "’", "«": "»", "「": "」", "『": "』", "‹": "›"}
_NO_RATING = re.compile(
    rf"\bno[ ]{GIVEN}[ ](?:can|could|is|was)\b"
    rf"|\b(?:(?:cannot|can[ ]not)[ ]be|(?:^|[.!?][ ]|\b(?:is|was|am)[ ])not)[ ]{JUDGES}e?d\b"
    r"|\b(?:please|kindly)[ ](?:give|provide|send|share|paste)[ ]",
    re.I | re.M,
)
_WORD_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMERAL = (
    r"(?P<{0}>-?[0-9]{{1,6}}(?:\.[0-9]{{1,6}})?(?![\w%]|\.[0-9]|[ ]?[-–/][ ]?[0-9])"
    rf"|\b(?:{'|'.join(_WORD_NUMBERS)})\b(?![ -]\w))"
)
_DECIMAL = re.compile(r"\s*-?[0-9]{1,9}(?:\.[0-9]{1,20})?\s*")
COUNTED_TO = re.compile(  # "on a scale of 1 to 10", "(out of 10)", "10 = best"
    r"\bscale[ ]?(?::|of|from)[ ]?[0-9]{1,3}[ ]?(?:-|–|to)[ ]?(?P<a>[0-9]{1,4})\b"
    r"|\b[0-9]{1,3}[ ]?(?:-|–|to)[ ]?(?P<b>[0-9]{1,4})[ ]scale\b"
    r"|(?:\A\W{0,3}|\n\W{0,3}|\b(?:score|rating|rated|graded)[ ])out[ ]of[ ](?P<c>[0-9]{1,4})"
    r"(?=[ ]?(?:[).:\n]|\Z))"
    r"|\(max(?:imum|\.)?[: ]{1,2}(?P<e>[0-9]{1,4})\b"
    r"|(?<![a-z][ ])\b(?P<d>[0-9]{1,4})[ ](?:=|is|being|means)[ ](?:the[ ])?(?:best|highest|perfect|maximum)\b",
    re.I,
)
_STATES = re.compile(
    r"\b(?:my|final|actual|real|true|new|second|\w{3,12}ed)[ ](?:\w{1,12}[ ])?(?:answer|score|rating|verdict"
    r"|grade)[*_]{0,2}"
    r"(?:[ ](?:is|would[ ]be|remains|of|a|an|score|rating|the|should|be|therefore|now|just|only)){0,6}"
    r"[\s:*_\"'`=\[]{0,6}" + _NUMERAL.format("a") + r"|\bI(?:['’]d|['’]ll|[ ]would|[ ]will|[ ]must|[ ]have[ ]to)?"
    r"(?:[ ](?:now|actually|therefore|instead|still|only))?[ ](?:give|rate|score|grade|award|assign|say)"
    r"(?:[ ](?:it|this|that|them|the|a|an|at|as|of|only|just|score|rating|text|"
    r"output|response|answer|summary|candidate|instead|to|be)){0,7}[\s*_\"'`\[]{1,4}" + _NUMERAL.format("b") + "|"
    r"(?:^|(?<=[.!?][ ]))[ \t>*_#]{0,6}(?:(?:the|my|final|overall|\w{3,12}ed)[ ]){0,2}"
    rf"(?:(?:score|rating|verdict|answer|grade)(?:[ ](?:after|upon|following)(?:[ ]\w+){{1,4}})?|final"
    rf"|{REVISED})[*_]{{0,2}}[ ]?(?::|=|is\b|to\b)"
    r"[\s*_\"'`\[]{0,6}(?P<c>-?[0-9]{1,6}(?:\.[0-9]{1,6})?|(?:"
    + "|".join(_WORD_NUMBERS)
    + r")\b)(?=(?:[ ]?(?:/|out[ ]of)[ ]?[0-9]{1,4})?"
    r"[*_\"'`\])]{0,4}[ ]?(?:[.,;!](?![0-9])|\n|\Z|(?:because|as|since|instead|stars?|points?)\b))"
    r"|\b(?:that|it|this)[ ](?:should[ ]be|deserves|(?:only[ ])?merits|is[ ]worth)[ ](?:only[ ])?(?:an?[ ])?"
    + _NUMERAL.format("d"),
    re.I | re.M,
)


def objection(
    text: str, start: int, end: int, value: Any, judged: Callable[[], str] = str,
    schema: Mapping[str, Any] | None = None,
) -> str:  # fmt: skip
    """Why JSON inside a reply is not its answer; "" where nothing speaks against it.

    Args:
        text: the reply, its thoughts blanked. start, end: of the JSON in it. value: what the JSON says.
        judged: gives the texts that the judge was shown. schema: of the form that was asked for.
    """
    before, behind = text[:start][-PROSE:], text[end:][:PROSE]
    if not (before.strip() or behind.strip()):
        return ""
    around = f"{before}{'x' * (end - start)}{behind}"
    if any(first <= len(before) < last for first, last in enclosed(around)):
        return "its JSON stands where no answer does"
    left, right = before.rstrip(" ")[-1:], behind.lstrip(" ")[:1]
    quoted = bool(left and right) and right in _PAIRS.get(left, "")
    if quoted and (left not in "\"'" or before.rstrip().endswith("''")):
        return "its JSON is a quotation"
    if not any(sign.isalnum() for sign in f"{before}{behind}".replace("json", "")):
        return ""
    if why := _of_another(text, start, end):
        return why
    if text[start:end] in judged():
        return "its JSON stands so in the text that is judged"
    if quoted:
        return "its JSON is a quotation"
    around = unquoted(f"{before}\n\n{behind}")
    if declines(around) or unjudged(around) or _NO_RATING.search(around):
        return DECLINED
    behind = _SENTENCES.sub(lambda said: " " if WISHED.search(said[0]) else said[0], behind)
    if disclaims(behind):
        return "the words behind its JSON say that it is none"
    if taken_back("x" + unquoted(re.sub(r"\A\s{0,3}```", "", behind)), 1, says_bad(value, schema or {})):
        return "it is taken back behind its JSON"
    best = best_of(schema or {})
    for match in COUNTED_TO.finditer(around):
        if best and float(match[match.lastgroup or 0]) not in best:
            return f"it counts to {match[match.lastgroup or 0]} beside its JSON, and the form does not"
    stated = [_number(next(filter(None, match.groups()))) for match in _STATES.finditer(around)]
    numbers = list(_numbers(value))
    if len(numbers) == 1 and stated and stated[-1] != numbers[0]:
        return f"it says {stated[-1]:g} beside its JSON, which says {numbers[0]:g}"
    if len(numbers) == 1 and (other := restates(unquoted(behind), numbers[0])):
        return f"it says {other} behind its JSON, which says {numbers[0]:g}"
    return _of_pair(around, value)


def says_bad(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether some answer in JSON says that something is bad, by the form that was asked for.

    A number does in the lower half of what its schema allows, false does, and so does a label such as "no".
    """
    if isinstance(value, Mapping):
        inner = schema.get("properties") or {}
        return any(says_bad(one, inner.get(key) or {}) for key, one in value.items())
    if isinstance(value, list):
        return any(says_bad(one, schema.get("items") or {}) for one in value)
    kinds = [schema, *schema.get("anyOf", ())]
    if isinstance(value, str):
        return value.casefold() in NEGATIVE and any(value in kind.get("enum", ()) for kind in kinds)
    if isinstance(value, bool) or value is None:
        return value is False
    ends = [end for kind in kinds for end in (*kind.get("enum", ()), kind.get("minimum"), kind.get("maximum"))]
    numbers = [end for end in ends if isinstance(end, int | float)]
    return bool(numbers) and value < (min(numbers) + max(numbers)) / 2


def _of_pair(around: str, value: Any) -> str:
    """Whether the words beside two scores choose the side that has not the greater one."""
    a, b = (value.get(f"score_{side}") if isinstance(value, dict) else None for side in "ab")
    if not (isinstance(a, int | float) and isinstance(b, int | float)):
        return ""
    said = read_choice(around, ("A", "B", "tie"))
    better = "tie" if a == b else "A" if a > b else "B"
    if said.status == "ok" and said.rule in ("marked", "named", "said") and said.value != better:
        return f"it says {said.value} beside its JSON, whose scores say {better}"
    return ""


def _of_another(text: str, start: int, end: int) -> str:
    """Why the sentence that holds JSON, or what refers back to it, makes it another's; "" where it does not."""
    lead, behind = _lead(text[:start]), text[end:][:PROSE]
    if text[text.rfind("\n", 0, start) + 1 : start].strip() == ">":
        return "its JSON is a quotation"
    asked = _FORMAT_ASKED.fullmatch(lead) is not None
    if not asked and attributed(text, start):
        return "its JSON is what another is said to have said"
    if _NOT_OWN_BEHIND.search(re.sub(r"\A\s{0,3}```", "", behind)) or disowned(text, start, end):
        return "its JSON is what another is said to have said"
    words = any(map(str.isalnum, lead)) and not asked
    above = text[:start].rstrip().removesuffix("```json").rstrip("` \n\t")
    heading = above[above.rfind("\n") + 1 :]
    if not lead.strip() and heads_another(heading) and not introduces(heading):
        return "its JSON stands below a heading that gives it as another's"
    if words and (_NOT_OWN.search(_IN_FORMAT.sub("", lead)) or not introduces(lead)):
        return "its JSON stands in a sentence that does not give it as the answer"
    return ""


def _lead(before: str) -> str:
    """The words of its own sentence that stand before JSON; those of the line above where they lead on to it."""
    before = _FENCE.sub("", before[-PROSE:])
    bare = before.rstrip(" \t*_`")
    if bare.endswith("\n"):
        before = bare = bare.rstrip()
        if not bare.endswith((":", ",")):
            return ""
    ends = [end.end() for end in _LEAD_END.finditer(before[-1000:])]
    return before[-1000:][ends[-1] :] if ends else before[-1000:]


def _number(digits: str) -> float:
    word = digits.lower()
    return float(_WORD_NUMBERS.index(word)) if word in _WORD_NUMBERS else float(word)


def _numbers(value: Any) -> Iterator[float]:
    """The numbers in JSON, those written as text too."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _numbers(inner)
    elif not isinstance(value, bool) and _DECIMAL.fullmatch(str(value)):
        yield float(str(value).strip())
