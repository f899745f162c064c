"""What came of a meta-evaluation: rows of numbers, each with all that it depends on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from judgegraph.errors import printable
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import Kind
from judgegraph.shown import Shown

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
            two are equal or no such number is known.
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
