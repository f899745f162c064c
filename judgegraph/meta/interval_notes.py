"""What to know of an interval: that it rests on little, or that there is none."""

from __future__ import annotations

import math

from judgegraph.meta.conventions import Conventions
from judgegraph.meta.result import NONE, Ends
from judgegraph.stats.arrays import Unit

FEW = 6  # units of which an interval is a rough guess
FEW_SYSTEMS = 20  # of which intervals of rank coefficients are too wide, by simulation
WORDS: dict[Unit, str] = {"item": "items", "group": "groups", "system": "systems", "both": "groups or systems"}


def of_units(units: int, unit: Unit, *, ranks_of_systems: bool = False) -> list[str]:
    """Of so many units that were drawn."""
    if units < 2:
        return [f"no interval: {units} of {WORDS[unit]}, and it takes 2 to draw"]
    if units < FEW:
        return [f"interval from {units} {WORDS[unit]}: a rough guess, with fewer than {FEW}"]
    if ranks_of_systems and units < FEW_SYSTEMS and unit in ("system", "both"):
        return [f"interval from {units} {WORDS[unit]}: too wide, with fewer than {FEW_SYSTEMS}"]
    return []


def settled_ends(ends: Ends) -> tuple[Ends, list[str]]:
    """None instead of ends of no width: resamples that are all alike do not know how sure a number is."""
    if math.isnan(ends[0]) or ends[0] < ends[1]:
        return ends, []
    return NONE, ["no interval: all resamples are alike"]


def few_resamples(conventions: Conventions) -> list[str]:
    """Fewer than five beyond both ends are too few to say where the ends are."""
    least = math.ceil(round(5 / (1 - conventions.confidence), 6))
    if not 0 < conventions.resamples < least:
        return []
    said = f"{conventions.resamples} resamples are too few for intervals of {100 * conventions.confidence:g} %"
    return [f"{said}: take {least:,} or more"]
