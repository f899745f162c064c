"""ROUGE-1, ROUGE-2 and ROUGE-L: words, pairs of words and word order that two texts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from judgegraph.tools.finding import About, Metric, Unmeasurable
from judgegraph.tools.material import MOST_WORDS, output_text, target_name, target_text
from judgegraph.types import Sample

Compare: TypeAlias = Callable[[Sequence[str], Sequence[str]], float]
READS = "the output, and the reference where the sample has one, else the source"
EXAMPLE = ("the cat sat on the mat", "the cat lay on the mat")


def rouge_1() -> Metric:
    """Shared words; see `rouge_n`."""
    return _metric("rouge-1", "words that the output shares with another text", lambda a, b: rouge_n(a, b, 1), 5 / 6)


def rouge_2() -> Metric:
    """Shared pairs of words; see `rouge_n`."""
    measures = "pairs of neighbouring words that the output shares with another text"
    return _metric("rouge-2", measures, lambda a, b: rouge_n(a, b, 2), 0.6)


def rouge_l() -> Metric:
    """The longest common subsequence; see `rouge_lcs`."""
    measures = "words that the output shares with another text in the same order, gaps allowed"
    return _metric("rouge-l", measures, rouge_lcs, 5 / 6)


def rouge_n(output: Sequence[str], target: Sequence[str], n: int) -> float:
    """F-measure, 0 to 1, of clipped matches of n-grams: 2PR / (P + R), the package's `fmeasure`.

    Source: Lin 2004, "ROUGE: a package for automatic evaluation of summaries", as in the package rouge-score
    (`use_stemmer=False`), whose values these are.
    """
    grams = [Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (output, target)]
    return _f_measure((grams[0] & grams[1]).total(), grams[0].total(), grams[1].total())


def rouge_lcs(output: Sequence[str], target: Sequence[str]) -> float:
    """F-measure, 0 to 1, of the longest common subsequence over the whole text ("rougeL", not "rougeLsum").

    Source: as `rouge_n`. The length is counted with bits in place of the package's table, which would take 400
    million cells for two texts of 20,000 words; the value is the same.
    """
    return _f_measure(_lcs(output, target), len(output), len(target))


def _f_measure(shared: int, of_output: int, of_target: int) -> float:
    from rouge_score.scoring import fmeasure

    return float(fmeasure(shared / max(of_output, 1), shared / max(of_target, 1)))


def _lcs(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of the longest common subsequence: bit i of `row` is 0 where the best length grows at one[i]."""
    places: dict[str, int] = {}
    for i, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << i
    full = row = (1 << len(one)) - 1
    for word in other:
        hits = row & places.get(word, 0)
        row = ((row + hits) | (row - hits)) & full
    return len(one) - row.bit_count()


def _tokens(text: str, which: str) -> list[str]:
    """Tokens as the package makes them, at most 20,000.

    Raises:
        Unmeasurable: most letters and digits of the text are none of a-z and 0-9, all that it keeps.
    """
    from rouge_score.tokenize import tokenize

    tokens: list[str] = tokenize(text, None)
    if 2 * sum(map(len, tokens)) < sum(map(str.isalnum, text)):
        raise Unmeasurable(f"ROUGE reads the letters a-z and digits; most of the {which} is written otherwise")
    return tokens[:MOST_WORDS]


def _metric(name: str, measures: str, compare: Compare, value: float) -> Metric:
    def measure(sample: Sample) -> float:
        target = _tokens(target_text(sample), target_name(sample))
        if not target:
            raise Unmeasurable(f"the {target_name(sample)} holds no word")
        return compare(_tokens(output_text(sample), "output"), target)

    about = About(
        measures=f"{measures} (f-measure of {name.upper()})", reads=READS, range="0 to 1",
        direction="higher = more alike; against a source, a good short summary is far from 1",
        example=(*EXAMPLE, round(value, 4)),
    )  # fmt: skip
    return Metric(name=name, about=about, measure=measure, against=target_name)
