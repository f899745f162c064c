"""How far metrics agree with people: coefficients, labels, tests, ceilings and systems, for every criterion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judgegraph.errors import ConfigError
from judgegraph.meta.answers import Answers, answers
from judgegraph.meta.ceilings import ceilings, system_pairs
from judgegraph.meta.conventions import Conventions, chosen
from judgegraph.meta.differences import differences, pairs, same_notes, with_corrections
from judgegraph.meta.fitting import with_annotator
from judgegraph.meta.interval_notes import few_resamples
from judgegraph.meta.judgements import Judgements, Unjudged
from judgegraph.meta.label_differences import label_differences
from judgegraph.meta.labels import rows as label_rows
from judgegraph.meta.numbers import Numbers
from judgegraph.meta.of_run import read_run
from judgegraph.meta.result import Agreement, Difference, HumanCeiling, Row, SystemPairs
from judgegraph.meta.signatures import unit_of
from judgegraph.runtime.run import Run


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
