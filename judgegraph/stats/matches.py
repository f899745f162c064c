"""Pairwise comparisons of systems as arrays: who met whom, who won; the graph of wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
    """

    names: tuple[str, ...]
    first: Codes
    second: Codes
    won: Floats
    unit: Codes | None = None

    def __post_init__(self) -> None:
        columns = [self.first, self.second, self.won] + ([] if self.unit is None else [self.unit])
        if len({len(column) for column in columns}) != 1:
            raise ValueError("first, second, won and unit must be of one length")
        if (self.first == self.second).any():
            raise ValueError("a system does not meet itself")
        if not np.isin(self.won, (0, 0.5, 1)).all():
            raise ValueError("won: expected 0, 0.5 or 1")

    def __len__(self) -> int:
        return len(self.won)

    def wins(self) -> Floats:
        """(n, n): how often the row's system won against the column's, a tie half for each."""
        found: Floats = wins_of(self, np.ones((1, len(self))))[0]
        return found

    def draws(self, resamples: int, seed: int) -> Draws:
        """Resamples of the comparisons, or of their units."""
        return Draws("item" if self.unit is None else "group", len(self), resamples, seed, group=self.unit)


def wins_of(matches: Matches, weights: Floats) -> Floats:
    """The wins when each comparison counts so often: (rows, m) -> (rows, n, n)."""
    from scipy.sparse import csr_matrix

    n, m = len(matches.names), len(matches)
    cells = np.concatenate([matches.first * n + matches.second, matches.second * n + matches.first])
    values = np.concatenate([matches.won, 1 - matches.won])
    spread = csr_matrix((values, (cells, np.tile(np.arange(m), 2))), shape=(n * n, m))
    found: Floats = np.asarray(spread @ weights.T, dtype=np.float64).T.reshape(len(weights), n, n)
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
    from scipy.sparse.csgraph import connected_components

    return len(wins) == 0 or int(connected_components(wins > 0, directed=True, connection="strong")[0]) == 1
