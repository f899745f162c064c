"""Elo ratings, averaged over many orders of the same comparisons: in one order the last ones weigh most.

expected = 1 / (1 + 10^((rating_b - rating_a) / scale)); both ratings move by k (won - expected).

Source: Elo 1978.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.matches import Matches

MOST_GAMES = 5_000_000  # comparisons replayed for the ratings, and as many for their intervals: seconds


@dataclass(frozen=True, kw_only=True)
class EloRule:
    """k: how far one comparison moves a rating. scale: 10 to 1 are the odds at that difference. start: of all."""

    k: float = 16.0
    scale: float = 400.0
    start: float = 1000.0

    def __post_init__(self) -> None:
        if not (np.isfinite([self.k, self.scale, self.start]).all() and self.k > 0 and self.scale > 0):
            raise ValueError("Elo: k and scale are above 0, and all three are finite")


@dataclass(frozen=True)
class Ratings:
    """Of n systems.

    Attributes:
        values: (n,), means over `orders` orders. drawn: (resamples, n), each the mean over `each` orders of a resample.
        units: that were drawn.
    """

    values: Floats
    drawn: Floats
    orders: int
    each: int
    units: int


def elo(
    matches: Matches, rule: EloRule | None = None, *, orders: int = 500, resamples: int = 1000, seed: int = 0
) -> Ratings:
    """Ratings, and those of resamples; of very many comparisons fewer orders and resamples are taken, as it says."""
    rule, m = rule or EloRule(), max(1, len(matches))
    rng = np.random.default_rng([seed, 2])
    orders = max(1, min(orders, MOST_GAMES // m))
    resamples = min(resamples, max(100, MOST_GAMES // m))
    each = int(np.clip(MOST_GAMES // (m * max(1, resamples)), 1, 10))
    draws = matches.draws(resamples, seed)
    games: list[Codes] = [rng.permutation(np.arange(len(matches), dtype=np.int32)) for _ in range(orders)]
    for row in (row.astype(np.intp) for some in draws for row in some.weights):
        games += [rng.permutation(np.repeat(np.arange(len(matches), dtype=np.int32), row)) for _ in range(each)]
    rated = _played(matches, rule, games)
    drawn = rated[orders:].reshape(resamples, each, len(matches.names)).mean(axis=1)
    return Ratings(rated[:orders].mean(axis=0), drawn, orders, each, draws.units)


def _played(matches: Matches, rule: EloRule, games: list[Codes]) -> Floats:
    """Final ratings, (rows, n), of rows of comparisons, each in its order."""
    table = np.full((max(map(len, games), default=0), len(games)), -1, dtype=np.int32)  # one at a time for all rows
    for row, game in enumerate(games):
        table[: len(game), row] = game
        games[row] = game[:0]  # let it go: the table holds it
    ratings = np.full((len(games), len(matches.names)), rule.start)
    rows = np.arange(len(games))
    for played in table:
        _move(ratings, rows, played.astype(np.intp), matches, rule)
    return ratings


def _move(ratings: Floats, rows: Codes, played: Codes, matches: Matches, rule: EloRule) -> None:
    """One comparison in every row; a row that has no more of them stays."""
    first, second = matches.first[played], matches.second[played]
    ahead = (ratings[rows, first] - ratings[rows, second]) / rule.scale
    gain = rule.k * (matches.won[played] - 1 / (1 + 10 ** np.clip(-ahead, -300, 300)))
    gain[played < 0] = 0
    ratings[rows, first] += gain
    ratings[rows, second] -= gain
