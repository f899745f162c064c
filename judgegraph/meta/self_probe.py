"""Does a judge favour what its own model wrote? Its scores against people's, of its own outputs and of others'."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from judgegraph.meta.annotators import people
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.copies import Line, Seen
from judgegraph.meta.judgements import Judgements
from judgegraph.meta.measured import Drawing, Measured
from judgegraph.meta.reviews import labels_of
from judgegraph.runtime.signature import agents_of
from judgegraph.stats.arrays import Codes, Floats
from judgegraph.types import Sample

_IDLE = re.compile(r"[^a-z0-9]+")


Table = dict[str, tuple[Floats, Floats, Codes]]  # criterion -> the judge's scores, people's, and of which sample


@dataclass(frozen=True)
class OwnModel:
    """How much better its own model's outputs fare with the judge than with people, against all other outputs.

    Attributes:
        own: systems taken for the judge's own. n_own, n_other: their scores by criteria that people judged by too.
        advantage: mean of (judge's z-score - people's z-score) of the own outputs less that of the others, in standard
            deviations; scores are standardised by criterion. 0 for a judge that does not care.
        rank: the same of ranks, as a share of the number of outputs: +0.1 is ten places up among a hundred.
        note: why there is nothing.
    """

    own: tuple[str, ...]
    n_own: int = 0
    n_other: int = 0
    advantage: Measured | None = None
    rank: Measured | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        numbers = {name: m.to_dict() if (m := getattr(self, name)) else None for name in ("advantage", "rank")}
        return {"own": list(self.own), "n_own": self.n_own, "n_other": self.n_other, **numbers, "note": self.note}


def own_model(
    samples: Sequence[Sample], seen: Sequence[Seen | None], own: Sequence[str], units: Codes | None, drawing: Drawing
) -> OwnModel:
    """Of samples whose `meta.system` says who wrote them; `own` are the systems that are the judge's model."""
    systems = [str(sample.meta["system"]) if "system" in sample.meta else None for sample in samples]
    mine = np.array([system in own for system in systems])
    if not any(systems):
        return OwnModel(tuple(own), note="not applicable: no sample says in meta.system who wrote its output")
    if not mine.any():
        return OwnModel(
            tuple(own), note="not applicable: no output is of the judge's own model (own= names its system)"
        )
    table = _table(samples, seen, systems)
    places = np.concatenate([place for _, _, place in table.values()]) if table else np.array([], dtype=np.intp)
    n_own = int(mine[places].sum())
    if not n_own or n_own == len(places):
        why = "people judged" if table else "people judged nothing by the judge's criteria, so"
        return OwnModel(tuple(own), n_own, len(places) - n_own, note=f"not applicable: {why} nothing to compare with")

    def measured(way: Callable[[Floats], Floats]) -> Measured:
        return drawing.of(lambda index: _advantage(table, mine, index, way), len(samples), units)

    counts = n_own, len(places) - n_own
    return OwnModel(tuple(own), *counts, advantage=measured(_standardised), rank=measured(_ranked))


def _table(samples: Sequence[Sample], seen: Sequence[Seen | None], systems: Sequence[str | None]) -> Table:
    """Of scores that are numbers, with people's mean; of several agents' by one criterion the last one's."""
    rows: dict[str, list[tuple[float, tuple[float | str, ...], int]]] = {}
    for place, (sample, said) in enumerate(zip(samples, seen, strict=True)):
        answers: dict[Line, float | str] = said.answers if said is not None and systems[place] is not None else {}
        held = {criterion: answer for (criterion, _), answer in answers.items()}
        for criterion, answer in held.items():
            human = labels_of(sample, criterion)
            if isinstance(answer, float) and human and not any(isinstance(label, str) for label in human):
                rows.setdefault(criterion, []).append((answer, human, place))
    table: Table = {}
    for criterion, held_rows in rows.items():
        ids, labels = tuple(str(place) for *_, place in held_rows), tuple(human for _, human, _ in held_rows)
        counted = people(Judgements(criterion, "number", ids, labels, {}), Conventions())
        kept = [(j, h, p) for (j, _, p), h in zip(held_rows, counted, strict=True) if isinstance(h, int | float)]
        if kept:
            judge, human_, place_ = (np.array(column) for column in zip(*kept, strict=True))
            table[criterion] = judge.astype(np.float64), human_.astype(np.float64), place_.astype(np.intp)
    return table


def _advantage(table: Table, mine: Any, index: Codes, way: Callable[[Floats], Floats]) -> float:
    """Of drawn samples: how much higher the judge puts the own ones than people do, against the others."""
    often = np.bincount(index, minlength=len(mine))
    gaps, whose = [], []
    for judge, human, place in table.values():
        rows = np.repeat(np.arange(len(place)), often[place])
        if len(rows) > 1:
            gaps.append(way(judge[rows]) - way(human[rows]))
            whose.append(mine[place[rows]])
    if not gaps:
        return math.nan
    gap, own = np.concatenate(gaps), np.concatenate(whose)
    if own.all() or not own.any():
        return math.nan
    return float(gap[own].mean() - gap[~own].mean())


def _standardised(values: Floats) -> Floats:
    """z-scores; a constant side tells nothing, and is 0."""
    spread = values.std()
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)


def _ranked(values: Floats) -> Floats:
    return np.asarray(rankdata(values) / len(values))


def own_systems(graph: Any, samples: Sequence[Sample], given: Sequence[str]) -> tuple[str, ...]:
    """Systems that are the judge's own model: those given, else those called as one of the graph's judges is."""
    if given:
        return tuple(given)
    known = {_plain(name) for _, agent in agents_of(graph) for name in _models(agent)} - {""}
    systems = dict.fromkeys(str(sample.meta["system"]) for sample in samples if "system" in sample.meta)
    return tuple(system for system in systems if _plain(system) in known)


def _models(agent: Any) -> list[str]:
    judges = getattr(agent, "judges", None) or [getattr(agent, "judge", None)]
    names = [j if isinstance(j, str) else getattr(j, "model_name", None) or getattr(j, "model", None) for j in judges]
    return [name for name in names if isinstance(name, str)]


def _plain(name: str) -> str:
    """A model's name without its provider, and without what is spelt in several ways: "gpt41mini"."""
    return _IDLE.sub("", name.rpartition(":")[2].rpartition("/")[2].casefold())
