"""Evidence: a quality between 0 and 1 with the words that name what was seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from judgegraph.models.embedded.case import Case


@dataclass(frozen=True)
class Evidence:
    """What was measured: `quality` 0 to 1 (1 is best), `note` a clause for a reason.

    `raises` is False where only faults were looked for: that none was found is no reason to raise a score.
    """

    quality: float
    note: str
    raises: bool = True


Measure: TypeAlias = Callable[[Case], Evidence | None]
Views: TypeAlias = dict[str, tuple[Measure, Measure]]  # family -> what an evaluator sees, what a critic sees


def logistic(x: float, centre: float, width: float) -> float:
    """A monotone map of any number to 0-1; `centre` becomes .5, `centre + width` .73."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, (x - centre) / width))))


def falling(count: float, per: float) -> float:
    """1 without any defect, 1/e at `per` of them."""
    return math.exp(-count / per)


def between(x: float, low: float, high: float, soft: float) -> float:
    """1 inside low..high, falling with the distance (in units of `soft`) outside."""
    off = max(low - x, x - high, 0.0)
    return math.exp(-off / soft)


def percent(x: float) -> str:
    return f"{100 * x:.0f} %"


def counted(n: int, one: str, many: str = "") -> str:
    """ "no repeated word", "1 repeated word", "3 repeated words"."""
    return f"{n or 'no'} {one if n in (0, 1) else many or one + 's'}"


def mean(values: Iterable[float]) -> float:
    """Arithmetic mean, 0 for none."""
    held = list(values)
    return math.fsum(held) / len(held) if held else 0.0
