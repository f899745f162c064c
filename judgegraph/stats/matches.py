"""Pairwise comparisons of systems as arrays: who met whom, who won; the graph of wins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judgegraph.stats.arrays import Codes, Floats
from judgegraph.stats.draws import Draws

if TYPE_CHECKING:
    import networkx as nx


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


def strongly_connected(wins: Floats) -> bool:
    """Whether wins lead from every system to every other: else some strengths have no bounds."""
    return not bool(loose(wins[None], np.zeros(len(wins), dtype=np.intp)).any())


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
