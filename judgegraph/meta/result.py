"""What a meta-evaluation found: rows of numbers, each with all that it depends on and its interval."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from judgegraph.errors import printable
from judgegraph.meta.cells import Kind
from judgegraph.meta.conventions import Conventions
from judgegraph.shown import Shown
from judgegraph.stats.agreement import share_interval
from judgegraph.stats.bootstrap import interval
from judgegraph.stats.correlation import Codes, Floats, Unit
from judgegraph.stats.resampling import resample

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
    """A paired test. p: two-sided, corrected: for all comparisons by this test and statistic; nan where it has none."""

    __test__ = False  # not a test of pytest

    name: str
    statistic: float
    p: float
    corrected: float = math.nan
    n: int
    note: str = ""


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
            raise KeyError(f"{len(found)} rows of {wanted}")
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
