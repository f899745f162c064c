"""Rankings of systems: cycles of preferences, Bradley-Terry, Elo, and how far rankings agree."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from judgegraph.errors import ExtraError
from judgegraph.stats.bootstrap import ENTRIES, Draws, settled
from judgegraph.stats.correlation import Codes, Floats, pearson

if TYPE_CHECKING:
    import networkx as nx


# Cycles of majority preferences: where A mostly beats B, B beats C, and C beats A, no ranking is right.


MOST, LONGEST = 20, 5


@dataclass(frozen=True)
class Cycles:
    """Attributes:
    found: the shortest cycles, each from its first system in the order of names; at most `MOST` of them.
    more: whether there are others. knots: sets of systems of which each is, in some steps, preferred to each.
    """

    found: tuple[tuple[str, ...], ...]
    more: bool
    knots: tuple[tuple[str, ...], ...]


def majority_graph(wins: Floats, names: tuple[str, ...]) -> nx.DiGraph[str]:
    """An edge from each system to every one that it beat more often than it lost to it."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((names[i], names[j]) for i, j in zip(*np.nonzero(wins > wins.T), strict=True))
    return graph


def preference_cycles(wins: Floats, names: tuple[str, ...], *, most: int = MOST, longest: int = LONGEST) -> Cycles:
    """The shortest cycles of majority preferences, of up to `longest` systems; one of a knot that has none so short."""
    import networkx as nx

    graph = majority_graph(wins, names)
    places = {name: place for place, name in enumerate(names)}
    knots = [sorted(knot, key=places.__getitem__) for knot in nx.strongly_connected_components(graph) if len(knot) > 1]
    knots.sort(key=lambda knot: places[knot[0]])
    cycles: list[tuple[str, ...]] = []
    for length in range(3, longest + 1):
        room = most + 1 - len(cycles)
        exact = (cycle for cycle in nx.simple_cycles(graph, length_bound=length) if len(cycle) == length)
        cycles += islice((_from_first(cycle, places) for cycle in exact), max(0, room))
        if len(cycles) > most:
            break
    met = {name for cycle in cycles for name in cycle}
    far = [[a for a, *_ in nx.find_cycle(graph, knot[0])] for knot in knots if not met & set(knot)]
    cycles += [_from_first(cycle, places) for cycle in far]
    longer = any(len(knot) > longest for knot in knots)
    return Cycles(tuple(cycles[:most]), longer or len(cycles) > most, tuple(map(tuple, knots)))


def _from_first(cycle: list[str], places: dict[str, int]) -> tuple[str, ...]:
    at = min(range(len(cycle)), key=lambda k: places[cycle[k]])
    return tuple(cycle[at:] + cycle[:at])


# Pairwise comparisons of systems as arrays: who met whom, who won; the graph of wins.


@dataclass(frozen=True)
class Matches:
    """m comparisons of n systems.

    Attributes:
        names: n, each once. first, second: codes of the two that met, never the same. won: 1 where the first won,
            0 where the second did, 0.5 at a tie.
        unit: what a bootstrap draws a comparison by (its document); None: each by itself.
        total: how many units are drawn from, also such without a comparison; None: those that occur. Two judges of
            the same units have the same draws, though one of them did not judge all.
    """

    names: tuple[str, ...]
    first: Codes
    second: Codes
    won: Floats
    unit: Codes | None = None
    total: int | None = None

    def __post_init__(self) -> None:
        columns = [self.first, self.second, self.won] + ([] if self.unit is None else [self.unit])
        if len({len(column) for column in columns}) != 1:
            raise ValueError("first, second, won and unit must be of one length")
        if (self.first == self.second).any():
            raise ValueError("a system does not meet itself")
        if not np.isin(self.won, (0, 0.5, 1)).all():
            raise ValueError("won: expected 0, 0.5 or 1")
        if self.total is not None and self.total <= int(self.units.max(initial=-1)):
            raise ValueError("total: a comparison is of a unit beyond it")

    def __len__(self) -> int:
        return len(self.won)

    @cached_property
    def units(self) -> Codes:
        """The unit of each comparison, (m,)."""
        return np.arange(len(self)) if self.unit is None else self.unit

    @cached_property
    def drawn_from(self) -> int:
        """Units that are drawn from."""
        return int(self.units.max(initial=-1)) + 1 if self.total is None else self.total

    @cached_property
    def judged(self) -> int:
        """Units that have a comparison."""
        return len(np.unique(self.units))

    @cached_property
    def by_unit(self) -> Any:
        """Wins of each unit, a sparse (n * n, units)."""
        from scipy.sparse import csr_matrix

        n = len(self.names)
        cells = np.concatenate([self.first * n + self.second, self.second * n + self.first])
        values = np.concatenate([self.won, 1 - self.won])
        return csr_matrix((values, (cells, np.tile(self.units, 2))), shape=(n * n, self.drawn_from))

    def wins(self) -> Floats:
        """(n, n): how often the row's system won against the column's, a tie half for each."""
        found: Floats = wins_of(self, np.ones((1, self.drawn_from)))[0]
        return found

    def draws(self, resamples: int, seed: int) -> Draws:
        """Resamples of the units."""
        return Draws("item", self.drawn_from, resamples, seed)


def wins_of(matches: Matches, weights: Floats) -> Floats:
    """The wins when each unit counts so often: (rows, units) -> (rows, n, n)."""
    n = len(matches.names)
    found: Floats = np.asarray(matches.by_unit @ weights.T, dtype=np.float64).T.reshape(len(weights), n, n)
    return found


def win_graph(wins: Floats, names: tuple[str, ...]) -> nx.DiGraph[str]:
    """An edge from each system to every one that it won against, ties half; `wins`: how often, `met`: of how many."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    for i, j in zip(*np.nonzero(wins), strict=True):
        graph.add_edge(names[i], names[j], wins=float(wins[i, j]), met=float(wins[i, j] + wins[j, i]))
    return graph


def parts_of(wins: Floats) -> Codes:
    """(n,): which part each system is of, the largest 0; comparisons lead nowhere from one part to another.

    -1: it was never compared.
    """
    from scipy.sparse.csgraph import connected_components

    met = (wins + wins.T) > 0
    found = connected_components(met, directed=False)[1]
    size = np.bincount(found, minlength=len(wins))
    ranks = np.argsort(np.argsort(-size, kind="stable"), kind="stable")  # parts are numbered by their first system
    return np.where(met.any(axis=1), ranks[found], -1).astype(np.intp)


def loose(tables: Floats, parts: Codes) -> NDArray[np.bool_]:
    """(r, n) of tables of wins (r, n, n): of which systems wins do not lead from each of their part to each other."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    rows, n = tables.shape[:2]
    row, winner, loser = np.nonzero(tables)
    edges = (np.ones(len(row), dtype=bool), (row * n + winner, row * n + loser))  # side by side: one call for all
    graph = csr_matrix(edges, shape=(rows * n, rows * n))
    strong = connected_components(graph, directed=True, connection="strong")[1].reshape(rows, n)
    _, first, part = np.unique(parts, return_index=True, return_inverse=True)
    apart = strong != strong[:, first[part]]  # from the strong component of its part's first system
    return np.asarray(apart.astype(np.intp) @ (parts[:, None] == parts) > 0)


# Bradley-Terry: systems' strengths from who won against whom.
#
# p(i wins against j) = 1 / (1 + exp(strength_j - strength_i)); strengths have mean 0, ties count half for each.
#
# Source: Bradley & Terry 1952; fitted by choix (Maystre's iterative Luce spectral ranking), then by Newton's steps to
# the last digit, so that equal systems are equal.


PRIOR = 0.1  # wins lent to each side of every pair of a part whose win graph is not strongly connected
STEPS, CLOSE = 100, 1e-9  # of Newton, at most; a change in strength that is none
MOST_WORK = 3_000_000_000  # cubes of the number of systems that resamples may come to: seconds
MANY, GRADIENTS, TINY = 60, 40, 1e-300  # systems; steps of conjugate gradients at most; above 0
LEAST = 100  # resamples that are made however many systems there are


@dataclass(frozen=True)
class Strengths:
    """Of n systems.

    Attributes:
        values: (n,), in log odds, mean 0 within each part; nan of a system that was never compared.
        drawn: (resamples, n), the same of resamples.
        parts: (n,), see `parts_of`. unbounded: (n,), of a part that was lent PRIOR wins for each side of every pair.
        lent: resamples in which one was. units: that have a comparison.
    """

    values: Floats
    drawn: Floats
    parts: Codes
    unbounded: NDArray[np.bool_]
    lent: int
    units: int

    @property
    def regularised(self) -> bool:
        """Whether a part was lent wins."""
        return bool(self.unbounded.any())


def bradley_terry(matches: Matches, *, resamples: int = 1000, seed: int = 0) -> Strengths:
    """Strengths, and those of resamples of the comparisons or of their units; of very many systems fewer resamples.

    Raises:
        ExtraError: choix is not installed.
    """
    n, wins = len(matches.names), matches.wins()
    parts = parts_of(wins)
    known = np.flatnonzero(parts >= 0)
    fit, own = _Fit(parts[known]), wins[None, known[:, None], known]
    needy = loose(own, fit.parts)
    values, unbounded, lent = np.full(n, np.nan), np.zeros(n, dtype=bool), 0
    unbounded[known] = needy[0]
    values[known] = fit.one((own + fit.prior(needy))[0])
    resamples = min(resamples, max(LEAST, MOST_WORK // max(1, n**3)))
    drawn, step = np.full((resamples, n), np.nan), max(1, ENTRIES // max(1, n * n))
    for each in matches.draws(resamples, seed):
        for at in range(0, len(each), step):
            tables = wins_of(matches, each.weights[at : at + step])[:, known[:, None], known]
            also = needy | loose(tables, fit.parts)
            tables = tables + fit.prior(also)
            drawn[each.resamples.start + at :][: len(tables), known] = newton(tables, values[known], fit.hold)
            lent += int(also.any(axis=1).sum())
    return Strengths(values, drawn, parts, unbounded, lent, matches.judged)


class _Fit:
    """Fits systems that were all compared, part by part."""

    def __init__(self, parts: Codes) -> None:
        self.parts = parts
        self.same = parts[:, None] == parts
        self.hold = self.same / np.maximum(1, self.same.sum(axis=1, keepdims=True))

    def prior(self, needy: NDArray[np.bool_]) -> Floats:
        """What is lent in each table to the needy systems, (r, n) -> (r, n, n)."""
        found: Floats = PRIOR * (needy[:, :, None] & self.same & ~np.eye(len(self.parts), dtype=bool))
        return found

    def one(self, wins: Floats) -> Floats:
        """Strengths of one table."""
        found = np.zeros(len(wins))
        for part in np.unique(self.parts):
            inside = np.flatnonzero(self.parts == part)
            found[inside] = _by_choix(wins[np.ix_(inside, inside)])
        fitted: Floats = newton(wins[None], found, self.hold)[0]
        return fitted


def _by_choix(wins: Floats) -> Floats:
    try:
        import choix
    except ImportError:
        raise ExtraError("Bradley-Terry", "meta") from None
    return np.asarray(choix.ilsr_pairwise_dense(wins, max_iter=10_000), dtype=np.float64)


def newton(tables: Floats, start: Floats, hold: Floats | None = None) -> Floats:
    """Strengths of many tables of wins at once, (r, n, n) -> (r, n); choix takes milliseconds for each.

    Every part of a table is strongly connected, so that the likelihood has one greatest point; a step that leads away
    is cut. hold: (n, n), gives each system the mean of its part; None: there is one part.
    """
    rows, n, _ = tables.shape
    hold = np.full((n, n), 1 / max(1, n)) if hold is None else hold
    met, won = tables + tables.transpose(0, 2, 1), tables.sum(axis=2)
    theta = np.tile(start, (rows, 1))
    going = np.arange(rows)
    for _ in range(STEPS):
        step = _step(met[going], won[going], theta[going], hold)
        theta[going] += step
        going = going[np.abs(step).max(axis=1, initial=0) >= CLOSE]
        if not len(going):
            break
    centred: Floats = theta - theta @ hold.T
    return centred


def _step(met: Floats, won: Floats, theta: Floats, hold: Floats) -> Floats:
    p = 1 / (1 + np.exp(np.clip(theta[:, None, :] - theta[:, :, None], -500, 500)))  # (r, i, j): i beats j
    flow = met * p
    slope = won - flow.sum(axis=2)
    flow *= 1 - p
    bend = hold - flow  # what is held are the means of parts
    at = np.arange(len(hold))
    bend[:, at, at] += flow.sum(axis=2)
    step = _solved(bend, slope)
    return np.asarray(step / np.maximum(np.abs(step).max(axis=1, keepdims=True, initial=0), 1))  # at most 1 at a time


def _solved(bends: Floats, slopes: Floats) -> Floats:
    """Each bend's answer to its slope. Those of many systems that met often come from a few conjugate gradients."""
    if bends.shape[1] < MANY:
        return np.asarray(np.linalg.solve(bends, slopes[:, :, None])[:, :, 0])
    found, rest = np.zeros_like(slopes), slopes.copy()
    scale = 1 / np.diagonal(bends, axis1=1, axis2=2)
    way = rest * scale
    size = (rest * way).sum(axis=1, keepdims=True)
    wanted = 1e-16 * size
    for _ in range(GRADIENTS):
        if (size <= wanted).all():
            break
        bent = (bends @ way[:, :, None])[:, :, 0]
        far = np.where(size > wanted, size / np.maximum((way * bent).sum(axis=1, keepdims=True), TINY), 0)
        found += far * way
        rest -= far * bent
        before, size = size, (rest * rest * scale).sum(axis=1, keepdims=True)
        way = rest * scale + size / np.maximum(before, TINY) * way
    left = (size > wanted)[:, 0]
    found[left] = np.linalg.solve(bends[left], slopes[left][:, :, None])[:, :, 0]
    return found


# Elo ratings, averaged over many orders of the same comparisons: in one order the last ones weigh most.
#
# expected = 1 / (1 + 10^((rating_b - rating_a) / scale)); both ratings move by k (won - expected).
#
# Source: Elo 1978.


MOST_GAMES = 5_000_000  # comparisons replayed for the ratings, and as many for their intervals: seconds
LONG, LONGEST_ELO = 20_000, 80_000  # comparisons of one order: what is always played, what is played at most
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
        return int(min(comparisons, max(LONG, min(forgotten, LONGEST_ELO))))


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
    games = deck.orders(np.ones(matches.drawn_from, dtype=np.intp), rng, orders)
    for drawn in (one.astype(np.intp) for some in matches.draws(resamples, seed) for one in some.weights):
        games += deck.orders(drawn, rng, each)
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

    def orders(self, counts: Codes, rng: np.random.Generator, times: int) -> list[NDArray[np.int32]]:
        """The comparisons of units that stand there so often, in any order, as many times; of very many some."""
        many = self.sizes * counts
        begins = np.cumsum(many) - many
        total, units = int(many.sum()), np.repeat(self.numbers, many)
        played, found = self.rule.played(total, self.systems), []
        for _ in range(times):
            at = rng.choice(total, played, replace=False)
            unit = units[at]
            found.append(np.asarray(self.cards[self.starts[unit] + (at - begins[unit]) % self.sizes[unit]]))
        return found


def _signs(rated: Floats, rule: EloRule) -> Floats:
    """Who is ahead by the means of (orders, n), beyond what another set of orders may turn."""
    means, orders = rated.mean(axis=0), len(rated)
    covariance = np.atleast_2d(np.cov(rated, rowvar=False)) if orders > 1 else np.zeros((rated.shape[1],) * 2)
    variance = np.diag(covariance)
    error = np.sqrt(np.maximum(0, variance[:, None] + variance - 2 * covariance) / orders)
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


TIED = 1e-9  # scores that are no further apart are equal: fits and sums leave less than that
HELD = 2**20  # signs held at once


@dataclass(frozen=True)
class RankingsAgree:
    """kendall (tau-b), spearman: -1 to 1, nan where undefined. alike: pairs of systems in one order, of all pairs.

    A draw is alike where both have one.
    """

    kendall: float
    spearman: float
    alike: int
    pairs: int


def rankings_agree(one: Floats, other: Floats, parts: Codes | None = None) -> RankingsAgree:
    """Two scores of each system, (n,) and (n,), or two tables of signs, (n, n).

    Args:
        parts: (n,): only pairs of one part count, and no system of part -1; Spearman is undefined of several parts.
            None: all systems are of one.
    """
    codes = np.zeros(len(one), dtype=np.intp) if parts is None else parts
    known = np.flatnonzero(codes >= 0)
    first, second = within(codes)
    sides = [side if side.ndim == 2 else signs(side) for side in (one, other)]
    a, b = (side[first, second] for side in sides)
    ranks = (side[np.ix_(known, known)].sum(axis=1) for side in sides)  # ahead of how many, less behind how many
    spearman = pearson(*ranks) if len(np.unique(codes[known])) == 1 else math.nan
    return RankingsAgree(float(_tau(a[None], b[None])[0]), spearman, int((a == b).sum()), len(first))


def taus(one: Floats, other: Floats, parts: Codes) -> Floats:
    """Kendall's tau-b of each two rows of scores, (rows, n) and (rows, n) -> (rows,), within parts."""
    first, second = within(parts)
    step = max(1, HELD // max(1, len(first)))
    found = [np.empty(0)]
    for at in range(0, len(one), step):
        a, b = (levels(side[at : at + step]) for side in (one, other))
        found.append(_tau(*(np.sign(side[:, first] - side[:, second]).astype(np.float64) for side in (a, b))))
    return np.concatenate(found)


def within(parts: Codes) -> tuple[Codes, Codes]:
    """The pairs of systems of one part."""
    first, second = np.triu_indices(len(parts), 1)
    same = (parts[first] == parts[second]) & (parts[first] >= 0)
    return first[same], second[same]


def levels(scores: Floats, tied: float = TIED) -> NDArray[np.intp]:
    """0, 1, ... along the last axis, the lowest first; scores that differ by round-off have one level."""
    order = np.argsort(scores, axis=-1, kind="stable")
    steps = np.diff(np.take_along_axis(scores, order, axis=-1), axis=-1) > tied
    found = np.zeros(scores.shape, dtype=np.intp)
    np.put_along_axis(found, order[..., 1:], np.cumsum(steps, axis=-1), axis=-1)
    return found


def signs(scores: Floats, tied: float = TIED) -> Floats:
    """(n, n): 1 where the row's system is ahead, -1 where it is behind, 0 where both are equal."""
    level = levels(scores, tied)
    return np.asarray(np.sign(level[:, None] - level), dtype=np.float64)


def _tau(a: Floats, b: Floats) -> Floats:
    """Of the signs of all pairs, (rows, pairs); nan where a side has but draws."""
    size = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    with np.errstate(invalid="ignore"):
        return np.asarray((a * b).sum(axis=1) / np.where(size > 0, size, np.nan))


# Are systems ranked as people rank them, pair by pair?


Rule: TypeAlias = Literal["wins", "mean"]
Close: TypeAlias = Literal["adjacent"] | float | Collection[tuple[int, int]]


@dataclass(frozen=True)
class PairsRanked:
    """How many pairs of systems a metric ranks as people do; a draw is right where people see a draw too.

    Attributes:
        right, pairs: of all pairs that have a document in common. close_right, close_pairs: of those that are close.
    """

    right: int
    pairs: int
    close_right: int
    close_pairs: int


def ranked_pairs(
    human: Floats, metric: Floats, group: Codes, system: Codes, *, rule: Rule = "wins", close: Close = "adjacent"
) -> PairsRanked:
    """Ranks every pair of systems by people and by the metric, over the documents that both have.

    Args:
        human, metric: (items,), finite. group: the document of each item. system: its system.
        rule: "wins": a system wins a document with the higher score, ties count half to each; it is ahead with more
            than half of the documents. "mean": it is ahead with the higher mean.
        close: which pairs are counted once more: "adjacent" in people's order of the systems' means; a share, 0.5 to
            1: pairs of which people let neither win more of the documents; or the pairs, as codes of systems. (Shen et
            al. 2023 take systems adjacent by the mean of all four aspects, whatever the aspect that is judged.)

    Raises:
        ValueError: a system has two items of one document, or columns are of different lengths.
    """
    if len({len(column) for column in (human, metric, group, system)}) != 1:
        raise ValueError("human, metric, group and system must be of one length")
    codes, column = np.unique(system, return_inverse=True)
    row = np.unique(group, return_inverse=True)[1]
    if len(np.unique(row * len(codes) + column)) < len(row):
        raise ValueError("a system has two items of one document")
    people, by_metric = (_table(side, row, column) for side in (human, metric))
    first, second = np.triu_indices(len(codes), 1)
    shared = (~np.isnan(people[:, first] + people[:, second])).any(axis=0)
    first, second = first[shared], second[shared]
    right = _ahead(people, first, second, rule) == _ahead(by_metric, first, second, rule)
    near = _near(people, codes, first, second, close)
    return PairsRanked(int(right.sum()), len(right), int((right & near).sum()), int(near.sum()))


def _table(values: Floats, row: Codes, column: Codes) -> Floats:
    """Documents x systems, nan where a system lacks one."""
    table = np.full((int(row.max(initial=-1)) + 1, int(column.max(initial=-1)) + 1), np.nan)
    table[row, column] = settled(values)
    return table


def _ahead(table: Floats, first: Codes, second: Codes, rule: Rule) -> Floats:
    """Of each pair 1 where the first is ahead, -1 where the second is, 0 at a draw."""
    difference = table[:, first] - table[:, second]
    if rule == "wins":
        return np.asarray(np.sign(np.nansum(np.sign(difference), axis=0)))
    known = ~np.isnan(difference)
    means = [settled(np.where(known, table[:, side], 0).sum(axis=0) / known.sum(axis=0)) for side in (first, second)]
    return np.asarray(np.sign(means[0] - means[1]))


def _near(people: Floats, codes: Codes, first: Codes, second: Codes, close: Close) -> NDArray[np.bool_]:
    """Which pairs are close."""
    if close == "adjacent":
        place = np.argsort(np.argsort(-np.nanmean(people, axis=0), kind="stable"))
        return np.asarray(np.abs(place[first] - place[second]) == 1)
    if isinstance(close, (int, float)):
        wins = (np.sign(people[:, first] - people[:, second]) + 1) / 2
        share = np.nanmean(wins, axis=0)
        return np.asarray(np.maximum(share, 1 - share) <= close + 1e-12)
    assert not isinstance(close, str)
    named = {frozenset(pair) for pair in close}
    return np.array([frozenset((int(codes[a]), int(codes[b]))) in named for a, b in zip(first, second, strict=True)])
