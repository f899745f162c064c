"""The texts of a sample as metrics read them: capped, so that no input takes unbounded time."""

from __future__ import annotations

import re
import unicodedata

from judgegraph.tools.finding import Unmeasurable
from judgegraph.types import Json, Sample, text_of

MOST_WORDS = 20_000  # of one text: a text of 1 MB ends in seconds
MOST_CHARS = 120_000  # six a word: a "word" of 1 MB too

_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # Thai, Lao, Kana, Han: written without spaces
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}_])\w)+(?:['’](?:(?![{_UNSPACED}_])\w)+)*")


def capped(value: Json) -> str:
    """The first 120,000 characters and 20,000 white-space words of a text or JSON value."""
    text = text_of(value)[:MOST_CHARS]
    pieces = text.split(None, MOST_WORDS)
    return " ".join(pieces[:MOST_WORDS]) if len(pieces) > MOST_WORDS else text


def output_text(sample: Sample) -> str:
    """The judged text, capped."""
    return capped(sample.output)


def source_text(sample: Sample) -> str:
    """What the output was made from, capped.

    Raises:
        Unmeasurable: the sample has no source.
    """
    text = capped(sample.source)
    if not text.strip():
        raise Unmeasurable("the sample has no source")
    return text


def target_name(sample: Sample) -> str:
    """What an output is compared with: "reference" where the sample has one, else "source".

    Raises:
        Unmeasurable: it has neither.
    """
    if sample.reference is not None and capped(sample.reference).strip():
        return "reference"
    if capped(sample.source).strip():
        return "source"
    raise Unmeasurable("the sample has neither a reference nor a source")


def target_text(sample: Sample) -> str:
    """The reference where the sample has one, else the source; capped.

    Raises:
        Unmeasurable: it has neither.
    """
    return capped(getattr(sample, target_name(sample)))


def words(text: str) -> list[str]:
    """Words of any script, case folded, without punctuation, at most 20,000.

    A character of a script that is written without spaces counts as a word.
    """
    folded = unicodedata.normalize("NFC", text).casefold()
    return _WORD.findall(folded)[:MOST_WORDS]


def some_words(text: str, which: str) -> list[str]:
    """The words of a text that must have some.

    Raises:
        Unmeasurable: it has none; `which` names the text.
    """
    found = words(text)
    if not found:
        raise Unmeasurable(f"the {which} holds no word")
    return found
