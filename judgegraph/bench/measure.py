"""Recorded judges, or a run, against people: every statistic at every level that was published or is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, get_args

from judgegraph.bench.among import Among, among
from judgegraph.bench.arrangement import against
from judgegraph.bench.cell import Cell, finite, of_pairs, of_published, of_row
from judgegraph.bench.collection import Collection, Published
from judgegraph.meta.agreement import agreement
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import Judgements
from judgegraph.meta.result import Agreement, HumanCeiling
from judgegraph.stats.arrays import COEFFICIENTS, Coefficient, Level

Sets = Mapping[str, Sequence[Judgements]]  # heading -> judgements of one set of items


@dataclass(frozen=True)
class Measured:
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


def measured(found: Sets, collection: Collection, conventions: Conventions, *, ours: bool = False) -> Measured:
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
                cells += [of_row(row, heading, ours) for row in made.rows]
                cells += [of_pairs(pairs, heading, ours) for pairs in made.systems]
                ceilings += [ceiling for ceiling in made.ceilings if ceiling not in ceilings]
    judged = [one for judgements in found.values() for one in judgements]
    told = tuple(pairs for one in judged if (pairs := among(one, conventions)) is not None)
    return Measured(tuple(_beside(_once(cells), collection.published, ours)), tuple(ceilings), told)


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


def _beside(cells: list[Cell], published: Sequence[Published], ours: bool) -> Iterator[Cell]:
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


def to_dict(found: Measured, collection: Collection, conventions: Conventions) -> dict[str, Any]:
    """As JSON values; what is undefined is null."""
    return {
        "collection": collection.name, "title": collection.title, "origin": collection.origin,
        "judges": collection.judges, "conventions": asdict(conventions),
        "cells": [cell.to_dict() for cell in found.cells],
        "ceilings": [finite(asdict(ceiling)) for ceiling in found.ceilings],
        "among": [one.to_dict() for one in found.among], "notes": list(collection.notes),
    }  # fmt: skip
