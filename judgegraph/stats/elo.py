"""Elo ratings, averaged over many orders of the same comparisons: in one order the last ones weigh most.

expected = 1 / (1 + 10^((rating_b - rating_a) / scale)); both ratings move by k (won - expected).

Source: Elo 1978.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.matches import Matches

MOST_GAMES = 5_000_000  # comparisons replayed for the ratings, and as many for their intervals: seconds
LONG, LONGEST = 20_000, 80_000  # comparisons of one order: what is always played, what is played at most
SURE = 4.0  # standard errors by which two ratings are apart that differ by more than the luck of their orders


@dataclass(frozen=True, kw_only=True)
class EloRule:
    """k: how far one comparison moves a rating. scale: 10 to 1 are the odds at that difference. start: of all."""

    k: float = 16.0
    scale: float = 400.0
    start: float = 1000.0

    def __post_init__(self) -> None:
        if not (np.isfinite([self.k, self.scale, self.start]).all() and self.k > 0 and self.scale > 0):
            raise ValueError("Elo: k and scale are above 0, and all three are finite")

    def played(self, comparisons: int, systems: int) -> int:
        """How many of very many comparisons an order plays.

        A rating forgets: at even odds what is 28 scales / k games back weighs less than a thousandth.
        """
        forgotten = 28 * self.scale / (math.log(10) * self.k) * systems / 2
        return min(comparisons, int(np.clip(forgotten, LONG, LONGEST)))


@dataclass(frozen=True)
class Ratings:
    """Of n systems.

    Attributes:
        values: (n,), means over `orders` orders. drawn: (resamples, n), each the mean over `each` orders of a resample.
        signs: (n, n), 1 where the row's system is ahead of the column's, -1 where it is behind, 0 where the orders
            leave that open.
        played: comparisons of an order: all, or so many of very many. units: that have a comparison.
    """

    values: Floats
    drawn: Floats
    signs: Floats
    orders: int
    each: int
    played: int
    units: int


def elo(
    matches: Matches, rule: EloRule | None = None, *, orders: int = 500, resamples: int = 1000, seed: int = 0
) -> Ratings:
    """Ratings, and those of resamples; of very many comparisons fewer orders and resamples are taken, as it says."""
    rule, n = rule or EloRule(), len(matches.names)
    rng = np.random.default_rng([seed, 2])
    played = rule.played(len(matches), n)
    most = MOST_GAMES // max(1, played)
    orders, resamples = max(1, min(orders, most)), min(resamples, max(100, most))
    each = int(np.clip(most // max(1, resamples), 1, 10))
    deck = _Deck(matches, rule)
    games = [deck.order(np.ones(matches.drawn_from, dtype=np.intp), rng) for _ in range(orders)]
    for drawn in (one.astype(np.intp) for some in matches.draws(resamples, seed) for one in some.weights):
        games += [deck.order(drawn, rng) for _ in range(each)]
    rated = _played(matches, rule, games)
    resampled = rated[orders:].reshape(resamples, each, n).mean(axis=1)
    own = rated[:orders]
    return Ratings(own.mean(axis=0), resampled, _signs(own, rule), orders, each, played, matches.judged)


class _Deck:
    """Comparisons by their unit, from which orders are taken without writing out a resample."""

    def __init__(self, matches: Matches, rule: EloRule) -> None:
        self.systems, self.rule = len(matches.names), rule
        self.cards = np.argsort(matches.units, kind="stable").astype(np.int32)
        self.sizes = np.bincount(matches.units, minlength=matches.drawn_from)
        self.numbers = np.arange(matches.drawn_from, dtype=np.int32)
        self.starts = np.cumsum(self.sizes) - self.sizes

    def order(self, counts: Codes, rng: np.random.Generator) -> NDArray[np.int32]:
        """The comparisons of units that stand there so often, in any order; of very many some."""
        many = self.sizes * counts
        ends = np.cumsum(many)
        total = int(many.sum())
        at = rng.choice(total, self.rule.played(total, self.systems), replace=False)
        unit = np.repeat(self.numbers, many)[at]
        return np.asarray(self.cards[self.starts[unit] + (at - ends[unit] + many[unit]) % self.sizes[unit]])


def _signs(rated: Floats, rule: EloRule) -> Floats:
    """Who is ahead by the means of (orders, n), beyond what another set of orders may turn."""
    means, orders = rated.mean(axis=0), len(rated)
    spread = np.atleast_2d(np.cov(rated, rowvar=False)) if orders > 1 else np.zeros((rated.shape[1],) * 2)
    variance = np.diag(spread)
    error = np.sqrt(np.maximum(0, variance[:, None] + variance - 2 * spread) / orders)
    apart = means[:, None] - means
    return np.asarray(np.where(np.abs(apart) <= SURE * error + 1e-9 * rule.scale, 0, np.sign(apart)))


def _played(matches: Matches, rule: EloRule, games: list[NDArray[np.int32]]) -> Floats:
    """Final ratings, (rows, n), of rows of comparisons, each in its order."""
    table = np.full((max(map(len, games), default=0), len(games)), -1, dtype=np.int32)  # one at a time for all rows
    for row, game in enumerate(games):
        table[: len(game), row] = game
        games[row] = game[:0]  # let it go: the table holds it
    ratings = np.full((len(games), len(matches.names)), rule.start)
    rows = np.arange(len(games))
    for played in table:
        _move(ratings, rows, played, matches, rule)
    return ratings


def _move(ratings: Floats, rows: Codes, played: NDArray[np.int32], matches: Matches, rule: EloRule) -> None:
    """One comparison in every row; a row that has no more of them stays."""
    first, second = matches.first[played], matches.second[played]
    ahead = (ratings[rows, first] - ratings[rows, second]) / rule.scale
    gain = rule.k * (matches.won[played] - 1 / (1 + 10 ** np.clip(-ahead, -300, 300)))
    gain[played < 0] = 0
    ratings[rows, first] += gain
    ratings[rows, second] -= gain
