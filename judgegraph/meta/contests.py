"""What people and each metric say of systems, as pairwise comparisons: scores of one document, or verdicts of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judgegraph.errors import ConfigError
from judgegraph.meta.annotators import people, rule_of
from judgegraph.meta.conventions import Conventions, Unreadable
from judgegraph.meta.duplicates import single
from judgegraph.meta.entrants import Entrants
from judgegraph.meta.judgements import Answer
from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.matches import Matches

PEOPLE = "people"
MOST = 5_000_000  # comparisons of one judge: more do not fit into memory
WON = {"A": 1.0, "B": 0.0, "tie": 0.5}


@dataclass(frozen=True)
class Contest:
    """One judge by one criterion.

    Attributes:
        judge: a metric, or "people". matches: of all systems, in the order of their names; units are numbered alike
            for all judges. unread: answers that are missing. alike: pairs of a system with itself, left out.
        rule: how the annotators were taken together. unreadable: what a missing answer counted as.
        combined: its verdicts are those of both orders in one.
        means, counts: (n,) of each system, where items are scored: its mean score and how many there were.
    """

    criterion: str
    judge: str
    matches: Matches
    unread: int
    alike: int = 0
    rule: str = "single"
    unreadable: Unreadable = "drop"
    combined: bool = False
    means: Floats | None = None
    counts: Floats | None = None


def contests(entrants: Entrants, conventions: Conventions) -> list[Contest]:
    """People's contest, where they judged, then each metric's.

    Raises:
        DataError: doubled records that are refused; ConfigError: no such annotator, or too many comparisons.
    """
    combined = entrants.judged.in_both_orders if conventions.orders == "agree" else frozenset()
    if combined:
        entrants = replace(entrants, judged=entrants.judged.in_one_verdict())
    if entrants.rivals is None:
        one, _ = single(entrants.judged, conventions.duplicates)
        entrants = replace(entrants, judged=one)
    one = entrants.judged
    judges: dict[str, tuple[Sequence[Answer | None], Sequence[Answer | None]]] = {}
    judged = people(one, conventions)
    if any(answer is not None for answer in judged):
        judges[PEOPLE] = (judged, ())
    for name, answers in one.metrics.items():
        other = one.exchanged.get(name, ())
        judges[f"{name} (a metric)" if name == PEOPLE else name] = (answers, other)
    made = _of_scores if entrants.rivals is None else _of_pairs
    table = _Table.of(entrants)
    rule = rule_of(one, conventions)
    return _numbered([
        replace(made(table, name, *answers, conventions), criterion=one.criterion, rule=rule, combined=name in combined)
        for name, answers in judges.items()
    ])  # fmt: skip


@dataclass(frozen=True)
class _Table:
    """The columns that all judges share, as codes.

    Attributes:
        system, rival: of each item; rival: as system where there is none. unit: its document, or itself.
    """

    names: tuple[str, ...]
    system: Codes
    rival: Codes
    unit: Codes

    @classmethod
    def of(cls, entrants: Entrants) -> _Table:
        one = entrants.judged
        assert one.systems is not None
        rivals = entrants.rivals or one.systems
        names = tuple(sorted({*one.systems, *rivals}))
        of = {name: code for code, name in enumerate(names)}
        units: Sequence[object] = one.groups or (one.ids if entrants.rivals is None else range(len(one)))
        return cls(names, _codes(one.systems, of), _codes(rivals, of), _codes(units, _places(units)))


def _places(names: Sequence[object]) -> dict[object, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _codes(names: Sequence[object], of: Mapping[Any, int]) -> Codes:
    return np.array([of[name] for name in names], dtype=np.intp)


def _of_scores(
    table: _Table, judge: str, answers: Sequence[Answer | None], _: Sequence[Answer | None], conventions: Conventions
) -> Contest:  # fmt: skip
    """Within each document the higher score wins. Without documents, items of one id are of one."""
    zero = 0.0 if conventions.unreadable == "zero" else np.nan
    scores = np.array([float(a) if isinstance(a, float | int) else zero if a is None else np.nan for a in answers])
    known = np.flatnonzero(~np.isnan(scores))
    system, score = table.system[known], scores[known]
    counts = np.bincount(system, minlength=len(table.names)).astype(np.float64)
    with np.errstate(invalid="ignore"):
        means = np.bincount(system, score, minlength=len(table.names)) / counts
    first, second = _games(table.unit[known], system)
    x, y = score[first], score[second]
    with np.errstate(invalid="ignore"):  # inf is as high as inf
        equal = (x == y) | (np.abs(x - y) <= 1e-12 * np.maximum(1, np.maximum(np.abs(x), np.abs(y))))
    matches = Matches(
        table.names, system[first], system[second], np.where(equal, 0.5, (x > y) * 1.0), table.unit[known][first]
    )
    unreadable: Unreadable = "zero" if conventions.unreadable == "zero" else "drop"
    unread = sum(answer is None for answer in answers)
    return Contest("", judge, matches, unread, unreadable=unreadable, means=means, counts=counts)


def _games(unit: Codes, system: Codes) -> tuple[Codes, Codes]:
    """Every two items of one document that are of different systems.

    Raises:
        ConfigError: there are too many.
    """
    order = np.argsort(unit, kind="stable")
    sizes = np.bincount(unit)
    starts = np.cumsum(sizes) - sizes
    if (total := int((sizes * (sizes - 1) // 2).sum())) > MOST:
        raise ConfigError(f"{total:,} comparisons of two outputs for one document; at most {MOST:,} are ranked")
    found = [np.empty((2, 0), dtype=np.intp)]
    for many in np.unique(sizes[sizes > 1]):
        rows = order[starts[sizes == many][:, None] + np.arange(many)]
        found.append(np.stack([rows[:, side].ravel() for side in np.triu_indices(int(many), 1)]))
    first, second = np.concatenate(found, axis=1)
    other = system[first] != system[second]
    return first[other], second[other]


def _of_pairs(
    table: _Table, judge: str, answers: Sequence[Answer | None], exchanged: Sequence[Answer | None],
    conventions: Conventions,
) -> Contest:  # fmt: skip
    """Each verdict is a comparison, in either order; what people or a metric did not answer is left out, or a tie."""
    unreadable: Unreadable = "tie" if conventions.unreadable == "tie" else "drop"
    missing = 0.5 if unreadable == "tie" and judge != PEOPLE else np.nan
    said = [column for column in (answers, exchanged) if column]
    won = np.array([[missing if a is None else WON[str(a)] for a in column] for column in said])
    unlike = table.system != table.rival
    order, at = np.nonzero(~np.isnan(won) & unlike)
    matches = Matches(table.names, table.system[at], table.rival[at], won[order, at], table.unit[at])
    unread = sum(answer is None for column in said for answer in column)
    return Contest("", judge, matches, unread, int((~unlike).sum()), unreadable=unreadable)


def _numbered(found: Sequence[Contest]) -> list[Contest]:
    """Units without gaps, and the same for all: what is drawn of one judge is drawn of each."""
    met = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *(one.matches.units for one in found)]))
    return [
        replace(one, matches=replace(one.matches, unit=np.searchsorted(met, one.matches.units), total=len(met)))
        for one in found
    ]
