"""The critic's evidence for a form: other features than the evaluator's in `forms.py`, and the pairs of both."""

from __future__ import annotations

import re

from judgegraph.models.embedded import forms
from judgegraph.models.embedded import forms_topic as topic
from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.measure import (
    Evidence,
    Measure,
    Views,
    between,
    counted,
    falling,
    logistic,
    mean,
    percent,
)
from judgegraph.models.embedded.survey import Question
from judgegraph.models.embedded.text import content, words_of
from judgegraph.models.embedded.words import FUNCTION_WORDS, NEGATIVE, listed

_WARM = listed("warm")
_PRESSURE = re.compile(
    r"\b(?:always|never|everyone|everybody|nobody|no one|only|all (?:men|women|people))\b|\bwhy do(?:n't)? you\b", re.I
)


def openings(case: Case) -> Evidence:
    questions = topic.survey(case).questions
    part = len({" ".join(words_of(q.text)[:3]) for q in questions}) / len(questions)
    return Evidence(0.3 + 0.65 * part, f"{percent(part)} of its questions open in their own way", raises=False)


def titled(case: Case) -> Evidence | None:
    if not case.query.strip():
        return None
    hit = len(topic.themes(case) & set(content(w for h in topic.survey(case).headings for w in words_of(h))))
    quality = 0.35 + 0.55 * (1 - falling(hit, 1.2))
    return Evidence(quality, f"its headings take up {counted(hit, 'theme')} of the request")


def _fits(q: Question) -> bool:
    if re.search(r"text|open|long|short_answer|comment", q.kind):
        return not q.options
    if re.search(r"choice|select|radio|dropdown|likert|rating|scale|checkbox", q.kind):
        bare = not q.options and bool(re.search(r"rating|scale", q.kind))
        return 2 <= len(q.options) <= 12 or bare
    return True


def typed(case: Case) -> Evidence:
    odd = [i for i, q in enumerate(topic.survey(case).questions, 1) if not _fits(q)]
    note = f"the options of question {odd[0]} do not fit its type" if odd else "every question's options fit its type"
    return Evidence(0.9 * falling(len(odd), 2.5), note, raises=False)


def cased(case: Case) -> Evidence:
    questions = topic.survey(case).questions
    uneven = sum(len({o[0].isupper() for o in q.options if o[:1].isalpha()}) > 1 for q in questions)
    uneven += sum(len({o.rstrip()[-1:] == "." for o in q.options}) > 1 for q in questions)
    return Evidence(0.92 * falling(uneven, 2.5), f"{counted(uneven, 'set')} of options written unevenly", raises=False)


def letters(case: Case) -> Evidence:
    size = mean(len(w) for w in case.text.words if w.isalpha())
    return Evidence(logistic(-size, -6.3, 0.6), f"{size:.1f} letters a word")


def warmth(case: Case) -> Evidence:
    rate = sum(w in _WARM for w in case.text.words) / (len(case.text.words) or 1)
    return Evidence(0.3 + 0.55 * (1 - falling(rate, 0.03)), f"{percent(rate)} of its words speak to the reader")


def pressure(case: Case) -> Evidence:
    questions = topic.survey(case).questions
    found = sum(len(_PRESSURE.findall(q.text)) for q in questions)
    theme = set(case.asked.words)  # a form on repairs speaks of what is broken
    harsh = sum(w in NEGATIVE and w not in theme for q in questions for w in words_of(q.text))
    note = f"{counted(found, 'sweeping word')}, {counted(harsh, 'harsh word')} in its questions"
    return Evidence(0.92 * falling(found + 0.5 * harsh, 4), note, raises=False)


def small_words(case: Case) -> Evidence:
    part = sum(w in FUNCTION_WORDS for w in case.text.words) / (len(case.text.words) or 1)
    return Evidence(0.9 * between(part, 0.2, 0.55, 0.2), f"{percent(part)} function words", raises=False)


_MAIN: tuple[tuple[Measure, Measure], ...] = (
    (forms.diversity, openings),
    (topic.relevance, titled),
    (topic.accuracy, typed),
    (forms.fluency, cased),
    (forms.understandability, letters),
    (forms.fairness, pressure),
)


def _joined(case: Case, view: int) -> Evidence:
    held = [e for pair in _MAIN if (e := pair[view](case))]
    worst = min(held, key=lambda e: e.quality)
    return Evidence(0.7 * mean(e.quality for e in held) + 0.3 * worst.quality, f"lowest: {worst.note}")


def overall(case: Case) -> Evidence:
    return _joined(case, 0)


def middle(case: Case) -> Evidence:
    return _joined(case, 1)


VIEWS: Views = {
    "diversity": (forms.diversity, openings),
    "relevance": (topic.relevance, titled),
    "accuracy": (topic.accuracy, typed),
    "consistency": (topic.accuracy, typed),
    "fluency": (forms.fluency, cased),
    "naturalness": (forms.fluency, small_words),
    "understandability": (forms.understandability, letters),
    "engagement": (forms.engagement, warmth),
    "fairness": (forms.fairness, pressure),
    "coherence": (forms.coherence, openings),
    "conciseness": (forms.length, small_words),
    "specificity": (forms.specificity, letters),
    "overall": (overall, middle),
}
