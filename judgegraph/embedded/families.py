"""Which family of evidence a criterion asks for; the range and direction that a description states."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

# Family -> beginnings of words. Order breaks ties.
_WORDS: dict[str, tuple[str, ...]] = {
    family: tuple(starts.split())
    for family, starts in {
        "groundedness": "ground",
        "fairness": "fair bias inclusiv stereotyp discriminat offens respectful toxic ethic harm safe polite"
        " unfair prejud minorit",
        "diversity": "divers duplic redundan repet repeat variety",
        "understandability": "understand readab clar clear comprehensib simpl ambigu intelligib plain",
        "engagement": "engag interest captivat attract appeal enjoy entertain creativ vivid dull lively curios",
        "naturalness": "natural human-like humanlike",
        "fluency": "fluen gramma typo spell punctuat syntax linguistic wording language",
        "conciseness": "concis brev succinct brief compact verbos length",
        "consistency": "consist faithful factual truth hallucinat entail fidelity verif support contradict invent"
        " attribut",
        "accuracy": "accura correct inaccura precis error",
        "specificity": "specific detail depth concret elaborat nuance",
        "coherence": "coheren cohes flow logic structur organi order transition discourse context sequen progress"
        " plot continuity",
        "completeness": "complete cover comprehensive thorough exhaustive",
        "relevance": "relevan informativ topic important salien align focus"
        " appropriat essential adequa responsiv request instruction inclusion key main content",
        "overall": "overall quality helpful general satisf impression useful",
        "tone": "tone sentiment emotion mood",
    }.items()
}

KNOWN = tuple(_WORDS)  # what there are features of

# Where a kind of sample has no evidence of a family, the family that serves instead.
_STAND_IN = {
    "groundedness": "consistency", "accuracy": "consistency", "naturalness": "fluency", "completeness": "relevance"
}  # fmt: skip
_TRUTH = frozenset(("consistency", "groundedness", "accuracy"))


def _hits(text: str) -> dict[str, int]:
    words = re.findall(r"[a-z][a-z-]+", text.lower())
    found = {}
    for family, starts in _WORDS.items():
        count = sum(any(w.startswith(s) for s in starts) for w in words)
        if count:
            found[family] = count
    return found


@lru_cache(maxsize=1024)
def families_of(name: str, definition: str = "") -> tuple[str, ...]:
    """Families a criterion asks for, best first; () where its words are in no list.

    The name decides; only a name without a known word is read by its definition, whose most frequent
    families (at least half as often as the first, two at most) then count alike.
    """
    by_name, by_text = _hits(name), _hits(definition)
    if "cohes" in name.lower() and by_text.get("fluency"):
        return ("fluency",)
    if by_name:
        if len(by_name) > 1:
            by_name.pop("overall", None)
            by_name.pop("relevance", None) if "content" in name.lower() or "key" in name.lower() else None
        ranked = sorted(by_name, key=lambda f: -by_name[f])
        return tuple(ranked[:2]) or tuple(_hits(name))[:1]
    ranked = sorted(by_text, key=lambda f: -by_text[f])
    return tuple(f for f in ranked[:2] if 2 * by_text[f] >= by_text[ranked[0]])


def serving(family: str, known: object) -> str:
    """The family to measure in place of `family`, for a kind of sample whose families are `known`."""
    has = known if isinstance(known, dict) else {}
    while family not in has and family in _STAND_IN:
        family = _STAND_IN[family]
    return family


def kindred(families: Iterable[str]) -> set[str]:
    """These families and those that an assistant of theirs would serve as well."""
    found = set(families)
    found |= {"relevance"} if "completeness" in found else set()
    return found | _TRUTH if found & _TRUTH else found


# What a description says of an assistant's values: their range, and which end of it is better.


_N = r"([-+−]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?)"
_TO = r" ?(?:-|–|—|\bto\b|\.\.\.?) ?"
_END = r"(?: ?\((?:the )?(?:best|worst|perfect|ideal|good|bad)\))?"  # Range: 0 (worst) to 1 (best)
_LEAD = r"\branges?\b ?(?:is\b|of\b|=|:)? ?(?:from )?"
_CLOSED = re.compile(
    rf"{_LEAD}(?:[\[(] ?{_N} ?(?:,|;|{_TO}) ?{_N} ?[\])]"
    rf"|(?:between {_N}{_END} and {_N}|{_N}{_END}{_TO}{_N})"
    r"(?!\w|[.,]\d| ?%|\+| (?:or|and) (?:more|above|over|beyond|up|higher|less|below)\b))"
)
_OPEN = re.compile(rf"{_LEAD}{_N}(?:\+| (?:or|and) (?:more|above|up|higher)\b)")

_HIGH = "high(?:er|est)?|larger?|greater|bigger|more"
_LOW = "low(?:er|est)?|small(?:er)?|less|few(?:er|est)"
_GOOD = "better|best|good|preferable|preferred|desirable|ideal|perfect|more alike|more similar"
_BAD = "worse|worst|bad|poor(?:er)?"
_FILL = r"(?:(?:a|the|of|text|much|always|considered) ){0,2}"
_SAYINGS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:(?P<high>{_HIGH})|(?:{_LOW}))(?: \w{{1,20}}){{0,2}}?"
        rf"(?: ?[=:] ?| (?:is|are|means?|indicates?|suggests?) ){_FILL}(?:(?P<good>{_GOOD})|(?:{_BAD}))\b",
        r"\bthe (?:(?P<high>higher|larger|greater|bigger|more)|lower|smaller|less|fewer)\b[\w' ]{0,30},? "
        r"the (?:(?P<good>better)|worse)\b",
        r"\b(?:(?P<good>better|best|good)|worse|worst|bad),? (?:the|when|if|where) "
        rf"(?:(?:it|they|values?) (?:is|are) )?(?:(?P<high>{_HIGH})|{_LOW})\b",
    )
)
_PLACES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w.,-]){_N} ?(?:=|:|\bis\b|\bmeans\b|\bbeing\b) ?(?:the )?"
        r"(?:(?P<good>best|perfect|ideal|good)|worst|bad)\b",
        rf"(?<![\w.,-]){_N} \(?(?:the )?(?:(?P<good>best|perfect|ideal)|worst)\b",
        rf"\b(?:(?P<good>best|perfect|ideal)|worst) ?(?:=|:|\bis\b|\bat\b) ?{_N}(?!\w|[.,]\d)",
    )
)
_NEITHER = re.compile(
    r"nothing of quality|for better\b.{0,60}\bworse|no direction|neither\b.{0,30}\b(?:good|better)|"
    r"\bnear \S{1,20} is (?:right|good|best|ideal)"
)
_DENIED = re.compile(r"\b(?:no|not|never|nor|neither|cannot|rarely|seldom|hardly)\b|n't\b")
_BOUNDED = re.compile(r"\b(?:until|unless|except|only|up to an?|not (?:always|necessarily))\b")
_NEAR = 80  # characters of a clause that are looked at before and behind a saying


@lru_cache(maxsize=64)  # the same few stand in every prompt
def stated_range(description: str) -> tuple[float, float] | None:
    """(least, greatest) value, where one closed range is said: "0 to 1", "0-1", "[0, 1]", "between 0 and 1,000"."""
    return _range(_plain(description))


@lru_cache(maxsize=64)  # the same few stand in every prompt
def stated_direction(description: str) -> int | None:
    """1 where a higher value is better, -1 where a lower one is, 0 where neither is or both, None: nothing is said.

    Read are sayings such as "higher = better", "lower values indicate better text", "the fewer the better", "higher is
    worse", "best when low", and ends of a stated range: "0 is best", "1 (worst)". One that is denied or holds only in
    part ("not always", "until") is no direction.
    """
    text = _plain(description)
    if _NEITHER.search(text):
        return 0
    ways = {*_sayings(text), *_places(text)}
    return None if not ways else ways.pop() if len(ways) == 1 else 0


def _plain(description: str) -> str:
    """In lower case, a line a clause, "lower-is-better" in words; without the example, whose text is not about it."""
    lines = "; ".join(re.split(r"\bexample:", description.lower(), maxsplit=1)[0].splitlines())
    return re.sub(r"\s+", " ", re.sub(r"(?<=[a-z])[-_](?=[a-z])", " ", lines))


def _range(text: str) -> tuple[float, float] | None:
    found = {tuple(_number(n) for n in match.groups() if n) for match in _CLOSED.finditer(text)}
    if len(found) != 1:
        return None
    low, high = found.pop()
    return (low, high) if low < high and math.isfinite(high - low) else None


def _number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def _sayings(text: str) -> Iterator[int]:
    for pattern in _SAYINGS:
        for match in pattern.finditer(text):
            same = bool(match["high"]) == bool(match["good"])
            yield 0 if _hedged(text, match) else 1 if same else -1


def _places(text: str) -> Iterator[int]:
    """Directions of the ends that are called best or worst; 0 for what lies between them."""
    ends, least = _range(text), _OPEN.search(text)
    if ends is None and least is not None:
        ends = (_number(least[1]), math.inf)
    for match in (m for pattern in _PLACES for m in pattern.finditer(text) if ends is not None):
        value = _number(next(n for n in match.groups() if n and n not in ("best", "perfect", "ideal", "good")))
        way = 0 if ends is None or value not in ends or _hedged(text, match) else 1 if value == ends[1] else -1
        yield way if match["good"] else -way


def _hedged(text: str, match: re.Match[str]) -> bool:
    """Whether its clause denies it, or says that it holds in part."""
    before = re.split(r"[;.] ", text[max(0, match.start() - _NEAR) : match.start()])[-1]
    behind = re.split(r"[;.](?: |$)", text[match.end() : match.end() + _NEAR])[0]
    return bool(_DENIED.search(before + match[0]) or _BOUNDED.search(behind))
