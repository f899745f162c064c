"""Fusion-Eval's baselines of aggregation over a whole run: means of z-scores, as further metrics beside the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgegraph.errors import ConfigError
from judgegraph.graphs.fusion_baselines import Ranges
from judgegraph.meta.answers import floats
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import Judgements
from judgegraph.meta.turned import ends_of, turned
from judgegraph.meta.weights import cross_fitted
from judgegraph.prompts.criteria_file import same_key
from judgegraph.runtime.run import Run
from judgegraph.stats.arrays import Floats

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
