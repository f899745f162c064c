"""Does a judge favour what its own model wrote? Its scores against people's, of its own outputs and of others'."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgegraph.errors import ConfigError, one_line
from judgegraph.meta.annotators import people
from judgegraph.meta.cells import number, said
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.copies import Line, Seen
from judgegraph.meta.judgements import Judgements
from judgegraph.meta.measured import Drawing, Measured
from judgegraph.meta.reviews import labels_of
from judgegraph.runtime.signature import agents_of
from judgegraph.stats.arrays import Codes, Floats
from judgegraph.types import Sample, names_of

EVEN, DIGITS = 1e-9, 12  # what is less than that of a value, or comes after so many digits, is round-off
_IDLE = re.compile(r"[^a-z0-9]+")


Table = dict[str, tuple[Floats, Floats, Codes]]  # criterion -> the judge's scores, people's, and of which sample


@dataclass(frozen=True)
class OwnModel:
    """How much higher the judge scores its own model's outputs than others that people score alike.

    People's scores are held fixed by a straight line, one slope per criterion within own and other outputs. Noise in
    what is held fixed flattens the line, and the flattened part of a true difference between systems looks like a bias.
    How noisy people are is not known, so there are two numbers, and the truth lies between them as long as the noise of
    the judge and that of people have nothing to do with each other. Only what both say is a bias.

    Attributes:
        own: systems taken for the judge's own. n_own, n_other: their scores by criteria that people judged by too.
        people_exact: in standard deviations of the judge's scores, were people's scores without error (all scatter
            between the two is the judge's). judge_exact: the same, were all of it people's.
        note: why there is nothing.
    """

    own: tuple[str, ...]
    n_own: int = 0
    n_other: int = 0
    people_exact: Measured | None = None
    judge_exact: Measured | None = None
    note: str = ""

    @property
    def biased(self) -> bool:
        """Whether both intervals lie on one side of 0."""
        both = [one for one in (self.people_exact, self.judge_exact) if one is not None]
        return len(both) == 2 and (all(one.low > 0 for one in both) or all(one.high < 0 for one in both))

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        named = {"people_exact": self.people_exact, "judge_exact": self.judge_exact}
        numbers = {name: m.to_dict() if m else None for name, m in named.items()}
        counts = {"own": list(self.own), "n_own": self.n_own, "n_other": self.n_other}
        return {**counts, **numbers, "biased": self.biased, "note": self.note}


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
    if not any(seen):
        return OwnModel(tuple(own), note="nothing to say: no sample was judged")
    table = _table(samples, seen, systems)
    places = np.concatenate([place for _, _, place in table.values()]) if table else np.array([], dtype=np.intp)
    n_own = int(mine[places].sum())
    if not n_own or n_own == len(places):
        why = "people judged" if table else "people judged nothing by the judge's criteria, so"
        return OwnModel(tuple(own), n_own, len(places) - n_own, note=f"not applicable: {why} nothing to compare with")

    def measured(judge_exact: bool) -> Measured:
        return drawing.of(lambda index: _advantage(table, mine, index, judge_exact), len(samples), units)

    counts = n_own, len(places) - n_own
    return OwnModel(tuple(own), *counts, people_exact=measured(False), judge_exact=measured(True))


def _table(samples: Sequence[Sample], seen: Sequence[Seen | None], systems: Sequence[str | None]) -> Table:
    """Of scores that are numbers, with people's mean; of several agents' by one criterion the last one's."""
    rows: dict[str, list[tuple[float, tuple[float | str, ...], int]]] = {}
    for place, (sample, one) in enumerate(zip(samples, seen, strict=True)):
        answers: dict[Line, float | str] = one.answers if one is not None and systems[place] is not None else {}
        held = {criterion: answer for (criterion, _), answer in answers.items()}
        for criterion, answer in held.items():
            human = tuple(number(cell) if said(cell) else math.nan for cell in labels_of(sample, criterion))
            if isinstance(answer, float) and human and None not in human:
                rows.setdefault(criterion, []).append((answer, tuple(v for v in human if v is not None), place))
    table: Table = {}
    for criterion, held_rows in rows.items():
        ids, labels = tuple(str(place) for *_, place in held_rows), tuple(human for _, human, _ in held_rows)
        counted = people(Judgements(criterion, "number", ids, labels, {}), Conventions())
        kept = [(j, h, p) for (j, _, p), h in zip(held_rows, counted, strict=True) if isinstance(h, int | float)]
        if kept:
            judge, human_, place_ = (np.array(column) for column in zip(*kept, strict=True))
            table[criterion] = judge.astype(np.float64), human_.astype(np.float64), place_.astype(np.intp)
    return table


def _advantage(table: Table, mine: Any, index: Codes, judge_exact: bool) -> float:
    """Of drawn samples: the mean over criteria, each counting by how much it knows; nan where none tells."""
    often = np.bincount(index, minlength=len(mine))
    found, weights = [], []
    for judge, human, place in table.values():
        rows = np.repeat(np.arange(len(place)), often[place])
        own = mine[place[rows]]
        share = own.mean() if len(rows) else 0.0
        if 0 < share < 1:
            found.append(_given_people(judge[rows], human[rows], own, judge_exact))
            weights.append(len(rows) * share * (1 - share))
    values = np.array(found)
    known = ~np.isnan(values)
    return float(np.average(values[known], weights=np.array(weights)[known])) if known.any() else math.nan


def _given_people(judge: Floats, human: Floats, own: Any, judge_exact: bool) -> float:
    """How much higher the own ones are than others with the same score by people, in the judge's standard deviations.

    The slope is that of the judge on people, or where the judge is exact the inverse of that of people on the judge,
    both from within own and other outputs: what lies between the two is what is asked.
    """
    spread = judge.std()
    if spread <= EVEN * np.abs(judge).max(initial=0.0):
        return 0.0  # a judge that says one thing prefers nobody
    apart = [float(side[own].mean() - side[~own].mean()) for side in (judge, human)]
    if abs(apart[1]) <= EVEN * np.abs(human).max(initial=0.0):
        return float(round(apart[0] / spread, DIGITS))  # people see no difference, so no slope is needed
    j, h = (_within(side, own) for side in (judge, human))
    together = float(j @ h)
    above, under = (float(j @ j), together) if judge_exact else (together, float(h @ h))
    if under <= EVEN * math.sqrt(float(j @ j) * float(h @ h)) or (judge_exact and together <= 0):
        return math.nan
    return float(round((apart[0] - above / under * apart[1]) / spread, DIGITS))


def _within(values: Floats, own: Any) -> Floats:
    """Less the mean of its kind."""
    return np.asarray(values - np.where(own, values[own].mean(), values[~own].mean()))


def own_systems(graph: Any, samples: Sequence[Sample], given: str | Sequence[str]) -> tuple[str, ...]:
    """Systems that are the judge's own model: those given, else those called as one of the graph's judges is."""
    systems = dict.fromkeys(str(sample.meta["system"]) for sample in samples if "system" in sample.meta)
    for name in names_of(given):
        if name not in systems:
            has = one_line(", ".join(systems), 200) or "none: no sample has meta.system"
            raise ConfigError(f"own: no system '{one_line(name, 60)}' wrote one of the samples; there are {has}")
    if given:
        return names_of(given)
    known = {_plain(name) for _, agent in agents_of(graph) for name in _models(agent)} - {""}
    return tuple(system for system in systems if _plain(system) in known)


def _models(agent: Any) -> list[str]:
    judges = getattr(agent, "judges", None) or [getattr(agent, "judge", None)]
    names = [j if isinstance(j, str) else getattr(j, "model_name", None) or getattr(j, "model", None) for j in judges]
    return [name for name in names if isinstance(name, str)]


def _plain(name: str) -> str:
    """A model's name without its provider, and without what is spelt in several ways: "gpt41mini"."""
    return _IDLE.sub("", name.rpartition(":")[2].rpartition("/")[2].casefold())
