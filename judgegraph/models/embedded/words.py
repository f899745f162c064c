"""The word lists of `words.txt`. They are part of the judge's name: changing one changes the model."""

from __future__ import annotations

import re
from importlib.resources import files

_LISTS = {
    name: tuple(p.strip() for p in re.split(r";\s*" if ";" in body else r"\s+", " ".join(body.split())) if p.strip())
    for name, body in re.findall(
        r"^\[(\w+)\]\n((?:(?![\[#]).*\n?)*)", files(__package__).joinpath("words.txt").read_text("utf-8"), re.M
    )
}


def listed(name: str) -> frozenset[str]:
    """The words of a list.

    Raises:
        KeyError: no such list.
    """
    return frozenset(_LISTS[name])


FUNCTION_WORDS, DANGLING, PRONOUNS = listed("function_words"), listed("dangling"), listed("pronouns")
CONNECTIVES, LOADED = listed("connectives"), listed("loaded")
POSITIVE, NEGATIVE = listed("positive"), listed("negative")
FORMAL, INFORMAL = listed("formal"), listed("informal")
LOADED_PHRASES, LEADING_PHRASES = _LISTS["loaded_phrases"], _LISTS["leading_phrases"]
BLAND, REFUSALS = _LISTS["bland"], _LISTS["refusals"]
