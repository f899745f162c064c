"""Fusion-Eval's baselines of aggregation over a whole run: means of z-scores, as further metrics beside the others."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np

from judgegraph.agents.fusion import share_of
from judgegraph.embedded.families import stated_direction, stated_range
from judgegraph.errors import ConfigError, one_line
from judgegraph.graphs.fusion_baselines import Direct, Ranges, pair
from judgegraph.meta.answers import Answers, answers, at, floats
from judgegraph.meta.cells import Judgements, taken
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import of_run
from judgegraph.prompts.criteria import same_key
from judgegraph.registry.shipped import ASSISTANTS
from judgegraph.runs.folder import write_lines
from judgegraph.runs.run import Run
from judgegraph.stats.bootstrap import correlate
from judgegraph.stats.correlation import Floats
from judgegraph.tools.catalogue import assistant

# Values of a run's assistants as a mean counts them: from the worst to the best, whichever of them is the lower.


Ends: TypeAlias = tuple[float, float]  # worst and best; infinite where only the direction is known
_RANGES = re.compile(r"(?:[|/.]|^)ranges:")  # in a signature: somebody set them
_AGAIN = "run it into a folder (out=...), or give ranges={'%s': [WORST, BEST]}"


def turned(one: Judgements, ends: Mapping[str, Sequence[float]]) -> Judgements:
    """The same with metrics carried to 0 (worst) to 1 (best), as `Blend` does; one without ends stays as it is.

    Raises:
        ConfigError: ends that are no pair of different numbers.
    """
    known = {name: _pair(name, ends[name]) for name in one.metrics if name in ends}
    columns = {name: _turned(floats(one.metrics[name]).tolist(), by) for name, by in known.items()}
    return replace(one, metrics={**one.metrics, **columns}) if columns and one.kind == "number" else one


def ends_of(run: Run, ranges: Ranges | None = None) -> dict[str, Ends]:
    """Assistant -> (worst, best), as given, as set for the run's mean, or as it says itself.

    One that has no better end, or does not say which, is left out; of one whose range is open the ends are infinite.

    Raises:
        ConfigError: a run in memory keeps no such descriptions, and an assistant of it is not one of ours or had its
            range set; ranges of somebody else, or no pairs of different numbers.
    """
    names = list(dict.fromkeys(finding.assistant for item in run.items for finding in item.findings))
    given = {} if ranges is None else ranges
    if unknown := [str(name) for name in given if name not in names]:
        raise ConfigError(f"ranges: no assistant '{one_line(unknown[0], 80)}' in this run; here: {', '.join(names)}")
    found = {name: pair(name, given[name]) for name in names if name in given}
    by_run = _ends_in_run(run, [name for name in names if name not in found])
    return {name: found[name] if name in found else by_run[name] for name in names if name in found or name in by_run}


def _pair(name: str, ends: Sequence[float]) -> Ends:
    worst, best = ends if len(ends) == 2 else (math.nan, math.nan)
    return (worst, best) if worst == -best and math.isinf(best) else pair(name, ends)


def _turned(values: Iterable[float], ends: Ends) -> tuple[float | None, ...]:
    def one(value: float) -> float | None:
        if math.isnan(value):
            return None
        return math.copysign(1, ends[1]) * value if math.isinf(ends[1]) else share_of(value, ends)[0]

    return tuple(map(one, values))


def _ends_in_run(run: Run, names: Sequence[str]) -> dict[str, Ends]:
    """As the run keeps it; of a run in memory as ours say it now."""
    settings = run.manifest.get("configuration") or {}
    if settings:
        stored = {name: list(_stored_ends(settings, name)) for name in names}
        return {name: found[0] for name, found in stored.items() if found and len(set(found)) == 1}
    for name in names:
        if name not in ASSISTANTS or _RANGES.search(run.signature):
            raise ConfigError(
                f"which end of '{one_line(name, 80)}' is better is not kept of a run in memory: {_AGAIN % name}"
            )
    ours = {name: _described_ends(str(assistant(f"judgegraph:{name}").about)) for name in names}
    return {name: ends for name, ends in ours.items() if ends}


def _stored_ends(settings: Mapping[str, Any], name: str) -> Iterator[Ends]:
    """What the run's means were set to, else what models were told of it."""
    set_to = [v for k, v in settings.items() if k.endswith(".options.ranges") and settings.get(k[:-15]) == "Blend"]
    if found := [by[name] for by in set_to if name in by]:
        yield from (pair(name, one) for one in found)
        return
    descriptions = [v for k, v in settings.items() if k.endswith(".assistants") and isinstance(v, Mapping)]
    yield from (ends for by in descriptions if name in by and (ends := _described_ends(str(by[name]))))


def _described_ends(about: str) -> Ends | None:
    way, ends = stated_direction(about), stated_range(about) or (-math.inf, math.inf)
    return None if not way else ends if way > 0 else (ends[1], ends[0])


# How much each assistant counts for a criterion, by its agreement with people (Fusion-Eval's CorrW).


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


AVG, SELECTED, WEIGHTED = "AVG", "LLMSel", "CorrW"


def aggregates(
    judgements: Sequence[Judgements], conventions: Conventions, assistants: Sequence[str], *,
    alignment: Mapping[str, Sequence[str]] | None = None, direct: str | None = None, folds: int = 5,
    ranges: Mapping[str, Sequence[float]] | None = None,
) -> list[Judgements]:  # fmt: skip
    """The same judgements with "AVG(AE)", "LLMSel(AE)" and "CorrW(AE) cross-fitted" among their metrics.

    Source: Fusion-Eval (arXiv:2311.09204), tables 2 and 3. Each assistant's values are brought to mean 0 and standard
    deviation 1 over the items of the criterion, which needs no ranges but the whole run; an item's unread values are
    left out of its mean. A weight comes from items of other folds, so that no item is weighted by its own label. A
    metric that is the same everywhere says nothing and is left out.

    Args:
        assistants: metrics that are taken together. alignment: criterion -> those that a plan selected for it, for
            LLMSel; a criterion without one has no LLMSel.
        direct: a metric that joins each of the three, in rows of their own: "AVG(AE, NAME)".
        folds: for the weights, 2 or more.
        ranges: assistant -> (worst, best), by which its values are turned first; of one without, higher is better.

    Raises:
        ConfigError: no such metric, too few items for the folds, or a range that is none.
    """
    return [
        _with(one, turned(one, ranges or {}), conventions, assistants, alignment or {}, direct, folds)
        if one.kind == "number"
        else one
        for one in judgements
    ]


def aggregates_of(
    run: Run, judgements: Sequence[Judgements], conventions: Conventions, *, ranges: Ranges | None = None
) -> list[Judgements]:
    """`aggregates` of the assistants that a run consulted, with the alignment of its plan where it has one.

    Each is turned by its own range, or by what the run's mean was set to. One whose better end is not known is left
    out, as the method itself leaves it out.

    Args:
        ranges: assistant -> [worst, best], before those of the run.

    Raises:
        ConfigError: nobody was consulted, none has a better end, or as `aggregates` and `ends_of`.
    """
    names: dict[str, None] = {}
    alignment: Mapping[str, Sequence[str]] = {}
    for item in run.items:
        names |= dict.fromkeys(finding.assistant for finding in item.findings)
        alignment = alignment or (item.plan.alignment if item.plan else {})
    if not names:
        raise ConfigError("no assistant was consulted in this run: aggregates are of assistants, as fusion-eval asks")
    ends = ends_of(run, ranges)
    if not ends:
        raise ConfigError(f"no aggregates: none of {', '.join(names)} says which end is better; give ranges={{...}}")
    theirs = {one.criterion: next((v for k, v in alignment.items() if same_key(k) == same_key(one.criterion)), ())
              for one in judgements}  # fmt: skip
    known = [name for name in ends if all(name in one.metrics for one in judgements if one.kind == "number")]
    return aggregates(judgements, conventions, known, alignment=theirs, ranges=ends)


def _with(
    whole: Judgements, one: Judgements, conventions: Conventions, assistants: Sequence[str],
    alignment: Mapping[str, Sequence[str]], direct: str | None, folds: int,
) -> Judgements:  # fmt: skip
    """`whole` with the means of `one`, the same with its values turned."""
    wanted = [*assistants, *([direct] if direct else [])]
    if missing := [name for name in wanted if name not in one.metrics]:
        raise ConfigError(f"{one.criterion}: no metric '{missing[0]}'; there are: {', '.join(one.metrics)}")
    scaled = {name: _z(floats(one.metrics[name])) for name in wanted}
    added: dict[str, Floats] = {}
    for more in [(), (direct,)] if direct else [()]:
        of, names = f"(AE{''.join(f', {name}' for name in more)})", [*assistants, *more]
        added[f"{AVG}{of}"] = _mean(scaled, dict.fromkeys(names, 1.0))
        chosen = [name for name in alignment.get(one.criterion, ()) if name in assistants]
        if chosen:
            added[f"{SELECTED}{of}"] = _mean(scaled, dict.fromkeys([*chosen, *more], 1.0))
        weighted = np.full(len(one), np.nan)
        for places, weights in cross_fitted(one, conventions, names, folds):
            weighted[places] = _mean(scaled, weights)[places]
        added[f"{WEIGHTED}{of} cross-fitted"] = weighted
    columns = {name: tuple(None if math.isnan(v) else float(v) for v in values) for name, values in added.items()}
    statuses = {name: tuple("skipped" if v is None else "ok" for v in values) for name, values in columns.items()}
    return replace(whole, metrics={**whole.metrics, **columns}, statuses={**whole.statuses, **statuses})


def _z(values: Floats) -> Floats:
    """Mean 0, standard deviation 1 over what was read; nan throughout where that is the same everywhere."""
    read = values[~np.isnan(values)]
    if not len(read) or np.ptp(read) == 0:
        return np.full(len(values), np.nan)
    return np.asarray((values - read.mean()) / read.std())


def _mean(scaled: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """Per item the weighted mean of those that have a value, nan where nobody has."""
    table = np.array([scaled[name] for name in weights])
    by = np.array(list(weights.values()))[:, None] * ~np.isnan(table)
    total = by.sum(axis=0)
    summed = (np.nan_to_num(table) * by).sum(axis=0)
    return np.asarray(np.divide(summed, total, out=np.full(len(total), np.nan), where=total > 0))
