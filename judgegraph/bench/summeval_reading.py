"""How replies of recorded judges of SummEval are read: by our readers, or by the rules of those who asked them.

Theirs (Shen et al. 2023, DAMO-NLP-SG/LLM_summeval, utils.py), so that their figures can be recomputed; in our words:
    rts: the first number after "score:", in digits or as a word; else the first one in a sentence after "score" or
        "scoring"; else the last digit 1-5 at all, also where that is the scale's own ("4 out of 5" is 5); else -1.
    stars: the word before "star". letters: the reply is the letter.
"""

from __future__ import annotations

import re

from judgegraph.calls.reading import read_choice, read_rating
from judgegraph.types import Scale

LETTERS, WORDS = "ABCDE", ("one", "two", "three", "four", "five")
SCALE = Scale(low=1, high=5)
SILENT = -1.0  # what counts, with their rules, where a reply has no number
_WORD = "|".join(WORDS)
_CUES = (
    re.compile(r"score:\s*([1-5](?:\.\d)?)"),
    re.compile(rf"score:\s*({_WORD})"),
    re.compile(r"scor(?:e|ing)[^.]+?([1-5](?:\.[1-5])?)"),
)
_IN_WORDS = re.compile(rf"scor(?:e|ing)[^.]+\s(?:{_WORD})[\s.,]")
_ANY = re.compile(r"[1-5](?:\.\d\s(?:out of [1-5])?)?")
_STARS = re.compile(r"(\S+)\sstar")


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
        return (place + 1.0, "ok") if place >= 0 else (None, "unreadable")
    if prompt == "stareval":
        found = _STARS.search(text.lower())
        value = _number(found[1]) if found else None
        return value, "unreadable" if value is None else "ok"
    return _stated(text.lower()), "ok"


def _stated(text: str) -> float:
    for cue in _CUES:
        if (found := cue.search(text)) and (value := _number(found[1])) is not None:
            return value
    if found := _IN_WORDS.search(text):
        return WORDS.index(re.findall(_WORD, found[0])[0]) + 1.0
    last = _ANY.findall(text)
    number = re.match(r"[1-5](?:\.[1-5])?", last[-1]) if last else None
    return float(number[0]) if number else SILENT


def _number(word: str) -> float | None:
    """A number in digits, or a word from one to five."""
    if word in WORDS:
        return WORDS.index(word) + 1.0
    return float(word) if re.fullmatch(r"\d(?:\.\d+)?", word) else None
