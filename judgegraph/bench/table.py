"""The paper's table: judgements arranged for it, its numbers beside published ones, raters' agreement."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from math import fsum
from typing import Any, TypeVar

import numpy as np

from judgegraph.bench.files import Collection, Published
from judgegraph.meta.cells import Answer, Judgements, answered, people, taken, width
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.result import NONE, Ends, Row, SystemPairs
from judgegraph.stats.agreement import cohen_kappa
from judgegraph.stats.correlation import coefficient
from judgegraph.types import Sample

# Judgements arranged for a collection's table: its columns, its rows' names, and the annotator they are held to.


Column = TypeVar("Column")


def in_columns(found: Sequence[Judgements], known: Collection) -> list[Judgements]:
    """A run's, as the table's columns are: of sets of items also over all, where that is published."""
    if known.columns != "groups":
        return list(found)
    printed = {figure.criterion for figure in known.published}
    whole = [replace(one, groups=None) for one in found if one.criterion in printed]  # sets are no sample of sets
    return [*whole, *by_group(found)]


def by_group(found: Iterable[Judgements]) -> list[Judgements]:
    """One for each group, called as the group is: where a table's columns are sets of items and not criteria."""
    made = []
    for one in found:
        for group in dict.fromkeys(one.groups or ()):
            places = [n for n, name in enumerate(one.groups or ()) if name == group]
            made.append(replace(taken(one, places), criterion=group, groups=None))
    return made


def under_headings(found: Sequence[Judgements], known: Collection) -> dict[str, list[Judgements]]:
    """A run's, under the heading of each set of items where the table has them; else all under none."""
    if known.columns != "headings":
        return {"": list(found)}
    made: dict[str, list[Judgements]] = {}
    for one in found:
        for group in dict.fromkeys(one.groups or ("",)):
            places = [n for n, name in enumerate(one.groups or ("",) * len(one.ids)) if name == group]
            made.setdefault(group, []).append(replace(taken(one, places), groups=None))
    return made


def with_baselines(found: Iterable[Judgements], known: Collection, samples: Sequence[Sample]) -> list[Judgements]:
    """A run's, with what judges that look at nothing would say of the same items."""
    given = known.baselines(samples) if known.baselines is not None else {}
    made = []
    for one in found:
        own = given.get(one.criterion, {})
        more: dict[str, tuple[Any, ...]] = {
            name: tuple(answers.get(id) for id in one.ids) for name, answers in own.items()
        }
        made.append(replace(one, metrics={**one.metrics, **more}))
    return made


def named(found: Sequence[Judgements], name: str) -> list[Judgements]:
    """With the method's name on its metrics, which are called as its agents are; of one agent it is the whole name."""
    metrics = list(dict.fromkeys(metric for one in found for metric in one.metrics))
    agents = {metric.partition(" (")[0] for metric in metrics}
    names = {metric: name if metric == name else f"{name}: {metric}" for metric in metrics}
    if len(agents) == 1:
        names = {metric: " ".join((name, *metric.split(" ", 1)[1:])) for metric in metrics}

    def called(columns: Mapping[str, Column]) -> dict[str, Column]:
        return {names[metric]: column for metric, column in columns.items()}

    return [
        replace(one, metrics=called(one.metrics), exchanged=called(one.exchanged), statuses=called(one.statuses))
        for one in found
    ]


def against(found: Iterable[Judgements], annotator: int | None) -> list[Judgements]:
    """The same beside one annotator of several, 1 for the first, which the metrics' names say; [] for None."""
    if annotator is None:
        return []
    several = [one for one in found if max(map(len, one.human), default=0) > 1]
    alone = [replace(one, human=tuple(places[annotator - 1 : annotator] for places in one.human)) for one in several]
    return [_suffixed(one, f", against annotator {annotator}") for one in alone]


def _suffixed(one: Judgements, suffix: str) -> Judgements:
    metrics, exchanged, statuses = (
        {f"{name}{suffix}": column for name, column in held.items()}
        for held in (one.metrics, one.exchanged, one.statuses)
    )
    return replace(one, metrics=metrics, exchanged=exchanged, statuses=statuses)  # type: ignore[arg-type]


# A number of a collection's table: ours, the published one, or both.


PAIRS = "pairs"  # the share of pairs of systems that are ranked as people rank them


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One statistic of one judge by one criterion.

    Attributes:
        heading: the set of items, "" where there is one.
        value: ours, nan where nothing was measured or it is undefined. interval: nan where there is none.
        n: items it rests on. units: groups or systems that counted, or pairs of systems. judged: items that people
            judged. unread: status -> how many of these the judge has no answer for.
        published: what is printed elsewhere. ours: of a run of the user's own.
        signature: every choice behind our value.
    """

    judge: str
    criterion: str
    statistic: str
    level: str
    heading: str = ""
    value: float = math.nan
    interval: Ends = NONE
    n: int = 0
    units: int = 0
    judged: int = 0
    unread: Mapping[str, int] = field(default_factory=dict)
    published: Published | None = None
    ours: bool = False
    signature: str = ""
    notes: tuple[str, ...] = ()

    @property
    def measured(self) -> bool:
        """Whether there is a value of ours."""
        return not math.isnan(self.value)

    @property
    def equal(self) -> bool | None:
        """Whether ours is the published one to its printed digits; None where either is missing."""
        if self.published is None or not self.measured:
            return None
        return round(self.value, self.published.digits) == round(self.published.value, self.published.digits)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        found: dict[str, Any] = finite(asdict(self) | {"equal": self.equal})
        return found


def of_row(row: Row, heading: str, ours: bool) -> Cell:
    """A row of a meta-evaluation."""
    return Cell(
        judge=row.metric, criterion=row.criterion, statistic=row.statistic,
        level=row.level if row.kind == "number" else "", heading=heading, value=row.value, interval=row.interval,
        n=row.n, units=row.units, judged=row.judged, unread=row.unread, ours=ours, signature=row.signature,
        notes=row.notes,
    )  # fmt: skip


def of_pairs(found: SystemPairs, heading: str, ours: bool) -> Cell:
    """Pairs of systems, as a share."""
    return Cell(
        judge=found.metric, criterion=found.criterion, statistic=PAIRS, level="system", heading=heading,
        value=found.right / found.pairs if found.pairs else math.nan, n=found.n, units=found.pairs, ours=ours,
        signature=found.signature,
    )  # fmt: skip


def of_published(figure: Published) -> Cell:
    """A figure without a value of ours."""
    return Cell(
        judge=figure.judge, criterion=figure.criterion, statistic=figure.statistic, level=figure.level,
        published=figure,
    )  # fmt: skip


def finite(value: Any) -> Any:
    """As JSON values, whatever it holds: a number that is none is null, also within lists and objects."""
    if isinstance(value, Mapping):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# How far those who judged a collection agree with one another, two by two, and how their judgement splits.


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
    full = [places for places in one.human if len(places) == count and all(map(answered, places))]
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


NAMES = {"pearson": "Pearson", "spearman": "Spearman", "kendall-b": "Kendall tau-b", "kendall-c": "Kendall tau-c"}
LEVELS = {
    "dataset": "over all items", "group": "mean over groups", "system": "over means of systems",
}  # fmt: skip
MAIN = ("accuracy", "accuracy-mean", "agreement", "consistency", "kappa")  # of verdicts and labels
UNITS = {"group": "groups", "system": "systems"}


@dataclass(frozen=True)
class Line:
    """A judge's row. cells: by criterion. ours: of a run of the user's own."""

    judge: str
    cells: dict[str, Cell]

    @property
    def ours(self) -> bool:
        return any(cell.ours for cell in self.cells.values())

    @property
    def measured(self) -> bool:
        """Whether any of its numbers is ours."""
        return any(cell.measured for cell in self.cells.values())

    @property
    def n(self) -> str:
        """Items that its numbers rest on, and groups or systems among them; "" where none is ours."""
        own = [cell for cell in self.cells.values() if cell.measured]
        items = _range([cell.n for cell in own])
        return f"{items} / {_range([cell.units for cell in own])}" if own and own[0].level in UNITS else items

    @property
    def sources(self) -> tuple[str, ...]:
        """Where its published figures are from."""
        found = [cell.published.source for cell in self.cells.values() if cell.published is not None]
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Section:
    """One statistic: its title, the columns in their order, and the lines, ours last."""

    heading: str
    statistic: str
    level: str
    criteria: tuple[str, ...]
    lines: tuple[Line, ...]
    judges: str = "people"  # who gave what all is held against

    @property
    def counted(self) -> str:
        """What stands in the last column."""
        return "n" if self.level not in UNITS else f"n / {'pairs' if self.statistic == PAIRS else UNITS[self.level]}"

    @property
    def title(self) -> str:
        """Such as "Spearman, over all items"."""
        ranked = f"Pairs of systems ranked as {self.judges} rank them"
        name = ranked if self.statistic == PAIRS else self.statistic
        level = "" if self.statistic == PAIRS else LEVELS.get(self.level, self.level)
        heading = ", ".join(part for part in (NAMES.get(name, name), level) if part)
        return f"{self.heading}: {heading}" if self.heading else heading


def sections(cells: Iterable[Cell], judges: str = "people") -> list[Section]:
    """The cells sorted into tables; lines in the order of the cells, those of the user's own run last."""
    found: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        found.setdefault((cell.heading, cell.statistic, cell.level), []).append(cell)
    return [
        Section(*key, tuple(dict.fromkeys(c.criterion for c in held)), _lines(held), judges)
        for key, held in found.items()
    ]


def _lines(cells: Sequence[Cell]) -> tuple[Line, ...]:
    """A run's metric is a line of its own, even where a published judge has its name."""
    found: dict[tuple[bool, str], dict[str, Cell]] = {}
    for cell in cells:
        found.setdefault((cell.ours, cell.judge), {})[cell.criterion] = cell
    lines = [Line(judge, held) for (_, judge), held in found.items()]
    return tuple(sorted(lines, key=lambda line: (line.ours, line.measured)))


def worth_printing(section: Section) -> bool:
    """Of verdicts and labels there are more statistics than a terminal should hold; JSON has them all."""
    published = any(line.sources for line in section.lines)
    return bool(section.level) or published or section.statistic in MAIN


def shown(cell: Cell) -> str:
    """ ".448 =" where the published figure is equal, ".282 (.234)" where it is not, "(.575)" without ours."""
    digits = cell.published.digits if cell.published is not None else 3
    known = f"({figure(cell.published.value, digits)})" if cell.published is not None else ""
    if cell.statistic == PAIRS:
        ours = f"{round(cell.value * cell.units)} of {cell.units}" if cell.measured else ""
    else:
        ours = figure(cell.value, digits) if cell.measured else ""
    if not ours:
        return known or "-"
    return f"{ours} =" if cell.equal else f"{ours} {known}".rstrip()


def figure(value: float, digits: int = 3) -> str:
    """Without the zero before the point, as papers print it: ".448", "-.048", "1.000"."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 and text.lstrip("-").startswith("0.") else text


def counts_line(cell: Cell) -> str:
    """Its interval, such as "[.40,.49]", "" where it has none."""
    low, high = cell.interval
    return f"[{figure(low, 2)},{figure(high, 2)}]" if low == low and high == high else ""


def _range(counts: Sequence[int]) -> str:
    low, high = (min(counts), max(counts)) if counts else (0, 0)
    return "" if not counts else f"{low:,}" if low == high else f"{low:,}-{high:,}"
