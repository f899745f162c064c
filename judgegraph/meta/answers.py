"""Judgements made ready to be counted: one record per item, one judgement of people, codes for groups and systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgegraph.meta.annotators import people, rule_of, said, width
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.duplicates import single, taken
from judgegraph.meta.judgements import Answer, Judgements, Kind
from judgegraph.stats.arrays import Codes, Floats

WRONG = "\0unread"  # an answer that could not be read and counts as one of its own, which is never right


@dataclass(frozen=True)
class Answers:
    """Items that people judged.

    Attributes:
        human: one judgement per item. annotators: items x annotators, None where one left it out.
        metrics, exchanged: None where nothing could be read. unread: metric -> status -> how many.
        group, system: codes of the items; None where there are none. systems: code -> name.
        unjudged: items without a judgement of people, left out. folded: records beside another one of their item.
        rule: how the annotators were taken together. combined: metrics whose verdicts are those of both orders in one.
    """

    criterion: str
    kind: Kind
    human: tuple[Answer, ...]
    annotators: tuple[tuple[Answer | None, ...], ...]
    metrics: Mapping[str, tuple[Answer | None, ...]]
    exchanged: Mapping[str, tuple[Answer | None, ...]]
    unread: Mapping[str, dict[str, int]]
    group: Codes | None
    system: Codes | None
    systems: tuple[str, ...]
    order: tuple[str, ...]
    unjudged: int
    folded: int
    rule: str
    combined: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.human)


def answers(judgements: Judgements, conventions: Conventions) -> Answers:
    """What counts of the judgements.

    Raises:
        ConfigError, DataError: doubled records that are refused; no such annotator.
    """
    combined = judgements.in_both_orders if conventions.orders == "agree" else frozenset()
    one, folded = single(judgements.in_one_verdict() if combined else judgements, conventions.duplicates)
    judged = people(one, conventions)
    kept = [at for at, value in enumerate(judged) if value is not None]
    found, count = taken(one, kept), width(one)
    system, systems = _codes(found.systems)
    annotators = tuple(
        tuple(p[k] if k < len(p) and said(p[k]) else None for k in range(count)) for p in found.human
    )  # fmt: skip
    return Answers(
        criterion=one.criterion, kind=one.kind, human=tuple(v for v in judged if v is not None), annotators=annotators,
        metrics=found.metrics, exchanged=found.exchanged,
        unread={name: _unread(found, name) for name in found.metrics}, group=_codes(found.groups)[0], system=system,
        systems=systems, order=one.label_order, unjudged=len(one) - len(kept), folded=folded,
        rule=rule_of(one, conventions), combined=combined,
    )  # fmt: skip


def _unread(found: Judgements, name: str) -> dict[str, int]:
    statuses = found.statuses.get(name) or ["unreadable"] * len(found)
    missing = Counter(s for s, value in zip(statuses, found.metrics[name], strict=True) if value is None)
    return dict(missing.most_common())


def _codes(names: Sequence[str] | None) -> tuple[Codes | None, tuple[str, ...]]:
    if names is None:
        return None, ()
    known = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], dtype=np.intp), tuple(known)


def floats(values: Sequence[Answer | None]) -> Floats:
    """Numbers, nan where there is none."""
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def at(codes: Codes | None, mask: NDArray[np.bool_]) -> Codes | None:
    """Codes of some items."""
    return None if codes is None else codes[mask]
