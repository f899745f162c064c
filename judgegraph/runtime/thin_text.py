"""Judged text too thin to earn a score: flagged, since some judges give the best one to a colon."""

from __future__ import annotations

import re

from judgegraph.tools.material import words
from judgegraph.types import Note, Sample, text_of

LEAST = 8  # words; a text of fewer is flagged
LOOKED_AT = 2000  # characters
HEAD = 300  # of these, which settle it for nearly every text: the rest is not worth its time on every sample
_KEYS = re.compile(  # what opens an answer and is none; Zhao et al. 2025, arXiv:2507.08794, has such a list
    "|".join((
        "thought process",
        r"let['\u2019]?s (?:solve|think)(?: (?:about|through|this|it|the|problem))* step[ -]by[ -]step",
        "(?:final |the )?(?:solution|answer)(?: is)?", "respuesta", "l\u00f6sung", "\u89e3(?:\u7b54|\u8aac)?",
        "\u304b\u3044\u305b\u3064", "\u601d\u8003\u8fc7\u7a0b",
    ))
)  # fmt: skip


def thin(sample: Sample) -> list[Note]:
    """Notes on an output, and on a rival, that has fewer than eight words, none, or nothing but an answer's opening."""
    texts = {"output": sample.output, "rival": sample.rival}
    found = ((side, _why(text_of(text)[:LOOKED_AT])) for side, text in texts.items() if text is not None)
    return [Note(agent="sample", text=f"the {side} {why}", kind=kind) for side, (why, kind) in found if why]


def _why(text: str) -> tuple[str, str]:
    """What is wrong with it and the kind of that, "" for nothing."""
    head = text[:HEAD]
    if len(_left(head)) > HEAD // 5 and len(words(head)) >= LEAST:  # more than an opening that was cut there
        return "", ""
    if not text.strip():
        return "is empty: no score of it can be trusted", "text-empty"
    if not re.search(r"[^\W_]", text):
        return "has no word, signs alone: no score of it can be trusted", "text-empty"
    if not _left(text):
        return (
            "opens an answer and gives none: no score of it can be trusted, as some judges give it the best",
            "text-opening",
        )
    few = len(words(text)) < LEAST
    return (f"has fewer than {LEAST} words: a good score of it says little" if few else ""), ""


def _left(text: str) -> str:
    """Letters and digits that belong to no opening of an answer."""
    return re.sub(r"[\W_]+", "", _KEYS.sub("", text.casefold()))
