"""How far metrics agree with people: coefficients, labels, tests, human ceilings, pairs of systems.

It hides which figures fit which kind of judgement (numbers, labels, verdicts) and which tests go with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgegraph.errors import ConfigError, counted, handing_on, one_line
from judgegraph.meta.answers import WRONG, Answers, answers, at, floats
from judgegraph.meta.cells import Answer, Judgements, Unjudged, taken
from judgegraph.meta.conventions import Conventions, chosen
from judgegraph.meta.judgements import read_run, with_annotator
from judgegraph.meta.result import (
    AGREE,
    NONE,
    POWER,
    Agreement,
    Difference,
    Ends,
    HumanCeiling,
    Numbers,
    Row,
    SystemPairs,
    Test,
    comparable_pairs,
    differences,
    few_resamples,
    items_needed,
    of_units,
    pairs,
    permutations,
    same_notes,
    settled_ends,
    signature,
    test_of,
    unit_of,
    unread_rule,
    with_corrections,
)
from judgegraph.runs.run import Run
from judgegraph.stats.agreement import (
    Ceiling,
    Metric,
    accuracy,
    both_orders,
    cohen_kappa,
    hits,
    krippendorff_alpha,
    leave_one_out,
    leave_one_out_labels,
    macro,
    others,
    permutation_test_of_shares,
    share_interval,
    variance_of_mean,
)
from judgegraph.stats.bootstrap import Draws, Weighted, bootstrap, interval, resample, system_means
from judgegraph.stats.correlation import Codes, Coefficient, Floats, Level
from judgegraph.stats.ranking import Rule, ranked_pairs

# Intervals of how far people agree with one another, and of how many resamples each is.


RATINGS = 50_000_000  # that are counted anew, over all resamples
FEWEST = 199  # resamples that are made in any case


def of_numbers(answers: Answers, numbers: Floats, name: Coefficient, c: Conventions) -> tuple[Ends, int]:
    """Of the mean of the annotators' coefficients, each against the mean of the others; all are drawn alike.

    None where items lack an annotator and the level is not the dataset's.

    Args:
        numbers: (items, annotators), nan where one left an item out.
    """
    level, most = c.level_of(name), _most(numbers, c)
    if not c.resamples or len(numbers) < 2:
        return NONE, 0
    unit = unit_of(answers, c, level)
    group = answers.group if unit in ("group", "both") or level == "group" else None
    system = answers.system if unit in ("system", "both") or level == "system" else None
    if np.isnan(numbers).any():
        return (NONE, 0) if level != "dataset" else _with_gaps(numbers, name, Draws(
            unit, len(numbers), most, c.seed, group=group, system=system), c)  # fmt: skip
    each = [
        bootstrap(
            others(numbers, at), [numbers[:, at]], coefficients=[name], level=level, unit=unit, group=group,
            system=system, constant=c.constant, resamples=most, seed=c.seed,
        ) for at in range(numbers.shape[1])
    ]  # fmt: skip
    made = min(int(one.made[0, 0]) for one in each)
    return _ends(np.mean([one.values[0, 0, :made] for one in each], axis=0), each[0].units, c)


def _with_gaps(numbers: Floats, name: Coefficient, draws: Draws, c: Conventions) -> tuple[Ends, int]:
    """Over all items, of which each annotator is held against the others where he has a place."""
    means = [others(numbers, at) for at in range(numbers.shape[1])]
    known = [~np.isnan(mean + numbers[:, at]) for at, mean in enumerate(means)]
    pairs = [Weighted(means[at][there], numbers[there, at]) for at, there in enumerate(known)]
    made = min(pair.made(name, draws.resamples) for pair in pairs)
    found = []
    for drawn in draws:
        if drawn.resamples.start < made:
            weighted = zip(pairs, known, strict=True)
            each = [pair.coefficients(drawn.weights[:, there], [name])[0] for pair, there in weighted]
            found.append(np.mean(each, axis=0))
    return _ends(np.concatenate(found)[:made], draws.units, c)


def of_labels(answers: Answers, c: Conventions) -> tuple[Ends, int]:
    """Of how often an annotator says what the others say."""
    found = hits(answers.annotators)

    def statistic(items: Codes) -> Floats:
        drawn = found[items]
        known = ~np.isnan(drawn)
        counts = known.sum(axis=0)
        each = np.nansum(drawn, axis=0)[counts > 0] / counts[counts > 0]
        return np.array([each.mean() if len(each) else np.nan])

    return _drawn(statistic, answers, c, c.resamples)


def of_alpha(answers: Answers, kind: Metric, c: Conventions) -> tuple[Ends, int]:
    """Of Krippendorff's alpha."""
    table = _table(answers, kind)
    return _drawn(lambda items: np.array([krippendorff_alpha(table[:, items], kind)]), answers, c, _most(table, c))


def _most(ratings: Floats, c: Conventions) -> int:
    return min(c.resamples, max(FEWEST, RATINGS // max(1, ratings.size)))


def _table(answers: Answers, kind: Metric) -> Floats:
    """Annotators x items, labels by their place in the order."""
    raters: Sequence[Sequence[Answer | None]] = list(zip(*answers.annotators, strict=True))
    if kind == "interval":
        return np.array([floats(rater) for rater in raters])
    met = dict.fromkeys([*answers.order, *(label for rater in raters for label in rater if label is not None)])
    place = {label: float(at) for at, label in enumerate(met)}
    return np.array([[np.nan if label is None else place[label] for label in rater] for rater in raters])


def _drawn(statistic: Callable[[Codes], Floats], answers: Answers, c: Conventions, resamples: int) -> tuple[Ends, int]:
    n = len(answers)
    if not resamples or n < 2 or unit_of(answers, c, "dataset") == "both":
        return NONE, 0
    codes, count = units_of(answers, np.arange(n), c)
    return _ends(resample(statistic, n, units=codes, resamples=resamples, seed=c.seed)[0], count, c)


def _ends(values: Floats, units: int, c: Conventions) -> tuple[Ends, int]:
    if units < 2:
        return NONE, 0
    found = interval(values, c.confidence, units=units)
    return (found.low, found.high), len(values)


# How far people agree with one another, and with a metric on which of two systems is better.


def ceilings(answers: Answers, conventions: Conventions) -> Iterator[HumanCeiling]:
    """Each annotator against the others, and the alpha of all; nothing where there is one annotator."""
    c, table = conventions, answers.annotators
    if not table or len(table[0]) < 2:
        return
    raters = list(zip(*table, strict=True))

    def row(statistic: str, found: Ceiling, drawn: tuple[Ends, int], level: Level = "dataset") -> HumanCeiling:
        ends, made = drawn if found.n > 1 else (NONE, drawn[1])  # of one item nothing is drawn
        line = signature(answers, c, statistic, level, found.n, made=made)
        return HumanCeiling(
            criterion=answers.criterion, statistic=statistic, level=level, value=found.value, interval=ends,
            each=found.each, annotators=len(raters), n=found.n, signature=line,
        )  # fmt: skip

    if answers.kind != "number":
        found = leave_one_out_labels(table)
        yield row("accuracy", found, of_labels(answers, c))
        kind: Metric = "ordinal" if answers.order else "nominal"
    else:
        numbers = np.array([floats(rater) for rater in raters]).T
        for name in c.coefficients:
            level = c.level_of(name)
            found = leave_one_out(
                numbers, coefficient=name, level=level, group=answers.group, system=answers.system, constant=c.constant
            )  # fmt: skip
            yield row(name, found, of_numbers(answers, numbers, name, c), level)
        kind = "interval"
    value = krippendorff_alpha(raters, kind, answers.order)
    yield row(f"alpha-{kind}", Ceiling(value, (), found.n), of_alpha(answers, kind, c))


def system_pairs(numbers: Numbers) -> Iterator[SystemPairs]:
    """Of each metric, the pairs of systems that it ranks as people do; nothing without systems."""
    answers = numbers.answers
    if answers.system is None or len(answers.systems) < 2:
        return
    for name in numbers.metrics:
        values = numbers.counted(name)
        known = ~np.isnan(values)
        human, metric, group, system = (
            numbers.human[known],
            values[known],
            at(answers.group, known),
            answers.system[known],
        )
        if not known.any():
            continue
        rule: Rule = "mean" if group is None or _twice(group, system) else "wins"
        if group is None or rule == "mean":  # the systems' means are as one document
            codes = np.unique(system, return_inverse=True)[1].astype(np.intp)
            human, metric, system = system_means(human, codes), system_means(metric, codes), np.unique(system)
            group = np.zeros(len(system), dtype=np.intp)
        found = ranked_pairs(human, metric, group, system, rule=rule, close="adjacent")
        n = int(known.sum())
        more, c = (f"ahead-by:{rule}", "close:adjacent"), numbers.conventions
        line = signature(answers, c, "system-pairs", "dataset", n, *more, made=0)
        yield SystemPairs(
            criterion=answers.criterion, metric=name, systems=len(np.unique(system)), rule=rule,
            right=found.right, pairs=found.pairs, close_right=found.close_right, close_pairs=found.close_pairs, n=n,
            signature=line,
        )  # fmt: skip


def _twice(group: Codes, system: Codes) -> bool:
    """Whether a system has two items of one group, so that none of them is its output there."""
    return len(set(zip(group.tolist(), system.tolist(), strict=True))) < len(group)


@handing_on(Conventions)
def agreement(
    of: Run | Sequence[Judgements],
    conventions: Conventions | None = None,
    *,
    preset: str | None = None,
    tests: bool = True,
    against: str | None = None,
    **choices: Any,
) -> Agreement:
    """How far metrics agree with people.

    Args:
        of: a run whose samples hold people's judgements, or judgements of any origin (`read_table`, `of_run`).
        conventions: every choice that moves a number; or `preset`, a paper's (`judgegraph.meta.conventions.PRESETS`).
            `choices` are fields of `Conventions`, which come first.
        tests: whether metrics are compared with one another. against: only with this one.

    Returns:
        Rows for each criterion, metric and statistic, each with its interval and its signature. Counts of pairs of
        systems have no interval.

    Raises:
        ConfigError: nothing that people judged; a choice that does not fit; DataError: doubled records.
    """
    if conventions is not None and preset is not None:
        raise ConfigError("give conventions, or the name of a preset, not both")
    c = conventions.replaced(**choices) if conventions is not None else chosen(preset, **choices)
    source, notes, judged = "", [], of
    if isinstance(of, Run):
        read = read_run(of)
        source, notes, judged = of.signature, list(read.notes), read.judgements
    assert not isinstance(judged, Run)
    judged, lacking = with_annotator(judged, c.annotators)
    notes += [*lacking, *(note for one in judged for note in one.notes)]
    prepared = [answers(one, c) for one in judged]
    if against is not None:
        pairs([name for one in prepared for name in one.metrics], against)  # it must be somewhere
    found = _Found()
    notes += few_resamples(c)
    for one, whole in zip(prepared, judged, strict=True):
        notes += [*_left_out(one), *_without_level(one, c), *_short_texts(one, whole, c)]
        if len(one) and one.metrics:
            found.add(one, c, tests, against)
    if not found.rows:
        raise Unjudged("; ".join(["nothing can be compared: no item has a judgement of people", *notes][:4]))
    return Agreement(
        c, tuple(found.rows), tuple(with_corrections(found.differences, c)), tuple(found.ceilings),
        tuple(found.systems), (*notes, *found.notes), source,
    )  # fmt: skip


THIN = "nothing to judge"  # in a note on texts of which no score can be trusted


def _short_texts(one: Answers, judged: Judgements, c: Conventions) -> Iterator[str]:
    """How many texts give nothing to judge, and the first statistics of each metric without them."""
    if not judged.thin:
        return
    sound = answers(taken(judged, [at for at, id in enumerate(judged.ids) if id not in judged.thin]), c)
    if many := len(one) - len(sound):
        drawn_none = c.replaced(resamples=0)
        rows = [*(Numbers(sound, drawn_none).rows() if one.kind == "number" else label_rows(sound, drawn_none))]
        told = []
        for metric in one.metrics:
            mine = [row for row in rows if row.metric == metric and row.statistic in (*c.coefficients, *FIRST)]
            known = ", ".join(f"{row.statistic} {row.value:.3f}" for row in mine if not math.isnan(row.value))
            told.append(f"{one_line(metric, 60)}: {known or 'undefined'}")
        of = f"{one.criterion}: " if one.criterion else ""
        gives, them = ("text gives", "it") if many == 1 else ("texts give", "them")
        yield f"{of}{many:,} {gives} {THIN}, and {'counts' if many == 1 else 'count'}; without {them} {'; '.join(told)}"


FIRST = ("accuracy", "kappa")  # of labels


class _Found:
    """What was found so far."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.differences: list[Difference] = []
        self.ceilings: list[HumanCeiling] = []
        self.systems: list[SystemPairs] = []
        self.notes: list[str] = []

    def add(self, one: Answers, c: Conventions, tests: bool, against: str | None) -> None:
        """One criterion."""
        against = against if against in one.metrics else None
        levels = [c.level_of(name) for name in c.coefficients]
        for level in dict.fromkeys(levels if one.kind == "number" else ()):
            unit_of(one, c, level)  # refuses what needs groups or systems that are not there
        if one.kind == "number":
            numbers = Numbers(one, c)
            self.rows += numbers.rows()
            self.systems += system_pairs(numbers)
            self.differences += differences(numbers, against) if tests else ()
        else:
            self.rows += label_rows(one, c)
            self.differences += label_differences(one, c, against) if tests else ()
        self.notes += same_notes(one, against) if tests else ()
        self.ceilings += ceilings(one, c)


def _left_out(one: Answers) -> list[str]:
    """What does not count, in words."""
    of = f"{one.criterion}: " if one.criterion else ""
    notes = []
    if one.unjudged:
        many = "item" if one.unjudged == 1 else "items"
        notes.append(f"{of}{one.unjudged:,} {many} without a judgement of people, left out")
    if one.folded:
        notes.append(f"{of}{counted(one.folded, 'record')} beside another one of their item")
    for name in one.exchanged.keys() & one.metrics.keys():
        if (why := _mirrored(one, name)) is not None:
            notes.append(f"{of}{name}: {why}")
    return notes


def _without_level(one: Answers, c: Conventions) -> list[str]:
    """Labels are counted over all items, whatever the level."""
    levels = dict.fromkeys(level for level in (c.level, *(level for _, level in c.levels)) if level != "dataset")
    if one.kind == "number" or not levels:
        return []
    of = f"{one.criterion}: " if one.criterion else ""
    return [f"{of}{one.kind}s are counted over all items: level {', '.join(levels)} changes nothing"]


def _mirrored(one: Answers, name: str) -> str | None:
    """Verdicts in the exchanged order that mostly turn the first ones around may never have been mapped back."""
    both = [
        (a, b)
        for a, b in zip(one.metrics[name], one.exchanged[name], strict=True)
        if a in ("A", "B") and b in ("A", "B")
    ]
    turned = sum(a != b for a, b in both)
    if len(both) < 10 or turned < 0.7 * len(both):
        return None
    return f"{turned} of {len(both)} verdicts turn around when exchanged; if they name the place, give --swap-back"


# Labels and verdicts against people's: accuracy, kappa, alpha, both orders, with intervals and by each rule.


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


def crossed(human: Codes, metric: Codes, k: int, items: Codes) -> Floats:
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
        table = crossed(h, a, k, items)
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


def label_rows(answers: Answers, conventions: Conventions) -> Iterator[Row]:
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
        notes = (
            f"{counted(n, 'item')} with an answer"
            if n < 2
            else "one answer everywhere: nothing to agree on beyond chance",
        )
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
    test = replace(test_of(found), note=note)
    return (test,), (permutations(found),)


def _only(x: Bools, y: Bools) -> str:
    return f"{counted(int((x & ~y).sum()), 'item')} only the first is right on, {int((~x & y).sum())} only the second"


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
