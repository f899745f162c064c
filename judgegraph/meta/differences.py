"""Two metrics on the same items: which is closer to people, and could it be chance?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgegraph.errors import ConfigError, one_line
from judgegraph.meta.answers import Answers, at
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.numbers import Numbers, signature, unit_of
from judgegraph.meta.result import NONE, Difference, Ends, Test, of_units, settled_ends
from judgegraph.stats.bootstrap import of_groups
from judgegraph.stats.correlation import Coefficient, Floats, Level, TestResult, steiger, williams
from judgegraph.stats.correlation import coefficient as plain
from judgegraph.stats.tests import corrected, labels_needed, permutation_test

Bools = NDArray[np.bool_]
POWER = 0.8


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


def same(answers: Answers, a: str, b: str) -> bool:
    """Whether two metrics say the same of every item, in either order where both were asked so: nothing to test."""
    first = answers.metrics[a], answers.metrics[b]
    second = answers.exchanged.get(a), answers.exchanged.get(b)
    alike = None in second or second[0] == second[1]
    return first[0] == first[1] and alike and any(answer is not None for answer in first[0])


def comparable_pairs(answers: Answers, against: str | None) -> list[tuple[str, str]]:
    """Which two are compared, without those that are the same on every item."""
    return [(a, b) for a, b in pairs(list(answers.metrics), against) if not same(answers, a, b)]


def same_notes(answers: Answers, against: str | None) -> list[str]:
    """Of metrics that are the same on every item a line each."""
    of = f"{answers.criterion}: " if answers.criterion else ""
    alike = [(a, b) for a, b in pairs(list(answers.metrics), against) if same(answers, a, b)]
    return [f"{of}{a} and {b} are the same on every item: not tested against each other" for a, b in alike]


def differences(numbers: Numbers, against: str | None = None) -> Iterator[Difference]:
    """Each pair of metrics by each coefficient, over the items where both have a number.

    At group level over the documents where both have a coefficient, unless those without one count as 0.
    """
    for a, b in comparable_pairs(numbers.answers, against):
        for coefficient in numbers.conventions.coefficients:
            yield _difference(numbers, a, b, coefficient)


def _difference(numbers: Numbers, a: str, b: str, coefficient: Coefficient) -> Difference:
    c, answers = numbers.conventions, numbers.answers
    level = c.level_of(coefficient)
    x, y = numbers.counted(a), numbers.counted(b)
    both = _shared(numbers, x, y, coefficient, level)
    n = int(both.sum())
    x, y = np.where(both, x, np.nan), np.where(both, y, np.nan)
    values = [numbers.estimate(coefficient, side).value for side in (x, y)]
    ends, deviation, notes = _interval(numbers, (a, b), coefficient, both)
    tests: list[Test] = []
    needed, gone_through = None, ""
    if any(math.isnan(value) for value in values):
        notes = []
    else:
        found = permutation_test(
            numbers.human[both], x[both], y[both], coefficient=coefficient, level=level, group=at(answers.group, both),
            system=at(answers.system, both), constant=c.constant, permutations=c.permutations, seed=c.seed,
        )  # fmt: skip
        tests.append(_test(found))
        gone_through = permutations(found)
        if (coefficient, level) == ("pearson", "dataset"):
            between = plain("pearson", x[both], y[both])
            tests += [_test(test(values[0], values[1], between, n)) for test in (williams, steiger)]
            alpha = 1 - c.confidence
            if unit_of(answers, c, level) == "item":
                needed = labels_needed(values[0], values[1], between, alpha=alpha)
            else:
                needed = items_needed(values[0] - values[1], deviation, n, alpha)
    more = (*((gone_through,) if gone_through else ()), f"correction:{c.correction}")
    return Difference(
        criterion=answers.criterion, a=a, b=b, statistic=coefficient, level=level, n=n, value_a=values[0],
        value_b=values[1], interval=ends, tests=tuple(tests), needed=needed, notes=tuple(notes),
        signature=signature(answers, c, coefficient, level, n, *more),
    )  # fmt: skip


def _shared(numbers: Numbers, x: Floats, y: Floats, coefficient: Coefficient, level: Level) -> Bools:
    """The items that say something of both metrics."""
    both: Bools = ~np.isnan(x) & ~np.isnan(y)
    group = at(numbers.answers.group, both)
    if level == "group" and numbers.conventions.constant == "skip" and group is not None and len(group):
        code = np.unique(group, return_inverse=True)[1].astype(np.intp)
        each = [of_groups(numbers.human[both], side[both], code, [coefficient])[0] for side in (x, y)]
        both[both] = ~np.isnan(each[0] + each[1])[code]
    return both


def _interval(
    numbers: Numbers, names: tuple[str, str], coefficient: Coefficient, both: Bools
) -> tuple[Ends, float, list[str]]:  # fmt: skip
    """The ends of the difference's interval, its standard deviation, and why it has no interval."""
    level = numbers.conventions.level_of(coefficient)
    drawn = numbers.resampled(names, level, both)
    if drawn is None:
        return NONE, math.nan, []
    if drawn[1].units < 2:
        return NONE, math.nan, of_units(drawn[1].units, unit_of(numbers.answers, numbers.conventions, level))
    order, sample = drawn
    c, (a, b) = numbers.levels()[level].index(coefficient), (order.index(name) for name in names)
    found = sample.difference(a, b, c, numbers.conventions.confidence)
    apart = sample.values[a, c] - sample.values[b, c]
    known = apart[~np.isnan(apart)]
    ends, notes = settled_ends((found.low, found.high))
    return ends, float(known.std()) if len(known) > 1 else math.nan, notes


def permutations(found: TestResult) -> str:
    """What was gone through, for the signature; "" where nothing was."""
    if not found.made:
        return ""
    every = found.n < 60 and found.made == 2**found.n
    return f"permutations:{'all ' if every else ''}{found.made}"


def items_needed(apart: float, deviation: float, n: int, alpha: float) -> int | None:
    """Items, in documents as long as these, with which a difference like this is found with a chance of 80 %.

    Args:
        apart: the difference. spread: its standard deviation over samples of n items in documents.

    Returns:
        None where there is no difference, or no spread is known.
    """
    if not apart or not deviation > 0:
        return None
    reach = float(stats.norm.isf(alpha / 2) + stats.norm.ppf(POWER))
    return math.ceil(n * (reach * deviation / apart) ** 2)


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
