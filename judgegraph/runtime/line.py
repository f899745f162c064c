"""One line of a summary: how many scores, how many could be read, their mean, and what the others could do to it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from judgegraph.types import Scale, Score


@dataclass
class Line:
    """One criterion by one agent at one stage.

    Attributes:
        n: scores asked for, and one for every sample whose graph did not come to its end. statuses: status -> count.
        values: how many values could be read. mean: of these, in the units of the scale; None without any.
        labels: label -> count. changed, up, down: finals that differ from their draft.
        lost: status -> count of the samples whose graph did not come to its end; `statuses` holds them too.
    """

    criterion: str
    agent: str
    stage: str
    of: str
    scale: Scale | None = None
    n: int = 0
    values: int = 0
    mean: float | None = None
    statuses: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    up: int = 0
    down: int = 0
    changed: int = 0
    _squares: float = 0.0  # of the distances from the mean, kept as the values come (Welford 1962)

    @property
    def n_ok(self) -> int:
        """Scores that could be read."""
        return self.statuses["ok"]

    @property
    def sd(self) -> float | None:
        """Standard deviation (n - 1) of the values that could be read, None below two."""
        return math.sqrt(self._squares / (self.values - 1)) if self.values > 1 else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The mean if every missing score were the scale's least, and if it were its greatest."""
        if self.scale is None or self.scale.low is None or self.scale.high is None or not self.n:
            return None
        mean, missing = self.mean or 0.0, (self.n - self.values) / self.n
        return mean + missing * (self.scale.low - mean), mean + missing * (self.scale.high - mean)

    def add(self, score: Score) -> None:
        """Count one score."""
        self.n += 1
        self.scale = self.scale or score.scale
        self.statuses[score.status] += 1
        if score.value is not None:
            self._see(score.value)
        if score.label is not None:
            self.labels[score.label] += 1

    def lose(self, status: str, count: int) -> None:
        """Count samples whose graph did not come to its end."""
        self.n += count
        self.statuses[status] += count
        self.lost[status] += count

    def _see(self, value: float) -> None:
        self.values += 1
        before = self.mean or 0.0
        self.mean = before + (value - before) / self.values
        self._squares += (value - before) * (value - self.mean)
