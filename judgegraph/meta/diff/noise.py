"""How large the moves are that nothing explains, beside what sampling alone would give."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from judgegraph.meta.diff.move import Move


@dataclass
class Noise:
    """Of the moves whose one cause is noise.

    Attributes:
        moves: all of them. sized: of those, numbers on a scale; share: their sum of sizes, by the width of the scale.
        spread: those with distributions in both runs; within: of these at most twice the spread that they expect.
    """

    moves: int = 0
    sized: int = 0
    share: float = 0.0
    spread: int = 0
    within: int = 0

    def add(self, move: Move) -> None:
        """Count a move, if it is one."""
        if move.causes != ("noise",):
            return
        self.moves += 1
        if move.kind == "value" and move.share is not None:
            self.sized += 1
            self.share += abs(move.share)
        if move.within is not None:
            self.spread += 1
            self.within += move.within

    @property
    def mean_share(self) -> float | None:
        """Mean size by the width of the scale, 0 to 1; None without any."""
        return self.share / self.sized if self.sized else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {**{k: v for k, v in asdict(self).items() if k != "share"}, "mean_share": self.mean_share}
