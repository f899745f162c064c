"""One line of a summary: how many scores, how many could be read, their mean, and what the others could do to it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from judgegraph.answers import Role
from judgegraph.types import Scale, Score


@dataclass
class Line:
    """One criterion by one agent at one stage.

    Attributes:
        role: what its scores are: "answer", "vote", "draft" and so on (`judgegraph.answers`); of several roles the
            first. parts: keys of the lines that it was put together from; empty of a line by itself.
        n: scores asked for, and those that the samples whose graph did not come to its end would have had.
        statuses: status -> count.
        values: how many values could be read. mean: of these, in the units of the scale; None without any.
        labels: label -> count. draft: key of the line whose scores these ones rectify.
        reviewed: finals that could be read beside their draft. changed, up, down: those that differ from it.
        paired: finals with a value whose draft has one. before, after: means of these drafts and of these finals.
        lost: status -> count of scores of the samples whose graph did not come to its end; `statuses` holds them too.
        samples: whether it is a pair -> samples that have scores here. asked: the same -> their scores.
        brought: (status, whether it is a pair) -> scores here of samples that ended so, which a budget does to some.
        own: the criterion was written for the sample.
        scales: as its scores have them, written out -> id of the first sample with it; of several there is no mean.
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
    samples: Counter[bool] = field(default_factory=Counter)
    asked: Counter[bool] = field(default_factory=Counter)
    brought: Counter[tuple[str, bool]] = field(default_factory=Counter)
    own: bool = False
    scales: dict[str, str] = field(default_factory=dict)
    role: Role = "other"
    parts: tuple[tuple[str, ...], ...] = ()
    draft: tuple[str, ...] | None = None
    reviewed: int = 0
    up: int = 0
    down: int = 0
    changed: int = 0
    paired: int = 0
    before: float = 0.0
    after: float = 0.0
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

    def add(self, score: Score, sample: str = "") -> None:
        """Count one score."""
        self.n += 1
        if score.scale is not None and score.status == "ok":
            self.scales.setdefault(str(score.scale).removesuffix(" any"), sample)
        self.scale = self.scale or score.scale
        self.statuses[score.status] += 1
        if score.value is not None:
            self._see(score.value)
        if score.label is not None:
            self.labels[score.label] += 1

    def review(self, score: Score, draft: Score) -> None:
        """Count a final score's moves from the score that it rectifies."""
        self.draft = (draft.criterion, draft.agent, draft.stage, draft.of)
        if score.status == draft.status == "ok":
            self.reviewed += 1
            self.changed += score.answer != draft.answer
        if score.value is not None and draft.value is not None:
            self.up += score.value > draft.value
            self.down += score.value < draft.value
            self.paired += 1
            self.before += (draft.value - self.before) / self.paired
            self.after += (score.value - self.after) / self.paired

    def due(self, pair: bool, ok: Counter[bool]) -> int:
        """Scores that a failed sample would have had here, by those that came to their end (`ok`, by pair or not).

        A criterion that some samples brought of their own is due from none; of a kind (pair or single) that came
        to its end nowhere, the other kind tells.
        """
        if self.of == "rival" and not pair:
            return 0
        kind = pair if ok[pair] else not pair
        if not self.samples[kind] or (self.own and self.samples[kind] < ok[kind]):
            return 0
        return round(self.asked[kind] / self.samples[kind])

    def refuse_mixed(self) -> None:
        """Numbers on several scales have no mean, no spread and no bounds."""
        if len(self.scales) > 1:
            self.mean, self.values, self._squares, self.scale = None, 0, 0.0, None

    def lose(self, status: str, count: int) -> None:
        """Count scores of samples whose graph did not come to its end."""
        self.n += count
        self.statuses[status] += count
        self.lost[status] += count

    def join(self, other: Line) -> None:
        """Take another line's scores in; they lie on one scale, or are told by this one's."""
        values, gap = self.values + other.values, (other.mean or 0.0) - (self.mean or 0.0)
        if other.values:
            self._squares += other._squares + gap * gap * self.values * other.values / values
            self.mean = (self.mean or 0.0) + gap * other.values / values
        if paired := self.paired + other.paired:
            self.before += (other.before - self.before) * other.paired / paired
            self.after += (other.after - self.after) * other.paired / paired
        for name in ("n", "values", "reviewed", "up", "down", "changed", "paired"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("statuses", "labels", "lost", "samples", "asked", "brought"):
            getattr(self, name).update(getattr(other, name))
        self.scales = other.scales | self.scales
        self.scale, self.draft, self.own = self.scale or other.scale, self.draft or other.draft, self.own or other.own

    def _see(self, value: float) -> None:
        self.values += 1
        before = self.mean or 0.0
        self.mean = before + (value - before) / self.values
        self._squares += (value - before) * (value - self.mean)
