"""How far drafts and finals agree with people, and whether what lies between them is more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from judgegraph.meta.annotators import people
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.critic_labels import of_labels
from judgegraph.meta.gain import Gain, basis_of, codes
from judgegraph.meta.judgements import Answer, Judgements, Kind
from judgegraph.meta.reviews import Pair
from judgegraph.stats.arrays import Codes, Coefficient, Floats, Level, Unit
from judgegraph.stats.bootstrap import bootstrap
from judgegraph.stats.levels import correlate
from judgegraph.stats.paired import corrected, permutation_test
from judgegraph.stats.rows import of_groups

__all__ = ["Gain", "correct", "gains"]
Row: TypeAlias = tuple[Pair, float, float, float]  # with people's number, the draft's and the final's


def gains(criterion: str, pairs: Sequence[Pair], conventions: Conventions) -> list[Gain]:
    """Before and after, one for each statistic; [] where people, or the annotator who is wanted, judged nothing."""
    rule = conventions.annotators
    if not pairs or (isinstance(rule, int) and all(len(pair.human) < rule for pair in pairs)):
        return []
    if any(isinstance(answer, str) for pair in pairs for answer in (*pair.human, pair.draft, pair.final)):
        return of_labels(criterion, pairs, _people(pairs, "label", conventions), conventions)
    counted = _read(pairs, conventions)
    return [_of_numbers(criterion, counted, name, conventions) for name in conventions.coefficients]


def correct(found: Sequence[Gain], conventions: Conventions) -> None:
    """Correct p values over the criteria, each statistic by itself."""
    for statistic in dict.fromkeys(gain.statistic for gain in found):
        mine = [gain for gain in found if gain.statistic == statistic and not math.isnan(gain.p)]
        for gain, p in zip(mine, corrected([gain.p for gain in mine], conventions.correction), strict=True):
            gain.p_corrected = float(p)


def _read(pairs: Sequence[Pair], conventions: Conventions) -> list[Row]:
    """Those that count."""
    lost = 0.0 if conventions.unreadable == "zero" else None
    found = []
    for pair, human in zip(pairs, _people(pairs, "number", conventions), strict=True):
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


def _people(pairs: Sequence[Pair], kind: Kind, conventions: Conventions) -> list[Answer | None]:
    """People's answer to each, by the conventions' rule for several annotators."""
    ids = tuple(map(str, range(len(pairs))))
    return people(Judgements("", kind, ids, tuple(pair.human for pair in pairs), {}), conventions)
