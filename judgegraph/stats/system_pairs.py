"""Are systems ranked as people rank them, pair by pair?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.levels import settled

Rule: TypeAlias = Literal["wins", "mean"]
Close: TypeAlias = Literal["adjacent"] | float | Collection[tuple[int, int]]


@dataclass(frozen=True)
class PairsRanked:
    """How many pairs of systems a metric ranks as people do; a draw is right where people see a draw too.

    Attributes:
        right, pairs: of all pairs that have a document in common. close_right, close_pairs: of those that are close.
    """

    right: int
    pairs: int
    close_right: int
    close_pairs: int


def ranked_pairs(
    human: Floats, metric: Floats, group: Codes, system: Codes, *, rule: Rule = "wins", close: Close = "adjacent"
) -> PairsRanked:
    """Ranks every pair of systems by people and by the metric, over the documents that both have.

    Args:
        human, metric: (items,), finite. group: the document of each item. system: its system.
        rule: "wins": a system wins a document with the higher score, ties count half to each; it is ahead with more
            than half of the documents. "mean": it is ahead with the higher mean.
        close: which pairs are counted once more: "adjacent" in people's order of the systems' means; a share, 0.5 to
            1: pairs of which people let neither win more of the documents; or the pairs, as codes of systems. (Shen et
            al. 2023 take systems adjacent by the mean of all four aspects, whatever the aspect that is judged.)

    Raises:
        ValueError: a system has two items of one document, or columns are of different lengths.
    """
    if len({len(column) for column in (human, metric, group, system)}) != 1:
        raise ValueError("human, metric, group and system must be of one length")
    codes, column = np.unique(system, return_inverse=True)
    row = np.unique(group, return_inverse=True)[1]
    if len(np.unique(row * len(codes) + column)) < len(row):
        raise ValueError("a system has two items of one document")
    people, said = (_table(side, row, column) for side in (human, metric))
    first, second = np.triu_indices(len(codes), 1)
    shared = (~np.isnan(people[:, first] + people[:, second])).any(axis=0)
    first, second = first[shared], second[shared]
    right = _ahead(people, first, second, rule) == _ahead(said, first, second, rule)
    near = _near(people, codes, first, second, close)
    return PairsRanked(int(right.sum()), len(right), int((right & near).sum()), int(near.sum()))


def _table(values: Floats, row: Codes, column: Codes) -> Floats:
    """Documents x systems, nan where a system lacks one."""
    table = np.full((int(row.max(initial=-1)) + 1, int(column.max(initial=-1)) + 1), np.nan)
    table[row, column] = settled(values)
    return table


def _ahead(table: Floats, first: Codes, second: Codes, rule: Rule) -> Floats:
    """Of each pair 1 where the first is ahead, -1 where the second is, 0 at a draw."""
    difference = table[:, first] - table[:, second]
    if rule == "wins":
        return np.asarray(np.sign(np.nansum(np.sign(difference), axis=0)))
    known = ~np.isnan(difference)
    means = [settled(np.where(known, table[:, side], 0).sum(axis=0) / known.sum(axis=0)) for side in (first, second)]
    return np.asarray(np.sign(means[0] - means[1]))


def _near(people: Floats, codes: Codes, first: Codes, second: Codes, close: Close) -> NDArray[np.bool_]:
    """Which pairs are close."""
    if close == "adjacent":
        place = np.argsort(np.argsort(-np.nanmean(people, axis=0), kind="stable"))
        return np.asarray(np.abs(place[first] - place[second]) == 1)
    if isinstance(close, (int, float)):
        wins = (np.sign(people[:, first] - people[:, second]) + 1) / 2
        share = np.nanmean(wins, axis=0)
        return np.asarray(np.maximum(share, 1 - share) <= close + 1e-12)
    assert not isinstance(close, str)
    named = {frozenset(pair) for pair in close}
    return np.array([frozenset((int(codes[a]), int(codes[b]))) in named for a, b in zip(first, second, strict=True)])
