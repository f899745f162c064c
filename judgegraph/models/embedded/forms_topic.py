"""What a form has to do with the request for it: themes, wishes, questions that stray."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.measure import Evidence, falling, logistic, percent
from judgegraph.models.embedded.survey import Survey, clashes
from judgegraph.models.embedded.text import content, stemmed, words_of
from judgegraph.models.embedded.words import listed

_GENERAL = frozenset(map(stemmed, listed("general_questions")))
_ASKED = frozenset(map(stemmed, listed("asking_forms")))
_NUMBERS = dict(zip("three four five six seven eight nine ten twelve".split(), (*range(3, 11), 12), strict=True))  # noqa: SIM905
_COUNT = re.compile(r"\b(\d{1,2}|" + "|".join(_NUMBERS) + r")[\s-]+(?:\w+[\s-]+){0,2}questions?\b", re.I)
_WISHES = re.compile(r"[,;:.?!]|\band\b|\bor\b", re.I)


def survey(case: Case) -> Survey:
    """The survey of a case of kind "form"."""
    assert case.survey is not None
    return case.survey


def themes(case: Case) -> set[str]:
    """Content stems of the request without the words of asking."""
    return set(case.asked.content) - _ASKED


def short(stems: Iterable[str]) -> set[str]:
    """Stems cut to five letters, so that kindred words meet; "bugs" meets "bug"."""
    return {s[:3] if len(s) == 4 and s[3] == "s" != s[2] else s[:5] for s in stems}


_COMPANIONS = tuple(frozenset(short(map(stemmed, group.split()))) for group in sorted(listed("companions")))


def _company(stems: set[str]) -> set[int]:
    """Numbers of the groups of companions that these stems belong to."""
    return {i for i, group in enumerate(_COMPANIONS) if stems & group}


def _whole(texts: Iterable[str]) -> set[str]:
    return short(content(w for t in texts for w in words_of(t) if not w.isdigit()))


def strays(case: Case) -> list[int]:
    """Questions (1-based) that share no word with the request, the headings or any other question, nor a companion.

    Words of asking ("like", "want") tie nothing; a word that any form may ask by ("age", "overall") excuses all,
    and so does a question of words of asking alone.
    """
    held, idle = survey(case), short(_ASKED)
    wholes = [_whole((q.text, *q.options)) - idle for q in held.questions]
    known = (_whole(held.headings) | short(case.asked.content) | short(_GENERAL)) - idle
    company, found = _company(known), []
    for i, question in enumerate(held.questions):
        rest = set(chain.from_iterable(w for j, w in enumerate(wholes) if j != i))
        only = not short(question.stems) - idle
        if not (only or wholes[i] & known or short(question.stems) & rest or _company(wholes[i]) & company):
            found.append(i + 1)
    return found


def covered(case: Case) -> float:
    """Share of the request's themes that the form names, 0-1; 1 without themes."""
    wanted = short(themes(case))
    return len(wanted & short(case.text.content)) / len(wanted) if wanted else 1.0


def wishes(case: Case) -> tuple[int, list[str]]:
    """Single things the request lists (between commas and "and"), and those of which the form names nothing."""
    held = [(part.strip(), short(set(content(words_of(part))) - _ASKED)) for part in _WISHES.split(case.query[:2000])]
    listed_ = [(part, stems) for part, stems in held if stems]
    named = short(case.text.content)
    company = _company(named)
    return len(listed_), [part for part, stems in listed_ if not stems & named and not _company(stems) & company]


def relevance(case: Case) -> Evidence | None:
    if not case.query.strip():
        return None
    part, odd, n = covered(case), strays(case), len(survey(case).questions)
    quality = logistic(part, 0.22, 0.13) * (1 - 0.5 * len(odd) / n) * falling(len(odd), 4.5)
    note = f"it names {percent(part)} of the request's themes"
    return Evidence(0.97 * quality, note + (f"; question {odd[0]} has no tie to the request" if odd else ""))


def bare_choices(held: Survey) -> list[str]:
    """Questions of choice that offer none."""
    asks = re.compile(r"choice|select|radio|dropdown|checkbox")
    return [
        f"question {i} offers no choice"
        for i, q in enumerate(held.questions, 1)
        if asks.search(q.kind) and len(q.options) < 2
    ]


def accuracy(case: Case) -> Evidence:
    held, flaws = survey(case), bare_choices(survey(case))
    overlaps = sum(1 for q in held.questions for _ in clashes(q))
    asked = _COUNT.search(case.query)
    if asked:
        number = _NUMBERS.get(asked[1].lower()) or int(asked[1])
        if number != len(held.questions):
            flaws.append(f"{number} questions were asked for, {len(held.questions)} are there")
    total, lacking = wishes(case)
    theme = logistic(covered(case), 0.05, 0.1) if case.query.strip() else 0.9
    met = 1 - 0.25 * len(lacking) / total if total else 1.0
    note = "; ".join(flaws[:2]) or (
        f"it takes up {total - len(lacking)} of {total} wishes" if total else "no flaw found"
    )
    note += f' (not "{lacking[0][:40]}")' if lacking and not flaws else ""
    return Evidence(0.97 * falling(len(flaws) + 0.2 * min(2, overlaps), 1.7) * theme * met, note)
