"""Bradley-Terry: systems' strengths from who won against whom.

p(i wins against j) = 1 / (1 + exp(strength_j - strength_i)); strengths have mean 0, ties count half for each.

Source: Bradley & Terry 1952; fitted by choix (Maystre's iterative Luce spectral ranking), then by Newton's steps to
the last digit, so that equal systems are equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgegraph.errors import ExtraError
from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.draws import ENTRIES
from judgegraph.stats.matches import Matches, loose, parts_of, wins_of

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
        parts: (n,), see `parts_of`. regularised: a part was lent PRIOR wins for each side of every pair.
        lent: resamples in which one was. units: that have a comparison.
    """

    values: Floats
    drawn: Floats
    parts: Codes
    regularised: bool
    lent: int
    units: int


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
    values, lent = np.full(n, np.nan), 0
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
    return Strengths(values, drawn, parts, bool(needy.any()), lent, matches.judged)


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
