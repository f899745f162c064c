"""Text as the embedded judge sees it: cleaned, capped, cut into sentences and words."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

# The word lists of `words.txt`. They are part of the judge's name: changing one changes the model.


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


SOURCE_WORDS, OUTPUT_WORDS = 3000, 600  # beyond these the text is not read: time stays bounded
_CHARS_PER_WORD = 24

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\W_]")
_CJK = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
_END = re.compile(r"(?<=[.!?。！？])['\"”’)\]`]*\s+|\n+")
_ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|st|prof|vs|no|gen|sen|rep|lt|jr|sr|e\.g|i\.e)|\b[a-z])\.$", re.I)
_GRADER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,60}\b(?:instruction|prompt|above|previous|rule)s?\b"
    r"|\b(?:give|assign|award|output|answer|return|grade|graded|rate|rated|score|scored)\b.{0,60}"
    r"(?:\b(?:maximum|highest|best|full|perfect|top)\s+(?:score|grade|mark|rating|point)s?\b"
    r"|\b(?:a|it|with|be|of|then|grade|score|is|this|as)?\s*(?:10|[1-9])(?:\s*(?:/|out of)\s*\d+)?\s*[.!'\"”]*$"
    r"|\b(?:graded?|scored?|rated?)\s+(?:an?\s+)?\d)"
    r"|\b(?:evaluat\w+|grader|judge|reviewer|editor to)\b.{0,80}\b(?:coherence|consistency|fluency|score|verified)\b"
    r"|[\"']?(?:score|rating|verdict|grade)[\"']?\s*[:=]\s*[\"']?\d"
    r"|\bthe candidate has ended\b",
    re.I,
)
_MARK = re.compile(
    r"<\|\w{1,40}\|>|</?(?:output|candidate|instructions?|system|summary|response|assistant)\b[^<>]{0,200}>", re.I
)
_BEFORE_MARK = re.compile(rf"(?<=[.!?。！？])(?={_MARK.pattern})", re.I)
_EDGE = re.compile(rf"\A(?:\s*(?:{_MARK.pattern}))+\s*|\s*(?:(?:{_MARK.pattern})\s*)+\Z", re.I)


def clean(text: str, words: int = OUTPUT_WORDS) -> str:
    """Visible text only: no tag, zero-width, bidi or control characters, no floods of combining marks."""
    text = text[: words * _CHARS_PER_WORD]
    if text.isascii():
        return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", text)
    characters, marks = [], 0
    for char in unicodedata.normalize("NFC", text):
        kind = unicodedata.category(char)
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        if (kind in ("Cf", "Cs", "Co", "Cn") or marks > 1) and char != "\u200d":
            continue
        characters.append(" " if kind == "Cc" and char not in "\n\t" else char)
    return "".join(characters).replace("’", "'").replace("\u200d", "")


def split(text: str) -> list[str]:
    """Sentences, as they stand; lines end sentences, titles like "Mr." do not."""
    parts: list[str] = []
    joined = False
    for part in _END.split(text):
        if part is None or not part.strip():
            continue
        if joined:
            parts[-1] += " " + part.strip()
        else:
            parts.append(part.strip())
        joined = bool(_ABBREVIATION.search(part.strip()[-6:])) and len(part) > 3
    return parts


def words_of(text: str) -> list[str]:
    """Lower-case words; a number is one word, a character of a script without spaces too."""
    if not text.isascii():
        text = _CJK.sub(r" \1 ", text)
    return _WORD.findall(text.lower())


def stem(word: str) -> str:
    """A word without its commonest English endings, so that "votes" meets "voted"."""
    if len(word) > 4 and not word[0].isdigit():
        for ending in ("'s", "ingly", "edly", "ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied",
                       "ers", "ed", "es", "er", "ly", "s", "e", "y"):  # fmt: skip
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                return word[: -len(ending)]
    return word


stemmed = lru_cache(maxsize=65536)(stem)


def content(words: Iterable[str]) -> list[str]:
    """Stems of the words that carry content."""
    return [stemmed(w) for w in words if w not in FUNCTION_WORDS and (len(w) > 1 or w.isdigit())]


@dataclass(frozen=True, eq=False)
class Text:
    """A text cut up once. `raw` are its sentences as written, `sentences` their words.

    `orders` counts what speaks to a grader ("give 5"): it is set aside, never obeyed or scored. A tag or a chat mark
    closes and opens nothing: text before and behind it is text.
    """

    raw: tuple[str, ...]
    sentences: tuple[tuple[str, ...], ...]
    orders: int
    cut: bool

    @cached_property
    def words(self) -> list[str]:
        return [w for s in self.sentences for w in s]

    @cached_property
    def content(self) -> list[str]:
        return content(self.words)

    @cached_property
    def contents(self) -> list[set[str]]:
        """Per sentence, its content stems."""
        return [set(content(s)) for s in self.sentences]

    @cached_property
    def bigrams(self) -> list[tuple[str, str]]:
        return [pair for s in self.sentences for pair in itertools.pairwise(s)]

    @cached_property
    def trigrams(self) -> list[tuple[str, str, str]]:
        return [triple for s in self.sentences for triple in zip(s, s[1:], s[2:], strict=False)]


def _speaks(part: str) -> bool:
    """Whether it speaks to a grader."""
    return bool(_GRADER.search(_MARK.sub(" ", part[:600]).strip()))


def _parts(tidy: str) -> tuple[list[str], int]:
    """What is to be judged, sentence by sentence, and how much was set aside."""
    parts: list[str] = []
    orders = 0
    for sentence in split(_BEFORE_MARK.sub("\n", tidy)):
        if _speaks(sentence):
            orders += 1
            between = [part.strip() for part in _MARK.split(sentence)]
            if any(map(_speaks, between)):  # the order stands between marks: what is not between them is text
                parts += [part for part in between if not _speaks(part)]
        else:
            parts.append(sentence)
    return [_EDGE.sub("", part) for part in parts], orders


def _read(text: str, cap: int) -> Text:
    raw, sentences, count, total = [], [], 0, len(text)
    parts, orders = _parts(clean(text, cap))
    for sentence in parts:
        words = words_of(sentence)[: cap - count]
        if not words:
            continue
        raw.append(sentence)
        sentences.append(tuple(words))
        count += len(words)
        if count >= cap:
            break
    return Text(tuple(raw), tuple(sentences), orders, count >= cap or total > cap * _CHARS_PER_WORD)


@lru_cache(maxsize=256)
def read_output(text: str) -> Text:
    """The judged text, at most `OUTPUT_WORDS` words of it."""
    return _read(text, OUTPUT_WORDS)


@lru_cache(maxsize=64)
def read_source(text: str) -> Text:
    """A source, query or reference, at most `SOURCE_WORDS` words of it."""
    return _read(text, SOURCE_WORDS)
