"""Evidence for a text that was made from a source: overlap, order, salience.

Formulas after the features of `source.py`; constants chosen on SummEval (the development set). They reward
copying from the source: an abstractive text that is true can score low, a copied one that misleads can score high.
"""

from __future__ import annotations

import math

from judgegraph.embedded.evidence_prose import VIEWS as PROSE
from judgegraph.embedded.evidence_prose import Evidence, Views, between, linked, logistic, mean, percent, repetition
from judgegraph.embedded.prompt_view import Case
from judgegraph.embedded.text import FUNCTION_WORDS, PRONOUNS, is_known, listed, names_in, share, slips_of

_NOT = listed("negations")


def _pairs(case: Case) -> float:
    return share(case.text.bigrams, case.src.bigrams)


def _triples(case: Case) -> float:
    return share(case.text.trigrams, case.src.trigrams)


def _runs(case: Case) -> tuple[float, float]:
    """Mean and least share of a sentence that runs along one source sentence."""
    shares = case.alignment.shares
    return (mean(shares), min(shares)) if shares else (0.0, 0.0)


def _ordered(case: Case) -> tuple[float, float]:
    """Share of neighbouring sentences in the source's order, and mean log distance between them."""
    steps = list(zip(case.alignment.best, case.alignment.best[1:], strict=False))
    if not steps:
        return 1.0, 0.0
    return mean(float(b >= a) for a, b in steps), mean(math.log1p(abs(b - a)) for a, b in steps)


def salience_covered(case: Case) -> float:
    """Share of the source's salience (log frequency over root of first place) that the text covers, 0-1."""
    return math.fsum(case.src.salience.get(w, 0.0) for w in set(case.text.content))


def coherence(case: Case) -> Evidence:
    text, slips = case.text, slips_of(case.text)
    order, gap = _ordered(case)
    overlap = repetition(text)
    raw = 0.5 * order - 0.4 * gap + 0.5 * _triples(case) - overlap - slips.repeated
    raw += 0.5 * salience_covered(case) - 0.3 * slips.stutter - 0.3 * slips.fragments
    raw -= 0.3 * (text.sentences[0][0] in PRONOUNS) + 0.15 * math.log1p(case.alignment.best[0])
    raw -= 0.1 * math.log(len(text.sentences))
    note = f"{percent(order)} of its steps keep the source's order, its two nearest sentences share {percent(overlap)}"
    return Evidence(logistic(raw, COHERENCE[0], COHERENCE[1]), note)


def strangers(case: Case) -> list[tuple[int, str]]:
    """Names and numbers that the grounds lack, each with the number of its sentence."""
    known = case.ground.words
    return [
        (n, name)
        for n, raw in enumerate(case.text.raw, 1)
        for name in sorted(names_in(raw))
        if not is_known(name, known)
    ]


def unknown(case: Case) -> float:
    """Share of the names and numbers that the grounds lack, 0 without any."""
    total = sum(len(names_in(r)) for r in case.text.raw)
    return len(strangers(case)) / total if total else 0.0


def worded(case: Case) -> Evidence:
    """For the critic: single content words, and "not" where the source has none."""
    words = share(case.text.content, case.src.stems)
    turned = bool(_NOT & set(case.text.words)) and not _NOT & case.src.words
    note = f"{percent(words)} of its content words stand in the source"
    return Evidence(logistic(words - 0.15 * turned, 0.66, 0.13), note + ('; its "not" is its own' if turned else ""))


def consistency(case: Case) -> Evidence:
    pairs, (average, least) = _pairs(case), _runs(case)
    odd = strangers(case)
    raw = mean([pairs, _triples(case), average, least]) - 0.25 * unknown(case)
    worst = case.alignment.shares.index(least) + 1
    note = f"{percent(pairs)} of its word pairs stand in the source"
    note += f"; sentence {worst} follows it least ({percent(least)})" if len(case.alignment.shares) > 1 else ""
    note += f"; sentence {odd[0][0]} holds a name or number the source lacks" if odd else ""
    return Evidence(logistic(raw, CONSISTENCY[0], CONSISTENCY[1]), note)


def fluency(case: Case) -> Evidence:
    slips, (average, least) = slips_of(case.text), _runs(case)
    raw = mean([_pairs(case), _triples(case), average]) + 0.3 * least
    raw -= 0.4 * slips.fragments + 0.3 * slips.stutter + 0.5 * slips.repeated + 0.2 * slips.odd + 0.2 * slips.long
    raw -= 0.1 * slips.inner + 0.5 * slips.dangling - 0.3 * slips.stopped + 0.3 * min(4, len(slips.rules))
    flaws = [*slips.rules[:2], *(["a word said twice in a row"] if slips.doubled else [])]
    flaws += ["no mark at its end"] if not slips.stopped else []
    note = ("; ".join(flaws) or "no slip found") + f"; {percent(average)} of its wording runs along the source"
    return Evidence(logistic(raw, FLUENCY[0], FLUENCY[1]), note)


def form(case: Case) -> Evidence:
    """For the critic: share of function words, sentence length, balanced marks."""
    words = case.text.words
    small = sum(w in FUNCTION_WORDS for w in words) / (len(words) or 1)
    per = len(words) / (len(case.text.sentences) or 1)
    raw = case.output[:12000]
    even = all(raw.count(a) == raw.count(b) for a, b in ("()", "[]", "{}")) and raw.count('"') % 2 == 0
    quality = between(small, 0.28, 0.6, 0.2) * between(per, 7, 32, 15) * (0.92 if even else 0.7)
    return Evidence(quality, f"{percent(small)} function words, {per:.0f} words a sentence", raises=False)


def _strays(case: Case) -> float:
    """Share of the text that has nothing to do with the source: a sentence counts as far as less than a third of
    its content words stand there, and by its length."""
    held = [c for c in case.text.contents if c]
    odd = [len(c) * max(0.0, 1 - 3 * len(c & case.src.stems) / len(c)) for c in held]
    return sum(odd) / (sum(map(len, held)) or 1)


def relevance(case: Case) -> Evidence:
    covered, slips, stray = salience_covered(case), slips_of(case.text), _strays(case)
    raw = 2 * covered + 0.3 * _triples(case) - 0.3 * repetition(case.text) - 0.5 * slips.repeated
    raw -= 0.15 * mean(map(math.log1p, case.alignment.best)) + STRAY * stray + ODD * unknown(case)
    note = f"it covers {percent(covered)} of what is salient in the source"
    note += f"; {percent(stray)} of it has nothing to do with it" if stray else ""
    return Evidence(logistic(raw, RELEVANCE[0], RELEVANCE[1]), note)


def leading(case: Case) -> Evidence:
    """For the critic: words of the source's opening, and length against the source."""
    opening = set().union(*case.src.text.contents[:3])
    hit = len(opening & set(case.text.content)) / len(opening) if opening else 0.0
    ratio = len(case.text.words) / (len(case.src.text.words) or 1)
    quality = logistic(hit, 0.2, 0.13) * between(ratio, 0.04, 0.6, 0.15)
    return Evidence(
        quality, f"it takes up {percent(hit)} of the words of the source's opening, {percent(ratio)} of its length"
    )


def opening(case: Case) -> Evidence:
    """For the critic: does the first sentence name what the source is about, is none a scrap, do they hang together?"""
    salience = case.src.salience
    theme = set(sorted(salience, key=lambda w: -salience[w])[:5])
    hit, least = len(theme & case.text.contents[0]), min(map(len, case.text.sentences))
    raw = 0.25 * hit + 0.06 * min(25, least) + 0.4 * linked(case.text)
    note = f"its first sentence names {hit} of the source's {len(theme)} chief words, its shortest has {least} words"
    return Evidence(logistic(raw, OPENING[0], OPENING[1]), note)


# (centre, width) of the logistic from raw sum to quality: one fixed map per criterion.
COHERENCE, CONSISTENCY, FLUENCY, RELEVANCE = (-0.2, 0.5), (0.42, 0.2), (0.5, 0.3), (0.25, 0.3)
STRAY, ODD = 2.0, 0.1
OPENING = (1.4, 0.7)  # chosen on SummEval, so that the critic does not lower agreement there

VIEWS: Views = PROSE | {
    "coherence": (coherence, opening),
    "consistency": (consistency, worded),
    "fluency": (fluency, form),
    "relevance": (relevance, leading),
}
