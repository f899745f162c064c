"""How far drafts and finals agree with people, and whether what lies between them is more than chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest

from judgegraph.meta.annotators import people
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import Answer, Judgements, Kind
from judgegraph.meta.reviews import Pair
from judgegraph.stats.arrays import Codes, Coefficient, Floats, Level, Unit
from judgegraph.stats.bootstrap import bootstrap, resample
from judgegraph.stats.intervals import Interval, interval
from judgegraph.stats.labels import accuracy, cohen_kappa
from judgegraph.stats.levels import correlate
from judgegraph.stats.paired import corrected, permutation_test


@dataclass
class Gain:
    """One statistic of one criterion, before and after the critic.

    Attributes:
        statistic: a coefficient's name, "accuracy" or "kappa". level: of a coefficient, "" of labels.
        n: items that count: judged by people, draft and final readable. units: items, groups or systems that counted.
        before, after: of drafts and of finals with people, nan where undefined. difference: after less before.
        low, high: the difference's interval, both resampled together. p: two-sided, paired; p_corrected: over criteria.
        note: why there is no number.
    """

    criterion: str
    statistic: str
    level: str
    n: int
    units: int = 0
    before: float = math.nan
    after: float = math.nan
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_corrected: float = math.nan
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in vars(self).items()}


def gains(criterion: str, pairs: Sequence[Pair], conventions: Conventions) -> list[Gain]:
    """Before and after, one for each statistic; [] where people judged nothing."""
    if not pairs:
        return []
    if any(isinstance(answer, str) for pair in pairs for answer in (*pair.human, pair.draft, pair.final)):
        return _of_labels(criterion, pairs, conventions)
    counted = _read(pairs, conventions)
    return [_of_numbers(criterion, counted, name, conventions) for name in conventions.coefficients]


def correct(found: Sequence[Gain], conventions: Conventions) -> None:
    """Correct p values over the criteria, each statistic by itself."""
    for statistic in dict.fromkeys(gain.statistic for gain in found):
        mine = [gain for gain in found if gain.statistic == statistic and not math.isnan(gain.p)]
        for gain, p in zip(mine, corrected([gain.p for gain in mine], conventions.correction), strict=True):
            gain.p_corrected = float(p)


def _read(pairs: Sequence[Pair], conventions: Conventions) -> list[tuple[Pair, float, float, float]]:
    """Those that count, with people's number, the draft's and the final's."""
    lost = 0.0 if conventions.unreadable == "zero" else None
    found = []
    for pair, human in zip(pairs, _people(pairs, "number", conventions), strict=True):
        draft, final = (lost if answer is None else answer for answer in (pair.draft, pair.final))
        if isinstance(human, int | float) and draft is not None and final is not None:
            found.append((pair, float(human), float(draft), float(final)))
    return found


def _of_numbers(
    criterion: str, counted: Sequence[tuple[Pair, float, float, float]], name: Coefficient, conventions: Conventions
) -> Gain:
    level = conventions.level_of(name)
    gain = Gain(criterion, name, level, len(counted))
    group, system = (_codes([getattr(pair, place) for pair, *_ in counted]) for place in ("group", "system"))
    if (level == "group" and group is None) or (level == "system" and system is None):
        gain.note = f"level {level} needs a {level} of every sample, meta.{level}"
        return gain
    human, draft, final = (np.array([row[i] for row in counted], dtype=np.float64) for i in (1, 2, 3))
    about: dict[str, Any] = {"level": level, "group": group, "system": system, "constant": conventions.constant}
    before, after = (correlate(human, side, coefficient=name, **about) for side in (draft, final))
    gain.units, gain.before, gain.after = before.units, before.value, after.value
    gain.difference = after.value - before.value
    if math.isnan(gain.difference):
        gain.note = "undefined: a side is constant, or there are too few items"
        return gain
    drawn = bootstrap(
        human, [draft, final], coefficients=(name,), unit=_unit(conventions, level, group, system),
        resamples=conventions.resamples, seed=conventions.seed, **about,
    )  # fmt: skip
    _bound(gain, drawn.difference(1, 0, 0, conventions.confidence))
    if (draft == final).all():
        gain.p = 1.0  # whatever is exchanged, nothing changes
        return gain
    gain.p = permutation_test(
        human, final, draft, coefficient=name, permutations=conventions.permutations, seed=conventions.seed, **about
    ).p
    return gain


def _unit(conventions: Conventions, level: Level, group: Codes | None, system: Codes | None) -> Unit:
    """What is drawn; a choice that the run's samples cannot follow is followed as far as they can."""
    wanted: Unit = conventions.unit or ("both" if level == "system" else "group")
    if wanted == "both":
        wanted = "both" if group is not None and system is not None else "group" if system is None else "system"
    missing = (wanted == "group" and group is None) or (wanted == "system" and system is None)
    return "item" if missing else wanted


def _of_labels(criterion: str, pairs: Sequence[Pair], conventions: Conventions) -> list[Gain]:
    """Accuracy and Cohen's kappa; of accuracy the exact test on the items that one of both has right (McNemar)."""
    human = _people(pairs, "label", conventions)
    kept = [
        (h, p.draft, p.final, p.group)
        for h, p in zip(human, pairs, strict=True)
        if h is not None and (conventions.unreadable == "zero" or None not in (p.draft, p.final))
    ]
    said, drafts, finals = [row[0] for row in kept], [row[1] for row in kept], [row[2] for row in kept]
    right = np.array([[answer == h for answer in (draft, final)] for h, draft, final, _ in kept], dtype=float)
    found = []
    statistics: Mapping[str, Callable[[Any, Any], float]] = {"accuracy": accuracy, "kappa": cohen_kappa}
    for name, statistic in statistics.items():
        before, after = statistic(said, drafts), statistic(said, finals)
        found.append(Gain(criterion, name, "", len(kept), len(kept), before, after, after - before))
    if kept:
        units = _codes([row[3] for row in kept])
        drawn = resample(
            lambda index: np.array([_difference(right[index])]), len(kept), units=units,
            resamples=conventions.resamples, seed=conventions.seed,
        )  # fmt: skip
        count = len(kept) if units is None else len(np.unique(units))
        _bound(found[0], interval(drawn[0], conventions.confidence, units=count))
        better, worse = (int((right[:, i] > right[:, 1 - i]).sum()) for i in (1, 0))
        found[0].p = float(binomtest(better, better + worse).pvalue) if better + worse else 1.0
    return found


def _difference(right: Floats) -> float:
    return float(right[:, 1].mean() - right[:, 0].mean())


def _bound(gain: Gain, found: Interval) -> None:
    gain.low, gain.high = found.low, found.high


def _people(pairs: Sequence[Pair], kind: Kind, conventions: Conventions) -> list[Answer | None]:
    """People's answer to each, by the conventions' rule for several annotators."""
    ids = tuple(map(str, range(len(pairs))))
    return people(Judgements("", kind, ids, tuple(pair.human for pair in pairs), {}), conventions)


def _codes(names: Sequence[str | None]) -> Codes | None:
    """0, 1, ... per name; None where one is missing."""
    if not names or any(name is None for name in names):
        return None
    return np.unique(np.array(names, dtype=str), return_inverse=True)[1].astype(np.intp)
