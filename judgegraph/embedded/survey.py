"""A form, survey or quiz read from JSON of any layout: its questions, options and headings."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from judgegraph.embedded.text import clean, content, words_of

_TEXT_KEYS = ("question", "text", "question_text", "prompt", "statement", "label", "title", "name")
_OPTION_KEYS = ("options", "choices", "answers", "answer_options", "values", "items", "scale")
_HEADINGS = ("title", "heading", "name", "description", "intro", "introduction", "subtitle")
_MOST = 120  # questions read, so that pairs stay few

_RANGE = re.compile(r"(\d+(?:[.,:]\d+)*)\s*(?:-|–|—|to|and)\s*(\d+(?:[.,:]\d+)*)")
_BELOW = re.compile(
    r"\b(?:under|below|less than|fewer than|younger than|up to|at most)\s*\D{0,2}(\d+(?:[.,:]\d+)*)", re.I
)
_ABOVE = re.compile(r"\b(?:over|above|more than|older than|at least)\s*\D{0,2}(\d+(?:[.,:]\d+)*)", re.I)
_PLUS = re.compile(r"(\d+(?:[.,:]\d+)*)\s*(?:\+|(?:\w+\s+)?(?:or|and) (?:more|over|older|above|longer|later))", re.I)


@dataclass(frozen=True)
class Question:
    """One question: its text, its type as written ("" where none), its options, and their cleaned words."""

    text: str
    kind: str = ""
    options: tuple[str, ...] = ()

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(content(words_of(self.text)))

    @cached_property
    def open(self) -> bool:
        return not self.options


@dataclass(frozen=True)
class Survey:
    """Questions in order, and headings (titles, descriptions) of the whole and of its parts."""

    questions: tuple[Question, ...]
    headings: tuple[str, ...]

    @property
    def strings(self) -> list[str]:
        """Every text a responder reads, headings first."""
        return [*self.headings, *(s for q in self.questions for s in (q.text, *q.options))]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return clean(value, 80).strip()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _options(node: Mapping[str, Any]) -> tuple[str, ...] | None:
    for key in _OPTION_KEYS:
        value = node.get(key)
        if isinstance(value, list) and not any(isinstance(v, dict) and _options(v) for v in value):
            texts = [_text(next((v[k] for k in (*_TEXT_KEYS, "value") if k in v), "") if isinstance(v, dict) else v)
                     for v in value[:40]]  # fmt: skip
            return tuple(t for t in texts if t)
    return None


def _asks(item: Any) -> bool:
    """An item of a list that is itself a question, so that its holder is a section."""
    return isinstance(item, dict) and bool(set(item) & {"options", "question", "text", "type", "choices"})


def _question(node: Mapping[str, Any], inside: bool) -> Question | None:
    text = next((t for k in _TEXT_KEYS if (t := _text(node.get(k)))), "")
    options = _options(node)
    lists = (v for k, v in node.items() if isinstance(v, list) and (k not in _OPTION_KEYS or options is None))
    nested = any(_asks(item) for held in lists for item in held)
    asks = "question" in node or "type" in node or options is not None or inside
    if not text or not asks or nested:
        return None
    return Question(text, _text(node.get("type")).lower(), options or ())


def _walk(node: Any, questions: list[Question], headings: list[str], inside: bool, depth: int) -> None:
    if depth > 12 or len(questions) >= _MOST:
        return
    if isinstance(node, list):
        for item in node:
            if isinstance(item, str) and inside:
                questions.append(Question(_text(item)))
            else:
                _walk(item, questions, headings, inside, depth + 1)
    elif isinstance(node, dict):
        found = _question(node, inside)
        if found:
            questions.append(found)
            return
        headings += [t for k in _HEADINGS if (t := _text(node.get(k)))]
        for key, value in node.items():
            if isinstance(value, list | dict):
                _walk(value, questions, headings, "question" in str(key).lower(), depth + 1)


def survey_of(value: Any) -> Survey | None:
    """The survey in a JSON value; None where it holds no question."""
    questions: list[Question] = []
    headings: list[str] = []
    _walk(value, questions, headings, False, 0)
    return Survey(tuple(questions[:_MOST]), tuple(headings[:_MOST])) if questions else None


def same_questions(survey: Survey, at_least: float = 0.6) -> list[tuple[int, int]]:
    """Pairs of questions (0-based) whose content words are nearly the same (Jaccard `at_least` or more)."""
    stems = [q.stems for q in survey.questions]
    return [
        (i, j)
        for j in range(len(stems))
        for i in range(j)
        if stems[i] and stems[j] and len(stems[i] & stems[j]) >= at_least * len(stems[i] | stems[j])
    ]


def _number(text: str) -> float:
    hours, colon, minutes = text.replace(",", "").partition(":")
    try:
        return float(hours) + (float(minutes[:2]) / 60 if colon else 0.0)
    except ValueError:  # "1.2.3"
        return 0.0


def span(option: str) -> tuple[float, float, str] | None:
    """Least value, greatest value and unit of an option such as "18-25 years", None for other options."""
    low, high = -1e18, 1e18
    if match := _RANGE.search(option):
        low, high = _number(match[1]), _number(match[2])
    elif match := _BELOW.search(option):
        high = _number(match[1]) - (0 if re.search(r"up to|at most", option, re.I) else 1e-6)
    elif match := _PLUS.search(option):
        low = _number(match[1])
    elif match := _ABOVE.search(option):
        low = _number(match[1]) + (0 if "least" in option.lower() else 1e-6)
    else:
        return None
    units = [u for u in re.findall(r"[a-z]+|[$€£%]", option.lower()) if u not in _NO_UNIT]
    return (low, high, units[-1].rstrip("s") if units else "") if low <= high else None


_NO_UNIT = frozenset(
    [
        "to",
        "and",
        "or",
        "under",
        "below",
        "less",
        "fewer",
        "than",
        "younger",
        "up",
        "at",
        "most",
        "over",
        "above",
        "more",
        "older",
        "least",
        "longer",
        "later",
        "between",
    ]
)


def clashes(question: Question) -> Iterator[str]:
    """Options that stand twice, and number ranges that overlap."""
    seen: set[str] = set()
    for option in question.options:
        key = " ".join(words_of(option)) or option
        if key in seen:
            yield f'the option "{option[:40]}" stands twice'
        seen.add(key)
    spans = [(o, s) for o in dict.fromkeys(question.options) if (s := span(o))]
    for (one, a), (two, b) in itertools.pairwise(spans):
        if (a[2] == b[2] or not a[2] or not b[2]) and a[0] <= b[1] and b[0] <= a[1]:
            yield f'the options "{one[:30]}" and "{two[:30]}" overlap'
