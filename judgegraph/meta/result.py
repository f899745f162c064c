"""What a meta-evaluation found: rows of numbers, each with all that it depends on and its interval."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgegraph.errors import ConfigError, counted, one_line, printable
from judgegraph.meta.answers import Answers, at, floats
from judgegraph.meta.cells import Kind
from judgegraph.meta.conventions import Conventions
from judgegraph.shown import Shown
from judgegraph.stats.agreement import corrected, labels_needed, permutation_test, share_interval
from judgegraph.stats.bootstrap import Estimate, Resampled, bootstrap, correlate, interval, of_groups, resample
from judgegraph.stats.correlation import Codes, Coefficient, Floats, Level, TestResult, Unit, steiger, williams
from judgegraph.stats.correlation import coefficient as plain

if TYPE_CHECKING:
    from judgegraph.runs.run import Table


Ends = tuple[float, float]  # of an interval, nan where there is none
NONE: Ends = (math.nan, math.nan)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One statistic of one metric by one criterion.

    Attributes:
        value: nan where it is undefined. interval: its ends, by bootstrap, of shares by Wilson.
        n: items it rests on. units: what counted at its level. skipped: groups without a coefficient.
        judged: items that people judged. unread: status -> how many of these the metric has no answer for.
        failures: what the unread ones do to the value by each rule for them, and where they stand with people, or
            against them ("right", "with people", "against people"; no bounds).
        signature: every choice behind the number, in one line. notes: what else to know.
    """

    criterion: str
    metric: str
    kind: Kind
    statistic: str
    value: float
    interval: Ends = NONE
    level: str = "dataset"
    n: int
    units: int = 0
    skipped: int = 0
    judged: int
    unread: Mapping[str, int] = field(default_factory=dict)
    failures: Mapping[str, float] = field(default_factory=dict)
    signature: str
    notes: tuple[str, ...] = ()


COLUMNS = (
    "criterion", "metric", "kind", "statistic", "value", "low", "high", "level", "n", "judged", "signature",
)  # fmt: skip


def _flat(row: Row) -> dict[str, Any]:
    ends = {"value": row.value, "low": row.interval[0], "high": row.interval[1]}
    numbers = {name: None if math.isnan(value) else value for name, value in ends.items()}
    return {name: numbers[name] if name in numbers else getattr(row, name) for name in COLUMNS}


@dataclass(frozen=True, kw_only=True)
class Test:
    """A paired test. p: two-sided, corrected: for all comparisons by this test and statistic; nan where it has none.

    p_is_least: so many drawn permutations cannot give a smaller p; more of them might.
    """

    __test__ = False  # not a test of pytest

    name: str
    statistic: float
    p: float
    corrected: float = math.nan
    n: int
    note: str = ""
    p_is_least: bool = False


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Two metrics on the same n items: both could be read there.

    Attributes:
        value_a, value_b: on these items. difference: a less b, with its interval.
        needed: labelled items with which a difference like this would be found with a chance of 80 %; None where the
            two are equal or no such number is known. notes: why it has no interval.
    """

    criterion: str
    a: str
    b: str
    statistic: str
    level: str = "dataset"
    n: int
    value_a: float
    value_b: float
    interval: Ends = NONE
    tests: tuple[Test, ...] = ()
    needed: int | None = None
    signature: str
    notes: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """a less b."""
        return self.value_a - self.value_b


@dataclass(frozen=True, kw_only=True)
class HumanCeiling:
    """How far annotators agree with one another: each with the others, and the mean of it; or an alpha of all.

    Attributes:
        interval: of the value, nan where there is none: items lack an annotator and the level is not the dataset's.
    """

    criterion: str
    statistic: str
    level: str = "dataset"
    value: float
    interval: Ends = NONE
    each: tuple[float, ...] = ()
    annotators: int
    n: int
    signature: str


@dataclass(frozen=True, kw_only=True)
class SystemPairs:
    """Pairs of systems that a metric ranks as people do, of all and of the close ones.

    Attributes:
        rule: a system is ahead of another by "wins" of documents, or by its "mean".
    """

    criterion: str
    metric: str
    systems: int
    rule: str
    right: float
    pairs: int
    close_right: float
    close_pairs: int
    n: int
    signature: str


@dataclass(frozen=True)
class Agreement(Shown):
    """How far metrics agree with people.

    Attributes:
        source: signature of the run, or the table. notes: what was left out, and why.
    """

    conventions: Conventions
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...] = ()
    ceilings: tuple[HumanCeiling, ...] = ()
    systems: tuple[SystemPairs, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = ""

    def row(self, statistic: str, metric: str | None = None, criterion: str | None = None) -> Row:
        """The one row of a statistic (of a metric, by a criterion).

        Raises:
            KeyError: there is none, or there are several.
        """
        wanted = {"statistic": statistic, "metric": metric, "criterion": criterion}
        found = [r for r in self.rows if all(v is None or getattr(r, k) == v for k, v in wanted.items())]
        if len(found) != 1:
            raise KeyError(f"{counted(len(found), 'row')} of {wanted}")
        return found[0]

    def table(self) -> Table:
        """A row for each statistic of a metric by a criterion: for pandas, or a CSV file.

        Columns: criterion, metric, kind, statistic, value, low and high (of its interval), level, n (items that it
        rests on), judged (items that people judged), signature. What is undefined is None.
        """
        from judgegraph.runs.run import Table

        return Table([_flat(row) for row in self.rows], COLUMNS, "statistic")

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        differences = [{**asdict(d), "difference": d.difference} for d in self.differences]
        whole = {
            "source": self.source, "conventions": asdict(self.conventions), "rows": [asdict(r) for r in self.rows],
            "differences": differences, "ceilings": [asdict(c) for c in self.ceilings],
            "system_pairs": [asdict(s) for s in self.systems], "notes": list(self.notes),
        }  # fmt: skip
        found: dict[str, Any] = json_values(whole)
        return found

    def __str__(self) -> str:
        rows = (
            f"{' '.join(part for part in (r.criterion, r.metric) if part)}: {r.statistic} {r.value:.3f}"
            f" [{r.interval[0]:.3f}, {r.interval[1]:.3f}], n {r.n}/{r.judged}"
            for r in self.rows
        )
        return printable("\n".join(rows))


def json_values(value: Any) -> Any:
    """Mappings and sequences as JSON has them; a number that is not finite is null."""
    if isinstance(value, dict):
        return {key: json_values(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [json_values(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# What to know of an interval: that it rests on little, or that there is none.


FEW = 6  # units of which an interval is a rough guess
FEW_SYSTEMS = 20  # of which intervals of rank coefficients are too wide, by simulation
WORDS: dict[Unit, str] = {"item": "items", "group": "groups", "system": "systems", "both": "groups or systems"}
ALIKE = 1e-9  # ends no further apart, by their size, differ by round-off


def of_units(units: int, unit: Unit, *, ranks_of_systems: bool = False) -> list[str]:
    """Of so many units that were drawn."""
    if units < 2:
        one = "group or system" if unit == "both" else unit
        return [f"no interval: only {units} {one if units else WORDS[unit]}"]
    if units < FEW:
        return [f"interval from {units} {WORDS[unit]}: a rough guess, with fewer than {FEW}"]
    if ranks_of_systems and units < FEW_SYSTEMS and unit in ("system", "both"):
        return [f"interval from {units} {WORDS[unit]}: too wide, with fewer than {FEW_SYSTEMS}"]
    return []


def settled_ends(ends: Ends) -> tuple[Ends, list[str]]:
    """None instead of ends of no width: resamples that are all alike do not know how sure a number is."""
    if math.isnan(ends[0]):
        return NONE, ["no interval: undefined in every resample"]
    if ends[1] - ends[0] > ALIKE * max(1.0, abs(ends[0])):
        return ends, []
    return NONE, ["no interval: all resamples are alike"]


def few_resamples(conventions: Conventions) -> list[str]:
    """Fewer than five beyond both ends are too few to say where the ends are."""
    least = math.ceil(round(5 / (1 - conventions.confidence), 6))
    if not 0 < conventions.resamples < least:
        return []
    note = f"{conventions.resamples} resamples are too few for intervals of {100 * conventions.confidence:g} %"
    return [f"{note}: take {least:,} or more"]


# What is said of many lines of a table, in few.


_SHARE = re.compile(r"\d+(?:\.\d+)?%")
_NAMED = 2  # lines of the table that are named


def note_lines(said: Iterable[tuple[str, str, Sequence[str]]], what: str = "lines") -> list[str]:
    """What is said of several is said once, with a count of them; shares that differ are a range.

    Args:
        said: of whom ("fluency, judge"), of which of his statistics, and the notes.
        what: they are.
    """
    every: dict[str, set[str]] = {}
    met: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for who, statistic, notes in said:
        every.setdefault(who, set()).add(statistic)
        for note in notes:
            met.setdefault((who, _SHARE.sub("%", note)), []).append((statistic, note))
    lines: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for (who, kind), found in met.items():
        names = dict.fromkeys(statistic for statistic, _ in found)
        which = "" if names.keys() == every[who] else "/".join(names)
        whose, notes = lines.setdefault((kind, which), ([], []))
        whose.append(who)
        notes += [note for _, note in found]
    return [_line(whose, which, _ranged(notes), len(every), what) for (_, which), (whose, notes) in lines.items()]


def _line(whose: list[str], which: str, note: str, count: int, what: str) -> str:
    if len(whose) == 1:
        who = whose[0]
    elif len(whose) == count:
        who = f"all {count:,} {what}"
    else:
        names = "; ".join(whose[:_NAMED]) + ("; ..." if len(whose) > _NAMED else "")
        who = f"{len(whose):,} of {count:,} {what} ({names})"
    of = ", ".join(part for part in (who, which) if part)
    return f"{of}: {note}" if of else note


def _ranged(notes: list[str]) -> str:
    """Notes that differ in a share, as one."""
    shares = sorted((share for note in notes for share in _SHARE.findall(note)), key=lambda text: float(text[:-1]))
    return notes[0] if len({*notes}) == 1 else _SHARE.sub(f"{shares[0]} to {shares[-1]}", notes[0], count=1)


def row_notes(found: Agreement) -> list[str]:
    """What to know of the rows."""
    return note_lines((_who(row.criterion, row.metric), row.statistic, row.notes) for row in found.rows)


def general_notes(found: Agreement) -> list[str]:
    """What was left out, and why; a line for what holds of several criteria."""
    criteria = [name for name in dict.fromkeys(row.criterion for row in found.rows) if name]
    by: dict[str, list[str]] = {name: [] for name in criteria}
    others: list[str] = []
    for note in found.notes:
        of = next((name for name in criteria if note.startswith(f"{name}: ")), None)
        others.append(note) if of is None else by[of].append(note[len(of) + 2 :])
    return others + note_lines(((name, "", notes) for name, notes in by.items()), "criteria")


def difference_notes(found: Sequence[Difference]) -> list[str]:
    """What to know of the differences and of their tests."""
    whose = [(_who(one.criterion, f"{one.a} - {one.b}"), one) for one in found]
    lines = note_lines((who, one.statistic, one.notes) for who, one in whose)
    for name in dict.fromkeys(test.name for one in found for test in one.tests):
        tests = [(who, one.statistic, test) for who, one in whose for test in one.tests if test.name == name]
        said = note_lines((who, statistic, [test.note] if test.note else []) for who, statistic, test in tests)
        lines += [f"{name}, {line}" for line in said]
    return lines


def _who(criterion: str, name: str) -> str:
    return f"{criterion}, {name}" if criterion else name


# A share or a mean with its interval.


@dataclass(frozen=True)
class Measured:
    """A number with its interval, nan where there is none.

    Attributes:
        method: "wilson" or "bootstrap". units: how many were drawn, or count: groups where samples stand in some, else
            samples; fewer than two have no interval but Wilson's of a share of single samples.
    """

    value: float
    low: float
    high: float
    n: int
    method: str
    units: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in vars(self).items()}


@dataclass(frozen=True)
class Drawing:
    """How intervals are made. `confidence`: 0 to 1."""

    confidence: float = 0.95
    resamples: int = 1000
    seed: int = 0

    def share(self, parts: Sequence[float], units: Codes | None = None) -> Measured:
        """The mean of numbers from 0 to 1, such as hits: Wilson's interval, which says something at 0 and 1 too.

        Samples that hang together count as fewer; where each is a group of its own, as what they are.
        """
        column = np.array(parts, dtype=np.float64)
        if not len(column):
            return _nothing("wilson")
        count = len(column) if units is None else len(np.unique(units))
        found = share_interval(column, self.confidence, unit=None if count == len(column) else units)
        return Measured(math.fsum(parts) / len(column), found.low, found.high, len(column), "wilson", count)

    def mean(self, values: Sequence[float], units: Codes | None = None) -> Measured:
        """Of values, by drawing samples, or the units that they stand in."""
        column = np.array(values, dtype=np.float64)
        return self.of(lambda index: column[index].mean() if len(index) else math.nan, len(column), units)

    def of(self, statistic: Callable[[Codes], float], n: int, units: Codes | None = None) -> Measured:
        """Of any number that is computed from drawn items; no interval where more draws lack it than lie in a tail."""
        if not n:
            return _nothing("bootstrap")
        value = float(statistic(np.arange(n)))
        count = n if units is None else len(np.unique(units))

        def drawn(index: Codes) -> Floats:
            return np.array([statistic(index)])

        if count < 2 or math.isnan(value):
            return Measured(value, math.nan, math.nan, n, "bootstrap", count)
        values = resample(drawn, n, units=units, resamples=self.resamples, seed=self.seed)[0]
        found = interval(values, self.confidence, units=count)
        low, high = (math.nan, math.nan) if found.undefined > (1 - self.confidence) / 2 else (found.low, found.high)
        return Measured(value, low, high, n, "bootstrap", count)


def _nothing(method: str) -> Measured:
    return Measured(math.nan, math.nan, math.nan, 0, method)


# Numbers against numbers: coefficients with intervals, what unread answers could do, and two metrics compared.


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
            return f"{counted(int(known.sum()), 'item')} with an answer: it takes 2"
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
        tests.append(test_of(found))
        gone_through = permutations(found)
        if (coefficient, level) == ("pearson", "dataset"):
            between = plain("pearson", x[both], y[both])
            tests += [test_of(test(values[0], values[1], between, n)) for test in (williams, steiger)]
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


def test_of(found: TestResult) -> Test:
    """As a comparison of two metrics holds it."""
    return Test(
        name=found.name, statistic=found.statistic, p=found.p, n=found.n, note=found.note, p_is_least=found.p_is_least
    )


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
