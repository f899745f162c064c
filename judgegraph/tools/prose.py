"""Surface metrics of an output by itself: length, repetition, distinct words, reading level. No other text is read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from judgegraph.embedded.text import split
from judgegraph.errors import counted
from judgegraph.tools.catalogue import About, Metric, Unmeasurable
from judgegraph.tools.metrics import CODE, OURS, capped, some_words
from judgegraph.types import Json, Sample

READS = "the output alone"
NO_SIDE = "says nothing of quality by itself"
REFRAIN = "the bus is late and the bus is late and the bus is late"
PLAIN = "The bridge is shut. Cars must take the road along the river until spring."


def word_count() -> Metric:
    """Words of the output, at most 20,000; of JSON those of its texts."""
    about = About(
        measures="number of words in the output", reads=READS, range="0 or more", direction=f"high = long; {NO_SIDE}",
        example=(PLAIN, "", 14), cost=CODE, licence=OURS, source="ours",
    )  # fmt: skip
    return Metric(name="word-count", about=about, measure=lambda sample: float(len(words_read(sample))))


def repetition() -> Metric:
    """rep-4: 1 - different runs of four words / all runs of four words, 0 to 1.

    Source: Welleck et al. 2020, "Neural text generation with unlikelihood training", arXiv:1908.04319, there seq-rep-4.
    """
    about = About(
        measures="share of the output's runs of four words that stood in it before (seq-rep-4)", reads=READS,
        range="0 to 1", direction=f"0 = no phrase twice, as usual; high = it goes in circles; low {NO_SIDE}",
        example=(REFRAIN, "", 0.5455), cost=CODE, licence=OURS, source="Welleck et al. 2020, arXiv:1908.04319",
    )  # fmt: skip
    return Metric(name="repetition", about=about, measure=lambda sample: 1 - _distinct(sample, 4))


def distinct_1() -> Metric:
    """Different words / words; see `distinct_2`."""
    return _distinct_metric(1, "words", 5 / 14)


def distinct_2() -> Metric:
    """Different pairs of neighbouring words / such pairs, 0 to 1.

    Source: Li et al. 2016, "A diversity-promoting objective function", arXiv:1510.03055, there divided by the number of
    words; ours by that of n-grams, so that a text without a repeat has the value 1. It falls with the text's length.
    """
    return _distinct_metric(2, "pairs of neighbouring words", 5 / 13)


def _distinct_metric(n: int, what: str, value: float) -> Metric:
    about = About(
        measures=f"share of the output's {what} that are different: its variety (distinct-{n})", reads=READS,
        range="0 to 1",
        direction=f"1 = none twice; lower = repeated words, and any longer text has a lower value; {NO_SIDE}",
        example=(REFRAIN, "", round(value, 4)), cost=CODE, licence=OURS, source="Li et al. 2016, arXiv:1510.03055",
    )  # fmt: skip
    return Metric(name=f"distinct-{n}", about=about, measure=lambda sample: _distinct(sample, n))


def readability() -> Metric:
    """Automated readability index: 4.71 * characters / words + 0.5 * words / sentences - 21.43, a US school grade.

    Source: Senter and Smith 1967, AMRL-TR-66-220. It counts letters and digits and no syllables, so no dictionary is
    needed. Fitted to English; a text in another script has no value.
    """
    about = About(
        measures="school grade that is needed to understand the output, by length of words and sentences (ARI)",
        reads=READS, range="-10 to 40, of usual texts", direction=f"high = hard to read, 1 = a child's book; {NO_SIDE}",
        example=(PLAIN, "", 1.5829), cost=CODE, licence=OURS, source="Senter and Smith 1967, AMRL-TR-66-220",
    )  # fmt: skip
    return Metric(name="readability", about=about, measure=lambda sample: grade(prose_of(sample.output)))


def grade(text: str) -> float:
    """The automated readability index of a text.

    Raises:
        Unmeasurable: it has no word, or most of its letters are not Latin.
    """
    tokens = [token for token in text.split() if any(map(str.isalnum, token))]
    marks = [mark for token in tokens for mark in token if mark.isalnum()]
    if not tokens:
        raise Unmeasurable("the output holds no word")
    if 2 * sum(mark < "\u0250" for mark in marks) < len(marks):
        raise Unmeasurable("the readability index is fitted to English; most of the output is in another script")
    sentences = sum(any(map(str.isalnum, part)) for part in split(text))
    return 4.71 * len(marks) / len(tokens) + 0.5 * len(tokens) / sentences - 21.43


def prose_of(value: Json) -> str:
    """A text as it is, of JSON (also in a text) the texts that people read in it, a line each; capped."""
    held = parsed(value)
    return capped(value) if held is None else capped("\n".join(_strings(held)))


def parsed(value: Json) -> Json | None:
    """An object or a list that a value is, or that its text holds; None for any other text."""
    if not isinstance(value, str):
        return value
    start = value.lstrip()[:1]
    if not start or start not in "{[":
        return None
    try:
        found: Json = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return found


_NOT_READ = frozenset(("id", "type", "kind", "key", "format"))  # for programs, not for people


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in _NOT_READ:
                yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def words_read(sample: Sample) -> list[str]:
    """The words that people read in the output.

    Raises:
        Unmeasurable: it has none.
    """
    return some_words(prose_of(sample.output), "output")


def _distinct(sample: Sample, n: int) -> float:
    found = words_read(sample)
    grams = ngrams(found, n)
    if not grams:
        raise Unmeasurable(f"the output has fewer than {counted(n, 'word')}")
    return len(set(grams)) / len(grams)


def ngrams(found: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """All runs of n words, in order."""
    return list(zip(*(found[i:] for i in range(n)), strict=False))
