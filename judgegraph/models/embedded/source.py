"""What an output shares with its source: pairs of words, runs of words, order, what is salient, names.

Figures for these features stand in `benchmarks/embedded.py`. All of them reward copying; none checks a fact.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from judgegraph.models.embedded.text import Text, content, read_source, stemmed, words_of
from judgegraph.models.embedded.words import FUNCTION_WORDS

_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w'-]+|\b\d+(?:[.,:]\d+)*\b")


def names_in(sentence: str) -> set[str]:
    """Numbers, and words with a capital that do not open the sentence, lower case."""
    found = {m.lower().removesuffix("'s") for m in _NAME.findall(sentence)}
    return {n for n in found if n not in FUNCTION_WORDS}


def stands(name: str, known: frozenset[str]) -> bool:
    """All words of a name are known; "3,800" also where a tokenizer wrote "3 , 800"."""
    return all(w in known or all(part in known for part in re.split(r"[.,:]", w)) for w in words_of(name))


@dataclass(frozen=True, eq=False)
class Source:
    """A source cut up once: sets for look-up, sentences for alignment, salience per content stem (sums to 1)."""

    text: Text
    words: frozenset[str]
    stems: frozenset[str]
    bigrams: frozenset[tuple[str, str]]
    trigrams: frozenset[tuple[str, str, str]]
    salience: dict[str, float]
    positions: tuple[tuple[dict[str, int], int], ...]


def _bits(sentence: tuple[str, ...]) -> tuple[dict[str, int], int]:
    """Word -> bits of the places where it stands: for the bit-parallel LCS."""
    places: dict[str, int] = {}
    for i, word in enumerate(sentence):
        places[word] = places.get(word, 0) | (1 << i)
    return places, len(sentence)


@lru_cache(maxsize=64)
def source_of(text: str) -> Source:
    """The source of this text; kept, because many outputs share one."""
    read = read_source(text)
    first: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for i, sentence in enumerate(read.sentences):
        for word in content(sentence):
            counts[word] += 1
            first.setdefault(word, i)
    weight = {w: (1 + math.log(n)) / math.sqrt(1 + first[w]) for w, n in counts.items()}
    total = math.fsum(weight.values()) or 1.0
    return Source(
        text=read,
        words=frozenset(read.words) | {w[:-2] for w in read.words if w.endswith("'s")},
        stems=frozenset(stemmed(w) for w in set(read.words)),
        bigrams=frozenset(read.bigrams),
        trigrams=frozenset(read.trigrams),
        salience={w: v / total for w, v in weight.items()},
        positions=tuple(_bits(s[:120]) for s in read.sentences),
    )


def lcs(sentence: tuple[str, ...], places: dict[str, int], length: int) -> int:
    """Length of the longest common subsequence, a machine word of the table at a time (Hyyro 2004)."""
    full = (1 << length) - 1
    row = full
    for word in sentence:
        match = places.get(word)
        if match:
            hit = row & match
            row = ((row + hit) | (row - hit)) & full
    return length - row.bit_count()


@dataclass(frozen=True)
class Alignment:
    """Per output sentence: index of its best source sentence, and shared subsequence / its length (0-1)."""

    best: tuple[int, ...]
    shares: tuple[float, ...]


def align(output: Text, source: Source) -> Alignment:
    """Each output sentence with the source sentence that shares most with it (earliest on ties)."""
    best, shares = [], []
    for sentence in output.sentences:
        sentence = sentence[:120]
        words = set(sentence)
        top, where = 0, 0
        for i, (places, length) in enumerate(source.positions):
            if min(length, len(sentence)) <= top or sum(1 for w in words if w in places) * 4 <= top:
                continue
            shared = lcs(sentence, places, length)
            if shared > top:
                top, where = shared, i
        best.append(where)
        shares.append(top / len(sentence))
    return Alignment(tuple(best), tuple(shares))


def share(items: list[str] | list[tuple[str, str]] | list[tuple[str, str, str]], known: frozenset[object]) -> float:
    """Share of items that are known, 0 for none."""
    return sum(1 for i in items if i in known) / len(items) if items else 0.0
