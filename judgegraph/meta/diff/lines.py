"""What moved of one criterion over all samples: counts, and the mean difference with its interval."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from judgegraph.meta.diff.matching import ends
from judgegraph.meta.diff.move import Move
from judgegraph.stats.draws import Draws
from judgegraph.stats.intervals import interval
from judgegraph.types import Score

RESAMPLES, SEED, CONFIDENCE = 1000, 0, 0.95
FEWEST, MANY = 5, 20  # samples: below there is no interval; below it is Student's t
MOST_DRAWN = 20_000  # values; above it Student's t says the same, at once


@dataclass
class Line:
    """One criterion, side of a pair, agent, stage and repeat in both runs: at most one score of each sample.

    Attributes:
        criterion: "" for the verdict over all. kind: "score", or "verdict" of a pair. answer: it is of the graph's
            answers (`judgegraph.answers`), not of a panel's members or of one order of a pair.
        n: samples in which both could be read and compared; moved: of those. up, down: of numbers; changed: of labels
            and verdicts; flips: verdicts whose winner became the loser.
        lost, gained: could be read in A alone, in B alone; other: could be read in neither, with another status.
        both: in both runs, readable or not. only_a, only_b: scores that the other run does not have at all.
        unit: of the difference: "points", or "share" of the scale's width where the scales differ.
        causes: in words -> moves.
    """

    criterion: str
    of: str = "output"
    agent: str = ""
    kind: str = "score"
    repeat: int = 0
    stage: str = ""
    answer: bool = True
    n: int = 0
    moved: int = 0
    up: int = 0
    down: int = 0
    changed: int = 0
    flips: int = 0
    lost: int = 0
    gained: int = 0
    other: int = 0
    both: int = 0
    only_a: int = 0
    only_b: int = 0
    scale_a: str = ""
    scale_b: str = ""
    causes: Counter[str] = field(default_factory=Counter)
    points: array[float] = field(default_factory=lambda: array("d"), repr=False)
    shares: array[float] = field(default_factory=lambda: array("d"), repr=False)
    sums: list[float] = field(default_factory=lambda: [0.0, 0.0], repr=False)
    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan
    method: str = ""

    @property
    def unit(self) -> str:
        """Of `mean`, `low` and `high`."""
        return "share" if self.shares else "points"

    def add(self, one: Score, other: Score, move: Move | None) -> None:
        """A score that both runs have."""
        self.both += 1
        self.scale_a, self.scale_b = (
            str(s.scale or "") or old for s, old in ((one, self.scale_a), (other, self.scale_b))
        )
        if move is not None:
            self.causes[move.cause] += 1
        if one.answer is None or other.answer is None:
            if move is not None:
                self._status(one.answer is not None, other.answer is not None)
            return
        self.n += 1
        self.moved += move is not None
        if one.value is not None and other.value is not None:
            self._number(one, other, move)
        else:
            self.changed += move is not None

    def add_verdict(self, before: bool, after: bool, move: Move | None) -> None:
        """A verdict that both runs have; whether it could be read in A, and in B."""
        self.both += 1
        if move is not None:
            self.causes[move.cause] += 1
        if not (before and after):
            if move is not None:
                self._status(before, after)
            return
        self.n += 1
        self.moved += move is not None
        self.changed += move is not None
        self.flips += move is not None and move.flip

    def settle(self) -> None:
        """The mean difference with its interval, of all that was added."""
        values = np.frombuffer(self.shares or self.points or array("d"), dtype=np.float64)
        if len(values):
            self.mean = float(values.mean())
            self.low, self.high, self.method = _ends(values)

    def _status(self, before: bool, after: bool) -> None:
        self.lost += before and not after
        self.gained += after and not before
        self.other += before == after

    def _number(self, one: Score, other: Score, move: Move | None) -> None:
        change, part = (0.0, 0.0) if move is None else (move.change, move.share)
        assert one.value is not None
        assert other.value is not None
        if change is not None and ends(one.scale) == ends(other.scale):
            self.points.append(change)
            self.sums[0] += one.value
            self.sums[1] += other.value
        elif part is not None:
            self.shares.append(part)
        way = (part if change is None else change) or 0.0
        self.up += way > 0
        self.down += way < 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        hidden = ("points", "shares", "sums", "causes", "mean", "low", "high")
        plain = {name: value for name, value in vars(self).items() if name not in hidden}
        ends = {name: getattr(self, name) for name in ("mean", "low", "high")}
        count = len(self.points)
        return {
            **plain,
            "mean_a": self.sums[0] / count if count else None, "mean_b": self.sums[1] / count if count else None,
            "difference": {k: None if math.isnan(v) else v for k, v in ends.items()} | {"unit": self.unit},
            "causes": dict(self.causes.most_common()),
        }  # fmt: skip


def _ends(values: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, float, str]:
    """A 95 % interval of a mean: samples are drawn anew, each by itself.

    Of few samples none: at 2 to 4 it held the truth in 52 to 92 of 100 simulated runs. Below `MANY` it is Student's t,
    as resamples of a handful have too few means to take percentiles of.
    """
    n = len(values)
    if n < FEWEST or (values == values[0]).all():  # no resample could tell otherwise, so it would say too much
        return math.nan, math.nan, ""
    if n < MANY or n > MOST_DRAWN:
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, n - 1) * values.std(ddof=1) / math.sqrt(n))
        return float(values.mean()) - half, float(values.mean()) + half, "Student's t"
    means = np.empty(RESAMPLES)
    for drawn in Draws("item", n, RESAMPLES, SEED):
        means[drawn.resamples] = drawn.weights @ values / n
    found = interval(means, CONFIDENCE, units=n)
    return found.low, found.high, f"bootstrap of {RESAMPLES:,}, seed {SEED}"
