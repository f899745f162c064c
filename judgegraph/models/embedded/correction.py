"""A corrected text: what plain rules can mend, and nothing invented."""

from __future__ import annotations

import re

from judgegraph.models.embedded.case import Case
from judgegraph.models.embedded.source import names_in, stands
from judgegraph.models.embedded.text import clean, split, words_of

_TWICE = re.compile(r"\b([^\W\d_]+)(\s+\1\b)+", re.I)
_KEPT_TWICE = frozenset(["had", "that", "very", "really", "so", "ha"])


def _mended(sentence: str) -> str:
    """Doubled words once, spaces before marks removed, a capital at the start."""
    sentence = _TWICE.sub(lambda m: m[0] if m[1].lower() in _KEPT_TWICE else m[1], sentence)
    sentence = re.sub(r"\s+([,.;:!?])", r"\1", sentence).strip()
    return sentence[:1].upper() + sentence[1:]


def _foreign(sentence: str, case: Case) -> bool:
    """It names something, or a number, that no given text holds."""
    known = case.ground.words
    return any(not stands(name, known) for name in names_in(sentence))


def corrected(text: str, case: Case) -> str:
    """The text without repeated sentences, without sentences whose names stand in no source, slips mended.

    Where nothing would be left, the text itself comes back: of an empty one, nothing.
    """
    kept: list[str] = []
    seen: set[tuple[str, ...]] = set()
    sentences = split(clean(text, 4000))
    for sentence in sentences:
        key = tuple(words_of(sentence))
        if key and key not in seen:
            seen.add(key)
            kept.append(_mended(sentence))
    grounded = [s for s in kept if not _foreign(s, case)] if case.source.strip() else kept
    done = grounded or kept
    if done and done[-1][-1:].isalnum() and len(words_of(done[-1])) > 2:
        done[-1] += "."
    lines = "\n" in text and len(done) == len(sentences)
    return ("\n" if lines else " ").join(done) or clean(text, 4000).strip()
