"""The ways of edges: out of a node's lower side, past what stands between, and into the next one's upper side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from judgegraph.report.drawing.box import Box, Route, label_of, label_size
from judgegraph.report.drawing.chains import Chains
from judgegraph.report.drawing.figure import Edge, Figure
from judgegraph.report.drawing.order import Key
from judgegraph.report.drawing.rows import Pair

Point: TypeAlias = tuple[float, float]
LOOP = 30.0  # how far an edge from a node to itself reaches out
STEP = 22.0  # between two edges at one side of a node


def routes(
    figure: Figure, chains: Chains, placed: Mapping[str, Box], x: Mapping[Key, float],
    levels: Sequence[tuple[float, float]], backs: frozenset[Pair],
) -> list[Route]:  # fmt: skip
    """A route for each edge of the figure.

    Args:
        x: the middle of everything. levels: (upper side, height) of each layer.
    """
    level = {key: levels[i] for i, layer in enumerate(chains.layers) for key in layer}
    out = _ports(chains, placed, x, lower=True)
    into = _ports(chains, placed, x, lower=False)
    found = []
    for i, edge in enumerate(figure.edges):
        if i not in chains.chains:
            found.append(_loop(edge, figure.path, placed[edge.source]))
            continue
        upper, *passed, lower = chains.chains[i]
        points = _leaving(placed[str(upper)], out[i], level[upper])
        for key in passed:
            points += [(x[key], level[key][0]), (x[key], sum(level[key]))]
        points += _leaving(placed[str(lower)], into[i], level[lower], upwards=True)[::-1]
        points = [p for p, before in zip(points, [None, *points], strict=False) if p != before]
        lines = chains.labels.get(passed[0], ()) if passed else ()
        at = (x[passed[0]], level[passed[0]][0] + level[passed[0]][1] / 2) if lines else (0.0, 0.0)
        back = (edge.source, edge.target) in backs
        found.append(Route(edge, figure.path, tuple(points[::-1] if back else points), lines, at))
    return found


def _leaving(box: Box, x: float, level: tuple[float, float], *, upwards: bool = False) -> list[Point]:
    """From a node's side to the side of its layer: the room above and below it is its own."""
    return [(x, box.y), (x, level[0])] if upwards else [(x, box.y + box.height), (x, sum(level))]


def _ports(chains: Chains, placed: Mapping[str, Box], x: Mapping[Key, float], *, lower: bool) -> dict[int, float]:
    """Number of an edge -> where it meets the lower (else the upper) side of its node: in the order they go on."""
    meeting: dict[str, list[tuple[float, int]]] = {}
    for i, chain in chains.chains.items():
        node, beside = (chain[0], chain[1]) if lower else (chain[-1], chain[-2])
        meeting.setdefault(str(node), []).append((x[beside], i))
    found = {}
    for name, edges in meeting.items():
        step = min(STEP, max(0.0, placed[name].width - 20) / max(1, len(edges) - 1))
        for place, (_, i) in enumerate(sorted(edges)):
            found[i] = x[name] + (place - (len(edges) - 1) / 2) * step
    return found


def _loop(edge: Edge, path: str, box: Box) -> Route:
    right, middle, half = box.x + box.width, box.y + box.height / 2, min(10.0, box.height / 3)
    lines = label_of(edge)
    at = (right + LOOP + label_size(lines)[0] / 2, middle) if lines else (0.0, 0.0)
    return Route(edge, path, ((right, middle - half), (right, middle + half)), lines, at)
