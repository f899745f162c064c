"""Labels and verdicts against people's: accuracy, kappa, alpha, both orders, with intervals and by each rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgegraph.errors import one_line
from judgegraph.meta.answers import WRONG, Answers
from judgegraph.meta.cells import Answer
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.numbers import (
    AGREE,
    POWER,
    comparable_pairs,
    items_needed,
    permutations,
    signature,
    unit_of,
    unread_rule,
)
from judgegraph.meta.result import NONE, Difference, Ends, Row, Test, of_units, settled_ends
from judgegraph.stats.agreement import (
    accuracy,
    cohen_kappa,
    krippendorff_alpha,
    macro,
    share_interval,
    variance_of_mean,
)
from judgegraph.stats.bootstrap import interval
from judgegraph.stats.correlation import Codes, Floats
from judgegraph.stats.resampling import resample
from judgegraph.stats.tests import both_orders, permutation_test_of_shares

# Statistics of labels from a table of counts: what a resample of them is.


MOST_CLASSES = 60  # of which tables are counted a thousand times


def kappa(table: Floats, cost: Floats) -> float:
    """Cohen's kappa, one less the observed cost by the expected one; nan where nothing is expected.

    Args:
        table: (k, k), people's label by the metric's. cost: (k, k) of each disagreement, 0 on the diagonal.
    """
    total = table.sum()
    expected = float((np.outer(table.sum(axis=1), table.sum(axis=0)) * cost).sum()) / total if total else 0.0
    return 1 - float((table * cost).sum()) / expected if expected else float("nan")


def costs(k: int, power: int) -> Floats:
    """Of k classes: 0 and 1 (power 0), or the distance of their places to a power."""
    place = np.arange(k)
    apart = np.abs(np.subtract.outer(place, place)).astype(np.float64)
    return (apart > 0).astype(np.float64) if not power else apart**power


def alpha(table: Floats) -> float:
    """Krippendorff's nominal alpha of two raters; nan where nothing varies."""
    both = table + table.T
    n, each = both.sum(), both.sum(axis=0)
    expected = float(n * n - (each**2).sum())
    return 1 - float(n - 1) * float(n - np.trace(both)) / expected if expected else float("nan")


def ordinal_alpha(table: Floats) -> float:
    """Krippendorff's alpha of two raters whose classes stand in their order; nan where nothing varies."""
    both = table + table.T
    n, each = both.sum(), both.sum(axis=0)
    place = np.cumsum(each) - each / 2  # mean rank, but for a constant
    apart = np.subtract.outer(place, place) ** 2
    expected = float(each @ apart @ each)
    return 1 - float(n - 1) * float((both * apart).sum()) / expected if expected else float("nan")


def macro_of_table(table: Floats, classes: int) -> tuple[float, float, float]:
    """Macro precision, recall and F1 over the first classes, those of people."""
    right, wanted, given = np.diag(table)[:classes], table.sum(axis=1)[:classes], table.sum(axis=0)[:classes]
    met = wanted > 0  # in a resample a class may be missing
    if not met.any():
        return float("nan"), float("nan"), float("nan")
    right, wanted, given = right[met], wanted[met], given[met]
    each = right / np.where(given > 0, given, 1), right / wanted, 2 * right / (given + wanted)
    precision, recall, f1 = (float(one.mean()) for one in each)
    return precision, recall, f1


def coded(columns: Sequence[Sequence[object]], classes: Sequence[object]) -> list[Codes]:
    """Each column as places in the classes."""
    place = {label: code for code, label in enumerate(classes)}
    return [np.array([place[label] for label in column], dtype=np.intp) for column in columns]


def counted(human: Codes, metric: Codes, k: int, items: Codes) -> Floats:
    """The table of drawn items."""
    pairs = np.bincount(human[items] * k + metric[items], minlength=k * k)
    return pairs.reshape(k, k).astype(np.float64)


# Intervals of what labels agree in.


Drawing = Callable[[Codes], dict[str, float]]
SHARES = ("accuracy", "accuracy-exchanged", "accuracy-mean", "agreement", "consistency")  # by Wilson, not by resamples


def intervals(
    answers: Answers, human: Sequence[Answer], first: Sequence[Answer], second: Sequence[Answer] | None,
    places: Sequence[int], conventions: Conventions,
) -> tuple[dict[str, Ends], tuple[str, ...], dict[str, tuple[str, ...]]]:  # fmt: skip
    """Statistic -> the ends of its interval, of shares Wilson's; what to know of all; statistic -> why it has none."""
    if not conventions.resamples or len(human) < 2:
        return {}, (), {}
    codes, units = units_of(answers, places, conventions)
    notes = of_units(units, unit_of(answers, conventions, "dataset"))
    if units < 2:
        return {}, tuple(notes), {}
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
        return found, (*notes, f"intervals of shares alone: {len(classes)} labels"), {}
    none: dict[str, tuple[str, ...]] = {}
    drawing = _drawing(h, a, len(known), len(classes), len(answers.order))
    for name, ends in drawn(drawing, answers, places, conventions).items():
        found[name], why = settled_ends(ends)
        none |= {name: tuple(why)} if why else {}
    return found, tuple(notes), none


def drawn(drawing: Drawing, answers: Answers, places: Sequence[int], conventions: Conventions) -> dict[str, Ends]:
    """The interval of each statistic that a drawing of items gives."""
    names = list(drawing(np.arange(len(places), dtype=np.intp)))

    def statistic(items: Codes) -> Floats:
        return np.array(list(drawing(items).values()))

    codes, count = units_of(answers, places, conventions)
    values = resample(statistic, len(places), units=codes, resamples=conventions.resamples, seed=conventions.seed)
    found = {name: interval(row, conventions.confidence, units=count) for name, row in zip(names, values, strict=True)}
    return {name: (one.low, one.high) for name, one in found.items()}


def units_of(answers: Answers, places: Sequence[int] | Codes, conventions: Conventions) -> tuple[Codes | None, int]:
    """Which unit each of these items belongs to, None where each is one; and how many units there are."""
    units = {"group": answers.group, "system": answers.system}.get(unit_of(answers, conventions, "dataset"))
    if units is None:
        return None, len(places)
    codes = np.unique(units[np.asarray(places, dtype=np.intp)], return_inverse=True)[1].astype(np.intp)
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
        return found | dict(zip(names, macro_of_table(table, people), strict=True))

    return drawing


RULES = {"drop": None, "wrong": WRONG, "tie": "tie"}  # rule -> what stands for an answer that could not be read


@dataclass(frozen=True)
class Verdicts:
    """Aligned columns of one metric: people's, its own, and those in the exchanged order where it was asked so."""

    human: tuple[Answer, ...]
    first: tuple[Answer, ...]
    second: tuple[Answer, ...] | None
    places: tuple[int, ...]  # places of these items among all


def by_rule(answers: Answers, name: str, rule: str) -> Verdicts:
    """A metric's columns by a rule for unread answers: "drop", "wrong", "tie", or "right" (what people say)."""
    first, second = answers.metrics[name], answers.exchanged.get(name)
    places = range(len(answers))
    if rule == "drop":
        places = [i for i in places if first[i] is not None and (second is None or second[i] is not None)]  # type: ignore[assignment]

    def filled(column: Sequence[Answer | None]) -> tuple[Answer, ...]:
        filled_in = ((column[i], answers.human[i] if rule == "right" else RULES[rule]) for i in places)
        return tuple(value if value is not None else other for value, other in filled_in)  # type: ignore[misc]

    return Verdicts(
        tuple(answers.human[i] for i in places), filled(first), None if second is None else filled(second),
        tuple(places),
    )  # fmt: skip


def statistics(found: Verdicts, order: Sequence[str], unread_equal: bool) -> dict[str, float]:
    """Statistic -> value."""
    human, first = found.human, found.first
    values = {"accuracy": accuracy(human, first)}
    if found.second is not None:
        orders = both_orders(human, _none(first), _none(found.second), unread_agree=unread_equal)
        values |= {
            "accuracy-exchanged": orders.accuracy_second, "accuracy-mean": orders.accuracy_mean,
            "agreement": orders.agreement, "consistency": orders.consistency,
        }  # fmt: skip
    values["kappa"] = cohen_kappa(human, first)
    if order:
        values["kappa-linear"] = cohen_kappa(human, _none(first), "linear", order)
        values["kappa-quadratic"] = cohen_kappa(human, _none(first), "quadratic", order)
        values["alpha-ordinal"] = krippendorff_alpha([human, _none(first)], "ordinal", order)
    values["alpha"] = krippendorff_alpha([human, first])
    classes = macro(human, first)
    values |= {
        "macro-precision": classes.precision, "macro-recall": classes.recall, "macro-f1": classes.f1,
    }  # fmt: skip
    return values


def _none(column: Sequence[Answer]) -> list[Answer | None]:
    """Unread answers as none again, where their being wrong is no class of its own."""
    return [None if value == WRONG else value for value in column]


def rows(answers: Answers, conventions: Conventions) -> Iterator[Row]:
    """A row for each metric and statistic."""
    rule = unread_rule(answers, conventions)
    for name in answers.metrics:
        found = by_rule(answers, name, rule)
        values = statistics(found, answers.order, conventions.unread_equal)
        ways = _ways(answers, name, conventions)
        ends, notes, none = intervals(answers, found.human, found.first, found.second, found.places, conventions)
        never = _never_given(found)
        for statistic, value in values.items():
            told = none.get(statistic, notes) + (never if statistic in ("macro-precision", "macro-f1") else ())
            yield _row(
                answers, conventions, name, statistic, value, ends.get(statistic, NONE), ways, len(found.human), told
            )  # fmt: skip


def _never_given(found: Verdicts) -> tuple[str, ...]:
    """Labels of people that a metric never gives: their precision has no value, and counts as 0."""
    never = [str(label) for label in dict.fromkeys(found.human) if label not in found.first]
    return (f"never given, so of precision 0: {one_line(', '.join(never), 120)}",) if never else ()


def _ways(answers: Answers, name: str, conventions: Conventions) -> dict[str, dict[str, float]]:
    """Rule -> all statistics, where something could not be read."""
    columns = [answers.metrics[name], answers.exchanged.get(name, ())]
    if not any(value is None for column in columns for value in column):
        return {}
    rules = ("drop", "wrong", *(("tie",) if answers.kind == "verdict" else ()), "right")
    return {
        rule: statistics(by_rule(answers, name, rule), answers.order, conventions.unread_equal) for rule in rules
    }  # fmt: skip


def _row(
    answers: Answers, conventions: Conventions, name: str, statistic: str, value: float, ends: Ends,
    ways: dict[str, dict[str, float]], n: int, notes: tuple[str, ...],
) -> Row:  # fmt: skip
    more: tuple[str, ...] = ("unread-equal:true",) if statistic == "consistency" and conventions.unread_equal else ()
    more += (AGREE,) if name in answers.combined else ()
    if math.isnan(value):
        notes = (f"{n} items with an answer" if n < 2 else "one answer everywhere: nothing to agree on beyond chance",)
    return Row(
        criterion=answers.criterion, metric=name, kind=answers.kind, statistic=statistic, value=value, interval=ends,
        n=n, units=n, judged=len(answers), unread=_unread(answers, name),
        failures={rule: found[statistic] for rule, found in ways.items()},
        signature=signature(
            answers, conventions, statistic, "dataset", n, *more, made=0 if math.isnan(ends[0]) else None,
            wilson=statistic in SHARES,
        ), notes=notes,
    )  # fmt: skip


def _unread(answers: Answers, name: str) -> dict[str, int]:
    second = sum(value is None for value in answers.exchanged.get(name, ()))
    return {**answers.unread[name], **({"unread when exchanged": second} if second else {})}


# Two metrics' verdicts or labels on the same items: which is right more often, and could it be chance?


Bools = NDArray[np.bool_]


def label_differences(answers: Answers, conventions: Conventions, against: str | None = None) -> Iterator[Difference]:
    """Each pair of metrics by accuracy, and by agreement in both orders where both were asked so."""
    rule = unread_rule(answers, conventions)
    found = {name: by_rule(answers, name, rule) for name in answers.metrics}
    for a, b in comparable_pairs(answers, against):
        places = sorted(set(found[a].places) & set(found[b].places))
        x, y = (_right(found[name], places) for name in (a, b))
        for statistic in x.keys() & y.keys():
            yield _difference(answers, conventions, (a, b), statistic, places, (x[statistic], y[statistic]))


def _right(found: Verdicts, places: list[int]) -> dict[str, Bools]:
    """Statistic -> per item whether the metric is right."""
    place = {item: at for at, item in enumerate(found.places)}
    at = [place[item] for item in places]
    first = np.array([found.first[i] == found.human[i] for i in at], dtype=bool)
    if found.second is None:
        return {"accuracy": first}
    second = np.array([found.second[i] == found.human[i] for i in at], dtype=bool)
    return {"accuracy": first, "agreement": first & second}


def _difference(
    answers: Answers, conventions: Conventions, names: tuple[str, str], statistic: str, places: list[int],
    right: tuple[Bools, Bools],
) -> Difference:  # fmt: skip
    x, y = right
    n, c = len(places), conventions
    tests, more = (_tested(x, y, _groups(answers, places), c)) if n else ((), ())
    ends, notes = _interval(x, y, answers, places, c)
    more = (*more, *((AGREE,) if answers.combined & {*names} else ()))
    return Difference(
        criterion=answers.criterion, a=names[0], b=names[1], statistic=statistic, n=n,
        value_a=float(x.mean()) if n else math.nan, value_b=float(y.mean()) if n else math.nan,
        interval=ends, tests=tests, notes=tuple(notes),
        needed=needed(x, y, 1 - c.confidence, _groups(answers, places)),
        signature=signature(answers, c, statistic, "dataset", n, *more, f"correction:{c.correction}"),
    )  # fmt: skip


def _groups(answers: Answers, places: list[int]) -> Codes | None:
    """The document of each item; None where no two share one."""
    if answers.group is None:
        return None
    codes = np.unique(answers.group[places], return_inverse=True)[1].astype(np.intp)
    return codes if len(codes) > codes.max(initial=-1) + 1 else None


def _tested(x: Bools, y: Bools, group: Codes | None, c: Conventions) -> tuple[tuple[Test, ...], tuple[str, ...]]:
    """The test of the two, which takes documents as a whole; and what it went through, for the signature."""
    if group is None:
        return (mcnemar(x, y),), ()
    found = permutation_test_of_shares(
        x.astype(np.float64), y.astype(np.float64), group=group, permutations=c.permutations, seed=c.seed
    )
    note = "; ".join(part for part in (_only(x, y), found.note) if part)
    test = Test(name=found.name, statistic=found.statistic, p=found.p, n=found.n, note=note)
    return (test,), (permutations(found),)


def _only(x: Bools, y: Bools) -> str:
    return f"{int((x & ~y).sum())} items only the first is right on, {int((~x & y).sum())} only the second"


def _interval(x: Bools, y: Bools, answers: Answers, places: list[int], c: Conventions) -> tuple[Ends, list[str]]:
    """Its ends, and why there are none; where no item tells the two apart, as far as such items may be too rare."""
    if len(places) < 2 or not c.resamples:
        return NONE, []
    codes, count = units_of(answers, places, c)
    if count < 2:
        return NONE, of_units(count, unit_of(answers, c, "dataset"))
    if (x == y).all():
        rare = share_interval(np.zeros(len(x)), c.confidence, unit=codes).high
        return (-rare, rare), []

    def drawing(items: Codes) -> dict[str, float]:
        return {"difference": float(x[items].mean() - y[items].mean())}

    return settled_ends(drawn(drawing, answers, places, c)["difference"])


def mcnemar(x: Bools, y: Bools) -> Test:
    """Exact test of two shares on the same items: every way of swapping the two answers of an item counts alike.

    Source: McNemar 1947; it is the permutation test of the two accuracies, gone through whole.
    """
    better, worse = int((x & ~y).sum()), int((~x & y).sum())
    if not better + worse:
        return Test(name="mcnemar-exact", statistic=0.0, p=1.0, n=len(x), note="right and wrong on the same items")
    p = float(stats.binomtest(better, better + worse).pvalue)
    return Test(name="mcnemar-exact", statistic=float(better - worse), p=p, n=len(x), note=_only(x, y))


def needed(x: Bools, y: Bools, alpha: float, group: Codes | None = None) -> int | None:
    """Items with which the test finds a difference like this with a chance of 80 %; None where there is none.

    Source: Connor 1987, sample size for McNemar's test from the shares of items on which only one is right; with
    documents by how much the difference varies among them.
    """
    if not len(x) or not (apart := float(x.mean() - y.mean())):
        return None
    if group is not None:
        deviation = math.sqrt(variance_of_mean(x.astype(np.float64) - y, group))
        return items_needed(apart, deviation, len(x), alpha)
    unequal = float((x != y).mean())
    reach = float(stats.norm.isf(alpha / 2)) * math.sqrt(unequal)
    reach += float(stats.norm.ppf(POWER)) * math.sqrt(max(0.0, unequal - apart**2))
    return math.ceil((reach / apart) ** 2)
