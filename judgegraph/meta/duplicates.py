"""Several records of one item: which of them counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from judgegraph.errors import DataError, one_line
from judgegraph.meta.conventions import Duplicates
from judgegraph.meta.judgements import Answer, Judgements
from judgegraph.meta.means import mean

Cell = TypeVar("Cell")


def single(judgements: Judgements, rule: Duplicates) -> tuple[Judgements, int]:
    """One record per id and system, in the order in which they are first met; and how many others there were.

    Raises:
        DataError: there are some and the rule is to refuse, or it is the mean and the answers are no numbers.
    """
    places: dict[tuple[str, str], list[int]] = {}
    for at, id in enumerate(judgements.ids):
        places.setdefault((id, judgements.systems[at] if judgements.systems else ""), []).append(at)
    more = len(judgements) - len(places)
    if not more:
        return judgements, 0
    if rule == "refuse":
        raise _refusal(judgements, places)
    if rule == "mean":
        return _meant(judgements, list(places.values())), more
    chosen = [found[-1 if rule == "last" else 0] for found in places.values()]
    return taken(judgements, chosen), more


def taken(judgements: Judgements, places: Sequence[int]) -> Judgements:
    """The records at these places."""

    def at(column: Sequence[Cell]) -> tuple[Cell, ...]:
        return tuple(column[place] for place in places)

    j = judgements
    return replace(
        j, ids=at(j.ids), human=at(j.human), metrics={name: at(column) for name, column in j.metrics.items()},
        exchanged={name: at(column) for name, column in j.exchanged.items()},
        statuses={name: at(column) for name, column in j.statuses.items()},
        groups=None if j.groups is None else at(j.groups), systems=None if j.systems is None else at(j.systems),
    )  # fmt: skip


def _refusal(judgements: Judgements, places: dict[tuple[str, str], list[int]]) -> DataError:
    doubled = {key: found for key, found in places.items() if len(found) > 1}
    (id, system), found = next(iter(doubled.items()))
    of = f" of system '{one_line(system, 60)}'" if system else ""
    many = f", and {len(doubled) - 1:,} more so" if len(doubled) > 1 else ""
    hint = "" if judgements.systems else "; if systems share ids, name their column (--system)"
    criterion = f"{one_line(judgements.criterion, 60)}: " if judgements.criterion else ""
    return DataError(
        f"{criterion}'{one_line(id, 80)}'{of} stands there {len(found)} times{many}; say which counts: "
        f"--duplicates last, first or mean{hint}"
    )


def _meant(judgements: Judgements, places: Sequence[Sequence[int]]) -> Judgements:
    if judgements.kind != "number":
        raise DataError(
            f"{judgements.criterion}: {judgements.kind}s have no mean; --duplicates takes last or first then"
        )
    first = taken(judgements, [found[0] for found in places])
    human = tuple(_annotators([judgements.human[at] for at in found]) for found in places)
    metrics = {
        name: tuple(_mean(column[at] for at in found) for found in places)
        for name, column in judgements.metrics.items()
    }
    statuses = {
        name: tuple("ok" if value is not None else was for value, was in zip(metrics[name], column, strict=True))
        for name, column in first.statuses.items()
    }
    return replace(first, human=human, metrics=metrics, statuses=statuses)


def _annotators(records: Sequence[tuple[Answer, ...]]) -> tuple[Answer, ...]:
    width = max(map(len, records))
    means = [_mean(record[k] for record in records if len(record) > k) for k in range(width)]
    return tuple(math.nan if one is None else one for one in means)


def _mean(answers: Iterable[Answer | None]) -> float | None:
    known = [float(value) for value in answers if isinstance(value, float | int) and not math.isnan(value)]
    return mean(known) if known else None
