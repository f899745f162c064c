"""The human ceiling: how far one annotator agrees with the others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgegraph.stats.correlation import Codes, Coefficient, Constant, Floats, Level
from judgegraph.stats.resampling import correlate, settled


@dataclass(frozen=True)
class Ceiling:
    """Agreement of annotators with one another.

    Attributes:
        value: mean over annotators, nan where none could be compared. each: annotator by annotator, nan where not.
        n: items that two or more annotated.
    """

    value: float
    each: tuple[float, ...]
    n: int


def leave_one_out(
    annotators: Floats,
    *,
    coefficient: Coefficient = "pearson",
    level: Level = "dataset",
    group: Codes | None = None,
    system: Codes | None = None,
    constant: Constant = "skip",
) -> Ceiling:
    """Each annotator against the mean of the others, over the items that both have.

    Args:
        annotators: (items, annotators), nan where one left an item out.
        coefficient, level, group, system, constant: as of `levels.correlate`.
    """
    each = []
    for at in range(annotators.shape[1]):
        own, mean = annotators[:, at], others(annotators, at)
        known = ~np.isnan(own) & ~np.isnan(mean)
        each.append(
            correlate(
                mean[known], own[known], coefficient=coefficient, level=level,
                group=None if group is None else group[known],
                system=None if system is None else system[known], constant=constant,
            ).value
        )  # fmt: skip
    return _ceiling(each, int(((~np.isnan(annotators)).sum(axis=1) >= 2).sum()))


def others(annotators: Floats, at: int) -> Floats:
    """The mean of all annotators but one, nan where none of them has the item; equal means are equal."""
    rest = np.delete(annotators, at, axis=1)
    known = ~np.isnan(rest)
    count = known.sum(axis=1)
    means = np.where(known, rest, 0.0).sum(axis=1) / np.maximum(count, 1)
    means = settled(means, float(np.abs(rest[known]).max(initial=0.0))) if rest.shape[1] > 1 else means
    return np.where(count > 0, means, np.nan)


def leave_one_out_labels(annotators: Sequence[Sequence[float | str | None]]) -> Ceiling:
    """How often each annotator says what the majority of the others says.

    Where k labels of the others are equally frequent, an annotator who gave one of them counts 1/k: what he could
    expect of a majority drawn by lot.

    Args:
        annotators: items x annotators, None where one left an item out.
    """
    found = hits(annotators)
    each = [float(column.mean()) if len(column) else math.nan for column in (c[~np.isnan(c)] for c in found.T)]
    return _ceiling(each, sum(sum(label is not None for label in row) >= 2 for row in annotators))


def hits(annotators: Sequence[Sequence[float | str | None]]) -> Floats:
    """(items, annotators): whether he says what the majority of the others says, nan where nothing can be said."""
    found = [[_hit(row[at], [*row[:at], *row[at + 1 :]]) for at in range(len(row))] for row in annotators]
    return np.array(found, dtype=np.float64).reshape(len(annotators), len(annotators[0]) if annotators else 0)


def _hit(own: float | str | None, others: Sequence[float | str | None]) -> float:
    votes = Counter(label for label in others if label is not None)
    if own is None or not votes:
        return math.nan
    most = max(votes.values())
    return (votes[own] == most) / sum(count == most for count in votes.values())


def _ceiling(each: Sequence[float], n: int) -> Ceiling:
    known = [value for value in each if not math.isnan(value)]
    return Ceiling(sum(known) / len(known) if known else math.nan, tuple(each), n)
