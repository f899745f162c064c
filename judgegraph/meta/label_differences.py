"""Two metrics' verdicts or labels on the same items: which is right more often, and could it be chance?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgegraph.meta.answers import Answers
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.differences import POWER, needed_of_spread, permutations, told_apart
from judgegraph.meta.label_draws import drawn, units_of
from judgegraph.meta.labels import Verdicts, by_rule
from judgegraph.meta.result import NONE, Difference, Ends, Test
from judgegraph.meta.signatures import AGREE, signature, unread_rule
from judgegraph.stats.arrays import Codes
from judgegraph.stats.paired import permutation_test_of_shares
from judgegraph.stats.shares import share_interval, variance_of_mean

Bools = NDArray[np.bool_]


def label_differences(answers: Answers, conventions: Conventions, against: str | None = None) -> Iterator[Difference]:
    """Each pair of metrics by accuracy, and by agreement in both orders where both were asked so."""
    rule = unread_rule(answers, conventions)
    found = {name: by_rule(answers, name, rule) for name in answers.metrics}
    for a, b in told_apart(answers, against):
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
    n, c = len(kept), conventions
    tests, more = (_tested(x, y, _groups(answers, kept), c)) if n else ((), ())
    more = (*more, *((AGREE,) if answers.combined & {*names} else ()))
    return Difference(
        criterion=answers.criterion, a=names[0], b=names[1], statistic=statistic, n=n,
        value_a=float(x.mean()) if n else math.nan, value_b=float(y.mean()) if n else math.nan,
        interval=_interval(x, y, answers, kept, c), tests=tests,
        needed=needed(x, y, 1 - c.confidence, _groups(answers, kept)),
        signature=signature(answers, c, statistic, "dataset", n, *more, f"correction:{c.correction}"),
    )  # fmt: skip


def _groups(answers: Answers, kept: list[int]) -> Codes | None:
    """The document of each item; None where no two share one."""
    if answers.group is None:
        return None
    codes = np.unique(answers.group[kept], return_inverse=True)[1].astype(np.intp)
    return codes if len(codes) > codes.max(initial=-1) + 1 else None


def _tested(x: Bools, y: Bools, group: Codes | None, c: Conventions) -> tuple[tuple[Test, ...], tuple[str, ...]]:
    """The test of the two, which takes documents as a whole; and what it went through, for the signature."""
    if group is None:
        return (mcnemar(x, y),), ()
    found = permutation_test_of_shares(
        x.astype(np.float64), y.astype(np.float64), group=group, permutations=c.permutations, seed=c.seed
    )
    note = "; ".join(part for part in (_only(x, y), found.note) if part)
    test = Test(name=found.name, statistic=found.statistic, p=found.p, n=found.n, note=note)
    return (test,), (permutations(found),)


def _only(x: Bools, y: Bools) -> str:
    return f"{int((x & ~y).sum())} items only the first is right on, {int((~x & y).sum())} only the second"


def _interval(x: Bools, y: Bools, answers: Answers, kept: list[int], c: Conventions) -> Ends:
    """Where no item tells the two apart, as far as items that do may be too rare to be met."""
    if len(kept) < 2 or not c.resamples:
        return NONE
    codes, count = units_of(answers, kept, c)
    if count < 2:
        return NONE
    if (x == y).all():
        rare = share_interval(np.zeros(len(x)), c.confidence, unit=codes).high
        return -rare, rare

    def drawing(items: Codes) -> dict[str, float]:
        return {"difference": float(x[items].mean() - y[items].mean())}

    return drawn(drawing, answers, kept, c).get("difference", NONE)


def mcnemar(x: Bools, y: Bools) -> Test:
    """Exact test of two shares on the same items: every way of swapping the two answers of an item counts alike.

    Source: McNemar 1947; it is the permutation test of the two accuracies, gone through whole.
    """
    better, worse = int((x & ~y).sum()), int((~x & y).sum())
    if not better + worse:
        return Test(name="mcnemar-exact", statistic=0.0, p=1.0, n=len(x), note="right and wrong on the same items")
    p = float(stats.binomtest(better, better + worse).pvalue)
    return Test(name="mcnemar-exact", statistic=float(better - worse), p=p, n=len(x), note=_only(x, y))


def needed(x: Bools, y: Bools, alpha: float, group: Codes | None = None) -> int | None:
    """Items with which the test finds a difference like this with a chance of 80 %; None where there is none.

    Source: Connor 1987, sample size for McNemar's test from the shares of items on which only one is right; with
    documents by how much the difference varies among them.
    """
    if not len(x) or not (apart := float(x.mean() - y.mean())):
        return None
    if group is not None:
        spread = math.sqrt(variance_of_mean(x.astype(np.float64) - y, group))
        return needed_of_spread(apart, spread, len(x), alpha)
    unequal = float((x != y).mean())
    reach = float(stats.norm.isf(alpha / 2)) * math.sqrt(unequal)
    reach += float(stats.norm.ppf(POWER)) * math.sqrt(max(0.0, unequal - apart**2))
    return math.ceil((reach / apart) ** 2)
