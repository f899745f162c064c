"""Bradley-Terry: systems' strengths from who won against whom.

p(i wins against j) = 1 / (1 + exp(strength_j - strength_i)); strengths have mean 0, ties count half for each.

Source: Bradley & Terry 1952; fitted by choix (Maystre's iterative Luce spectral ranking).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgegraph.errors import ExtraError
from judgegraph.stats.arrays import Floats
from judgegraph.stats.draws import ENTRIES
from judgegraph.stats.matches import Matches, strongly_connected, wins_of

PRIOR = 0.1  # wins lent to each side of every pair where the win graph is not strongly connected
STEPS, CLOSE = 100, 1e-9  # of Newton, at most; a change in strength that is none


@dataclass(frozen=True)
class Strengths:
    """Of n systems.

    Attributes:
        values: (n,), in log odds, mean 0. drawn: (resamples, n), the same of resamples.
        regularised: PRIOR wins were lent to each side of every pair. lent: resamples in which that was so.
        units: that were drawn.
    """

    values: Floats
    drawn: Floats
    regularised: bool
    lent: int
    units: int


def bradley_terry(matches: Matches, *, resamples: int = 1000, seed: int = 0) -> Strengths:
    """Strengths, and those of resamples of the comparisons or of their units.

    Raises:
        ExtraError: choix is not installed.
    """
    n, wins = len(matches.names), matches.wins()
    loose = not strongly_connected(wins)
    values = _fitted(wins + _prior(n) if loose else wins)
    drawn, lent, step = np.empty((resamples, n)), 0, max(1, ENTRIES // max(1, n * n))
    draws = matches.draws(resamples, seed)
    for each in draws:
        for at in range(0, len(each), step):
            tables = wins_of(matches, each.weights[at : at + step])
            needy = np.array([loose or not strongly_connected(table) for table in tables])
            tables[needy] += _prior(n)
            drawn[each.resamples.start + at :][: len(tables)] = newton(tables, values)
            lent += int(needy.sum())
    return Strengths(values, drawn, loose, lent, draws.units)


def _prior(n: int) -> Floats:
    return np.full((n, n), PRIOR) * (1 - np.eye(n))


def _fitted(wins: Floats) -> Floats:
    if len(wins) < 2:
        return np.zeros(len(wins))
    try:
        import choix
    except ImportError:
        raise ExtraError("Bradley-Terry", "meta") from None
    found: Floats = np.asarray(choix.ilsr_pairwise_dense(wins, max_iter=10_000), dtype=np.float64)
    return np.asarray(found - found.mean())


def newton(tables: Floats, start: Floats) -> Floats:
    """Strengths of many tables of wins at once, (r, n, n) -> (r, n); choix takes milliseconds for each.

    Every table is strongly connected, so that the likelihood has one greatest point; a step that leads away is cut.
    """
    rows, n, _ = tables.shape
    met, won = tables + tables.transpose(0, 2, 1), tables.sum(axis=2)
    theta = np.tile(start, (rows, 1))
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(np.clip(theta[:, None, :] - theta[:, :, None], -500, 500)))  # (r, i, j): i beats j
        slope = won - (met * p).sum(axis=2)
        flow = met * p * (1 - p)
        bend = np.eye(n) * flow.sum(axis=2)[:, :, None] - flow + 1 / n  # 1/n holds the mean at 0
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        step /= np.maximum(np.abs(step).max(axis=1, keepdims=True), 1)  # at most 1 at a time
        theta += step
        if np.abs(step).max(initial=0) < CLOSE:
            break
    centred: Floats = theta - theta.mean(axis=1, keepdims=True)
    return centred
