"""How far metrics agree with people: coefficients, labels, tests, human ceilings, pairs of systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from judgegraph.errors import ConfigError
from judgegraph.meta.answers import Answers, answers, at, floats
from judgegraph.meta.cells import Answer, Judgements, Unjudged
from judgegraph.meta.conventions import Conventions, chosen
from judgegraph.meta.judgements import read_run, with_annotator
from judgegraph.meta.labels import label_differences, units_of
from judgegraph.meta.labels import rows as label_rows
from judgegraph.meta.numbers import Numbers, differences, pairs, same_notes, signature, unit_of, with_corrections
from judgegraph.meta.result import NONE, Agreement, Difference, Ends, HumanCeiling, Row, SystemPairs, few_resamples
from judgegraph.runs.run import Run
from judgegraph.stats.agreement import (
    Ceiling,
    Metric,
    hits,
    krippendorff_alpha,
    leave_one_out,
    leave_one_out_labels,
    others,
)
from judgegraph.stats.bootstrap import Draws, interval
from judgegraph.stats.correlation import Codes, Coefficient, Floats, Level
from judgegraph.stats.ranking import Rule, ranked_pairs
from judgegraph.stats.resampling import Weighted, bootstrap, resample, system_means

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
    for one in prepared:
        notes += _left_out(one) + _without_level(one, c)
        if len(one) and one.metrics:
            found.add(one, c, tests, against)
    if not found.rows:
        raise Unjudged("; ".join(["nothing can be compared: no item has a judgement of people", *notes][:4]))
    return Agreement(
        c, tuple(found.rows), tuple(with_corrections(found.differences, c)), tuple(found.ceilings),
        tuple(found.systems), (*notes, *found.notes), source,
    )  # fmt: skip


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
        notes.append(f"{of}{one.folded:,} records beside another one of their item")
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
