"""How far labels of drafts and finals agree with people: accuracy and kappa, and what lies between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from scipy.stats import binomtest

from judgegraph.meta.conventions import Conventions
from judgegraph.meta.gain import Gain, basis_of, codes
from judgegraph.meta.interval_notes import FEW
from judgegraph.meta.judgements import Answer
from judgegraph.meta.reviews import Pair
from judgegraph.stats.arrays import Codes, Floats, Unit
from judgegraph.stats.bootstrap import resample
from judgegraph.stats.intervals import interval
from judgegraph.stats.swaps import exact, patterns

STATISTICS = ("accuracy", "kappa")


def of_labels(
    criterion: str, pairs: Sequence[Pair], human: Sequence[Answer | None], conventions: Conventions
) -> list[Gain]:
    """Accuracy and Cohen's kappa, each with an interval and p; both draw and swap whole groups where there are some.

    Of single items the test of accuracy is exact (McNemar): it goes by the items that one of both has right.
    """
    kept = [
        (pair, said)
        for pair, said in zip(pairs, human, strict=True)
        if said is not None and (conventions.unreadable == "zero" or None not in (pair.draft, pair.final))
    ]
    found = [Gain(criterion, name, "", len(kept), len(kept)) for name in STATISTICS]
    if not kept:
        return found
    group = codes([pair.group for pair, _ in kept])
    tables = Tables([said for _, said in kept], [p.draft for p, _ in kept], [p.final for p, _ in kept], group)
    unit: Unit = "item" if group is None else "group"
    values = tables.values(np.ones(len(tables)))
    for gain, (before, after) in zip(found, values, strict=True):
        gain.units, gain.before, gain.after, gain.difference = len(tables), before, after, after - before
    _bound(found, tables, unit, basis_of(len(tables), unit, [pair for pair, _ in kept]), conventions)
    _test(found, tables, unit, conventions)
    return found


class Tables:
    """Counts of each unit (item or group), whose sums give accuracy and kappa; unread is a label nobody else gives.

    Attributes:
        human: (units, labels), how often people give each. sides: (2, units, labels + 1), how often drafts and finals
            give each, and how often they are right.
    """

    def __init__(
        self, human: Sequence[Answer], drafts: Sequence[Answer | None], finals: Sequence[Answer | None],
        unit: Codes | None,
    ) -> None:  # fmt: skip
        columns = (human, drafts, finals)
        place = {label: code for code, label in enumerate(dict.fromkeys(chain.from_iterable(columns)))}
        said, *given = (np.array([place[label] for label in column], dtype=np.intp) for column in columns)
        rows = np.arange(len(human)) if unit is None else unit
        size = int(rows.max()) + 1
        self.human, self.sides = np.zeros((size, len(place))), np.zeros((2, size, len(place) + 1))
        np.add.at(self.human, (rows, said), 1.0)
        for side, labels in zip(self.sides, given, strict=True):
            np.add.at(side, (rows, labels), 1.0)
            np.add.at(side[:, -1], rows, np.equal(labels, said).astype(np.float64))

    def __len__(self) -> int:
        return len(self.human)

    def values(self, times: Floats) -> list[tuple[float, float]]:
        """(draft's, final's) accuracy and kappa of units that stand there so many times."""
        accuracy, kappa = _agreement(times @ self.human, np.stack([times @ side for side in self.sides]))
        return [(float(one[0]), float(one[1])) for one in (accuracy, kappa)]

    def swapped(self, permutations: int, seed: int) -> tuple[Floats, int]:
        """Differences of accuracy and kappa where units' drafts and finals change places, and how many units can."""
        able = (self.sides[0] != self.sides[1]).any(axis=1)
        shared, apart = self.sides.sum(axis=(0, 1)) / 2, (self.sides[1] - self.sides[0])[able] / 2
        human, units, found = self.human.sum(axis=0), int(able.sum()), []
        for rows in patterns(units, permutations, seed, max(units, len(shared))):
            moved = rows @ apart
            both = _agreement(human, np.stack([shared - moved, shared + moved]))
            found.append(np.stack([one[1] - one[0] for one in both]))
        return np.concatenate(found, axis=1), units


def _agreement(human: Floats, sides: Floats) -> tuple[Floats, Floats]:
    """Accuracy and kappa of sums; kappa is nan where chance alone would agree entirely."""
    count = human.sum(axis=-1)
    right, chance = sides[..., -1] / count, (sides[..., :-1] @ human) / count**2
    with np.errstate(invalid="ignore", divide="ignore"):
        return right, np.where(chance < 1 - 1e-12, (right - chance) / (1 - chance), np.nan)


def _bound(
    found: Sequence[Gain], tables: Tables, unit: Unit, basis: tuple[object, ...] | None, conventions: Conventions
) -> None:
    if not conventions.resamples:
        return
    size = len(tables)

    def statistic(index: Codes) -> Floats:
        return np.array([b - a for a, b in tables.values(np.bincount(index, minlength=size).astype(np.float64))])

    drawn = resample(statistic, size, resamples=conventions.resamples, seed=conventions.seed)
    for gain, draws in zip(found, drawn, strict=True):
        gain.draws, gain.basis = draws, basis
        ends = interval(draws, conventions.confidence, units=size)
        gain.bound(ends, size, unit, changed=bool((tables.sides[0] != tables.sides[1]).any()))


def _test(found: Sequence[Gain], tables: Tables, unit: Unit, conventions: Conventions) -> None:
    drawn, units = tables.swapped(conventions.permutations, conventions.seed)
    for gain, differences in zip(found, drawn, strict=True):
        able = units
        if np.isnan(gain.difference):
            gain.add("undefined: people and the critic, or the draft, all say one label")
            continue
        if gain.statistic == "accuracy" and unit == "item":
            better, worse = (int((way * (tables.sides[1] - tables.sides[0])[:, -1] > 0).sum()) for way in (1, -1))
            able = better + worse
            gain.p = float(binomtest(better, able).pvalue) if able else 1.0
        else:
            large = int(np.sum(~(np.abs(differences) < abs(gain.difference) - 1e-12)))
            every = exact(units, conventions.permutations)
            gain.p = large / len(differences) if every else (large + 1) / (len(differences) + 1)
        if 0 < able < FEW:
            gain.add(f"{able} {unit}{'s' * (able > 1)} to swap: p cannot fall below {2 / 2**able:.3g}")
