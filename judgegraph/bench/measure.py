"""Recorded judges, or a run, against people: every statistic at every level that was published or is asked for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, zip_longest
from typing import Any, get_args

from judgegraph.bench.files import Collection, Published
from judgegraph.bench.table import Among, Cell, against, among, finite, of_pairs, of_published, of_row
from judgegraph.meta.agreement import agreement
from judgegraph.meta.cells import Judgements
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.result import Agreement, HumanCeiling
from judgegraph.prompts.criteria import CriteriaSet, criteria_set, same_key
from judgegraph.stats.correlation import COEFFICIENTS, Coefficient, Level
from judgegraph.types import Sample

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
    return Part(taken, f"{len(taken):,} of {len(everything):,} items{_groups(known, taken, everything)}")


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
