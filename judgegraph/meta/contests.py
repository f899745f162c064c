"""What people and each metric say of systems, as pairwise comparisons: scores of one document, or verdicts of pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from judgegraph.meta.annotators import people, rule_of
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.duplicates import single
from judgegraph.meta.entrants import Entrants
from judgegraph.meta.judgements import Answer, Judgements
from judgegraph.stats.arrays import Floats
from judgegraph.stats.matches import Matches

PEOPLE = "people"
WON = {"A": 1.0, "B": 0.0, "tie": 0.5}


@dataclass(frozen=True)
class Contest:
    """One judge by one criterion.

    Attributes:
        judge: a metric, or "people". matches: of all systems, in the order of their names. unread: answers that are
            missing. alike: pairs of a system with itself, left out.
        rule: how the annotators were taken together.
        means, counts: (n,) of each system, where items are scored: its mean score and how many there were.
    """

    criterion: str
    judge: str
    matches: Matches
    unread: int
    alike: int = 0
    rule: str = "single"
    means: Floats | None = None
    counts: Floats | None = None


def contests(entrants: Entrants, conventions: Conventions) -> list[Contest]:
    """People's contest, where they judged, then each metric's.

    Raises:
        DataError: doubled records that are refused; ConfigError: no such annotator.
    """
    one = entrants.judged
    if entrants.rivals is None:
        one, _ = single(one, conventions.duplicates)
    judges: dict[str, tuple[Sequence[Answer | None], Sequence[Answer | None]]] = {}
    judged = people(one, conventions)
    if any(answer is not None for answer in judged):
        judges[PEOPLE] = (judged, ())
    for name, answers in one.metrics.items():
        other = one.exchanged.get(name, ())
        judges[f"{name} (a metric)" if name == PEOPLE else name] = (answers, other)
    made = _of_scores if entrants.rivals is None else _of_pairs
    return [made(entrants, one, name, *answers, conventions) for name, answers in judges.items()]


def _of_scores(
    entrants: Entrants, one: Judgements, judge: str, answers: Sequence[Answer | None], _: Sequence[Answer | None],
    conventions: Conventions,
) -> Contest:  # fmt: skip
    """Within each document the higher score wins. Without documents, items of one id are of one."""
    assert one.systems is not None
    names = tuple(sorted(set(one.systems)))
    codes = {name: code for code, name in enumerate(names)}
    zero = 0.0 if conventions.unreadable == "zero" else None
    values = [zero if answer is None else answer for answer in answers]
    groups: dict[str, list[tuple[int, float]]] = {}
    totals, counts = np.zeros(len(names)), np.zeros(len(names))
    for system, group, value in zip(one.systems, one.groups or one.ids, values, strict=True):
        if isinstance(value, float | int):
            groups.setdefault(group, []).append((codes[system], float(value)))
            totals[codes[system]] += value
            counts[codes[system]] += 1
    with np.errstate(invalid="ignore"):
        means = totals / counts
    matches, rule = _matches(names, list(_games(groups.values()))), rule_of(one, conventions)
    return Contest(one.criterion, judge, matches, sum(a is None for a in answers), 0, rule, means, counts)


def _games(groups: Iterable[Sequence[tuple[int, float]]]) -> Iterator[tuple[int, int, float, int]]:
    """(system, other, won, document) of every two items of one document."""
    for unit, group in enumerate(groups):
        for (a, x), (b, y) in combinations(group, 2):
            if a != b:
                yield a, b, 0.5 if math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-12) else float(x > y), unit


def _of_pairs(
    entrants: Entrants, one: Judgements, judge: str, answers: Sequence[Answer | None],
    exchanged: Sequence[Answer | None], conventions: Conventions,
) -> Contest:  # fmt: skip
    """Each verdict is a comparison, in either order; what people or a metric did not answer is left out, or a tie."""
    assert one.systems is not None
    assert entrants.rivals is not None
    names = tuple(sorted({*one.systems, *entrants.rivals}))
    codes = {name: code for code, name in enumerate(names)}
    missing = "tie" if conventions.unreadable == "tie" and judge != PEOPLE else None
    units = {name: unit for unit, name in enumerate(dict.fromkeys(one.groups))} if one.groups else None
    rows, unread, alike = [], 0, 0
    for at, (system, rival) in enumerate(zip(one.systems, entrants.rivals, strict=True)):
        said = [column[at] for column in (answers, exchanged) if column]
        unread += sum(answer is None for answer in said)
        if system == rival:
            alike += 1
            continue
        unit = at if units is None or one.groups is None else units[one.groups[at]]
        found = [WON[str(answer or missing)] for answer in said if answer or missing]
        rows += [(codes[system], codes[rival], won, unit) for won in found]
    return Contest(one.criterion, judge, _matches(names, rows), unread, alike, rule_of(one, conventions))


def _matches(names: tuple[str, ...], rows: Sequence[tuple[int, int, float, int]]) -> Matches:
    first, second, won, unit = zip(*rows, strict=True) if rows else ((), (), (), ())
    codes = np.unique(np.array(unit, dtype=np.intp), return_inverse=True)[1].reshape(-1)
    return Matches(
        names, np.array(first, dtype=np.intp), np.array(second, dtype=np.intp), np.array(won, dtype=np.float64),
        codes.astype(np.intp),
    )  # fmt: skip
