"""Coverage and density: how far an output is put together from pieces of its source."""

from __future__ import annotations

from collections.abc import Sequence

from judgegraph.tools.finding import About, Metric
from judgegraph.tools.material import output_text, some_words, source_text
from judgegraph.types import Sample

EXAMPLE = ("the bridge is shut until spring", "the bridge is open until spring comes")


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
        example=(*EXAMPLE, round(5 / 6, 4)),
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
        example=(*EXAMPLE, round(13 / 6, 4)),
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
