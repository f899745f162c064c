"""Values of a run's assistants as a mean counts them: from the worst to the best, whichever of them is the lower."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from judgegraph.agents.blend import share_of
from judgegraph.errors import ConfigError, one_line
from judgegraph.graphs.fusion_baselines import Ranges, pair
from judgegraph.meta.answers import floats
from judgegraph.meta.judgements import Judgements
from judgegraph.models.embedded.directions import stated_direction, stated_range
from judgegraph.runtime.run import Run
from judgegraph.tools.catalogue import ASSISTANTS, assistant

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
    told = _told(run, [name for name in names if name not in found])
    return {name: found[name] if name in found else told[name] for name in names if name in found or name in told}


def _pair(name: str, ends: Sequence[float]) -> Ends:
    worst, best = ends if len(ends) == 2 else (math.nan, math.nan)
    return (worst, best) if worst == -best and math.isinf(best) else pair(name, ends)


def _turned(values: Iterable[float], ends: Ends) -> tuple[float | None, ...]:
    def one(value: float) -> float | None:
        if math.isnan(value):
            return None
        return math.copysign(1, ends[1]) * value if math.isinf(ends[1]) else share_of(value, ends)[0]

    return tuple(map(one, values))


def _told(run: Run, names: Sequence[str]) -> dict[str, Ends]:
    """As the run keeps it; of a run in memory as ours say it now."""
    settings = run.manifest.get("configuration") or {}
    if settings:
        said = {name: list(_kept(settings, name)) for name in names}
        return {name: found[0] for name, found in said.items() if found and len(set(found)) == 1}
    for name in names:
        if name not in ASSISTANTS or _RANGES.search(run.signature):
            raise ConfigError(
                f"which end of '{one_line(name, 80)}' is better is not kept of a run in memory: {_AGAIN % name}"
            )
    ours = {name: _said(str(assistant(f"judgegraph:{name}").about)) for name in names}
    return {name: ends for name, ends in ours.items() if ends}


def _kept(settings: Mapping[str, Any], name: str) -> Iterator[Ends]:
    """What the run's means were set to, else what models were told of it."""
    set_to = [v for k, v in settings.items() if k.endswith(".options.ranges") and settings.get(k[:-15]) == "Blend"]
    if found := [by[name] for by in set_to if name in by]:
        yield from (pair(name, one) for one in found)
        return
    told = [v for k, v in settings.items() if k.endswith(".assistants") and isinstance(v, Mapping)]
    yield from (ends for by in told if name in by and (ends := _said(str(by[name]))))


def _said(about: str) -> Ends | None:
    way, ends = stated_direction(about), stated_range(about) or (-math.inf, math.inf)
    return None if not way else ends if way > 0 else (ends[1], ends[0])
