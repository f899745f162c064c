"""Evidence for a turn of a conversation: length, what it takes from fact and history, blandness, repeats."""

from __future__ import annotations

import math

from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.defects import slips_of
from judgegraph.models.embedded.measure import Evidence, between, counted, logistic, mean, percent
from judgegraph.models.embedded.prose import LOOSE, twice_said
from judgegraph.models.embedded.source import source_of
from judgegraph.models.embedded.summary import strangers
from judgegraph.models.embedded.text import words_of
from judgegraph.models.embedded.words import BLAND, FUNCTION_WORDS, PRONOUNS


def _stems(case: Case) -> set[str]:
    return set(case.text.content)


def last_turn(case: Case) -> str:
    """The last line of the conversation so far."""
    lines = [line for line in case.query.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def from_fact(case: Case) -> tuple[int, float]:
    """Content words of the turn that the fact holds and the history does not, and their share of the turn."""
    if not case.fact.strip():
        return 0, 0.0
    held = _stems(case)
    new = (held & source_of(case.fact).stems) - source_of(last_turn(case)).stems
    return len(new), len(new) / (len(held) or 1)


def copied(case: Case) -> float:
    """Share of the turn's trigrams that already stand in the history: an echo."""
    runs = case.text.trigrams
    return sum(t in source_of(case.query).trigrams for t in runs) / len(runs) if runs else 0.0


def bland(case: Case) -> float:
    """Share of the turn that consists of stock replies, 0-1."""
    line = " ".join(case.text.words)
    spent = sum(len(words_of(p)) for p in BLAND if p in line and len(p) > 3)
    return min(1.0, spent / (len(case.text.words) or 1))


def _flaws(case: Case) -> float:
    """Repeats and stutter: 0 for none, about 1 for a broken turn."""
    slips = slips_of(case.text)
    return 1.5 * slips.repeated + 0.5 * slips.stutter + 0.6 * twice_said(case.text) ** 2


def _slips(case: Case) -> int:
    """Broken rules of grammar, four at most."""
    return min(4, len(slips_of(case.text).rules))


def _wording(case: Case) -> float:
    """What makes a turn easy to take in: different words, something new to say, no stock reply, no repeats."""
    words = case.text.words
    kinds = len(set(words)) / (len(words) or 1)
    new = min(1.0, from_fact(case)[0] / 4)
    return 0.8 * kinds + 0.25 * new - 0.3 * bland(case) - 1.1 * _flaws(case) - 0.3 * slips_of(case.text).dangling


def naturalness(case: Case) -> Evidence:
    n = len(case.text.words)
    raw = 0.5 * between(n, 6, 40, 25) + _wording(case) - 0.8 * copied(case) - 0.3 * _slips(case)
    return Evidence(logistic(raw, 0.75, 0.35), f"{n} words, {_said(case)}")


def _said(case: Case) -> str:
    slips = slips_of(case.text)
    found = len(slips.rules) + slips.doubled
    return counted(found, "slip") + (f", {percent(slips.repeated)} of its runs are repeats" if slips.repeated else "")


def astray(case: Case) -> float:
    """Share of the turn's words, 0-1, in sentences that share no content word with conversation or fact.

    Short sentences ("So do I!") and those that open with a pronoun lean on what was said and are not counted.
    """
    known = source_of(case.query).stems | source_of(case.fact).stems
    lone = [
        len(s)
        for s, c in zip(case.text.sentences, case.text.contents, strict=True)
        if len(c) > 3 and not c & known - LOOSE and s[0] not in PRONOUNS
    ]
    return sum(lone) / (len(case.text.words) or 1)


def coherence(case: Case) -> Evidence:
    held, last, before = _stems(case), source_of(last_turn(case)).stems, source_of(case.query).stems
    near, far = len(held & last) / (len(held) or 1), len(held & before) / (len(held) or 1)
    new = min(1.0, from_fact(case)[0] / 4)
    raw = 0.8 * min(0.5, near) + 0.8 * min(0.6, far) + 0.4 * new - 0.9 * _flaws(case) - 0.8 * copied(case)
    off = astray(case)
    raw += 0.3 * min(1.0, len(case.text.words) / 15) - 0.6 * off
    note = f"{percent(far)} of its content words take up the conversation, {_said(case)}"
    return Evidence(logistic(raw, 0.35, 0.3), note + (f", {percent(off)} of it leads elsewhere" if off else ""))


def engagingness(case: Case) -> Evidence:
    n, (new, part) = len(case.text.words), from_fact(case)
    raw = 0.5 * math.log1p(min(n, 60)) + 0.35 * math.log1p(new) - 0.8 * _flaws(case) - 0.6 * bland(case)
    raw += 0.15 * ("?" in case.output) - 0.8 * copied(case)
    note = f"{n} words, {counted(new, 'word')} of them new from the fact ({percent(part)})"
    return Evidence(logistic(raw, 1.75, 0.4), note + (", mostly a stock reply" if bland(case) > 0.5 else ""))


def groundedness(case: Case) -> Evidence | None:
    if not case.fact.strip():
        return None
    new, part = from_fact(case)
    fact = source_of(case.fact)
    pairs = sum(b in fact.bigrams and not set(b) <= FUNCTION_WORDS for b in case.text.bigrams)
    odd = strangers(case)
    raw = 0.5 * math.log1p(new) + 0.5 * part + 0.35 * math.log1p(pairs) - 0.6 * min(2, len(odd))
    note = f"it uses {counted(new, 'content word')} and {counted(pairs, 'word pair')} of the fact"
    note += f"; sentence {odd[0][0]} holds a name or number that neither fact nor conversation has" if odd else ""
    return Evidence(logistic(raw, 0.75, 0.35), note)


def understandability(case: Case) -> Evidence:
    n = len(case.text.words)
    raw = 0.3 * between(n, 4, 35, 25) + _wording(case) - 0.4 * copied(case) - 0.08 * _slips(case)
    return Evidence(logistic(raw, 0.5, 0.35), f"{n} words, {_said(case)}")


def overall(case: Case) -> Evidence:
    parts = [naturalness(case), coherence(case), engagingness(case), understandability(case)]
    held = [*parts, *(g for g in [groundedness(case)] if g)]
    return Evidence(
        mean(p.quality for p in held),
        "the mean of " + str(len(held)) + f" qualities: {engagingness(case).note}, {_said(case)}",
    )
