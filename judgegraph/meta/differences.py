"""Two metrics on the same items: which is closer to people, and could it be chance?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from judgegraph.errors import ConfigError, one_line
from judgegraph.meta.answers import at
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.numbers import Numbers
from judgegraph.meta.result import NONE, Difference, Ends, Test
from judgegraph.meta.signatures import signature
from judgegraph.stats.arrays import Coefficient
from judgegraph.stats.coefficients import coefficient as plain
from judgegraph.stats.paired import TestResult, corrected, permutation_test, steiger, williams
from judgegraph.stats.power import labels_needed


def pairs(metrics: Sequence[str], against: str | None) -> list[tuple[str, str]]:
    """Which two are compared: all, or each with one.

    Raises:
        ConfigError: there is no such metric.
    """
    if against is None:
        return list(combinations(metrics, 2))
    if against not in metrics:
        known = one_line(", ".join(metrics), 200)
        raise ConfigError(f"against: no metric '{one_line(against, 60)}'; there are {known}")
    return [(name, against) for name in metrics if name != against]


def differences(numbers: Numbers, against: str | None = None) -> Iterator[Difference]:
    """Each pair of metrics by each coefficient, over the items where both have a number."""
    for a, b in pairs(list(numbers.metrics), against):
        for coefficient in numbers.conventions.coefficients:
            yield _difference(numbers, a, b, coefficient)


def _difference(numbers: Numbers, a: str, b: str, coefficient: Coefficient) -> Difference:
    c, answers = numbers.conventions, numbers.answers
    level = c.level_of(coefficient)
    x, y = numbers.counted(a), numbers.counted(b)
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = np.where(both, x, np.nan), np.where(both, y, np.nan)
    values = [numbers.estimate(coefficient, side).value for side in (x, y)]
    tests: list[Test] = []
    needed = None
    if not any(math.isnan(value) for value in values):
        found = permutation_test(
            numbers.human[both], x[both], y[both], coefficient=coefficient, level=level, group=at(answers.group, both),
            system=at(answers.system, both), constant=c.constant, permutations=c.permutations, seed=c.seed,
        )  # fmt: skip
        tests.append(_test(found))
        if (coefficient, level) == ("pearson", "dataset"):
            n, between = int(both.sum()), plain("pearson", x[both], y[both])
            tests += [_test(test(values[0], values[1], between, n)) for test in (williams, steiger)]
            needed = labels_needed(values[0], values[1], between, alpha=1 - c.confidence)
    n = int(both.sum())
    more = (f"permutations:{c.permutations}", f"correction:{c.correction}")
    return Difference(
        criterion=answers.criterion, a=a, b=b, statistic=coefficient, level=level, n=n, value_a=values[0],
        value_b=values[1], interval=_interval(numbers, a, b, coefficient), tests=tuple(tests), needed=needed,
        signature=signature(answers, c, coefficient, level, n, *more),
    )  # fmt: skip


def _interval(numbers: Numbers, a: str, b: str, coefficient: Coefficient) -> Ends:
    level = numbers.conventions.level_of(coefficient)
    drawn = numbers.resampled([a, b], level)
    if drawn is None:
        return NONE
    names, sample = drawn
    place = numbers.levels()[level].index(coefficient)
    found = sample.difference(names.index(a), names.index(b), place, numbers.conventions.confidence)
    return found.low, found.high


def _test(found: TestResult) -> Test:
    return Test(name=found.name, statistic=found.statistic, p=found.p, n=found.n, note=found.note)


def with_corrections(found: Sequence[Difference], conventions: Conventions) -> list[Difference]:
    """With p values corrected for all pairs and criteria by one test of one statistic.

    Coefficients answer one question in several ways, so they are no comparisons of their own.
    """
    families: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for i, difference in enumerate(found):
        for j, test in enumerate(difference.tests):
            families.setdefault((test.name, difference.statistic), []).append((i, j))
    tests = [list(difference.tests) for difference in found]
    for places in families.values():
        values = corrected([tests[i][j].p for i, j in places], conventions.correction)
        for (i, j), value in zip(places, values, strict=True):
            tests[i][j] = replace(tests[i][j], corrected=float(value))
    return [replace(d, tests=tuple(own)) for d, own in zip(found, tests, strict=True)]
