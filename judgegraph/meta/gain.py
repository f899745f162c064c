"""What lies between drafts and finals by one statistic, and the mean of it over criteria."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import numpy as np

from judgegraph.meta.interval_notes import of_units, settled_ends
from judgegraph.meta.reviews import Pair
from judgegraph.stats.arrays import Codes, Floats, Unit
from judgegraph.stats.intervals import Interval, interval


@dataclass
class Gain:
    """One statistic of one criterion, before and after the critic.

    Attributes:
        statistic: a coefficient's name, "accuracy" or "kappa". level: of a coefficient, "" of labels.
        n: items that count: judged by people, draft and final readable. units: items, groups or systems that counted.
        before, after: of drafts and of finals with people, nan where undefined. difference: after less before.
        unit: what was drawn for the interval. low, high: the difference's interval, both resampled together.
        p: two-sided, paired; p_corrected: over criteria.
        note: why there is no number, or how little one rests on.
        draws: the difference in each resample. basis: of what: equal ones come from the same draws.
    """

    criterion: str
    statistic: str
    level: str
    n: int
    units: int = 0
    before: float = math.nan
    after: float = math.nan
    difference: float = math.nan
    unit: str = ""
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_corrected: float = math.nan
    note: str = ""
    draws: Floats | None = field(default=None, repr=False)
    basis: tuple[Any, ...] | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        told = {name: value for name, value in vars(self).items() if name not in ("draws", "basis")}
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in told.items()}

    def bound(self, found: Interval, drawn: int, unit: Unit, *, changed: bool) -> None:
        """Take an interval from so many drawn units; `changed`: whether any final is another than its draft."""
        self.unit, ends = unit, (found.low, found.high)
        self.add(*of_units(drawn, unit))
        if changed and drawn > 1:  # where nothing did, no resample could have told otherwise
            ends, more = settled_ends(ends)
            self.add(*more)
        self.low, self.high = ends

    def add(self, *notes: str) -> None:
        """To what is to know."""
        self.note = "; ".join(note for note in (self.note, *notes) if note)


@dataclass(frozen=True)
class MeanGain:
    """Over the criteria that have a difference. low, high: its interval, nan where a criterion has none."""

    value: float
    low: float
    high: float

    @property
    def told(self) -> bool:
        """Whether it is a gain, and told from nothing."""
        return self.low > 0

    @property
    def note(self) -> str:
        """What its interval says of 0 where it is no gain."""
        if self.told:
            return ""
        return "the critic makes it worse" if self.high < 0 else "not told from 0"

    def to_dict(self) -> dict[str, float | str | None]:
        """As JSON values; what is undefined is null."""
        ends = {name: None if math.isnan(value) else value for name, value in vars(self).items()}
        return {**ends, "note": self.note}


def mean_gain(gains: Sequence[Gain], confidence: float) -> MeanGain | None:
    """Of one statistic; None where no criterion has a difference.

    Criteria that rest on the same samples were drawn together, and so is their mean. Of others it is not known how they
    go together: the mean of their intervals' ends is wide enough even where they do so entirely.
    """
    known = [gain for gain in gains if not math.isnan(gain.difference)]
    if not known:
        return None
    value = fmean(gain.difference for gain in known)
    if any(math.isnan(gain.low) for gain in known):
        return MeanGain(value, math.nan, math.nan)
    draws, first = [gain.draws for gain in known if gain.draws is not None], known[0]
    alike = first.basis is not None and all(gain.basis == first.basis for gain in known)
    if alike and len(draws) == len(known) and len({len(one) for one in draws}) == 1:
        drawn = first.basis[0] if first.basis else 0
        found = interval(np.mean(draws, axis=0), confidence, units=drawn)
        return MeanGain(value, found.low, found.high)
    return MeanGain(value, fmean(gain.low for gain in known), fmean(gain.high for gain in known))


def basis_of(drawn: int, unit: Unit, pairs: Sequence[Pair]) -> tuple[Any, ...] | None:
    """What draws depend on; None where it is not known which samples they are."""
    if any(not pair.sample for pair in pairs):
        return None
    return drawn, unit, tuple(pair.sample for pair in pairs)


def codes(names: Sequence[str | None]) -> Codes | None:
    """0, 1, ... per name; None where one is missing."""
    if not names or any(name is None for name in names):
        return None
    return np.unique(np.array(names, dtype=str), return_inverse=True)[1].astype(np.intp)
