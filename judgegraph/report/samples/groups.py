"""All samples, or every k-th of very many, put together by what came of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from judgegraph.answers import answers_of, several
from judgegraph.report.amounts import number
from judgegraph.report.visible import line
from judgegraph.runtime.item import FINE, Item
from judgegraph.runtime.spread import scaled
from judgegraph.runtime.summary import means_of
from judgegraph.types import Scale

MOST = 2_400  # samples that are looked at for a place on the page
FIFTHS = ("lowest fifth of the scale", "second fifth", "middle fifth", "fourth fifth", "highest fifth of the scale")
VERDICTS = {"A": "A is better (output)", "B": "B is better (rival)", "tie": "tie"}
MANY = 15  # points of a scale


@dataclass
class Groups:
    """Attributes: counts: (rank, title) -> samples of the run. items: the same -> those that may be shown.

    step: every which sample may be, in the order of the dataset.
    """

    step: int = 1
    counts: Counter[tuple[float, str]] = field(default_factory=Counter)
    items: dict[tuple[float, str], list[Item]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return self.counts.total()


def grouped(items: Iterable[Item], total: int, scale: Scale | None) -> Groups:
    """All items by group. `total` is how many there are about; `scale` the one that all numbers have, if they do."""
    groups = Groups(max(1, -(-total // MOST)))
    for item in items:
        key = group_of(item, scale)
        groups.counts[key] += 1
        if item.place % groups.step == 0:
            groups.items.setdefault(key, []).append(item)
    for found in groups.items.values():
        found.sort(key=lambda item: item.place)
    return groups


def group_of(item: Item, scale: Scale | None) -> tuple[float, str]:
    """(rank, title): what failed first, then by verdict, by the mean of its final scores, by label."""
    if item.status != "ok":
        return -1.0, f"failed: {item.status.replace('_', ' ')}"
    if item.verdict is not None:
        return float("ABt".index(item.verdict[0])), VERDICTS[item.verdict]
    answers = answers_of(item)
    finals = [s for s in answers if s.of == "output"]
    values = [x for s in finals if (x := scaled(s)) is not None]
    if len(agents := several(finals)) > 1 and (means := means_of(finals)):
        return _by_mean(min(means[agent] for agent in agents if agent in means), scale, True)  # as the list of samples
    if values:
        return _by_mean(sum(values) / len(values), scale, len(values) > 1)
    labels = [s.label for s in finals if s.label is not None]
    if labels:
        return 1_000.0, line(labels[0], 60)
    failed = any(s.status not in FINE for s in answers)
    what = "final score" if any(s.stage == "final" for s in answers) or not answers else "score"
    return 2_000.0, f"no {what} that could be read" if failed else f"no {what}"


def _by_mean(mean: float, scale: Scale | None, several: bool) -> tuple[float, str]:
    """Of a scaled mean: the nearest point of the scale, else the fifth that it lies in."""
    points = scale.points if scale is not None else ()
    if not 2 <= len(points) <= MANY:
        rank = min(4, int(5 * mean))
        return float(rank), f"mean in the {FIFTHS[rank]}" if several else FIFTHS[rank]
    low, high = points[0], points[-1]
    point = min(high, max(low, int(low + mean * (high - low) + 0.5)))
    return float(point), f"{'mean score' if several else 'score'} {number(point)} of {number(low)} to {number(high)}"


def common_scale(scales: Iterable[Scale | None]) -> Scale | None:
    """The one numeric scale of all; None where there are several."""
    found = {str(scale): scale for scale in scales if scale is not None and not scale.labels}
    return next(iter(found.values())) if len(found) == 1 else None
