"""How a score was come by, in words: its `reader` is a name for programs."""

from __future__ import annotations

from judgegraph.report.visible import line
from judgegraph.types import Score

WORDS = {
    "logprobs": "weighted by token probabilities",
    "samples": "counted over several replies",
    "mean": "the mean of other scores",
    "text": "read from the words of the reply",
    "plain": "computed, not asked of a judge",
    "panel": "put together from a panel's answers",
    "random": "drawn at random",
}


def reading(score: Score) -> str:
    """Of a score that has a reader."""
    if score.reader == "stated":
        kind = "number" if score.value is not None else "label" if score.label is not None else "answer"
        return f"read from the reply's own {kind}"
    return WORDS.get(score.reader) or f"reader: {line(score.reader, 80)}"
