"""From the worst value of an assistant to its best, as its description says."""

from __future__ import annotations

from judgegraph.tools.finding import Assistant

SAYING = '"Range: 0 to 1; higher = better", or "lower = better"'  # how a description says both


def worst_and_best(assistant: Assistant) -> tuple[float, float] | None:
    """(worst, best) of an assistant whose `about` says a range of two numbers and which end of it is better.

    None where the range is open ("0 or more"), where neither end is better ("1 = copied, 0 = its own words"), and
    where either is not said, or not in words that are known: nothing is guessed.
    """
    from judgegraph.models.embedded.directions import stated_direction, stated_range  # the embedded judge comes with it

    about = str(assistant.about)
    ends, way = stated_range(about), stated_direction(about)
    if ends is None or not way:
        return None
    return ends if way > 0 else (ends[1], ends[0])
