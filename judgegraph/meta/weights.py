"""How much each assistant counts for a criterion, by its agreement with people (Fusion-Eval's CorrW)."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from judgegraph.errors import ConfigError
from judgegraph.graphs.fusion_baselines import Direct, Ranges
from judgegraph.meta.answers import Answers, answers, at, floats
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.duplicates import taken
from judgegraph.meta.judgements import Judgements
from judgegraph.meta.of_run import of_run
from judgegraph.meta.turned import ends_of, turned
from judgegraph.runtime.run import Run
from judgegraph.runtime.whole_file import write_lines
from judgegraph.stats.levels import correlate

DIRECT = " (direct)"  # behind the name of a metric that is a direct judge's score


def weights_of(
    judgements: Sequence[Judgements], conventions: Conventions, metrics: Sequence[str] | None = None,
    ranges: Mapping[str, Sequence[float]] | None = None,
) -> dict[str, dict[str, float]]:  # fmt: skip
    """Criterion -> metric -> weight, 0 to 1, for `fusion_eval(fuse="weighted", weights=...)`.

    A weight is the metric's coefficient with people, the first of the conventions' at its level, over the items that
    it could read; one below 0, or undefined, is 0. They are brought to a sum of 1, or are all 0 where nobody agreed.
    Criteria without numbers of people have none. Weights that are used on the items they were fitted on flatter: fit
    them on other items, or ask for `cross_fitted` ones.

    Args:
        metrics: whose; None: all. ranges: metric -> (worst, best): its values are turned by them, as the method turns
            them; of one without, higher is better.

    Raises:
        ConfigError: no such metric, or a range that is none.
    """
    numbers = [turned(one, ranges or {}) for one in judgements if one.kind == "number"]
    return {one.criterion: _weights(one, conventions, metrics) for one in numbers}


def write_weights(
    run: Run, conventions: Conventions, path: str | os.PathLike[str], *, group: str | None = None,
    system: str | None = None, ranges: Ranges | None = None,
) -> dict[str, dict[str, float]]:  # fmt: skip
    """Weights of a run's assistants, and of a direct judge, as the JSON file that the method reads.

    Values are turned as the method turns them, by ranges that the run's mean was set to, or that an assistant says
    itself. One whose better end is not known has no weight: the method cannot count it either. A direct judge is
    called "llm-score" or "g-eval", whatever the graph's name was; two of these in one run keep their own names.

    Args:
        group, system: as of `of_run`. ranges: assistant -> [worst, best], before those of the run.

    Raises:
        Unjudged: people judged nothing that was scored. ConfigError: nobody was consulted, none has a better end, a
            run in memory does not say it (see `ends_of`), or nothing can be written.
    """
    names = {finding.assistant for item in run.items for finding in item.findings}
    if not names:
        raise ConfigError("no assistant was consulted in this run: weights are of assistants, as fusion-eval asks them")
    ends = ends_of(run, ranges)
    judged = of_run(run, group=group, system=system, stages=("direct",), assistants=True)
    direct = _keys({metric for one in judged for metric in one.metrics if metric.endswith(DIRECT)})
    if not ends and not direct:
        raise ConfigError(
            f"no weights: none of {', '.join(sorted(names))} says which end is better; give ranges={{...}}"
        )
    found: dict[str, dict[str, float]] = {}
    for one in judged:
        counted = [metric for metric in one.metrics if metric in ends or metric in direct]
        for criterion, by in weights_of([one], conventions, counted, ends).items():
            found[criterion] = {direct.get(metric, metric): weight for metric, weight in by.items()}
    write_lines(Path(path), [json.dumps(found, ensure_ascii=False, indent=1)])
    return found


def _keys(metrics: set[str]) -> dict[str, str]:
    """Metric of a direct judge -> what weights call it: "llm-score" of "x-llm-score (direct)"."""
    own = {metric: metric.removesuffix(DIRECT) for metric in metrics}
    plain = {m: next((k for k in get_args(Direct) if f"-{name}".endswith(f"-{k}")), name) for m, name in own.items()}
    return {m: key if list(plain.values()).count(key) == 1 else own[m] for m, key in plain.items()}


def cross_fitted(
    judgements: Judgements, conventions: Conventions, metrics: Sequence[str], folds: int = 5
) -> Iterator[tuple[list[int], dict[str, float]]]:
    """(places of items, metric -> weight fitted on all the others), each item in one of them.

    What belongs together stays together: a group's items are in one fold, without groups an id's. The conventions'
    seed shuffles them.

    Raises:
        ConfigError: fewer than two folds, or fewer than two groups or ids.
    """
    units = judgements.groups or judgements.ids
    names = sorted(set(units))
    if folds < 2 or len(names) < 2:
        raise ConfigError(
            f"{judgements.criterion}: weights from other items take 2 folds and 2 groups or items at least; "
            f"got {folds} and {len(names)}"
        )
    order = np.random.default_rng(conventions.seed).permutation(len(names))
    fold_of = {names[place]: rank % min(folds, len(names)) for rank, place in enumerate(order)}
    for fold in sorted(set(fold_of.values())):
        inside = [place for place, unit in enumerate(units) if fold_of[unit] == fold]
        others = [place for place, unit in enumerate(units) if fold_of[unit] != fold]
        yield inside, _weights(taken(judgements, others), conventions, metrics)


def _weights(judgements: Judgements, conventions: Conventions, metrics: Sequence[str] | None) -> dict[str, float]:
    known = answers(judgements, conventions)
    names = list(known.metrics) if metrics is None else metrics
    agreed = {name: max(0.0, _agreement(known, conventions, name)) for name in names}
    total = math.fsum(agreed.values())
    return {name: value / total if total else 0.0 for name, value in agreed.items()}


def _agreement(known: Answers, conventions: Conventions, name: str) -> float:
    """The coefficient, 0 where it is undefined."""
    if name not in known.metrics:
        raise ConfigError(f"{known.criterion}: no metric '{name}'; there are: {', '.join(known.metrics)}")
    human, values = floats(known.human), floats(known.metrics[name])
    read = ~np.isnan(values)
    coefficient = conventions.coefficients[0]
    found = correlate(
        human[read], values[read], coefficient=coefficient, level=conventions.level_of(coefficient),
        group=at(known.group, read), system=at(known.system, read), constant=conventions.constant,
    )  # fmt: skip
    return 0.0 if math.isnan(found.value) else found.value
