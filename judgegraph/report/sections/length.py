"""Whether longer outputs score higher: Spearman of each line's scores with the length of what was judged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgegraph.meta.gain import codes
from judgegraph.report.sections.some_items import SomeItems
from judgegraph.runtime.item import Item
from judgegraph.stats.arrays import Unit
from judgegraph.stats.bootstrap import bootstrap
from judgegraph.stats.coefficients import coefficient

LINES, LEAST = 24, 5
WORK = 3_000_000  # numbers drawn
Row = tuple[int, float, str | None]  # length, score, group


@dataclass(frozen=True)
class LengthEffect:
    """One line's coefficient with its 95 % interval, nan where lengths or scores are all alike."""

    name: str
    value: float
    low: float
    high: float
    n: int
    resamples: int


def length_effects(some: SomeItems) -> list[LengthEffect]:
    """Of the answers for single outputs that are numbers, at least five of a line; of no answers, of all."""
    held: dict[tuple[str, str, str], list[Row]] = {}
    for one in some.held:
        for criterion, agent, _, role, value in one.values:
            held.setdefault((criterion, agent, role), []).append((one.length, value, group_of(one.item)))
    finals = {line: rows for line, rows in held.items() if line[2] == "answer"} or held
    finals = {line: rows for line, rows in list(finals.items())[:LINES] if len(rows) >= LEAST}
    resamples = max(100, min(1000, WORK // max(1, sum(map(len, finals.values()))) // 100 * 100))
    return [_effect(f"{line[0]}, {line[1]}", rows, resamples) for line, rows in finals.items()]


def group_of(item: Item) -> str | None:
    """What `meta.group` of its sample says."""
    told = item.sample.meta.get("group")
    return None if told is None else str(told)


def _effect(name: str, rows: list[Row], resamples: int) -> LengthEffect:
    """Groups are drawn whole, where each sample names its own."""
    lengths, values = (np.array([row[at] for row in rows], dtype=np.float64) for at in (0, 1))
    group = codes([row[2] for row in rows])
    value = coefficient("spearman", lengths, values)
    if value != value:
        return LengthEffect(name, value, value, value, len(rows), resamples)
    unit: Unit = "item" if group is None else "group"
    drawn = bootstrap(
        lengths, [values], coefficients=("spearman",), unit=unit, group=group, resamples=resamples
    )  # fmt: skip
    found = drawn.interval(0, 0)
    return LengthEffect(name, value, found.low, found.high, len(rows), resamples)
