"""Surface metrics of an output beside another text: chrF, BLEU, TER, METEOR, ROUGE, copying, length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from statistics import fmean
from typing import Any, Literal, TypeAlias, get_args

from judgegraph.embedded.text import split
from judgegraph.errors import ConfigError
from judgegraph.tools import edit_rate
from judgegraph.tools.catalogue import About, Metric, Unmeasurable
from judgegraph.types import MOST_WORDS, Json, Sample, has_word, text_of, words

# The texts of a sample as metrics read them: capped, so that no input takes unbounded time.


MOST_CHARS = 120_000  # six a word: a "word" of 1 MB too


def capped(value: Json) -> str:
    """The first 120,000 characters and 20,000 white-space words of a text or JSON value."""
    text = text_of(value)[:MOST_CHARS]
    if len(text) < 2 * MOST_WORDS:
        return text
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


def target_texts(sample: Sample) -> list[str]:
    """Every reference that holds a word, capped; of a sample without one its source.

    Raises:
        Unmeasurable: no text is there, or none holds a word.
    """
    which = target_name(sample)
    return _with_words([sample.source] if which == "source" else sample.all_references, which)


def reference_texts(sample: Sample) -> list[str]:
    """Every reference that holds a word, capped.

    Raises:
        Unmeasurable: the sample has none, or none holds a word.
    """
    reference_text(sample)
    return _with_words(sample.all_references, "reference")


def _with_words(texts: Iterable[Json], which: str) -> list[str]:
    found = [text for text in map(capped, texts) if has_word(text)]
    if not found:
        raise Unmeasurable(f"the {which} holds no word")
    return found


def compared_with(sample: Sample) -> str:
    """As `target_name`, with the number of several references."""
    many = len(sample.references)
    return f"{many} references" if many > 1 else target_name(sample)


def some_words(text: str, which: str) -> list[str]:
    """The words of a text that must have some.

    Raises:
        Unmeasurable: it has none; `which` names the text.
    """
    found = words(text)
    if not found:
        raise Unmeasurable(f"the {which} holds no word")
    return found


BESIDE = "the output, and the reference where the sample has one, else the source"
EITHER = ("output", "reference or source")
REFERENCE = ("output", "reference")
CODE = "plain code, about a millisecond"
SACREBLEU = "sacrebleu, Apache-2.0; no model"
CATS = ("the cat sat on the mat", "the cat lay on the mat")


def chrf() -> Metric:
    """chrF2 by sacrebleu at its defaults: characters 1 to 6 long, no words, beta 2, white space left out.

    Source: Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation"; values 0 to 100, as
    sacrebleu prints them; of several references the best counts. Any script; texts are capped at 20,000 words and
    120,000 characters.
    """
    about = About(
        measures="sequences of one to six characters that the output shares with another text (chrF2)",
        reads=BESIDE, range="0 to 100", direction="higher = more alike, with twice the weight on what the output lacks",
        example=(*CATS, 61.0887), inputs=EITHER, cost=CODE, licence=SACREBLEU, source="Popović 2015, W15-3049",
    )  # fmt: skip
    return Metric(name="chrf", about=about, measure=_chrf_of, against=compared_with)


def bleu(lowercase: bool = False) -> Metric:
    """Sentence BLEU by sacrebleu at its defaults (tokenizer 13a, exponential smoothing, effective order), 0 to 100.

    Source: Papineni et al. 2002, "BLEU: a method for automatic evaluation of machine translation"; Post 2018, "A call
    for clarity in reporting BLEU scores". Several references are those of one text, as there: n-grams of any count.

    Args:
        lowercase: whether "The" is "the", as sacrebleu's -lc.
    """
    about = About(
        measures="runs of one to four words that the output shares with a reference, with a penalty for brevity (BLEU)",
        reads="the output and the reference", range="0 to 100", direction="higher = more alike",
        example=(*CATS, 37.9918), inputs=REFERENCE, cost=CODE, licence=SACREBLEU,
        source="Papineni et al. 2002, P02-1040; Post 2018, W18-6319",
    )  # fmt: skip
    name = "bleu-lowercase" if lowercase else "bleu"  # another number has another name, in signatures too
    return Metric(name=name, about=about, measure=lambda sample: _bleu_of(sample, lowercase), against=_reference_name)


def ter() -> Metric:
    """Translation edit rate by sacrebleu at its defaults: 100 * edits (with shifts of runs) / words of the reference.

    Source: Snover et al. 2006, "A study of translation edit rate with targeted human annotation". A pair of texts of
    over 1,000 words each takes minutes, so it has no value. Of several references the nearest counts, divided by the
    mean of their lengths.
    """
    about = About(
        measures="edits (words put in, taken out, changed, runs moved) that make the output its reference, in per cent "
        "of the reference's words (TER)",
        reads="the output and the reference", range="0 or more", direction="lower = better, 0 = the same words",
        example=(*CATS, 16.6667), inputs=REFERENCE,
        cost="plain code; milliseconds, grows with the square of the length", licence=SACREBLEU,
        source="Snover et al. 2006, AMTA",
    )  # fmt: skip
    return Metric(name="ter", about=about, measure=_ter_of, against=_reference_name)


def meteor() -> Metric:
    """METEOR by NLTK at its defaults (alpha 0.9, beta 3, gamma 0.5), with exact and stemmed matches, no WordNet.

    Source: Banerjee and Lavie 2005; Lavie and Agarwal 2007. Without WordNet nothing is looked up or downloaded; words
    as in `judgegraph.types.words`. Of several references the best counts.
    """
    about = About(
        measures="words that the output shares with a reference, exactly or by their stems, recall before precision, "
        "with a penalty for broken order (METEOR without synonyms)",
        reads="the output and the reference", range="0 to 1", direction="higher = more alike",
        example=(*CATS, 0.8067), inputs=REFERENCE, cost=CODE, licence="nltk, Apache-2.0; no model",
        source="Lavie and Agarwal 2007, W07-0734",
    )  # fmt: skip
    return Metric(name="meteor", about=about, measure=_meteor_of, against=_reference_name)


def reference_text(sample: Sample) -> str:
    """The reference, capped.

    Raises:
        Unmeasurable: the sample has none.
    """
    text = capped(sample.reference) if sample.reference is not None else ""
    if not text.strip():
        raise Unmeasurable("the sample has no reference")
    return text


def _reference_name(sample: Sample) -> str:
    return compared_with(sample) if len(sample.references) > 1 else "reference"


@cache
def _scorer(name: str, lowercase: bool = False) -> Any:
    """A scorer of sacrebleu, made once: making one is dearer than using it."""
    if name == "chrf":
        from sacrebleu.metrics.chrf import CHRF

        return CHRF()
    if name == "ter":
        return edit_rate.scorer()
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True, lowercase=lowercase)


def _chrf_of(sample: Sample) -> float:
    return float(_scorer("chrf").sentence_score(output_text(sample), target_texts(sample)).score)


def _bleu_of(sample: Sample, lowercase: bool) -> float:
    return float(_scorer("bleu", lowercase).sentence_score(output_text(sample), reference_texts(sample)).score)


MOST_EDITED = 1000  # words of both texts: TER tries to move every run of one


def _ter_of(sample: Sample) -> float:
    targets, output = reference_texts(sample), output_text(sample)
    if any(len(text.split()) > MOST_EDITED for text in (output, *targets)):
        raise Unmeasurable(f"TER reads texts of up to {MOST_EDITED:,} words; the output or the reference has more")
    return float(_scorer("ter").sentence_score(output, targets).score)


class _NoWordNet:
    """Stands where NLTK asks for WordNet: no word has a synonym, and nothing is looked up."""

    def synsets(self, _: str) -> tuple[()]:
        return ()


def _meteor_of(sample: Sample) -> float:
    from nltk.translate.meteor_score import single_meteor_score

    output = words(output_text(sample))
    found = [single_meteor_score(words(text), output, wordnet=_NoWordNet()) for text in reference_texts(sample)]
    return float(max(found))


# Coverage and density: how far an output is put together from pieces of its source.


EXAMPLE = ("the bridge is shut until spring", "the bridge is open until spring comes")
COPY = ("output", "source")
OURS = "our own code, Apache-2.0; no model"
NEWSROOM = "Grusky et al. 2018, arXiv:1804.11283"


def coverage() -> Metric:
    """Extractive fragment coverage: COVERAGE(A, S) = 1/|S| * sum of |f| over the fragments f of F(A, S).

    Source: Grusky et al. 2018, "Newsroom", arXiv:1804.11283, with the authors' code (lil-lab/newsroom). F(A, S)
    goes through the output S from its start, takes the longest run of words that also stands in the source A,
    and goes on behind it. Ours: words as in `material.words`; the longest run is found also where runs in A
    overlap, which the authors' scan steps over.
    """
    about = About(
        measures="share of the output's words that stand in runs copied from the source",
        reads="the output and the source", range="0 to 1",
        direction="1 = every word is the source's, low = many words of its own; says nothing of quality by itself",
        example=(*EXAMPLE, round(5 / 6, 4)), inputs=COPY, cost=CODE, licence=OURS, source=NEWSROOM,
    )  # fmt: skip
    return Metric(name="coverage", about=about, measure=_coverage, against=_against)


def density() -> Metric:
    """Extractive fragment density: DENSITY(A, S) = 1/|S| * sum of |f|² over the fragments f of F(A, S).

    Source: as `coverage`. From 0 to |S|: the mean length of the run that a word of the output stands in.
    """
    about = About(
        measures="mean length, in words, of the run copied from the source that a word of the output stands in",
        reads="the output and the source", range="0 to the number of words in the output",
        direction="high = long verbatim passages, 1 or less = single shared words; says nothing of quality by itself",
        example=(*EXAMPLE, round(13 / 6, 4)), inputs=COPY, cost=CODE, licence=OURS, source=NEWSROOM,
    )  # fmt: skip
    return Metric(name="density", about=about, measure=_density, against=_against)


def fragments(source: Sequence[str], output: Sequence[str]) -> list[int]:
    """Lengths, in words, of the fragments F(A, S), in the order of the output; in time linear in both."""
    steps = _automaton(source)
    lengths, at = [], 0
    while at < len(output):
        state, end = 0, at
        while end < len(output) and (step := steps[state].get(output[end])) is not None:
            state, end = step, end + 1
        if end > at:
            lengths.append(end - at)
        at = max(end, at + 1)
    return lengths


def _automaton(text: Sequence[str]) -> list[dict[str, int]]:
    """The suffix automaton of a text: state -> word -> state; from state 0 it accepts every run of words in it."""
    steps: list[dict[str, int]] = [{}]
    link, length, last = [-1], [0], 0
    for word in text:
        new = len(steps)
        steps.append({})
        link.append(0)
        length.append(length[last] + 1)
        at = last
        while at >= 0 and word not in steps[at]:
            steps[at][word] = new
            at = link[at]
        if at >= 0:
            old = steps[at][word]
            if length[old] == length[at] + 1:
                link[new] = old
            else:
                twin = len(steps)
                steps.append(dict(steps[old]))
                link.append(link[old])
                length.append(length[at] + 1)
                while at >= 0 and steps[at].get(word) == old:
                    steps[at][word] = twin
                    at = link[at]
                link[old] = link[new] = twin
        last = new
    return steps


def _coverage(sample: Sample) -> float:
    lengths, size = _measured(sample)
    return sum(lengths) / size


def _density(sample: Sample) -> float:
    lengths, size = _measured(sample)
    return sum(n * n for n in lengths) / size


def _measured(sample: Sample) -> tuple[list[int], int]:
    source = some_words(source_text(sample), "source")
    output = some_words(output_text(sample), "output")
    return fragments(source, output), len(output)


def _against(_: Sample) -> str:
    return "source"


# Length ratio: how long an output is beside what it is compared with.


def length_ratio() -> Metric:
    """Words of the output / words of the reference, else of the source: 0 or more; texts capped at 20,000 words."""
    about = About(
        measures="length of the output in words, divided by that of another text",
        reads=BESIDE,
        range="0 or more",
        direction="1 = as long; near 1 is right beside a reference, far below for a summary beside its source",
        example=("the bridge is shut", "the old bridge is shut until spring comes", 0.5),
        inputs=EITHER, cost=CODE, licence=OURS, source="ours",
    )  # fmt: skip
    return Metric(name="length-ratio", about=about, measure=_length_ratio_of, against=target_name)


def _length_ratio_of(sample: Sample) -> float:
    return len(words(output_text(sample))) / len(some_words(target_text(sample), target_name(sample)))


# Novelty: how much of an output's wording is its own.


def novelty() -> Metric:
    """Share of the output's different pairs of neighbouring words that do not stand in the source, 0 to 1.

    Source: novel n-grams as in See et al. 2017, "Get to the point", arXiv:1704.04368, with n = 2; ours: different
    pairs, each counted once, and words as in `material.words`.
    """
    about = About(
        measures="share of the output's pairs of neighbouring words that do not stand in the source",
        reads="the output and the source", range="0 to 1",
        direction="0 = copied throughout, 1 = its own words throughout, for better (paraphrase) or worse (invention)",
        example=(*EXAMPLE, 0.4), inputs=COPY, cost=CODE, licence=OURS, source="See et al. 2017, arXiv:1704.04368",
    )  # fmt: skip
    return Metric(name="novelty", about=about, measure=_novelty_of, against=lambda _: "source")


def _novelty_of(sample: Sample) -> float:
    known = set(pairwise(some_words(source_text(sample), "source")))
    pairs = set(pairwise(some_words(output_text(sample), "output")))
    if not pairs:
        raise Unmeasurable("the output is a single word")
    return len(pairs - known) / len(pairs)


# ROUGE-1, ROUGE-2 and ROUGE-L: words, pairs of words and word order that two texts share.


Compare: TypeAlias = Callable[[Sequence[str], Sequence[str]], float]


Over: TypeAlias = Literal["max", "mean"]


def rouge_1(stem: bool = False, over: Over = "max") -> Metric:
    """Shared words; see `rouge_n`.

    Args:
        stem: compare words by their stems (Porter), as the package's `use_stemmer`.
        over: of several references the best value ("max", as the package's `score_multi`) or their mean, which is what
            the figures published for SummEval take.
    """
    measures = "words that the output shares with another text"
    return _metric("rouge-1", measures, lambda a, b: rouge_n(a, b, 1), 5 / 6, stem, over)


def rouge_2(stem: bool = False, over: Over = "max") -> Metric:
    """Shared pairs of words; see `rouge_n` and `rouge_1`."""
    measures = "pairs of neighbouring words that the output shares with another text"
    return _metric("rouge-2", measures, lambda a, b: rouge_n(a, b, 2), 0.6, stem, over)


def rouge_l(stem: bool = False, over: Over = "max") -> Metric:
    """The longest common subsequence; see `rouge_lcs` and `rouge_1`."""
    measures = "words that the output shares with another text in the same order, gaps allowed"
    return _metric("rouge-l", measures, rouge_lcs, 5 / 6, stem, over)


def rouge_l_sum(stem: bool = False, over: Over = "max") -> Metric:
    """The longest common subsequences of sentences, together ("rougeLsum"); see `rouge_summary` and `rouge_1`."""
    measures = "words that the output shares with the sentences of another text in the same order, gaps allowed"
    return _metric("rouge-l-sum", measures, rouge_summary, 5 / 6, stem, over, _sentences)


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


MOST_COMPARED = 4_000_000  # pairs of words: the package fills a table of them, about a microsecond each


def rouge_summary(output: Sequence[str], target: Sequence[str]) -> float:
    """F-measure, 0 to 1, of the union of longest common subsequences over sentences: the package's "rougeLsum".

    Source: Lin 2004, section 3.2, counted as in the package rouge-score, whose values these are: each word counts as
    often as both texts have it.

    Args:
        output, target: sentences, each its tokens with a space between them.

    Raises:
        Unmeasurable: both texts are long; the message says how long.
    """
    sizes = [sum(len(one.split()) for one in text) for text in (output, target)]
    if sizes[0] * sizes[1] > MOST_COMPARED:
        raise Unmeasurable(f"ROUGE-Lsum compares every two words; {sizes[0]:,} by {sizes[1]:,} take too long")
    return float(_by_sentences().score("\n".join(target), "\n".join(output))["rougeLsum"].fmeasure)


@cache
def _by_sentences() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeLsum"], tokenizer=_Split())


class _Split:
    """Stands where the package asks for a tokenizer: these tokens were made before."""

    def tokenize(self, text: str) -> list[str]:
        return text.split()


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


@lru_cache(maxsize=64)  # the three ROUGEs read the same texts
def _tokens(text: str, which: str, stem: bool) -> tuple[str, ...]:
    """Tokens as the package makes them, at most 20,000.

    Raises:
        Unmeasurable: most letters and digits of the text are none of a-z and 0-9, all that it keeps.
    """
    from rouge_score.tokenize import tokenize

    tokens = tuple(tokenize(text, _stemmer() if stem else None))
    kept = tokens if not stem else tokenize(text, None)  # a stem is shorter than its word
    if 2 * sum(map(len, kept)) < sum(map(str.isalnum, text)):
        raise Unmeasurable(f"ROUGE reads the letters a-z and digits; most of the {which} is written otherwise")
    return tokens[:MOST_WORDS]


def _sentences(text: str, which: str, stem: bool) -> tuple[str, ...]:
    """The sentences of a text: its lines where it has several, as the package takes them; else they are split here."""
    if not _tokens(text, which, stem):
        return ()
    lines = [line for line in text.splitlines() if line.strip()]
    listed = lines if len(lines) > 1 else split(text)
    return tuple(" ".join(found) for one in listed if (found := _tokens(one, which, stem)))


@cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


def _metric(
    name: str, measures: str, compare: Compare, value: float, stem: bool, over: Over,
    read: Callable[[str, str, bool], tuple[str, ...]] = _tokens,
) -> Metric:  # fmt: skip
    if over not in get_args(Over):
        raise ConfigError(f"{name}: over is 'max' or 'mean', got {over!r:.40}")

    def measure(sample: Sample) -> float:
        which = target_name(sample)
        targets = [found for text in target_texts(sample) if (found := read(text, which, stem))]
        if not targets:
            raise Unmeasurable(f"the {which} holds no word")
        output = read(output_text(sample), "output", stem)
        values = [compare(output, target) for target in targets]
        return max(values) if over == "max" else fmean(values)

    about = About(
        measures=f"{measures} (f-measure of {name.upper()}{', by stems' if stem else ''}"
        f"{', the mean of all references' if over == 'mean' else ''})", reads=BESIDE,
        range="0 to 1", direction="higher = more alike; against a source, a good short summary is far from 1",
        example=None if stem else (*CATS, round(value, 4)), inputs=EITHER, cost=CODE,
        licence="rouge-score, Apache-2.0; no model", source="Lin 2004, W04-1013",
    )  # fmt: skip
    called = f"{name}{'-stem' if stem else ''}{'-mean' if over == 'mean' else ''}"  # in signatures too
    return Metric(name=called, about=about, measure=measure, against=compared_with)
