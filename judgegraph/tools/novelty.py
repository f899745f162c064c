"""Novelty: how much of an output's wording is its own."""

from __future__ import annotations

from itertools import pairwise

from judgegraph.tools.finding import About, Metric, Unmeasurable
from judgegraph.tools.material import output_text, some_words, source_text
from judgegraph.types import Sample


def novelty() -> Metric:
    """Share of the output's different pairs of neighbouring words that do not stand in the source, 0 to 1.

    Source: novel n-grams as in See et al. 2017, "Get to the point", arXiv:1704.04368, with n = 2; ours: different
    pairs, each counted once, and words as in `material.words`.
    """
    about = About(
        measures="share of the output's pairs of neighbouring words that do not stand in the source",
        reads="the output and the source", range="0 to 1",
        direction="0 = copied throughout, 1 = its own words throughout, for better (paraphrase) or worse (invention)",
        example=("the bridge is shut until spring", "the bridge is open until spring comes", 0.4),
    )  # fmt: skip
    return Metric(name="novelty", about=about, measure=_measure, against=lambda _: "source")


def _measure(sample: Sample) -> float:
    known = set(pairwise(some_words(source_text(sample), "source")))
    pairs = set(pairwise(some_words(output_text(sample), "output")))
    if not pairs:
        raise Unmeasurable("the output is a single word")
    return len(pairs - known) / len(pairs)
