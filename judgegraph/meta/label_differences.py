"""Two metrics' verdicts or labels on the same items: which is right more often, and could it be chance?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgegraph.meta.answers import Answers
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.differences import pairs
from judgegraph.meta.label_draws import drawn
from judgegraph.meta.labels import Verdicts, by_rule
from judgegraph.meta.result import NONE, Difference, Test
from judgegraph.meta.signatures import signature, unread_rule
from judgegraph.stats.arrays import Codes

Bools = NDArray[np.bool_]
POWER = 0.8


def label_differences(answers: Answers, conventions: Conventions, against: str | None = None) -> Iterator[Difference]:
    """Each pair of metrics by accuracy, and by agreement in both orders where both were asked so."""
    rule = unread_rule(answers, conventions)
    found = {name: by_rule(answers, name, rule) for name in answers.metrics}
    for a, b in pairs(list(answers.metrics), against):
        kept = sorted(set(found[a].kept) & set(found[b].kept))
        x, y = (_right(found[name], kept) for name in (a, b))
        for statistic in x.keys() & y.keys():
            yield _difference(answers, conventions, (a, b), statistic, kept, (x[statistic], y[statistic]))


def _right(found: Verdicts, kept: list[int]) -> dict[str, Bools]:
    """Statistic -> per item whether the metric is right."""
    place = {item: at for at, item in enumerate(found.kept)}
    at = [place[item] for item in kept]
    first = np.array([found.first[i] == found.human[i] for i in at], dtype=bool)
    if found.second is None:
        return {"accuracy": first}
    second = np.array([found.second[i] == found.human[i] for i in at], dtype=bool)
    return {"accuracy": first, "agreement": first & second}


def _difference(
    answers: Answers, conventions: Conventions, names: tuple[str, str], statistic: str, kept: list[int],
    right: tuple[Bools, Bools],
) -> Difference:  # fmt: skip
    x, y = right
    n = len(kept)
    ends = NONE
    if n > 1 and conventions.resamples:

        def drawing(items: Codes) -> dict[str, float]:
            return {"difference": float(x[items].mean() - y[items].mean())}

        ends = drawn(drawing, answers, kept, conventions).get("difference", NONE)
    return Difference(
        criterion=answers.criterion, a=names[0], b=names[1], statistic=statistic, n=n,
        value_a=float(x.mean()) if n else math.nan, value_b=float(y.mean()) if n else math.nan, interval=ends,
        tests=(mcnemar(x, y),) if n else (), needed=needed(x, y, 1 - conventions.confidence),
        signature=signature(answers, conventions, statistic, "dataset", n, f"correction:{conventions.correction}"),
    )  # fmt: skip


def mcnemar(x: Bools, y: Bools) -> Test:
    """Exact test of two shares on the same items: every way of swapping the two answers of an item counts alike.

    Source: McNemar 1947; it is the permutation test of the two accuracies, gone through whole.
    """
    better, worse = int((x & ~y).sum()), int((~x & y).sum())
    if not better + worse:
        return Test(name="mcnemar-exact", statistic=0.0, p=1.0, n=len(x), note="right and wrong on the same items")
    p = float(stats.binomtest(better, better + worse).pvalue)
    note = f"{better} items only the first is right on, {worse} only the second"
    return Test(name="mcnemar-exact", statistic=float(better - worse), p=p, n=len(x), note=note)


def needed(x: Bools, y: Bools, alpha: float) -> int | None:
    """Items with which McNemar's test finds a difference like this with a chance of 80 %; None where there is none.

    Source: Connor 1987, sample size for McNemar's test from the shares of items on which only one is right.
    """
    if not len(x) or not (apart := float(x.mean() - y.mean())):
        return None
    unequal = float((x != y).mean())
    reach = float(stats.norm.isf(alpha / 2)) * math.sqrt(unequal)
    reach += float(stats.norm.ppf(POWER)) * math.sqrt(max(0.0, unequal - apart**2))
    return math.ceil((reach / apart) ** 2)
