"""From the worst value of an assistant to its best, as its description says."""

from __future__ import annotations

import re

from judgegraph.models.embedded.assistants import direction
from judgegraph.tools.finding import Assistant

_RANGE = re.compile(r"\brange:?\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|to)\s*(-?\d+(?:\.\d+)?)(?![\w.])", re.I)


def worst_and_best(assistant: Assistant) -> tuple[float, float] | None:
    """(worst, best) of an assistant whose `about` says a range of two numbers and that one end of it is better.

    None where the range is open ("0 or more"), where neither end is better ("1 = copied, 0 = its own words"), and
    where nothing is said. What says a range and no direction is taken for better the higher it is.
    """
    about = str(assistant.about)
    stated, way = _RANGE.search(about), direction(about)
    if stated is None or not way:
        return None
    low, high = float(stated[1]), float(stated[2])
    if low >= high:
        return None
    return (low, high) if way > 0 else (high, low)
