"""How far people agree with one another, and with a metric on which of two systems is better."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judgegraph.meta.answers import Answers, at, floats
from judgegraph.meta.ceiling_draws import of_alpha, of_labels, of_numbers
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.numbers import Numbers
from judgegraph.meta.result import Ends, HumanCeiling, SystemPairs
from judgegraph.meta.signatures import signature
from judgegraph.stats.arrays import Codes, Level
from judgegraph.stats.ceiling import Ceiling, leave_one_out, leave_one_out_labels
from judgegraph.stats.krippendorff import Metric, krippendorff_alpha
from judgegraph.stats.levels import system_means
from judgegraph.stats.system_pairs import Rule, ranked_pairs


def ceilings(answers: Answers, conventions: Conventions) -> Iterator[HumanCeiling]:
    """Each annotator against the others, and the alpha of all; nothing where there is one annotator."""
    c, table = conventions, answers.annotators
    if not table or len(table[0]) < 2:
        return
    raters = list(zip(*table, strict=True))

    def row(statistic: str, found: Ceiling, drawn: tuple[Ends, int], level: Level = "dataset") -> HumanCeiling:
        ends, made = drawn
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
        human, said, group, system = (
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
            human, said, system = system_means(human, codes), system_means(said, codes), np.unique(system)
            group = np.zeros(len(system), dtype=np.intp)
        found = ranked_pairs(human, said, group, system, rule=rule, close="adjacent")
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
