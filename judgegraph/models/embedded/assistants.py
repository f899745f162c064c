"""Assistant evaluators as the judge sees them: which families they serve, and what their values say."""

from __future__ import annotations

import re

from judgegraph.models.embedded.directions import stated_direction, stated_range
from judgegraph.models.embedded.families import families_of

_KIN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"rouge|chrf|bleu|overlap|coverage|bleurt|similar", ("relevance", "consistency", "groundedness")),
    (r"nli|entail|copied|novel", ("consistency", "groundedness")),
    (r"prob|perplex|likelihood", ("fluency", "naturalness", "understandability")),
    (r"length", ("conciseness", "relevance")),
)


def assistant_families(name: str, description: str = "") -> tuple[str, ...]:
    """Families an assistant evaluator serves, by its name and description."""
    found = [*families_of(name), *families_of("", description)]
    for words, families in _KIN:
        if re.search(words, f"{name} {description}", re.I):
            found += families
    return tuple(dict.fromkeys(found))


def direction(description: str) -> int:
    """1 where a higher value is better (also where nothing is said), -1 where a lower one is, 0 where neither is."""
    stated = stated_direction(description)
    return 1 if stated is None else stated


def goodness(value: float, description: str = "") -> float | None:
    """A value as a share of what is best, 0-1; None where it has no direction or lies off its range."""
    way = direction(description)
    low, high = stated_range(description) or (0.0, 100.0 if 1 < value <= 100 else 1.0)
    if not way or not low <= value <= high:
        return None
    share = (value - low) / (high - low)
    return share if way > 0 else 1 - share
