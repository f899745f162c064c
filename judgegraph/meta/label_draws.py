"""Intervals of what labels agree in."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from judgegraph.meta.answers import WRONG, Answers
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import Answer
from judgegraph.meta.label_counts import MOST_CLASSES, alpha, coded, costs, counted, f1, kappa
from judgegraph.meta.result import Ends
from judgegraph.meta.signatures import unit_of
from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.bootstrap import resample
from judgegraph.stats.intervals import interval

Drawing = Callable[[Codes], dict[str, float]]


def intervals(
    answers: Answers, human: Sequence[Answer], first: Sequence[Answer], second: Sequence[Answer] | None,
    kept: Sequence[int], conventions: Conventions,
) -> tuple[dict[str, Ends], tuple[str, ...]]:  # fmt: skip
    """Statistic -> the ends of its interval, and what to know of them."""
    if not conventions.resamples or len(human) < 2:
        return {}, ()
    known = dict.fromkeys(human)
    classes = list(dict.fromkeys([*answers.order, *known, *first, *(second or ())]))
    if answers.order:
        known = dict.fromkeys(answers.order)
    classes.sort(key=lambda label: label not in known)  # people's first: over these macro means are taken
    if len(classes) > MOST_CLASSES:
        return {}, (f"no intervals: {len(classes)} labels",)
    h, a, *b = coded([human, first, *([second] if second is not None else [])], classes)
    people = len(known)
    unread = classes.index(WRONG) if WRONG in classes else -1
    drawing = _drawing(h, a, b[0] if b else None, people, len(classes), len(answers.order), conventions, unread)
    return drawn(drawing, answers, kept, conventions), ()


def drawn(drawing: Drawing, answers: Answers, kept: Sequence[int], conventions: Conventions) -> dict[str, Ends]:
    """The interval of each statistic that a drawing of items gives."""
    names = list(drawing(np.arange(len(kept), dtype=np.intp)))

    def statistic(items: Codes) -> Floats:
        return np.array(list(drawing(items).values()))

    units = {"group": answers.group, "system": answers.system}.get(unit_of(answers, conventions, "dataset"))
    codes = None if units is None else np.unique(units[list(kept)], return_inverse=True)[1].astype(np.intp)
    values = resample(statistic, len(kept), units=codes, resamples=conventions.resamples, seed=conventions.seed)
    count = len(kept) if codes is None else int(codes.max()) + 1
    found = {name: interval(row, conventions.confidence, units=count) for name, row in zip(names, values, strict=True)}
    return {name: (one.low, one.high) for name, one in found.items() if not math.isnan(one.low)}


def _drawing(
    h: Codes, a: Codes, b: Codes | None, people: int, k: int, ordered: int, conventions: Conventions, unread: int
) -> Drawing:  # fmt: skip
    plain, powers = costs(k, 0), [costs(ordered, power) for power in (1, 2)] if ordered else []
    right, both = (a == h), None if b is None else (b == h)
    same = None if b is None else (a == b) & ((a != unread) | conventions.unread_equal)

    def drawing(items: Codes) -> dict[str, float]:
        table = counted(h, a, k, items)
        found = {"accuracy": float(right[items].mean())}
        if both is not None and same is not None:
            second, agree = float(both[items].mean()), float((right & both)[items].mean())
            found |= {"accuracy-exchanged": second, "accuracy-mean": (found["accuracy"] + second) / 2}
            found |= {"agreement": agree, "consistency": float(same[items].mean())}
        found["kappa"] = kappa(table, plain)
        for name, cost in zip(("kappa-linear", "kappa-quadratic"), powers, strict=False):
            found[name] = kappa(table[:ordered, :ordered], cost)
        return found | {"alpha": alpha(table), "macro-f1": f1(table, people)}

    return drawing
