"""Evidence for a turn of a conversation: length, what it takes from fact and history, blandness, repeats."""

from __future__ import annotations

import math

from judgegraph.embedded.evidence_prose import (
    LOOSE,
    Evidence,
    Views,
    between,
    counted,
    density,
    falling,
    logistic,
    mean,
    percent,
    repetition,
    rhythm,
    variety,
)
from judgegraph.embedded.evidence_prose import VIEWS as PROSE
from judgegraph.embedded.evidence_summary import strangers
from judgegraph.embedded.prompt_view import Case
from judgegraph.embedded.text import BLAND, FUNCTION_WORDS, PRONOUNS, slips_of, source_of, words_of


def _stems(case: Case) -> set[str]:
    return set(case.text.content)


def last_line(case: Case) -> str:
    """The last line of the conversation so far."""
    lines = [line for line in case.query.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def from_fact(case: Case) -> tuple[int, float]:
    """Content words of the turn that the fact holds and the history does not, and their share of the turn."""
    if not case.fact.strip():
        return 0, 0.0
    held = _stems(case)
    new = (held & source_of(case.fact).stems) - source_of(last_line(case)).stems
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
    return 1.5 * slips.repeated + 0.5 * slips.stutter + 0.6 * repetition(case.text) ** 2


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
    return Evidence(logistic(raw, 0.75, 0.35), f"{n} words, {_slips_note(case)}")


def _slips_note(case: Case) -> str:
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
    held, last, before = _stems(case), source_of(last_line(case)).stems, source_of(case.query).stems
    near, far = len(held & last) / (len(held) or 1), len(held & before) / (len(held) or 1)
    new = min(1.0, from_fact(case)[0] / 4)
    raw = 0.8 * min(0.5, near) + 0.8 * min(0.6, far) + 0.4 * new - 0.9 * _flaws(case) - 0.8 * copied(case)
    off = astray(case)
    raw += 0.3 * min(1.0, len(case.text.words) / 15) - 0.6 * off
    note = f"{percent(far)} of its content words take up the conversation, {_slips_note(case)}"
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
    return Evidence(logistic(raw, 0.5, 0.35), f"{n} words, {_slips_note(case)}")


def overall(case: Case) -> Evidence:
    parts = [naturalness(case), coherence(case), engagingness(case), understandability(case)]
    held = [*parts, *(g for g in [groundedness(case)] if g)]
    return Evidence(
        mean(p.quality for p in held),
        "the mean of " + str(len(held)) + f" qualities: {engagingness(case).note}, {_slips_note(case)}",
    )


# The critic's evidence for a turn of a conversation, and the pairs of both kinds of evidence.


def plainness(case: Case) -> Evidence:
    """For the critic: share of function words and the marks at the end."""
    small = sum(w in FUNCTION_WORDS for w in case.text.words) / (len(case.text.words) or 1)
    stop = 0.92 if slips_of(case.text).stopped else 0.75
    return Evidence(stop * between(small, 0.3, 0.65, 0.25), f"{percent(small)} function words", raises=False)


def answers(case: Case) -> Evidence:
    """For the critic: a question answered, or one asked back."""
    asked, asks = "?" in last_line(case), "?" in case.output
    held = bland(case) < 0.6 and len(case.text.words) >= (3 if asked else 4)
    quality = 0.35 + 0.3 * held + 0.2 * asks
    return Evidence(
        quality, ("it asks back" if asks else "it asks nothing") + ("" if held else " and is mostly a stock reply")
    )


def sourced(case: Case) -> Evidence | None:
    """For the critic: numbers and rare (long) words shared with the fact."""
    if not case.fact.strip():
        return None
    rare = {w for w in case.text.words if len(w) > 6 or w[0].isdigit()}
    hit = len(rare & source_of(case.fact).words)
    return Evidence(
        0.25 + 0.65 * (1 - falling(hit, 1.5)),
        f"it shares {counted(hit, 'long word or number', 'long words or numbers')} with the fact",
    )


def middle(case: Case) -> Evidence:
    parts = [plainness(case), answers(case), variety(case), density(case), rhythm(case)]
    return Evidence(mean(p.quality for p in parts), f"{plainness(case).note}, {answers(case).note}")


VIEWS: Views = PROSE | {
    "naturalness": (naturalness, plainness),
    "fluency": (naturalness, plainness),
    "coherence": (coherence, answers),
    "relevance": (coherence, answers),
    "engagement": (engagingness, answers),
    "groundedness": (groundedness, sourced),
    "consistency": (groundedness, sourced),
    "understandability": (understandability, plainness),
    "overall": (overall, middle),
}
