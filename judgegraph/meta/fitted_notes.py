"""What to know beside the numbers of a ranking."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judgegraph.errors import one_line
from judgegraph.meta.contests import Contest
from judgegraph.meta.conventions import Conventions
from judgegraph.stats.bradley_terry import PRIOR, Strengths
from judgegraph.stats.elo import Ratings

FEW = 10  # units of which intervals are rough: a resample holds two thirds of them
WAYS = "wins do not lead from every system to every other, so that some strengths have no bounds"


def notes_of(contest: Contest, strengths: Strengths, ratings: Ratings, c: Conventions) -> Iterator[str]:
    """A line each."""
    yield from _of_parts(contest, strengths)
    if strengths.regularised:
        yield f"{WAYS}; each pair was lent {PRIOR:g} wins either way"
    elif strengths.lent:
        yield (
            f"in {strengths.lent / len(strengths.drawn):.1%} of the resamples {WAYS}; there each pair was lent "
            f"{PRIOR:g} wins"
        )
    if contest.alike:
        yield f"{contest.alike:,} pairs of a system with itself, left out"
    yield from _of_draws(contest, strengths, ratings, c)


def _of_parts(contest: Contest, strengths: Strengths) -> Iterator[str]:
    names, parts = np.array(contest.matches.names, dtype=object), strengths.parts
    if parts.max(initial=0) > 0:
        shown = "; ".join(", ".join(map(_name, names[parts == part][:4])) for part in range(min(3, parts.max() + 1)))
        yield (
            f"{parts.max() + 1} parts that nobody compared ({one_line(shown, 200)}): places, strengths, and pairs "
            "against people are within a part"
        )
    idle = names[parts < 0]
    if len(idle):
        yield f"never compared: {one_line(', '.join(map(_name, idle[:8])), 200)}"


def _name(name: str) -> str:
    return one_line(name, 40)


def _of_draws(contest: Contest, strengths: Strengths, ratings: Ratings, c: Conventions) -> Iterator[str]:
    if c.resamples and strengths.units == 1:
        yield "one unit alone (document, or comparison): no interval can be told"
    elif c.resamples and strengths.units < FEW:
        yield f"{strengths.units} units: intervals are rough"
    if len(strengths.drawn) < c.resamples:
        yield f"intervals of strengths from {len(strengths.drawn):,} resamples, more would take too long"
    if len(ratings.drawn) < c.resamples:
        yield f"Elo intervals from {len(ratings.drawn):,} resamples, more would take too long"
    if ratings.played < len(contest.matches):
        yield (
            f"Elo plays {ratings.played:,} comparisons of {len(contest.matches):,} in each order, drawn by chance: "
            "all would take too long"
        )
