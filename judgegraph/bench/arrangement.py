"""Judgements arranged for a collection's table: its columns, its rows' names, and the annotator they are held to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from judgegraph.bench.collection import Collection
from judgegraph.meta.duplicates import taken
from judgegraph.meta.judgements import Judgements

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
