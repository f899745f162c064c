"""Evidence for a text written to a request, without a source; its correction by plain rules."""

from __future__ import annotations

import re

from judgegraph.embedded.evidence_prose import (
    VAGUE,
    Evidence,
    Views,
    completeness,
    density,
    falling,
    fit,
    interest,
    linked,
    logistic,
    mean,
    opening,
    parts_met,
    percent,
    refused,
    relevance,
    repetition,
    rhythm,
    variety,
    wanted,
)
from judgegraph.embedded.evidence_prose import VIEWS as PROSE
from judgegraph.embedded.evidence_summary import form
from judgegraph.embedded.prompt_view import Case
from judgegraph.embedded.text import PRONOUNS, clean, is_known, names_in, slips_of, split, words_of

SUBSTANCE = (0.2, 0.035)  # (centre, width) of the logistic from the rate of telling words to quality


def _share_on_topic(case: Case) -> float:
    """Share of the sentences after the second that name something of the first two, or open with a pronoun."""
    text = case.text
    named = set().union(*text.contents[:2])
    later = list(zip(text.contents[2:], text.sentences[2:], strict=True))
    return mean(float(bool(named & c) or s[0] in PRONOUNS) for c, s in later) if later else 0.5


def coherence(case: Case) -> Evidence:
    slips, overlap, on_topic = slips_of(case.text), repetition(case.text), _share_on_topic(case)
    raw = 0.8 * on_topic - 1.1 * overlap**2 - 2 * slips.repeated - 0.4 * slips.fragments - 0.4 * slips.stutter
    raw += 0.5 * fit(case) - 0.15 * min(3, len(slips.rules)) - 0.6 * refused(case)
    note = f"its two nearest sentences share {percent(overlap)} of their words, {percent(on_topic)} keep to its opening"
    return Evidence(logistic(raw, 0.05, 0.4), note)


def links(case: Case) -> Evidence:
    """For the critic: ties between neighbouring sentences."""
    tied = linked(case.text)
    return Evidence(0.3 + 0.5 * tied, f"{percent(tied)} of neighbouring sentences are tied by a shared or linking word")


def fluency(case: Case) -> Evidence:
    slips = slips_of(case.text)
    flaws = 0.7 * min(6, len(slips.rules)) + 0.8 * slips.doubled + 5 * slips.repeated + 1.5 * slips.fragments
    flaws += 1.5 * slips.dangling + slips.long + 0.5 * slips.odd + 0.4 * (not slips.stopped) + slips.inner
    found = [*slips.rules[:2], *(["a word said twice in a row"] if slips.doubled else [])]
    return Evidence(0.95 * falling(flaws, 2.2), "; ".join(found) or "no slip found")


def engagement(case: Case) -> Evidence:
    seen, slips = interest(case), slips_of(case.text)
    dull = falling(repetition(case.text) ** 2 + 2 * slips.repeated, 1.2)
    return Evidence(seen.quality * dull * (0.5 + 0.5 * fit(case)), seen.note)


def substance(case: Case) -> Evidence:
    """Different telling words that the request does not hold, against length: filler has few."""
    new = set(case.text.content) - wanted(case) - VAGUE
    rate = len(new) / (len(case.text.words) or 1)
    return Evidence(logistic(rate, SUBSTANCE[0], SUBSTANCE[1]), f"{percent(rate)} of its words tell something new")


def helpful(case: Case) -> Evidence:
    """An answer as a whole: it speaks of the request, takes all of it up, says something, and reads well."""
    about, full, informed = relevance(case), completeness(case), substance(case)
    held = [e.quality for e in (full, coherence(case), fluency(case)) if e]
    quality = mean(held) * (0.15 + 0.85 * informed.quality) * (about.quality**0.5 if about else 1.0)
    return Evidence(quality, "; ".join(e.note for e in (full, informed) if e))


def overall(case: Case) -> Evidence:
    if case.kind == "answer":
        return helpful(case)
    parts = [e for e in (completeness(case), coherence(case), fluency(case), engagement(case)) if e]
    note = "; ".join(e.note for e in (parts[0], parts[-1]))
    return Evidence(mean(e.quality for e in parts), f"the mean of {len(parts)} qualities: {note}")


def middle(case: Case) -> Evidence:
    """For the critic: the mean of its own evidence."""
    parts = [e for e in (opening(case), links(case), form(case), variety(case), density(case)) if e]
    note = "; ".join(e.note for e in parts[:2])
    return Evidence(mean(e.quality for e in parts), note, raises=case.kind != "answer")  # style helps nobody by itself


VIEWS: Views = PROSE | {
    "relevance": (relevance, opening),
    "completeness": (completeness, parts_met),
    "coherence": (coherence, links),
    "fluency": (fluency, form),
    "naturalness": (fluency, form),
    "engagement": (engagement, rhythm),
    "overall": (overall, middle),
}


# A corrected text: what plain rules can mend, and nothing invented.


_TWICE = re.compile(r"\b([^\W\d_]+)(\s+\1\b)+", re.I)
_MAY_DOUBLE = frozenset(["had", "that", "very", "really", "so", "ha"])


def _mended(sentence: str) -> str:
    """Doubled words once, spaces before marks removed, a capital at the start."""
    sentence = _TWICE.sub(lambda m: m[0] if m[1].lower() in _MAY_DOUBLE else m[1], sentence)
    sentence = re.sub(r"\s+([,.;:!?])", r"\1", sentence).strip()
    return sentence[:1].upper() + sentence[1:]


def _foreign(sentence: str, case: Case) -> bool:
    """It names something, or a number, that no given text holds."""
    known = case.ground.words
    return any(not is_known(name, known) for name in names_in(sentence))


def corrected(text: str, case: Case) -> str:
    """The text without repeated sentences, without sentences whose names stand in no source, slips mended.

    Where nothing would be left, the text itself comes back: of an empty one, nothing.
    """
    mended: list[str] = []
    seen: set[tuple[str, ...]] = set()
    sentences = split(clean(text, 4000))
    for sentence in sentences:
        key = tuple(words_of(sentence))
        if key and key not in seen:
            seen.add(key)
            mended.append(_mended(sentence))
    grounded = [s for s in mended if not _foreign(s, case)] if case.source.strip() else mended
    done = grounded or mended
    if done and done[-1][-1:].isalnum() and len(words_of(done[-1])) > 2:
        done[-1] += "."
    lines = "\n" in text and len(done) == len(sentences)
    return ("\n" if lines else " ").join(done) or clean(text, 4000).strip()
