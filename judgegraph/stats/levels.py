"""Agreement over all items, as the mean over groups, or over the systems' means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgegraph.stats.arrays import COEFFICIENTS, Codes, Coefficient, Constant, Floats, Level
from judgegraph.stats.coefficients import checked
from judgegraph.stats.coefficients import coefficient as plain
from judgegraph.stats.rows import of_groups

LEVELS: tuple[Level, ...] = ("dataset", "group", "system")


@dataclass(frozen=True)
class Estimate:
    """A coefficient at a level.

    Attributes:
        value: -1 to 1, nan where it is undefined.
        n: items. units: what counted: items, groups or systems, by level.
        skipped: groups without a coefficient (constant or single): left out, or counted as 0.
    """

    value: float
    n: int
    units: int
    skipped: int


def codes_of(name: str, codes: Codes | None, n: int) -> Codes:
    """0, 1, ... without gaps.

    Raises:
        ValueError: they are needed and missing, or of another length.
    """
    if codes is None:
        raise ValueError(f"{name}: this level or unit needs to know the {name} of each item")
    if len(codes) != n:
        raise ValueError(f"{name}: expected {n} codes, got {len(codes)}")
    return np.unique(np.asarray(codes), return_inverse=True)[1].astype(np.intp)


def settled(means: Floats, largest: float | None = None) -> Floats:
    """Means without what floating point left of them, so that equal ones are equal however they were summed.

    Args:
        largest: size of the largest value that went into a mean; None: of the means.
    """
    if largest is None:
        largest = float(np.abs(means[np.isfinite(means)]).max(initial=0.0))
    if not largest:
        return means
    unit = 10.0 ** np.floor(np.log10(largest))
    return np.asarray(np.round(means / unit, 12) * unit)


def system_means(values: Floats, system: Codes) -> Floats:
    """The mean of each system."""
    return settled(np.bincount(system, values) / np.bincount(system), float(np.abs(values).max(initial=0.0)))


def checked_level(level: Level, names: Sequence[Coefficient], series: Sequence[Floats]) -> None:
    """Raises ValueError: an unknown level or coefficient, or means asked of infinite values."""
    if level not in LEVELS:
        raise ValueError(f"level {level!r}: expected one of {', '.join(LEVELS)}")
    if unknown := [name for name in names if name not in COEFFICIENTS]:
        raise ValueError(f"coefficient {unknown[0]!r}: expected one of {', '.join(COEFFICIENTS)}")
    if level == "system" and not all(np.isfinite(one).all() for one in series):
        raise ValueError("level 'system': an infinite value has no place in a mean; leave such items out first")


def correlate(
    human: Floats,
    metric: Floats,
    *,
    coefficient: Coefficient,
    level: Level = "dataset",
    group: Codes | None = None,
    system: Codes | None = None,
    constant: Constant = "skip",
) -> Estimate:
    """How a metric agrees with people at a level; the value is nan where nothing counted.

    Raises:
        ValueError: a nan, different lengths, an unknown level, or codes that the level needs are missing.
    """
    human = checked("human", human)
    metric = checked("metric", metric, len(human))
    checked_level(level, [coefficient], [human, metric])
    n = len(human)
    if level == "dataset":
        return Estimate(plain(coefficient, human, metric), n, n, 0)
    if level == "system":
        code = codes_of("system", system, n)
        x, y = system_means(human, code), system_means(metric, code)
        return Estimate(plain(coefficient, x, y), n, len(x), 0)
    each = of_groups(human, metric, codes_of("group", group, n), [coefficient])[0]
    undefined = np.isnan(each)
    counted = np.where(undefined, 0.0, each) if constant == "zero" else each[~undefined]
    return Estimate(float(counted.mean()) if len(counted) else math.nan, n, len(counted), int(undefined.sum()))
