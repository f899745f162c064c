"""Intervals of how far people agree with one another, and of how many resamples each is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from judgegraph.meta.answers import Answers, floats
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import Answer
from judgegraph.meta.label_draws import units_of
from judgegraph.meta.result import NONE, Ends
from judgegraph.meta.signatures import unit_of
from judgegraph.stats.arrays import Codes, Coefficient, Floats
from judgegraph.stats.bootstrap import bootstrap, resample
from judgegraph.stats.ceiling import hits, others
from judgegraph.stats.draws import Draws
from judgegraph.stats.intervals import interval
from judgegraph.stats.krippendorff import Metric, krippendorff_alpha
from judgegraph.stats.weighted import Weighted

RATINGS = 50_000_000  # that are counted anew, over all resamples
FEWEST = 199  # resamples that are made in any case


def of_numbers(answers: Answers, numbers: Floats, name: Coefficient, c: Conventions) -> tuple[Ends, int]:
    """Of the mean of the annotators' coefficients, each against the mean of the others; all are drawn alike.

    None where items lack an annotator and the level is not the dataset's.

    Args:
        numbers: (items, annotators), nan where one left an item out.
    """
    level, most = c.level_of(name), _most(numbers, c)
    if not c.resamples or len(numbers) < 2:
        return NONE, 0
    unit = unit_of(answers, c, level)
    group = answers.group if unit in ("group", "both") or level == "group" else None
    system = answers.system if unit in ("system", "both") or level == "system" else None
    if np.isnan(numbers).any():
        return (NONE, 0) if level != "dataset" else _with_gaps(numbers, name, Draws(
            unit, len(numbers), most, c.seed, group=group, system=system), c)  # fmt: skip
    each = [
        bootstrap(
            others(numbers, at), [numbers[:, at]], coefficients=[name], level=level, unit=unit, group=group,
            system=system, constant=c.constant, resamples=most, seed=c.seed,
        ) for at in range(numbers.shape[1])
    ]  # fmt: skip
    made = min(int(one.made[0, 0]) for one in each)
    return _ends(np.mean([one.values[0, 0, :made] for one in each], axis=0), each[0].units, c)


def _with_gaps(numbers: Floats, name: Coefficient, draws: Draws, c: Conventions) -> tuple[Ends, int]:
    """Over all items, of which each annotator is held against the others where he has a place."""
    means = [others(numbers, at) for at in range(numbers.shape[1])]
    known = [~np.isnan(mean + numbers[:, at]) for at, mean in enumerate(means)]
    pairs = [Weighted(means[at][there], numbers[there, at]) for at, there in enumerate(known)]
    made = min(pair.made(name, draws.resamples) for pair in pairs)
    found = []
    for drawn in draws:
        if drawn.resamples.start < made:
            weighted = zip(pairs, known, strict=True)
            each = [pair.coefficients(drawn.weights[:, there], [name])[0] for pair, there in weighted]
            found.append(np.mean(each, axis=0))
    return _ends(np.concatenate(found)[:made], draws.units, c)


def of_labels(answers: Answers, c: Conventions) -> tuple[Ends, int]:
    """Of how often an annotator says what the others say."""
    found = hits(answers.annotators)

    def statistic(items: Codes) -> Floats:
        drawn = found[items]
        known = ~np.isnan(drawn)
        counts = known.sum(axis=0)
        each = np.nansum(drawn, axis=0)[counts > 0] / counts[counts > 0]
        return np.array([each.mean() if len(each) else np.nan])

    return _drawn(statistic, answers, c, c.resamples)


def of_alpha(answers: Answers, kind: Metric, c: Conventions) -> tuple[Ends, int]:
    """Of Krippendorff's alpha."""
    table = _table(answers, kind)
    return _drawn(lambda items: np.array([krippendorff_alpha(table[:, items], kind)]), answers, c, _most(table, c))


def _most(ratings: Floats, c: Conventions) -> int:
    return min(c.resamples, max(FEWEST, RATINGS // max(1, ratings.size)))


def _table(answers: Answers, kind: Metric) -> Floats:
    """Annotators x items, labels by their place in the order."""
    raters: Sequence[Sequence[Answer | None]] = list(zip(*answers.annotators, strict=True))
    if kind == "interval":
        return np.array([floats(rater) for rater in raters])
    met = dict.fromkeys([*answers.order, *(label for rater in raters for label in rater if label is not None)])
    place = {label: float(at) for at, label in enumerate(met)}
    return np.array([[np.nan if label is None else place[label] for label in rater] for rater in raters])


def _drawn(statistic: Callable[[Codes], Floats], answers: Answers, c: Conventions, resamples: int) -> tuple[Ends, int]:
    n = len(answers)
    if not resamples or n < 2 or unit_of(answers, c, "dataset") == "both":
        return NONE, 0
    codes, count = units_of(answers, np.arange(n), c)
    return _ends(resample(statistic, n, units=codes, resamples=resamples, seed=c.seed)[0], count, c)


def _ends(values: Floats, units: int, c: Conventions) -> tuple[Ends, int]:
    if units < 2:
        return NONE, 0
    found = interval(values, c.confidence, units=units)
    return (found.low, found.high), len(values)
