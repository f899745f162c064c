"""The paper's table: judgements arranged for it, its numbers beside published ones, raters' agreement."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, combinations, zip_longest
from math import fsum
from typing import Any, TypeVar, get_args

import numpy as np

from judgegraph.bench.files import Collection, Published
from judgegraph.errors import counted
from judgegraph.meta.agreement import agreement
from judgegraph.meta.cells import Answer, Judgements, answered, people, taken, width
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.result import NONE, Agreement, Ends, HumanCeiling, Row, SystemPairs
from judgegraph.prompts.criteria import CriteriaSet, criteria_set, same_key
from judgegraph.stats.agreement import cohen_kappa
from judgegraph.stats.correlation import COEFFICIENTS, Coefficient, Level, coefficient
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


# Recorded judges, or a run, against people: every statistic at every level that was published or is asked for.


# What a method is asked of a collection: the criteria that people judged by, and the first items.


def criteria_of(known: Collection, samples: Sequence[Sample], build: Callable[..., Any]) -> CriteriaSet | None:
    """Of its criteria set those that people judged: others cost calls and meet no human score.

    Where people judged by none of them, such as where they compared outputs as wholes, a method that goes without
    criteria is given none, and writes its own or takes those of its file; any other has the whole set.

    Args:
        build: what builds the method's graph.
    """
    whole = criteria_set(known.criteria)
    judged = {same_key(name) for sample in samples for name in sample.human}
    judged_criteria = tuple(criterion for criterion in whole.criteria if same_key(criterion.name) in judged)
    if not judged_criteria:
        return None if _goes_without(build) else whole
    return CriteriaSet(name=whole.name, task=whole.task, criteria=judged_criteria, source=whole.source)


def _goes_without(build: Callable[..., Any]) -> bool:
    """Whether None is the default of its criteria; settings that it passes on are the `builder`'s of its module."""
    for made in (build, getattr(inspect.getmodule(build), "builder", None)):
        setting = inspect.signature(made).parameters.get("criteria") if callable(made) else None
        if setting is not None:
            return setting.default is None
    return False


@dataclass(frozen=True)
class Part:
    """The items that are taken. told: in words, how many of how many groups; "" where all are taken."""

    samples: list[Sample]
    told: str = ""


def part_of(known: Collection, samples: Iterable[Sample], limit: int | None) -> Part:
    """The first items; where a table has a column for each set of items, one of each set in turn."""
    if limit is None:
        return Part(list(samples))
    everything = list(samples)
    if known.columns == "groups":
        everything = _interleaved(everything)
    taken = everything[:limit]
    if len(taken) == len(everything):
        return Part(taken)
    return Part(taken, f"{len(taken):,} of {counted(len(everything), 'item')}{_groups(known, taken, everything)}")


def _interleaved(samples: Sequence[Sample]) -> list[Sample]:
    sets: dict[str, list[Sample]] = {}
    for sample in samples:
        sets.setdefault(_group(sample), []).append(sample)
    return [sample for sample in chain.from_iterable(zip_longest(*sets.values())) if sample is not None]


def _groups(known: Collection, taken: Sequence[Sample], everything: Sequence[Sample]) -> str:
    groups = dict.fromkeys(map(_group, taken))
    if not taken or set(groups) == {""}:
        return ""
    if known.columns == "groups":
        return f", in turn from {', '.join(groups)}"
    last = _group(taken[-1])
    whole, got = (sum(_group(sample) == last for sample in found) for found in (everything, taken))
    cut = f", the last with {got:,} of its {whole:,}" if got < whole else ", all whole"
    return f" of {len(groups):,} {'group' if len(groups) == 1 else 'groups'}{cut}"


def _group(sample: Sample) -> str:
    return str(sample.meta.get("group", ""))


Sets = Mapping[str, Sequence[Judgements]]  # heading -> judgements of one set of items


@dataclass(frozen=True)
class MeasuredJudge:
    """What came of it.

    Attributes:
        cells: numbers, each beside its published figure, then figures without a number of ours.
        ceilings: how far people agree with one another, where there are several of them: each with the others.
        among: the same of each two of them.
    """

    cells: tuple[Cell, ...]
    ceilings: tuple[HumanCeiling, ...]
    among: tuple[Among, ...] = ()

    @property
    def unequal(self) -> list[Cell]:
        """Numbers that are not the published ones to their printed digits."""
        return [cell for cell in self.cells if cell.equal is False]


def measured(found: Sets, collection: Collection, conventions: Conventions, *, ours: bool = False) -> MeasuredJudge:
    """Measures every metric by every criterion, at the levels of the conventions and of the published figures.

    Args:
        ours: the metrics are of a run of the user's own, whose names meet no published judge.
    """
    cells: list[Cell] = []
    ceilings: list[HumanCeiling] = []
    alone = collection.alone if conventions.annotators != collection.alone else None
    for heading, judgements in found.items():
        for one in (*judgements, *against(judgements, alone)):
            for made in _by_level(one, collection.published, conventions):
                cells += [
                    of_row(row, heading, ours and row.metric not in collection.baseline_names) for row in made.rows
                ]
                cells += [of_pairs(pairs, heading, ours) for pairs in made.systems]
                ceilings += [ceiling for ceiling in made.ceilings if ceiling not in ceilings]
    if collection.statistics:
        cells = [cell for cell in cells if cell.statistic in collection.statistics]
    judged = [one for judgements in found.values() for one in judgements]
    pairwise = tuple(pairs for one in judged if (pairs := among(one, conventions)) is not None)
    return MeasuredJudge(tuple(_with_published(_once(cells), collection.published, ours)), tuple(ceilings), pairwise)


def _by_level(one: Judgements, published: Sequence[Published], conventions: Conventions) -> Iterator[Agreement]:
    """Without tests between metrics, of which recorded judges make many: `judgegraph meta` takes its time for them."""
    if not one.metrics:
        return
    if one.kind != "number":
        yield agreement([one], conventions, tests=False)
        return
    for level, coefficients in _levels(one, published, conventions).items():
        yield agreement([one], conventions.replaced(level=level, coefficients=coefficients), tests=False)


def _levels(
    one: Judgements, published: Sequence[Published], conventions: Conventions
) -> dict[Level, tuple[Coefficient, ...]]:
    """Level -> the coefficients to take at it, of those levels that the items have."""
    wanted = {(conventions.level_of(name), name) for name in conventions.coefficients}
    wanted |= {(f.level, f.statistic) for f in published if f.statistic in COEFFICIENTS}  # type: ignore[misc]
    has = {"dataset": True, "group": one.groups is not None, "system": one.systems is not None}
    found = {level: tuple(c for c in COEFFICIENTS if (level, c) in wanted) for level in get_args(Level)}
    return {level: names for level, names in found.items() if names and has[level]}


def _once(cells: Iterable[Cell]) -> list[Cell]:
    """Pairs of systems do not depend on the level, and come with each."""
    found: dict[tuple[str, ...], Cell] = {}
    for cell in cells:
        found.setdefault((cell.heading, cell.judge, cell.criterion, cell.statistic, cell.level), cell)
    return list(found.values())


def _with_published(cells: list[Cell], published: Sequence[Published], ours: bool) -> Iterator[Cell]:
    """Each number beside its figure; then the figures that met no number."""
    left = list(published)
    for cell in cells:
        figure = None if ours else next((f for f in left if _meets(cell, f)), None)
        if figure is not None:
            left.remove(figure)
        yield replace(cell, published=figure)
    yield from map(of_published, left)


def _meets(cell: Cell, figure: Published) -> bool:
    same = (cell.judge, cell.criterion, cell.statistic) == (figure.judge, figure.criterion, figure.statistic)
    return same and figure.level in ("", cell.level)


def to_dict(found: MeasuredJudge, collection: Collection, conventions: Conventions) -> dict[str, Any]:
    """As JSON values; what is undefined is null."""
    return {
        "collection": collection.name, "title": collection.title, "origin": collection.origin,
        "judges": collection.judges, "conventions": asdict(conventions),
        "cells": [cell.to_dict() for cell in found.cells],
        "ceilings": [finite(asdict(ceiling)) for ceiling in found.ceilings],
        "among": [one.to_dict() for one in found.among], "notes": list(collection.notes),
    }  # fmt: skip
