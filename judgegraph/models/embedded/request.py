"""A text beside its request: how much of the request it meets (recall), how much of it is about it (precision)."""

from __future__ import annotations

import math
import re

from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.defects import slips_of
from judgegraph.models.embedded.measure import Evidence, between, counted, logistic, mean, percent
from judgegraph.models.embedded.prose import LOOSE
from judgegraph.models.embedded.text import content, stemmed, words_of
from judgegraph.models.embedded.words import CONNECTIVES, PRONOUNS, REFUSALS, listed

_ASKING = frozenset(map(stemmed, listed("asking")))
_PARTS = re.compile(r"[,;:.?!]|\band\b", re.I)


def wanted(case: Case) -> set[str]:
    """Content stems of the request, without the words of asking."""
    return set(case.asked.content) - _ASKING


def taken_up(case: Case) -> tuple[float, list[str]]:
    """Share of the request's content stems that the text takes up, and those it leaves; .5 without any."""
    stems, held = wanted(case), set(case.text.content)
    return (len(stems & held) / len(stems), sorted(stems - held)) if stems else (0.5, [])


def refused(case: Case) -> bool:
    """The text is a refusal."""
    start = case.output[:200].lower().replace("’", "'")
    return any(p in start for p in REFUSALS)


def fit(case: Case) -> float:
    """Length adequate to its kind, 0-1: a story of a few sentences, an answer of up to some hundred words."""
    least = 35 if case.kind == "story" else 12 if len(wanted(case)) < 6 else 25
    return between(len(case.text.words), least, 400, 15)


def completeness(case: Case) -> Evidence | None:
    """Recall: what of the request the text takes up, and whether it is long enough for it."""
    if not case.query.strip():
        return None
    part, left = taken_up(case)
    raw = 1.6 * min(1.0, part * 1.35) + 0.7 * fit(case) - 1.5 * refused(case) - slips_of(case.text).repeated
    note = f"it takes up {percent(part)} of the request's content words"
    note += f' (not "{left[0][:30]}")' if left and part < 0.7 else ""
    return Evidence(logistic(raw, 1.15, 0.45), note + ("; it refuses" if refused(case) else ""))


def parts_met(case: Case) -> Evidence | None:
    """For the critic: parts of the request (between marks and "and") of which the text names something."""
    held = [set(content(words_of(part))) - _ASKING - LOOSE for part in _PARTS.split(case.query[:2000])]
    asked, said = [stems for stems in held if stems], set(case.text.content)
    if not asked:
        return None
    met = sum(bool(stems & said) for stems in asked)
    quality = 0.2 + 0.7 * met / len(asked)
    return Evidence(
        quality, f"it names something of {met} of the request's {counted(len(asked), 'part')}", raises=False
    )


def tied(case: Case) -> list[bool]:
    """Per sentence: it names something of the request, or hangs on a sentence that does.

    It hangs on one by a content word in common, or on the one before it by a pronoun or linking word at its start.
    """
    stems, contents = wanted(case) - LOOSE, [c - LOOSE for c in case.text.contents]
    leans = [s[0] in PRONOUNS or s[0] in CONNECTIVES for s in case.text.sentences]
    held = [bool(stems & c) for c in contents]
    known = set().union(*(c for c, h in zip(contents, held, strict=True) if h))
    grown = any(held)
    while grown:
        grown = False
        for i, stems_of in enumerate(contents):
            if not held[i] and (stems_of & known or (i and leans[i] and held[i - 1])):
                held[i] = grown = True
                known |= stems_of
    return held


def relevance(case: Case) -> Evidence | None:
    """Precision: how much of the text has to do with the request, without repeats."""
    if not case.query.strip():
        return None
    sizes, held = [len(s) for s in case.text.sentences], tied(case)
    near = [h or 0.5 * any(held[max(0, i - 1) : i + 2]) for i, h in enumerate(held)]  # between two that are: half
    part = math.fsum(n * h for n, h in zip(sizes, near, strict=True)) / sum(sizes)
    named = mean(float(bool((wanted(case) - LOOSE) & c)) for c in case.text.contents)
    quality = logistic(part + 0.3 * named - slips_of(case.text).repeated, 0.6, 0.16) * (0.4 if refused(case) else 1.0)
    note = f"{percent(part)} of it has to do with the request, {percent(named)} of its sentences name it"
    return Evidence(0.97 * quality, note + ("; it refuses" if refused(case) else ""))


def opening(case: Case) -> Evidence | None:
    """For the critic: where the request is taken up: in the first sentence, and in how many."""
    if not case.query.strip():
        return None
    stems = wanted(case)
    hits = [float(bool(stems & c)) for c in case.text.contents]
    quality = 0.35 + 0.3 * hits[0] + 0.3 * min(1.0, 2 * mean(hits))
    return Evidence(quality, f"{percent(mean(hits))} of its sentences touch the request")
