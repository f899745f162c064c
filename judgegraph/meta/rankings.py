"""Systems in an order: what came of ranking them, and how it is printed as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from judgegraph.meta.result import NONE, Ends, json_values
from judgegraph.stats.cycles import Cycles


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """One system by one judge.

    Attributes:
        place: 1 for the strongest of its part; None where it was never compared.
        part: 1 for the most systems that comparisons link, 2 for the next, ...; None as of `place`.
        met: its comparisons. won: share of them, ties half. score: its mean, nan where pairs were judged.
        strength: Bradley-Terry, in log odds, mean 0 of a part. elo: averaged over orders. Both nan where it was never
            compared.
    """

    system: str
    place: int | None
    part: int | None = 1
    met: float
    won: float
    score: float = math.nan
    strength: float
    strength_interval: Ends = NONE
    elo: float
    elo_interval: Ends = NONE


@dataclass(frozen=True, kw_only=True)
class AgainstPeople:
    """How far a metric's ranking is people's, by "score", "strength" or "elo": see `RankingsAgree`.

    Attributes:
        pairs: of systems that comparisons link, by people and by the metric; no others count.
        kendall_interval: from the resampled strengths, nan beside other measures.
    """

    by: str
    kendall: float
    spearman: float
    alike: int
    pairs: int
    kendall_interval: Ends = NONE


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The systems by one judge and criterion, the strongest first.

    Attributes:
        units: that hold a comparison. cycles: of majority preferences. unread: answers that are missing.
        elo_scale: of the ratings. signature: every choice behind it.
        against: () for people themselves, and where they did not judge.
    """

    criterion: str
    judge: str
    systems: tuple[Ranked, ...]
    comparisons: int
    units: int
    cycles: Cycles
    against: tuple[AgainstPeople, ...] = ()
    unread: int = 0
    notes: tuple[str, ...] = ()
    elo_scale: float = 400.0
    signature: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; what is undefined is null."""
        found: dict[str, Any] = json_values(asdict(self))
        return found
