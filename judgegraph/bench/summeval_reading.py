"""How replies of recorded judges of SummEval are read: by our readers, or by the rules of those who asked them.

Theirs (Shen et al. 2023, arXiv:2305.13091), so that their figures can be recomputed; as steps of ours over words:
    rts: the value behind "score" and a colon; else the first one that a sentence has after "score" or "scoring";
        else the last digit from 1 to 5, also where that is the scale's own ("4 out of 5" is 5); else -1.
    stars: the word before "star". letters: the reply is the letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from judgegraph.calls.reading import read_choice, read_rating
from judgegraph.types import Scale

LETTERS, WORDS = "ABCDE", ("one", "two", "three", "four", "five")
DIGITS, CUES = "12345", ("score", "scoring")
SCALE = Scale(low=1, high=5)
SILENT = -1.0  # what counts, with their rules, where a reply has no number
_TOKEN = re.compile(r"[0-9]\.[0-9]|[^\W\d_]+|\S")  # a digit with its tenth, a word, or one mark


def ours(text: str, prompt: str) -> tuple[float | None, str]:
    """Value from 1 to 5 and status by the readers of this package; None where they read nothing."""
    if prompt.endswith("mcq"):
        choice = read_choice(text, LETTERS)
        known = isinstance(choice.value, str)
        return (LETTERS.index(str(choice.value)) + 1.0 if known else None), choice.status
    rating = read_rating(text, SCALE)
    return (rating.value if isinstance(rating.value, float) else None), rating.status


def theirs(text: str, prompt: str) -> tuple[float | None, str]:
    """Value and status by the authors' rules."""
    if prompt.endswith("mcq"):
        place = LETTERS.find(text.strip()[:1]) if text.strip() else -1
        value = place + 1.0 if place >= 0 else None
    elif prompt == "stareval":
        value = _first(token for token, after in pairwise(_tokens(text)) if after.startswith("star"))
    else:
        value = _stated(text)
    return value, "unreadable" if value is None else "ok"


def _stated(text: str) -> float:
    """What "score: 4" states, else "a score of four" before the sentence ends, else the last digit, else -1."""
    tokens = _tokens(text)
    labelled = (tokens[at + 2] for at in range(len(tokens) - 2) if tokens[at : at + 2] == ["score", ":"])
    last = (mark for mark in reversed(text) if mark in DIGITS)
    return next(
        (value for found in (labelled, _after_cues(tokens), last) if (value := _first(found)) is not None), SILENT
    )


def _after_cues(tokens: Iterable[str]) -> Iterator[str]:
    """What each sentence says once it has spoken of a score."""
    spoken = False
    for token in tokens:
        if spoken:
            yield token
        spoken = token != "." and (spoken or any(cue in token for cue in CUES))


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def _first(tokens: Iterable[str]) -> float | None:
    """The first value from 1 to 5 among them, in digits or as a word."""
    for token in tokens:
        if token in WORDS:
            return WORDS.index(token) + 1.0
        if token[0] in DIGITS and float(token) <= len(DIGITS):
            return float(token)
    return None
