"""One score that moved between two runs, and one sample with all of its moves."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from judgegraph.meta.diff.changes import Cause

Answer: TypeAlias = float | str | None
Kind: TypeAlias = Literal["value", "label", "status", "verdict"]
VERDICTS = ("A", "B")


@dataclass(frozen=True)
class Move:
    """One score, or verdict, that is not the same in both runs.

    Attributes:
        criterion: "" for the verdict over all. agent: in A, "a -> b" where B has another. of, repeat, stage: its own.
        kind: "value", "label", "verdict", or "status" where one of the two could not be read.
        a, b: value, label, verdict or status. change: b - a in units of the scale, None where the scale is another or
            there are no two values. share: the same by the width of the scale, -1 to 1; a changed label, verdict or
            status is 1.
        causes, at: as in `Why`. changes: lines of what it may come from.
        spread: standard deviation of what the change would be if each answer were drawn from its own distribution; None
            where there are none. within: whether the change is at most twice that.
        reason_a, reason_b: their first words.
    """

    criterion: str
    agent: str
    kind: Kind
    a: Answer
    b: Answer
    causes: tuple[Cause, ...]
    at: str = "score"
    changes: tuple[str, ...] = ()
    of: str = "output"
    repeat: int = 0
    stage: str = "final"
    answer: bool = True
    change: float | None = None
    share: float | None = None
    spread: float | None = None
    reason_a: str = ""
    reason_b: str = ""

    @property
    def size(self) -> float:
        """0 to 1; of a number without a scale by the larger of the two."""
        if self.share is not None:
            return abs(self.share)
        if isinstance(self.a, float) and isinstance(self.b, float):
            return min(1.0, abs(self.b - self.a) / (max(abs(self.a), abs(self.b)) or 1.0))
        return 1.0

    @property
    def within(self) -> bool | None:
        """Whether the change is no larger than twice the spread; None where that is not known."""
        return None if self.spread is None or self.change is None else abs(self.change) <= 2 * self.spread

    @property
    def flip(self) -> bool:
        """Whether the winner of a pair became the loser."""
        return self.kind == "verdict" and self.a in VERDICTS and self.b in VERDICTS

    @property
    def cause(self) -> str:
        """In words: "prompt", "prompt or model"."""
        return " or ".join(self.causes)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        plain = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**plain, "causes": list(self.causes), "changes": list(self.changes), "within": self.within}


@dataclass(frozen=True)
class SampleMoves:
    """One sample of both runs. data: whether its content differs. moves: the largest first."""

    id: str
    place: int
    data: bool = False
    moves: tuple[Move, ...] = field(default=())

    @property
    def size(self) -> float:
        """Of its largest move, 0 to 1."""
        return max((move.size for move in self.moves), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "id": self.id, "place": self.place, "data": self.data, "moves": [move.to_dict() for move in self.moves],
        }  # fmt: skip
