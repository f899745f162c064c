"""What any prose shows by itself: redundancy, reading level, loaded words, detail, tone."""

from __future__ import annotations

import re
from collections.abc import Iterable

from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.defects import slips_of
from judgegraph.models.embedded.measure import Evidence, Views, between, counted, falling, logistic, mean, percent
from judgegraph.models.embedded.source import names_in
from judgegraph.models.embedded.text import Text, stemmed
from judgegraph.models.embedded.words import CONNECTIVES, LOADED, LOADED_PHRASES, PRONOUNS, listed

VAGUE = frozenset(map(stemmed, listed("vague")))
LOOSE = VAGUE | frozenset(map(stemmed, listed("numbers")))  # a word of these in common ties nothing together
_FILLER = re.compile(
    r"\b(?:in order to|very|really|basically|actually|just|quite|as a matter of fact|it is important to note)\b"
)
_GENERAL = re.compile(
    r"\b(?:always|never|everyone|everybody|nobody|no one|all (?:men|women|people|foreigners|immigrants|boys|girls))\b"
)


def overlap(one: set[str], two: set[str]) -> float:
    """Shared part of the smaller of two sets, 0 for an empty one."""
    return len(one & two) / min(len(one), len(two)) if one and two else 0.0


def twice_said(text: Text) -> float:
    """Largest overlap of two sentences, 0-1; one sentence has none."""
    held = text.contents[:40]
    return max((overlap(a, b) for j, b in enumerate(held) for a in held[:j]), default=0.0)


def linked(text: Text) -> float:
    """Share of neighbouring sentences tied by a shared content word, a pronoun or a connective; .6 for one sentence."""
    pairs = list(zip(text.contents, text.contents[1:], text.sentences[1:], strict=False))
    if not pairs:
        return 0.6
    return mean(float(bool(a & b) or s[0] in PRONOUNS or s[0] in CONNECTIVES) for a, b, s in pairs)


def loaded(text: Text) -> list[str]:
    """Loaded words and phrases, each once."""
    line = " " + " ".join(text.words) + " "
    return sorted({w for w in text.words if w in LOADED} | {p for p in LOADED_PHRASES if f" {p} " in line})


def quoted(words: Iterable[str], most: int = 3) -> str:
    return ", ".join(f'"{w}"' for w in list(words)[:most])


def diversity(case: Case) -> Evidence:
    top, rep = twice_said(case.text), slips_of(case.text).repeated
    return Evidence(
        logistic(-top - 2 * rep, -0.75, 0.16), f"its two nearest sentences share {percent(top)} of their words"
    )


def variety(case: Case) -> Evidence:
    words = case.text.content
    kinds = len(set(words)) / len(words) if words else 0.0
    return Evidence(logistic(kinds, 0.62, 0.1), f"{percent(kinds)} of its content words are different ones")


def fairness(case: Case) -> Evidence:
    found = loaded(case.text)
    note = f"it uses {quoted(found)}" if found else "none of its words stands in the list of loaded words"
    return Evidence(0.93 * falling(len(found), 0.9), note)


def generality(case: Case) -> Evidence:
    found = _GENERAL.findall(" ".join(case.text.words))
    return Evidence(
        0.93 * falling(len(found), 2.5),
        f'{counted(len(found), "sweeping word")} such as "always" or "nobody"',
        raises=False,
    )


def _lengths(text: Text) -> tuple[float, float]:
    """Words per sentence, letters per word."""
    n = len(text.words) or 1
    return n / (len(text.sentences) or 1), sum(map(len, text.words)) / n


def readable(case: Case) -> Evidence:
    per, slips = _lengths(case.text)[0], slips_of(case.text)
    flaw = 1.2 * len(slips.rules) + slips.doubled + 2 * slips.fragments
    quality = 0.92 * between(per, 4, 24, 16) * falling(flaw, 4)
    return Evidence(quality, f"{per:.0f} words a sentence, {counted(len(slips.rules) + slips.doubled, 'slip')}")


def plain_words(case: Case) -> Evidence:
    letters = _lengths(case.text)[1]
    return Evidence(logistic(-letters, -5.9, 0.6), f"{letters:.1f} letters a word")


def detail(case: Case) -> Evidence:
    found = set().union(*map(names_in, case.text.raw)) if case.text.raw else set()
    rate = len(found) / (len(case.text.words) or 1)
    return Evidence(logistic(rate, 0.035, 0.03), f"{counted(len(found), 'name or number', 'names and numbers')}")


def density(case: Case) -> Evidence:
    rate = len(case.text.content) / (len(case.text.words) or 1)
    return Evidence(logistic(rate, 0.42, 0.07), f"{percent(rate)} of its words carry content")


def interest(case: Case) -> Evidence:
    rate, long = detail(case).quality, between(len(case.text.words), 15, 250, 60)
    kinds = variety(case).quality
    bland = mean([rate, long, kinds])
    return Evidence(bland, f"{len(case.text.words)} words, {detail(case).note}, {variety(case).note}")


def rhythm(case: Case) -> Evidence:
    sizes = [len(s) for s in case.text.sentences if len(s) > 1]  # a lone "5" behind the text is no change of pace
    spread = (max(sizes) - min(sizes)) / (sum(sizes) / len(sizes)) if sizes else 0.0
    return Evidence(
        logistic(spread, 0.15, 0.35), f"its sentences hold {min(sizes, default=0)} to {max(sizes, default=0)} words"
    )


def concise(case: Case) -> Evidence:
    n, top = len(case.text.words), twice_said(case.text)
    base = len(case.src.text.words) if case.source else 0
    size = between(n / base, 0.0, 0.35, 0.25) if base else between(n, 3, 180, 120)
    said = f"{n} words" + (f" for the source's {base}" if base else "")
    return Evidence(0.95 * size * logistic(-top, -0.8, 0.12), f"{said}, nearest sentences share {percent(top)}")


def filler(case: Case) -> Evidence:
    found = len(_FILLER.findall(" ".join(case.text.words)))
    return Evidence(
        0.9 * falling(found / (len(case.text.words) or 1), 0.04), counted(found, "filler word"), raises=False
    )


VIEWS: Views = {
    "diversity": (diversity, variety),
    "fairness": (fairness, generality),
    "understandability": (readable, plain_words),
    "specificity": (detail, density),
    "engagement": (interest, rhythm),
    "conciseness": (concise, filler),
}
