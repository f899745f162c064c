"""How far those who judged a collection agree with one another, two by two, and how their judgement splits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import fsum
from typing import Any

import numpy as np

from judgegraph.bench.cell import finite
from judgegraph.meta.annotators import people, said, width
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import Answer, Judgements
from judgegraph.stats.coefficients import coefficient
from judgegraph.stats.labels import cohen_kappa


@dataclass(frozen=True, kw_only=True)
class Among:
    """One criterion.

    Attributes:
        annotators: how many. n: items that all of them judged.
        pairs: statistic -> its value for each two of them: 1 and 2, 1 and 3, ..., 2 and 3, ...; over all items.
        split: of verdicts and labels, what counts as their judgement -> how many items; {} of numbers.
    """

    criterion: str
    annotators: int
    n: int
    pairs: Mapping[str, tuple[float, ...]]
    split: Mapping[str, int]

    @property
    def means(self) -> dict[str, float]:
        """Statistic -> the mean over the pairs."""
        return {name: fsum(values) / len(values) for name, values in self.pairs.items()}

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        found: dict[str, Any] = finite(asdict(self) | {"means": self.means})
        return found


def among(one: Judgements, conventions: Conventions) -> Among | None:
    """Of one criterion; None where fewer than two annotators judged it."""
    count = width(one)
    full = [places for places in one.human if len(places) == count and all(map(said, places))]
    if count < 2 or not full:
        return None
    raters = list(zip(*full, strict=True))
    split: Counter[str] = Counter()
    if one.kind != "number":
        split.update(sorted(str(answer) for answer in people(one, conventions) if answer is not None))
    return Among(
        criterion=one.criterion, annotators=count, n=len(full), pairs=_pairs(raters, one.kind, conventions),
        split=dict(split),
    )  # fmt: skip


def _pairs(raters: Sequence[Sequence[Answer]], kind: str, conventions: Conventions) -> dict[str, tuple[float, ...]]:
    if kind != "number":
        return {"kappa": tuple(cohen_kappa(a, b) for a, b in combinations(raters, 2))}
    columns = [np.array(rater, dtype=np.float64) for rater in raters]
    return {
        name: tuple(coefficient(name, a, b) for a, b in combinations(columns, 2)) for name in conventions.coefficients
    }
