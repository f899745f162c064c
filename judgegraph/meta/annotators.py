"""Several annotators of one item: what counts as people's judgement."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from judgegraph.errors import ConfigError
from judgegraph.meta.conventions import Conventions
from judgegraph.meta.judgements import Answer, Judgements
from judgegraph.meta.means import mean, median


def said(value: Answer) -> bool:
    """Whether an annotator's place is filled."""
    return not (isinstance(value, float) and math.isnan(value))


def width(judgements: Judgements) -> int:
    """How many annotators there are, each with a place of his own."""
    return max((len(places) for places in judgements.human), default=0)


def rule_of(judgements: Judgements, conventions: Conventions) -> str:
    """The rule that is really followed, in words for the signature."""
    count, rule = width(judgements), conventions.annotators
    if count < 2 and not isinstance(rule, int):
        return "single"
    if isinstance(rule, int):
        return f"{rule} of {count}"
    return f"{rule if judgements.kind == 'number' else 'majority'} of {count}"


def people(judgements: Judgements, conventions: Conventions) -> list[Answer | None]:
    """People's judgement of each item, None where there is none.

    A majority is what more annotators say than anything else; where there is none, a verdict is a tie, and of numbers
    and labels there is no judgement.

    Raises:
        ConfigError: there is no n-th annotator.
    """
    rule, count = conventions.annotators, width(judgements)
    if isinstance(rule, int):
        if count and rule > count:
            raise ConfigError(f"annotators: the annotator {rule} is wanted, and there {_are(count)}")
        return [_nth(places, rule) for places in judgements.human]
    if judgements.kind == "number" and rule != "majority":
        middle = mean if rule == "mean" else median
        known = ([float(v) for v in places if said(v)] for places in judgements.human)
        return [middle(values) if values else None for values in known]
    return [_majority(places, judgements.kind) for places in judgements.human]


def _are(count: int) -> str:
    return "is one" if count == 1 else f"are {count}"


def _nth(places: Sequence[Answer], n: int) -> Answer | None:
    return places[n - 1] if len(places) >= n and said(places[n - 1]) else None


def _majority(places: Sequence[Answer], kind: str) -> Answer | None:
    ranked = Counter(value for value in places if said(value)).most_common(2)
    if not ranked:
        return None
    if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
        return "tie" if kind == "verdict" else None
    return ranked[0][0]
