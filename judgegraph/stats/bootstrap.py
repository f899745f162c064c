"""Resampling of items, of groups, of systems, or of groups and systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgegraph.stats.arrays import COEFFICIENTS, Codes, Coefficient, Constant, Floats, Level, Unit
from judgegraph.stats.coefficients import checked
from judgegraph.stats.draws import Draws
from judgegraph.stats.intervals import Interval, interval
from judgegraph.stats.levels import checked_level, codes_of
from judgegraph.stats.resampled_levels import Leveled, OverGroups, OverItems, OverSystems, OverWholeGroups

UNITS: tuple[Unit, ...] = ("item", "group", "system", "both")


@dataclass(frozen=True)
class Resampled:
    """Coefficients of resamples; the r-th value of each metric comes from one and the same draw.

    Attributes:
        values: (metrics, coefficients, resamples), nan where a resample has none.
        made: (metrics, coefficients), how many resamples were made: all, but for tau of many values by many items.
            What comes after them is nan and counts as undefined nowhere.
        units: that were drawn; of groups and systems the fewer.
    """

    values: Floats
    made: Codes
    units: int

    def interval(self, m: int, c: int, confidence: float = 0.95) -> Interval:
        """Of the m-th metric's c-th coefficient."""
        return interval(self.values[m, c, : self.made[m, c]], confidence, units=self.units)

    def difference(self, m1: int, m2: int, c: int, confidence: float = 0.95) -> Interval:
        """Of the m1-th metric's c-th coefficient less the m2-th's."""
        made = min(self.made[m1, c], self.made[m2, c])
        return interval(self.values[m1, c, :made] - self.values[m2, c, :made], confidence, units=self.units)


def bootstrap(
    human: Floats,
    metrics: Sequence[Floats],
    *,
    coefficients: Sequence[Coefficient] = COEFFICIENTS[:3],
    level: Level = "dataset",
    unit: Unit = "item",
    group: Codes | None = None,
    system: Codes | None = None,
    constant: Constant = "skip",
    resamples: int = 1000,
    seed: int = 0,
) -> Resampled:
    """Each metric's agreement with people in resamples of their items; all metrics are given the same resamples.

    A group or system that is drawn twice counts as two. Memory is bounded: it does not grow by resamples x items.

    An interval speaks of what was drawn: drawn groups alone leave the systems as they are, and say nothing of how
    other systems would fare (at level "system" that is most of the doubt). Drawn items take no heed of what goes
    together in a group, and are too sure where something does.

    Args:
        human, metrics: (n,) each.
        unit: what is drawn with replacement; "both" draws groups and systems, each on its own, and takes the items
            where they cross.

    Raises:
        ValueError: a nan, different lengths, an unknown word, or codes that level or unit need are missing.
    """
    human = checked("human", human)
    series = [checked("metric", metric, len(human)) for metric in metrics]
    checked_level(level, coefficients, [human, *series])
    draws = _draws(len(human), unit, group, system, resamples, seed)
    leveled = [_leveled(human, metric, coefficients, level, draws, group, system, constant) for metric in series]
    shape = (len(series), len(coefficients))
    made = np.array([[one.made(c, resamples) for c in coefficients] for one in leveled], dtype=np.intp).reshape(shape)
    values = np.full((*shape, resamples), np.nan)
    for drawn in replace(draws, width=max((one.width for one in leveled), default=None)):
        for m, one in enumerate(leveled):
            due = [c for c in range(len(coefficients)) if made[m, c] > drawn.resamples.start]
            values[m, due, drawn.resamples] = one(drawn, [coefficients[c] for c in due])
    values[np.arange(resamples) >= made[:, :, None]] = np.nan
    return Resampled(values, made, draws.units)


def resample(
    statistic: Callable[[Codes], Floats], n: int, *, units: Codes | None = None, resamples: int = 1000, seed: int = 0
) -> Floats:
    """Any statistic in resamples of items, or of units of items: (k, resamples).

    Args:
        statistic: indices of the drawn items, repeated as drawn -> k numbers, nan where undefined.
        units: which unit each of the n items belongs to; None: each is one.
    """
    code = None if units is None else codes_of("units", units, n)
    draws = Draws("item" if code is None else "group", n, resamples, seed, group=code)
    by_unit = np.arange(n) if code is None else np.argsort(code, kind="stable")
    found = [
        np.atleast_1d(statistic(np.repeat(by_unit, row[by_unit].astype(np.intp))))
        for drawn in draws
        for row in drawn.weights
    ]
    return np.array(found, dtype=np.float64).T


def _draws(n: int, unit: Unit, group: Codes | None, system: Codes | None, resamples: int, seed: int) -> Draws:
    if unit not in UNITS:
        raise ValueError(f"unit {unit!r}: expected one of {', '.join(UNITS)}")
    groups = codes_of("group", group, n) if unit in ("group", "both") else None
    systems = codes_of("system", system, n) if unit in ("system", "both") else None
    return Draws(unit, n, resamples, seed, group=groups, system=systems)


def _leveled(
    human: Floats,
    metric: Floats,
    names: Sequence[Coefficient],
    level: Level,
    draws: Draws,
    group: Codes | None,
    system: Codes | None,
    constant: Constant,
) -> Leveled:
    if level == "dataset":
        return OverItems(human, metric)
    if level == "system":
        return OverSystems(human, metric, codes_of("system", system, len(human)), draws)
    code = codes_of("group", group, len(human))
    if draws.unit == "group":
        return OverWholeGroups(human, metric, code, names, constant)
    return OverGroups(human, metric, code, constant)
