"""The copies of samples that probes judge beside the originals, and what was found of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TypeAlias

from judgegraph.answers import answers_of
from judgegraph.meta.padding import padded
from judgegraph.runtime.item import Item
from judgegraph.types import Sample, Scale, Score, Verdict, key_of

ORIGINAL, SWAPPED = "original", "swapped"
Line: TypeAlias = tuple[str, str]  # criterion, agent; ("overall", "") is the answer over all


def pads(kind: str) -> tuple[str, str]:
    """Words for a padded copy against its original: as the first of the two, and as the second."""
    return f"{kind}-first", f"{kind}-second"


def copy_id(id: str, word: str) -> str:
    """Of a copy."""
    return key_of(id, "probe", word)


def copies(sample: Sample, probes: Iterable[str], kinds: Iterable[str], pairwise: bool) -> Iterator[tuple[str, Sample]]:
    """(word, copy) of a sample; people judged the original alone, so that no copy has their labels."""
    pair = pairwise and sample.rival is not None
    if "swap" in probes and pair:
        yield SWAPPED, _copy(sample, SWAPPED, output=sample.rival, rival=sample.output)
    for kind in kinds if "padded" in probes else ():
        longer = padded(sample.output, kind)
        if longer is None:
            continue
        if not pair:
            yield kind, _copy(sample, kind, output=longer)
            continue
        first, second = pads(kind)
        yield first, _copy(sample, first, output=longer, rival=sample.output)
        yield second, _copy(sample, second, rival=longer)


def _copy(sample: Sample, word: str, **changed: object) -> Sample:
    return sample.model_copy(update={"id": copy_id(sample.id, word), "human": {}, **changed})


@dataclass(frozen=True)
class Seen:
    """What a method said of one sample or copy: its verdict, and per line its number or label."""

    verdict: Verdict | None = None
    answers: dict[Line, float | str] = field(default_factory=dict)
    scales: dict[Line, Scale] = field(default_factory=dict)

    @classmethod
    def of(cls, item: Item) -> Seen:
        """Of criteria that were written for the sample alone there is no line: a copy may have others."""
        written = {criterion.name for criterion in item.branches.values()}
        held: dict[Line, list[Score]] = {}
        for score in _last(item):
            if score.of == "output" and score.answer is not None and score.criterion not in written:
                held.setdefault((score.criterion, score.agent), []).append(score)
        answers = {line: _one(scores) for line, scores in held.items()}
        scales = {line: scores[0].scale for line, scores in held.items() if scores[0].scale is not None}
        if item.overall is not None and item.status == "ok":
            answers["overall", ""] = item.overall
        return cls(item.verdict if item.status == "ok" else None, answers, scales)


def _last(item: Item) -> list[Score]:
    """The answers; where there are none, the scores of the stage that was written last."""
    stage = item.scores[-1].stage if item.scores else ""
    return answers_of(item) or [score for score in item.scores if score.stage == stage]


def _one(scores: Sequence[Score]) -> float | str:
    """Of repeats the mean, of labels the first."""
    if scores[0].label is not None:
        return scores[0].label
    return fmean(score.value for score in scores if score.value is not None)
