"""Length ratio: how long an output is beside what it is compared with."""

from __future__ import annotations

from judgegraph.tools.finding import About, Metric
from judgegraph.tools.material import output_text, some_words, target_name, target_text, words
from judgegraph.types import Sample


def length_ratio() -> Metric:
    """Words of the output / words of the reference, else of the source: 0 or more; texts capped at 20,000 words."""
    about = About(
        measures="length of the output in words, divided by that of another text",
        reads="the output, and the reference where the sample has one, else the source",
        range="0 or more",
        direction="1 = as long; near 1 is right beside a reference, far below for a summary beside its source",
        example=("the bridge is shut", "the old bridge is shut until spring comes", 0.5),
    )
    return Metric(name="length-ratio", about=about, measure=_measure, against=target_name)


def _measure(sample: Sample) -> float:
    return len(words(output_text(sample))) / len(some_words(target_text(sample), target_name(sample)))
