"""The layers of a figure: nodes in rows, labels in rows between, and where each edge passes a layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from judgegraph.report.drawing.box import label_of, label_size
from judgegraph.report.drawing.figure import Figure
from judgegraph.report.drawing.order import Key, Layers, Link, ordered
from judgegraph.report.drawing.rows import Pair

PASSING = 4.0  # width that an edge takes of a layer that it passes


@dataclass
class Chains:
    """Attributes: layers: from top to bottom. chains: number of an edge -> its way down, from node to node.

    labels: where a label stands -> its lines. sizes: (width, height) of what is no node.
    """

    layers: Layers = field(default_factory=list)
    chains: dict[int, list[Key]] = field(default_factory=dict)
    labels: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    sizes: dict[Key, tuple[float, float]] = field(default_factory=dict)

    @property
    def links(self) -> list[Link]:
        return [pair for chain in self.chains.values() for pair in pairwise(chain)]


def chained(figure: Figure, row: Mapping[str, int], backs: frozenset[Pair]) -> Chains:
    """The layers, ordered. A label stands below the upper end of its edge; an edge that closes a loop runs upwards.

    Args:
        row: node -> its row.
    """
    found = Chains()
    spans = {}
    for i, edge in enumerate(figure.edges):
        if edge.source != edge.target:
            ends = (edge.source, edge.target)
            spans[i] = ends[::-1] if ends in backs else ends
    labelled = {2 * row[upper] + 1 for i, (upper, _) in spans.items() if figure.edges[i].told}
    levels = sorted({2 * r for r in row.values()} | labelled)
    layers: dict[int, list[Key]] = {level: [n for n in figure.nodes if 2 * row[n] == level] for level in levels}
    for i, (upper, lower) in spans.items():
        passed: list[Key] = []
        for level in (level for level in levels if 2 * row[upper] < level < 2 * row[lower]):
            key = (i, level)
            layers[level].append(key)
            passed.append(key)
            found.sizes[key] = (PASSING, 0.0)
        if lines := label_of(figure.edges[i]):
            found.labels[passed[0]] = lines
            found.sizes[passed[0]] = label_size(lines)
        found.chains[i] = [upper, *passed, lower]
    found.layers = ordered([_mixed(layer) for layer in layers.values()], found.links)
    return found


def _mixed(layer: list[Key]) -> list[Key]:
    """What passes spread among the nodes: where nothing else decides, two rows then stand one under the other."""
    nodes = [key for key in layer if isinstance(key, str)]
    passing = [key for key in layer if not isinstance(key, str)]
    places = {key: (i + 0.5) / len(kind) for kind in (nodes, passing) for i, key in enumerate(kind)}
    return sorted(layer, key=places.__getitem__)
