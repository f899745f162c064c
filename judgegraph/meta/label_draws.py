"""Intervals of what labels agree in."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from judgegraph.meta.answers import WRONG, Answers
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.interval_notes import of_units, settled_ends
from judgegraph.meta.judgements import Answer
from judgegraph.meta.label_counts import MOST_CLASSES, alpha, coded, costs, counted, kappa, macro, ordinal_alpha
from judgegraph.meta.result import Ends
from judgegraph.meta.signatures import unit_of
from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.bootstrap import resample
from judgegraph.stats.intervals import interval
from judgegraph.stats.shares import share_interval

Drawing = Callable[[Codes], dict[str, float]]
SHARES = ("accuracy", "accuracy-exchanged", "accuracy-mean", "agreement", "consistency")  # by Wilson, not by resamples


def intervals(
    answers: Answers, human: Sequence[Answer], first: Sequence[Answer], second: Sequence[Answer] | None,
    kept: Sequence[int], conventions: Conventions,
) -> tuple[dict[str, Ends], tuple[str, ...]]:  # fmt: skip
    """Statistic -> the ends of its interval, of shares Wilson's; and what to know of them."""
    if not conventions.resamples or len(human) < 2:
        return {}, ()
    codes, units = units_of(answers, kept, conventions)
    notes = of_units(units, unit_of(answers, conventions, "dataset"))
    if units < 2:
        return {}, tuple(notes)
    known = dict.fromkeys(human)
    classes = list(dict.fromkeys([*answers.order, *known, *first, *(second or ())]))
    if answers.order:
        known = dict.fromkeys(answers.order)
    classes.sort(key=lambda label: label not in known)  # people's first: over these macro means are taken
    h, a, *b = coded([human, first, *([second] if second is not None else [])], classes)
    unread = classes.index(WRONG) if WRONG in classes else -1
    shares = _shares(h, a, b[0] if b else None, conventions, unread)
    wilson = {name: share_interval(each, conventions.confidence, unit=codes) for name, each in shares.items()}
    found = {name: (one.low, one.high) for name, one in wilson.items()}
    if len(classes) > MOST_CLASSES:
        return found, (*notes, f"intervals of shares alone: {len(classes)} labels")
    drawing = _drawing(h, a, len(known), len(classes), len(answers.order))
    for name, ends in drawn(drawing, answers, kept, conventions).items():
        found[name], more = settled_ends(ends)
        notes += [f"{name}: {note}" for note in more]
    return found, tuple(notes)


def drawn(drawing: Drawing, answers: Answers, kept: Sequence[int], conventions: Conventions) -> dict[str, Ends]:
    """The interval of each statistic that a drawing of items gives."""
    names = list(drawing(np.arange(len(kept), dtype=np.intp)))

    def statistic(items: Codes) -> Floats:
        return np.array(list(drawing(items).values()))

    codes, count = units_of(answers, kept, conventions)
    values = resample(statistic, len(kept), units=codes, resamples=conventions.resamples, seed=conventions.seed)
    found = {name: interval(row, conventions.confidence, units=count) for name, row in zip(names, values, strict=True)}
    return {name: (one.low, one.high) for name, one in found.items() if not math.isnan(one.low)}


def units_of(answers: Answers, kept: Sequence[int] | Codes, conventions: Conventions) -> tuple[Codes | None, int]:
    """Which unit each of these items belongs to, None where each is one; and how many units there are."""
    units = {"group": answers.group, "system": answers.system}.get(unit_of(answers, conventions, "dataset"))
    if units is None:
        return None, len(kept)
    codes = np.unique(units[np.asarray(kept, dtype=np.intp)], return_inverse=True)[1].astype(np.intp)
    return codes, int(codes.max(initial=-1)) + 1


def _shares(h: Codes, a: Codes, b: Codes | None, conventions: Conventions, unread: int) -> dict[str, Floats]:
    """Share -> what it is the mean of."""
    first = (a == h).astype(np.float64)
    if b is None:
        return {"accuracy": first}
    second = (b == h).astype(np.float64)
    same = (a == b) & ((a != unread) | conventions.unread_equal)
    each = (first, second, (first + second) / 2, first * second, same.astype(np.float64))
    return dict(zip(SHARES, each, strict=True))


def _drawing(h: Codes, a: Codes, people: int, k: int, ordered: int) -> Drawing:
    plain, powers = costs(k, 0), [costs(ordered, power) for power in (1, 2)] if ordered else []

    def drawing(items: Codes) -> dict[str, float]:
        table = counted(h, a, k, items)
        found = {"kappa": kappa(table, plain), "alpha": alpha(table)}
        for name, cost in zip(("kappa-linear", "kappa-quadratic"), powers, strict=False):
            found[name] = kappa(table[:ordered, :ordered], cost)
        if ordered:
            found["alpha-ordinal"] = ordinal_alpha(table[:ordered, :ordered])
        names = ("macro-precision", "macro-recall", "macro-f1")
        return found | dict(zip(names, macro(table, people), strict=True))

    return drawing
