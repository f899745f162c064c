"""chrF: sequences of characters that two texts share."""

from __future__ import annotations

from judgegraph.tools.finding import About, Metric
from judgegraph.tools.material import output_text, some_words, target_name, target_text
from judgegraph.types import Sample


def chrf() -> Metric:
    """chrF2 by sacrebleu at its defaults: characters 1 to 6 long, no words, beta 2, white space left out.

    Source: Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation"; values 0 to 100, as
    sacrebleu prints them. Any script; texts are capped at 20,000 words and 120,000 characters.
    """
    about = About(
        measures="sequences of one to six characters that the output shares with another text (chrF2)",
        reads="the output, and the reference where the sample has one, else the source",
        range="0 to 100", direction="higher = more alike, with twice the weight on what the output lacks",
        example=("the cat sat on the mat", "the cat lay on the mat", 61.0887),
    )  # fmt: skip
    return Metric(name="chrf", about=about, measure=_measure, against=target_name)


def _measure(sample: Sample) -> float:
    from sacrebleu.metrics.chrf import CHRF

    target = target_text(sample)
    some_words(target, target_name(sample))
    return float(CHRF().sentence_score(output_text(sample), [target]).score)
