"""Which family of evidence a criterion asks for, by the words of its name, then of its definition."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
