"""How far drafts and finals agree with people, and whether what lies between them is more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from judgegraph.errors import one_line
from judgegraph.meta.annotators import people, width
from judgegraph.meta.cells import known_labels, said
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic_labels import STATISTICS, of_labels
from judgegraph.meta.fitting import fitted
from judgegraph.meta.gain import Gain, basis_of, codes
from judgegraph.meta.judgements import Answer, Judgements
from judgegraph.meta.raw import Raw
from judgegraph.meta.reviews import Pair
from judgegraph.stats.arrays import Codes, Coefficient, Floats, Level, Unit
from judgegraph.stats.bootstrap import bootstrap
from judgegraph.stats.levels import correlate
from judgegraph.stats.paired import corrected, permutation_test
from judgegraph.stats.rows import of_groups

__all__ = ["Gain", "correct", "gains"]
SIDES = ("the draft", "the final")
Row: TypeAlias = tuple[Pair, float, float, float]  # with people's number, the draft's and the final's


def gains(
    criterion: str, pairs: Sequence[Pair], conventions: Conventions, labels: Sequence[str] = ()
) -> list[Gain]:  # fmt: skip
    """Before and after, one for each statistic; [] where people, or the annotator who is wanted, judged nothing.

    People's judgements are read as those of a run are (`meta.of_run`).

    Args:
        labels: of the criterion's scale, where it is one of labels.

    Raises:
        ConfigError, DataError: a judgement of people that cannot be read, or judgements of two kinds.
    """
    pairs = sorted(pairs, key=lambda pair: pair.place)  # an interval draws by place, and samples finish in any order
    cells = [cell for pair in pairs for cell in pair.human]
    words = known_labels(labels, cells)
    if not any(said(cell, words) for cell in cells):
        return []
    read, notes = _judgements(criterion, pairs, labels)
    if len(read.metrics) < len(SIDES):
        name = conventions.coefficients[0] if read.kind == "number" else STATISTICS[0]
        return [Gain(criterion, name, "", 0, note="; ".join(notes))]
    rule = conventions.annotators
    if isinstance(rule, int) and width(read) < rule:
        return []
    human, sides = people(read, conventions), zip(*(read.metrics[name] for name in SIDES), strict=True)
    known = [pair._replace(draft=draft, final=final) for pair, (draft, final) in zip(pairs, sides, strict=True)]
    if read.kind != "number":
        return of_labels(criterion, known, human, conventions)
    counted = _read(known, human, conventions)
    return [_of_numbers(criterion, counted, name, conventions) for name in conventions.coefficients]


def _judgements(criterion: str, pairs: Sequence[Pair], labels: Sequence[str]) -> tuple[Judgements, list[str]]:
    """Drafts and finals as two metrics beside people, read as metrics of a run are; why one was left out."""
    sides = ([pair.draft for pair in pairs], [pair.final for pair in pairs])
    raw = Raw(
        criterion, "the run", places=[f"sample '{one_line(pair.sample, 60)}'" for pair in pairs],
        ids=[str(place) for place in range(len(pairs))], human=[list(pair.human) for pair in pairs],
        metrics=dict(zip(SIDES, map(list, sides), strict=True)), statuses={name: [""] * len(pairs) for name in SIDES},
    )  # fmt: skip
    kind, notes = fitted(raw, None, labels, bool(labels))
    return raw.judgements(kind, None, labels if kind == "label" else ()), notes


def correct(found: Sequence[Gain], conventions: Conventions) -> None:
    """Correct p values over the criteria, each statistic by itself."""
    for statistic in dict.fromkeys(gain.statistic for gain in found):
        mine = [gain for gain in found if gain.statistic == statistic and not math.isnan(gain.p)]
        for gain, p in zip(mine, corrected([gain.p for gain in mine], conventions.correction), strict=True):
            gain.p_corrected = float(p)


def _read(pairs: Sequence[Pair], people_: Sequence[Answer | None], conventions: Conventions) -> list[Row]:
    """Those that count."""
    lost = 0.0 if conventions.unreadable == "zero" else None
    found = []
    for pair, human in zip(pairs, people_, strict=True):
        draft, final = (lost if answer is None else answer for answer in (pair.draft, pair.final))
        if isinstance(human, int | float) and draft is not None and final is not None:
            found.append((pair, float(human), float(draft), float(final)))
    return found


def _of_numbers(criterion: str, counted: Sequence[Row], name: Coefficient, conventions: Conventions) -> Gain:
    level = conventions.level_of(name)
    gain = Gain(criterion, name, level, len(counted))
    missing = [row for row in counted if level != "dataset" and getattr(row[0], level) is None]
    if missing or not counted:
        gain.note = f"level {level} needs a {level} of every sample, meta.{level}" if missing else "too few items"
        return gain
    if level == "group" and conventions.constant == "skip":
        counted = _comparable(gain, counted, name)
        if not counted:
            return gain
    group, system = (codes([getattr(pair, place) for pair, *_ in counted]) for place in ("group", "system"))
    human, draft, final = _columns(counted)
    about: dict[str, Any] = {"level": level, "group": group, "system": system, "constant": conventions.constant}
    before, after = (correlate(human, side, coefficient=name, **about) for side in (draft, final))
    gain.n, gain.units, gain.before, gain.after = len(counted), before.units, before.value, after.value
    gain.difference = after.value - before.value
    if math.isnan(gain.difference):
        gain.add("undefined: a side is constant, or there are too few items")
        return gain
    if conventions.resamples:
        _bound(gain, counted, name, conventions, about)
    if (draft == final).all():
        gain.p = 1.0  # whatever is exchanged, nothing changes
        return gain
    test = permutation_test(
        human, final, draft, coefficient=name, permutations=conventions.permutations, seed=conventions.seed, **about
    )
    gain.p = test.p
    gain.add(test.note)
    return gain


def _columns(counted: Sequence[Row]) -> list[Floats]:
    """People's numbers, the drafts' and the finals'."""
    return [np.array([row[i] for row in counted], dtype=np.float64) for i in (1, 2, 3)]


def _comparable(gain: Gain, counted: Sequence[Row], name: Coefficient) -> list[Row]:
    """Items of groups with a coefficient of both drafts and finals: means over different groups do not compare."""
    group = codes([pair.group for pair, *_ in counted])
    if group is None:
        return list(counted)
    human, draft, final = _columns(counted)
    known = [~np.isnan(of_groups(human, side, group, [name])[0]) for side in (draft, final)]
    both, either = known[0] & known[1], known[0] | known[1]
    if both.all() or not either.any():
        return list(counted)
    if not both.any():
        gain.note = "no group in which people, drafts and finals all vary"
    elif (one := int((either & ~both).sum())) > 0:
        what = "drafts or the finals alone are constant"
        gain.note = f"of {int(either.sum())} groups {int(both.sum())} are compared: in {one} the {what}"
    return [row for row, kept in zip(counted, both[group], strict=True) if kept]


def _bound(
    gain: Gain, counted: Sequence[Row], name: Coefficient, conventions: Conventions, about: Mapping[str, Any]
) -> None:
    human, draft, final = _columns(counted)
    unit = _unit(conventions, about["level"], about["group"], about["system"])
    drawn = bootstrap(
        human, [draft, final], coefficients=(name,), unit=unit, resamples=conventions.resamples, seed=conventions.seed,
        **about,
    )  # fmt: skip
    made = int(drawn.made.min())
    gain.draws = drawn.values[1, 0, :made] - drawn.values[0, 0, :made]
    gain.basis = basis_of(drawn.units, unit, [pair for pair, *_ in counted])
    found = drawn.difference(1, 0, 0, conventions.confidence)
    gain.bound(found, drawn.units, unit, changed=bool((draft != final).any()))


def _unit(conventions: Conventions, level: Level, group: Codes | None, system: Codes | None) -> Unit:
    """What is drawn; a choice that the run's samples cannot follow is followed as far as they can."""
    wanted: Unit = conventions.unit or ("both" if level == "system" else "group")
    if wanted == "both":
        wanted = "both" if group is not None and system is not None else "group" if system is None else "system"
    missing = (wanted == "group" and group is None) or (wanted == "system" and system is None)
    return "item" if missing else wanted
