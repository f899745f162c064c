"""Numbers against numbers: coefficients with intervals, what unread answers could do, and two metrics compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgegraph.errors import ConfigError, one_line
from judgegraph.meta.answers import Answers, at, floats
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.result import NONE, Difference, Ends, Row, Test, of_units, settled_ends
from judgegraph.stats.bootstrap import of_groups
from judgegraph.stats.correlation import Coefficient, Floats, Level, TestResult, Unit, steiger, williams
from judgegraph.stats.correlation import coefficient as plain
from judgegraph.stats.resampling import Estimate, Resampled, bootstrap, correlate
from judgegraph.stats.tests import corrected, labels_needed, permutation_test

# The line that stands with each number: every choice behind it.


AGREE = "orders:agree, else tie"  # how two orders of a pair became one verdict


def unit_of(answers: Answers, conventions: Conventions, level: Level) -> Unit:
    """What the bootstrap draws.

    Raises:
        ConfigError: the level or the unit needs groups or systems, and there are none.
    """
    lacking = {name for name, codes in (("group", answers.group), ("system", answers.system)) if codes is None}
    if level in lacking:
        raise ConfigError(_lacks(answers, f"level {level}", level))
    unit = conventions.unit
    if unit is None:
        if level == "system":
            return "system" if "group" in lacking else "both"
        return "item" if "group" in lacking else "group"
    for name in ("group", "system"):
        if unit in (name, "both") and name in lacking:
            raise ConfigError(_lacks(answers, f"unit {unit}", name))
    return "group" if unit == "both" and answers.kind != "number" else unit  # of labels one of the two is drawn


def _lacks(answers: Answers, what: str, name: str) -> str:
    of = f"{answers.criterion}: " if answers.criterion else ""
    return (
        f"{of}{what} needs the {name} of each item: of a table name its column with --{name}; the samples of a run "
        f"hold it as meta.{name}, or --{name} KEY says which key of meta it is"
    )


def unread_rule(answers: Answers, conventions: Conventions) -> str:
    """What really happens to an answer that could not be read; numbers and labels have no tie."""
    if conventions.unreadable == "tie":
        return "tie" if answers.kind == "verdict" else "drop"
    return "wrong" if conventions.unreadable == "zero" and answers.kind != "number" else conventions.unreadable


def signature(
    answers: Answers, conventions: Conventions, statistic: str, level: Level, n: int, *more: str,
    made: int | None = None, wilson: bool = False,
) -> str:  # fmt: skip
    """Such as `kendall-b|level:group|n:1200|unreadable:drop|constant:skip|...|seed:0`.

    Args:
        made: resamples that were made, where they are not those of the conventions; 0: the number has no interval.
        wilson: its interval is Wilson's, and no resample was made.
    """
    c = conventions
    made = c.resamples if made is None else made
    unit = unit_of(answers, c, level)
    parts = [statistic, f"level:{level}", f"n:{n}", f"unreadable:{unread_rule(answers, c)}"]
    parts += [f"constant:{c.constant}"] if answers.kind == "number" else []
    parts += [f"duplicates:{c.duplicates}", f"annotators:{answers.rule}"]
    parts += [f"order:{'<'.join(answers.order)}"] if answers.order else []
    if made:
        how = "interval:wilson" if wilson else f"resamples:{made}"
        parts += [f"unit:{unit}", how, f"confidence:{c.confidence:g}"]
    return "|".join(part.replace("|", "/") for part in (*parts, *more, f"seed:{c.seed}"))


@dataclass
class Numbers:
    """The answers of one criterion as arrays; what was resampled once is kept."""

    answers: Answers
    conventions: Conventions
    human: Floats = field(init=False)
    metrics: dict[str, Floats] = field(init=False)
    _drawn: dict[tuple[bytes, Level], tuple[list[str], Resampled]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.human = floats(self.answers.human)
        self.metrics = {name: floats(values) for name, values in self.answers.metrics.items()}

    def counted(self, name: str) -> Floats:
        """A metric's numbers with its unread answers by the rule: 0, or nan where they are left out."""
        values = self.metrics[name]
        return np.nan_to_num(values, nan=0.0) if self.conventions.unreadable == "zero" else values

    def estimate(self, coefficient: Coefficient, values: Floats) -> Estimate:
        """A coefficient at its level, over the items where there is a number."""
        known = ~np.isnan(values)
        return correlate(
            self.human[known], values[known], coefficient=coefficient, level=self.conventions.level_of(coefficient),
            group=at(self.answers.group, known), system=at(self.answers.system, known),
            constant=self.conventions.constant,
        )  # fmt: skip

    def levels(self) -> dict[Level, list[Coefficient]]:
        """Level -> its coefficients."""
        found: dict[Level, list[Coefficient]] = {}
        for name in self.conventions.coefficients:
            found.setdefault(self.conventions.level_of(name), []).append(name)
        return found

    def resampled(
        self, names: Sequence[str], level: Level, among: NDArray[np.bool_] | None = None
    ) -> tuple[list[str], Resampled] | None:
        """Draws over the items where all these metrics have numbers; those with the very same items are drawn along.

        None where nothing is to be drawn.

        Args:
            among: whether an item may count; None: all may.
        """
        known = ~np.isnan(np.sum([self.counted(name) for name in names], axis=0))
        known = known if among is None else known & among
        if not self.conventions.resamples or known.sum() < 2:
            return None
        key = (known.tobytes(), level)
        if key not in self._drawn or not set(names) <= set(self._drawn[key][0]):
            alike = [n for n in self.metrics if (~np.isnan(self.counted(n)) == known).all()]
            drawn = list(dict.fromkeys([*names, *alike]))
            self._drawn[key] = (drawn, self._draw(drawn, known, level))
        return self._drawn[key]

    def _draw(self, names: Sequence[str], known: NDArray[np.bool_], level: Level) -> Resampled:
        c = self.conventions
        return bootstrap(
            self.human[known], [self.counted(name)[known] for name in names], coefficients=self.levels()[level],
            level=level, unit=unit_of(self.answers, c, level), group=at(self.answers.group, known),
            system=at(self.answers.system, known), constant=c.constant, resamples=c.resamples, seed=c.seed,
        )  # fmt: skip

    def rows(self) -> Iterator[Row]:
        """A row for each metric and coefficient."""
        for name in self.metrics:
            for coefficient in self.conventions.coefficients:
                yield self._row(name, coefficient)

    def _row(self, name: str, coefficient: Coefficient) -> Row:
        a, level = self.answers, self.conventions.level_of(coefficient)
        values = self.counted(name)
        found = self.estimate(coefficient, values)
        ends, made, notes = self._interval(name, coefficient, level)
        if math.isnan(found.value):
            notes = (self._undefined(values, level),)
        return Row(
            criterion=a.criterion, metric=name, kind="number", statistic=coefficient, value=found.value,
            interval=ends, level=level, n=found.n, units=found.units, skipped=found.skipped, judged=len(a),
            unread=a.unread[name], failures=self._failures(name, coefficient),
            signature=signature(a, self.conventions, coefficient, level, found.n, made=made), notes=notes,
        )  # fmt: skip

    def _interval(self, name: str, coefficient: Coefficient, level: Level) -> tuple[Ends, int, tuple[str, ...]]:
        """Its ends, the resamples that were made, and what to know of them."""
        drawn = self.resampled([name], level)
        if drawn is None:
            return NONE, 0, ()
        names, sample = drawn
        m, c = names.index(name), self.levels()[level].index(coefficient)
        found, made = sample.interval(m, c, self.conventions.confidence), int(sample.made[m, c])
        ranks = level == "system" and coefficient != "pearson"
        notes = of_units(sample.units, unit_of(self.answers, self.conventions, level), ranks_of_systems=ranks)
        if sample.units < 2:
            return NONE, 0, tuple(notes)
        ends, none = settled_ends((found.low, found.high))
        if none:
            return NONE, 0, tuple(none)
        if made < self.conventions.resamples:
            notes.append(f"interval from {made:,} resamples, more would take too long")
        if found.undefined:
            notes.append(f"undefined in {found.undefined:.1%} of the resamples, which are left out")
        return ends, made, tuple(notes)

    def _undefined(self, values: Floats, level: Level) -> str:
        known = ~np.isnan(values)
        if known.sum() < 2:
            return f"{int(known.sum())} items with an answer: it takes 2"
        for who, side in (("people's judgement", self.human[known]), ("the metric", values[known])):
            if (side == side[0]).all():
                return f"{who} is the same everywhere ({side[0]:g})"
        return {"group": "no group in which both sides vary", "system": "both sides must vary over 2 systems"}.get(
            level, "one side is constant"
        )

    def _failures(self, name: str, coefficient: Coefficient) -> dict[str, float]:
        """The value if unread answers were left out, counted as 0, or stood against people's order, or in it.

        The last two put them at the quantiles of the metric's own answers, and bound nothing: one number in their
        place that the metric never gives may move it further.
        """
        values = self.metrics[name]
        missing = np.isnan(values)
        if not missing.any():
            return {}
        zero = np.nan_to_num(values, nan=0.0)
        ways = {"drop": values, "zero": zero}
        if not missing.all():
            ranks = np.searchsorted(np.sort(self.human), self.human[missing], side="right") / len(self.human)
            for way, share in (("against people", 1 - ranks), ("with people", ranks)):
                ways[way] = values.copy()
                ways[way][missing] = np.quantile(values[~missing], share)
        return {way: self.estimate(coefficient, filled).value for way, filled in ways.items()}


# Two metrics on the same items: which is closer to people, and could it be chance?


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
