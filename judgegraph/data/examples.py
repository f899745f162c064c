"""Examples of how a scale is used, drawn from samples that people judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from statistics import fmean

from judgegraph.errors import ConfigError
from judgegraph.prompts.criteria import CriteriaLike, CriteriaSet, criteria_set, same_key
from judgegraph.types import EXEMPLAR_CHARS, MOST_EXEMPLARS, Criterion, Exemplar, Sample, text_of


def with_examples(criteria: CriteriaLike, samples: Iterable[Sample], *, count: int = 3, seed: int = 0) -> CriteriaSet:
    """Criteria with examples of their own, drawn from samples that people judged by them.

    Those of a criterion are spread over the values that people gave, and no text comes twice. A judge is never shown an
    example whose text is the one it judges, so the same samples may be judged by what comes of it.

    Args:
        criteria: a set, by its name or file, or criteria. samples: with `human`; those without are passed over.
        count: examples for each criterion, 1 to 8. seed: of the draw.

    Raises:
        ConfigError: a count out of range, or no sample has a judgement by any of the criteria. CriteriaError: no such
            criteria.
    """
    if not 1 <= count <= MOST_EXEMPLARS:
        raise ConfigError(f"with_examples: count is 1 to {MOST_EXEMPLARS}, got {count}")
    chosen = criteria_set(criteria)
    known = [sample for sample in samples if sample.human and 0 < len(text_of(sample.output).strip()) <= EXEMPLAR_CHARS]
    made = tuple(_drawn(one, known, count, Random(f"{seed}/{one.name}")) for one in chosen.criteria)
    if not any(one.examples for one in made):
        names = ", ".join(one.name for one in chosen.criteria)
        raise ConfigError(f"with_examples: no sample has a judgement of people by {names}, on its scale")
    return chosen.model_copy(update={"criteria": made})


def _drawn(criterion: Criterion, samples: Sequence[Sample], count: int, draw: Random) -> Criterion:
    by_score: dict[float | str, dict[str, None]] = {}
    for sample in samples:
        score = _score(criterion, sample)
        if score is not None:
            by_score.setdefault(score, {})[text_of(sample.output)] = None
    scores = sorted(by_score, key=lambda score: (isinstance(score, str), score))
    if len(scores) > count:  # both ends, and what lies evenly between them
        scores = [scores[round(at * (len(scores) - 1) / max(1, count - 1))] for at in range(count)]
    left = {score: draw.sample([*by_score[score]], len(by_score[score])) for score in dict.fromkeys(scores)}
    found: dict[str, float | str] = {}
    while len(found) < count and any(left.values()):
        for score, texts in left.items():
            text = texts.pop() if texts and len(found) < count else None
            if text is not None:
                found.setdefault(text, score)
    examples = tuple(Exemplar(output=text, score=score) for text, score in found.items())
    return criterion.model_copy(update={"examples": examples}) if examples else criterion


def _score(criterion: Criterion, sample: Sample) -> float | str | None:
    """What people gave: of several numbers the mean, of several labels the one that all gave; None off the scale."""
    given = next((value for name, value in sample.human.items() if same_key(name) == same_key(criterion.name)), None)
    values = given if isinstance(given, list) else [] if given is None else [given]
    try:
        if criterion.scale.labels:
            labels = {criterion.scale.check_label(value) for value in values}
            return labels.pop() if len(labels) == 1 else None
        return criterion.scale.check(fmean(float(value) for value in values)) if values else None
    except (ValueError, TypeError):
        return None
