"""A figure laid out in layers from top to bottom; a subgraph is laid out by itself and stands as one node."""

from __future__ import annotations

from dataclasses import dataclass, replace

from judgegraph.report.drawing.box import PAD, Badges, Box, Route, box_of, label_of, label_size
from judgegraph.report.drawing.chains import Chains, chained
from judgegraph.report.drawing.columns import columns
from judgegraph.report.drawing.figure import Figure
from judgegraph.report.drawing.order import Key
from judgegraph.report.drawing.routes import LOOP, routes
from judgegraph.report.drawing.rows import back_edges, rows

WIDEST = 940.0  # pixels of nodes side by side, from which on they stand in a further row
GAP, NARROW = 34.0, 16.0  # between two layers; above a layer of labels


@dataclass(frozen=True)
class Layout:
    """Boxes, a frame before what it holds, and routes; all within `width` and `height` from 0, 0, in pixels."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]

    def moved(self, x: float, y: float) -> Layout:
        boxes = tuple(box.moved(x, y) for box in self.boxes)
        return replace(self, boxes=boxes, routes=tuple(route.moved(x, y) for route in self.routes))


def layout(figure: Figure, badges: Badges) -> Layout:
    """Where everything stands.

    Args:
        badges: node place ("weigh/judge") -> lines for its box.
    """
    if not figure.nodes:
        return Layout(0.0, 0.0, (), ())
    insides = {name: layout(node.inside, badges) for name, node in figure.nodes.items() if node.inside}
    boxes = {name: box_of(node, figure.path, badges) for name, node in figure.nodes.items()}
    boxes |= {name: _framed(boxes[name], inside) for name, inside in insides.items()}
    sides = _sides(figure)
    widths = {name: box.width + 2 * sides.get(name, 0.0) for name, box in boxes.items()}
    backs = back_edges(figure)
    chains = chained(figure, rows(figure, widths, WIDEST), backs)
    every: dict[Key, float] = {key: size[0] for key, size in chains.sizes.items()}
    every.update(widths)
    x = columns(chains.layers, every, chains.links)
    tops, heights = _levels(chains, boxes, x)
    placed = {}
    for i, layer in enumerate(chains.layers):
        for key in layer:
            if isinstance(key, str):
                box = boxes[key]
                placed[key] = box.moved(x[key] - box.width / 2, tops[i] + (heights[i] - box.height) / 2)
    found = routes(figure, chains, placed, x, list(zip(tops, heights, strict=True)), backs)
    return _together(placed, insides, found, _width(placed, sides, chains, x), tops[-1] + heights[-1])


def _framed(box: Box, inside: Layout) -> Box:
    return replace(box, width=max(box.width, inside.width + 2 * PAD), height=box.head + inside.height + 3 * PAD)


def _sides(figure: Figure) -> dict[str, float]:
    """Node that leads to itself -> room for that beside it."""
    sides = {}
    for edge in figure.edges:
        if edge.source == edge.target:
            lines = label_of(edge)
            sides[edge.source] = LOOP + (label_size(lines)[0] if lines else 0.0)
    return sides


def _width(placed: dict[str, Box], sides: dict[str, float], chains: Chains, x: dict[Key, float]) -> float:
    nodes = [box.x + box.width + sides.get(name, 0.0) for name, box in placed.items()]
    return max(nodes + [x[key] + size[0] / 2 for key, size in chains.sizes.items()])


def _levels(chains: Chains, boxes: dict[str, Box], x: dict[Key, float]) -> tuple[list[float], list[float]]:
    """(upper side, height) of each layer; where edges go far to a side, the gap is higher."""
    level = {key: i for i, layer in enumerate(chains.layers) for key in layer}
    heights = [max(boxes[k].height if isinstance(k, str) else chains.sizes[k][1] for k in la) for la in chains.layers]
    reach = [0.0] * len(heights)
    for a, b in chains.links:
        reach[level[b]] = max(reach[level[b]], abs(x[a] - x[b]))
    tops = [0.0] * len(heights)
    for i in range(1, len(heights)):
        of_labels = all(isinstance(key, tuple) for key in chains.layers[i])
        gap = (NARROW if of_labels else GAP) + min(36.0, reach[i] / 9)
        tops[i] = tops[i - 1] + heights[i - 1] + gap
    return tops, heights


def _together(
    placed: dict[str, Box], insides: dict[str, Layout], found: list[Route], width: float, height: float
) -> Layout:
    boxes: list[Box] = []
    for name, box in placed.items():
        boxes.append(box)
        if inside := insides.get(name):
            inside = inside.moved(box.x + (box.width - inside.width) / 2, box.y + box.head + 2 * PAD)
            boxes += inside.boxes
            found += inside.routes
    return Layout(width, height, tuple(boxes), tuple(found))
