"""`jg.show`: a graph laid out in layers, and drawn as a picture or as text, for notebooks, files and terminals."""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any, Literal, TypeAlias
from zlib import crc32

import networkx as nx

from judgegraph.errors import ConfigError, one_line, settings_checked
from judgegraph.report.drawing.figure import (
    DRAWING_CSS,
    END,
    LEADING,
    NAME,
    NAMES,
    SMALL,
    Edge,
    Figure,
    Node,
    figure_of,
    graph_mermaid,
    look,
    name_of,
    shown,
    width,
    wrapped,
)
from judgegraph.shown import Shown

# What a layout is made of: boxes with their lines, and routes between them.


Kind = Literal["node", "frame", "pill", "dot"]
TEXT = 176.0  # widest line of a name, pixels
PAD = 12.0
DOT = 10.0
Badges = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Box:
    """A node, the frame of a subgraph, or where a graph starts and ends; x and y are its upper left corner.

    Attributes:
        place: its path of nodes, "weigh/judge". name: as lines. note: what it waits for. badges: more lines.
    """

    kind: Kind
    place: str
    name: tuple[str, ...] = ()
    note: str = ""
    badges: tuple[str, ...] = ()
    width: float = 0.0
    height: float = 0.0
    x: float = 0.0
    y: float = 0.0

    @property
    def head(self) -> float:
        """Height of its lines."""
        return LEADING * (NAME * len(self.name) + SMALL * (bool(self.note) + len(self.badges)))

    def moved(self, x: float, y: float) -> Box:
        return replace(self, x=self.x + x, y=self.y + y)


@dataclass(frozen=True)
class Route:
    """An edge's way: from point to point, upright where two have one x, else a curve. `label` stands at `at`."""

    edge: Edge
    path: str
    points: tuple[tuple[float, float], ...]
    label: tuple[str, ...] = ()
    at: tuple[float, float] = (0.0, 0.0)

    def moved(self, x: float, y: float) -> Route:
        points = tuple((a + x, b + y) for a, b in self.points)
        return replace(self, points=points, at=(self.at[0] + x, self.at[1] + y))


def box_of(node: Node, path: str, badges: Badges) -> Box:
    """A node's box with its size, at 0, 0; the size of a frame is that of its lines."""
    place = path + node.name
    if node.name in NAMES:
        if path:
            return Box("dot", place, width=DOT, height=DOT)
        name: tuple[str, ...] = (NAMES[node.name],)
        return Box("pill", place, name, width=64.0, height=26.0)
    lines = tuple(wrapped(line, TEXT, SMALL, 1)[0] for line in badges.get(place, ()))
    name = wrapped(node.name, TEXT, NAME)
    box = Box("frame" if node.inside else "node", place, name, node.note, lines)
    widest = max([width(line, NAME) for line in name] + [width(line, SMALL) for line in (node.note, *lines)])
    return replace(box, width=max(72.0, widest + 2 * PAD), height=box.head + 2 * PAD - 4)


def label_of(edge: Edge) -> tuple[str, ...]:
    """What stands beside an edge, as lines; () for nothing."""
    return wrapped(shown(edge.caption), 120.0, SMALL, 2) if edge.caption else ()


def label_size(lines: Sequence[str]) -> tuple[float, float]:
    """(width, height) with a margin."""
    return max(width(line, SMALL) for line in lines) + 10, len(lines) * SMALL * LEADING + 4


# The order of what stands side by side in each layer, so that few edges cross.


Key: TypeAlias = str | tuple[int, int]  # a node, or where an edge (its number) passes a layer
Link: TypeAlias = tuple[Key, Key]  # from a layer to the next
Layers: TypeAlias = list[list[Key]]
ORDER_SWEEPS = 12


def ordered(layers: Layers, links: Sequence[Link]) -> Layers:
    """The layers with fewest crossings that sweeps down and up come by; ties stay as they were given."""
    uppers, lowers = neighbours(links)
    best, fewest = layers, crossings(layers, links)
    for sweep in range(ORDER_SWEEPS):
        if not fewest:
            break
        layers = _swept(layers, uppers) if sweep % 2 == 0 else _swept(layers[::-1], lowers)[::-1]
        if (count := crossings(layers, links)) < fewest:
            best, fewest = layers, count
    return best


def neighbours(links: Sequence[Link]) -> tuple[dict[Key, list[Key]], dict[Key, list[Key]]]:
    """(key -> those above it, key -> those below it) along the links."""
    uppers: dict[Key, list[Key]] = {}
    lowers: dict[Key, list[Key]] = {}
    for a, b in links:
        uppers.setdefault(b, []).append(a)
        lowers.setdefault(a, []).append(b)
    return uppers, lowers


def crossings(layers: Layers, links: Sequence[Link]) -> int:
    """Pairs of links that cross."""
    at = {key: (i, j) for i, layer in enumerate(layers) for j, key in enumerate(layer)}
    gaps: dict[int, list[tuple[int, int]]] = {}
    for a, b in links:
        gaps.setdefault(at[a][0], []).append((at[a][1], at[b][1]))
    return sum(map(_inversions, gaps.values()))


def _inversions(pairs: list[tuple[int, int]]) -> int:
    seen: list[int] = []
    count = 0
    for _, b in sorted(pairs):
        count += len(seen) - bisect_right(seen, b)
        insort(seen, b)
    return count


def _swept(layers: Layers, neighbours: dict[Key, list[Key]]) -> Layers:
    """Each layer sorted by the mean place of its neighbours in the layer before it."""
    done: Layers = [layers[0]] if layers else []
    for layer in layers[1:]:
        at = {key: j / max(1, len(done[-1]) - 1) for j, key in enumerate(done[-1])}
        own = {key: j / max(1, len(layer) - 1) for j, key in enumerate(layer)}
        mean = {key: _mean([at[n] for n in neighbours.get(key, ())], own[key]) for key in layer}
        done.append(sorted(layer, key=mean.__getitem__))
    return done


def _mean(places: list[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


# What should stand on one upright line: an edge that passes layers, and nodes that follow each other alone.


def lanes(layers: Layers, links: Sequence[Link]) -> list[list[Key]]:
    """Two or more things, one below the other, of which each but the last leads to the next alone; longest first."""
    uppers, lowers = neighbours(links)
    follows = {key: below[0] for key, below in lowers.items() if len(below) == len(uppers[below[0]]) == 1}
    followed = set(follows.values())
    starts = [key for layer in layers for key in layer if key in follows and key not in followed]
    found = []
    for key in starts:
        lane = [key]
        while lane[-1] in follows:
            lane.append(follows[lane[-1]])
        found.append(lane)
    return sorted(found, key=len, reverse=True)


# Where the things of a layer stand from left to right: in their order, apart, and near what they are joined to.


APART, ASIDE = 26.0, 14.0  # pixels between two nodes of a layer; between an edge that passes and what it passes
SWEEPS = 10
ROUNDS = 3  # of making lanes straight: one that moved leaves room for another
STRAIGHT = 6.0  # how much more a passing edge holds to its line than a node does


def columns(layers: Layers, widths: Mapping[Key, float], links: Sequence[Link]) -> dict[Key, float]:
    """Key -> the middle of it, pixels from the left; none reaches beyond 0."""
    x: dict[Key, float] = {}
    for layer in layers:
        x |= dict(zip(layer, _steps(layer, widths), strict=True))
    uppers, lowers = neighbours(links)
    both = {key: [*uppers.get(key, ()), *lowers.get(key, ())] for key in x}
    for sweep in range(SWEEPS):
        last = sweep >= SWEEPS - 2
        nearby = both if last else uppers if sweep % 2 == 0 else lowers
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            x |= _settled(layer, widths, nearby, x)
    x = straightened(x, layers, widths, links)
    left = min((x[key] - widths[key] / 2 for key in x), default=0.0)
    return {key: middle - left for key, middle in x.items()}


def _steps(layer: Sequence[Key], widths: Mapping[Key, float]) -> list[float]:
    """The middles of things that stand as close as they may, the first at 0."""
    found = [0.0] * len(layer)
    for i in range(1, len(layer)):
        found[i] = found[i - 1] + apart(layer[i - 1], layer[i], widths)
    return found


def apart(a: Key, b: Key, widths: Mapping[Key, float]) -> float:
    """The least distance between the middles of two that stand side by side."""
    between = APART if isinstance(a, str) and isinstance(b, str) else ASIDE
    return (widths[a] + widths[b]) / 2 + between


def _settled(
    layer: Sequence[Key], widths: Mapping[Key, float], neighbours: Mapping[Key, Sequence[Key]], x: Mapping[Key, float]
) -> dict[Key, float]:
    """The layer moved so that each stands as near the mean of its neighbours as the others let it.

    It is the least-squares solution: less the steps, the middles must only not fall, which is isotonic regression.
    """
    steps = _steps(layer, widths)
    blocks: list[tuple[float, float, int]] = []  # mean of what is wished for, weight, how many
    for key, step in zip(layer, steps, strict=True):
        near = [x[n] for n in neighbours.get(key, ())]
        wished = sum(near) / len(near) if near else x[key]
        weight = (STRAIGHT if isinstance(key, tuple) else 1.0) if near else 0.1
        blocks.append((wished - step, weight, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (m1, w1, n1), (m2, w2, n2) = blocks[-2:]
            blocks[-2:] = [((m1 * w1 + m2 * w2) / (w1 + w2), w1 + w2, n1 + n2)]
    means = [mean for mean, _, count in blocks for _ in range(count)]
    return {key: mean + step for key, mean, step in zip(layer, means, steps, strict=True)}


def straightened(
    x: Mapping[Key, float], layers: Layers, widths: Mapping[Key, float], links: Sequence[Link]
) -> dict[Key, float]:
    """Each lane moved onto one line, where those beside it leave room for that; the longest first."""
    moved = dict(x)
    neighbours = {key: (layer[i - 1] if i else None, layer[i + 1] if i + 1 < len(layer) else None)
              for layer in layers for i, key in enumerate(layer)}  # fmt: skip
    found = lanes(layers, links)
    for lane in found * ROUNDS:
        least, most = -inf, inf
        for key in lane:
            left, right = neighbours[key]
            least = max(least, -inf if left is None else moved[left] + apart(left, key, widths))
            most = min(most, inf if right is None else moved[right] - apart(key, right, widths))
        if least <= most:
            line = min(max(sum(moved[key] for key in lane) / len(lane), least), most)
            moved |= dict.fromkeys(lane, line)
    return moved


# Which row of a drawing a node stands in: below all that lead to it, loops aside.


Pair: TypeAlias = tuple[str, str]


def back_edges(figure: Figure) -> frozenset[Pair]:
    """The edges that close a loop, as (source, target): met from START on, they lead to a node one came through."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(figure.nodes)
    graph.add_edges_from((edge.source, edge.target) for edge in figure.edges)
    on_the_way: set[str] = set()
    found: set[Pair] = set()
    for a, b, how in nx.dfs_labeled_edges(graph):
        if how == "forward":
            on_the_way.add(b)
        elif how == "reverse":
            on_the_way.discard(b)
        elif b in on_the_way:
            found.add((a, b))
    return frozenset(found)


def forward(figure: Figure) -> nx.DiGraph[str]:
    """The graph without the edges that close loops: it has none."""
    backs = back_edges(figure)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(figure.nodes)
    pairs = ((edge.source, edge.target) for edge in figure.edges)
    graph.add_edges_from(pair for pair in pairs if pair not in backs)
    return graph


def in_order(figure: Figure) -> list[str]:
    """Its nodes' names, each behind all that lead to it; else as they were added."""
    place = {name: i for i, name in enumerate(figure.nodes)}
    return list(nx.lexicographical_topological_sort(forward(figure), key=place.__getitem__))


def rows(figure: Figure, widths: Mapping[str, float], widest: float) -> dict[str, int]:
    """Node -> its row: the first below its predecessors that is not full yet; END stands below all."""
    graph = forward(figure)
    found: dict[str, int] = {}
    filled: dict[int, float] = {}
    for generation in nx.topological_generations(graph):
        for name in sorted(generation, key=list(figure.nodes).index):
            row = 1 + max((found[before] for before in graph.predecessors(name)), default=-1)
            while row in filled and filled[row] + widths[name] + APART > widest:
                row += 1
            filled[row] = filled.get(row, -APART) + widths[name] + APART
            found[name] = row
    if END in found:
        found[END] = 1 + max((row for name, row in found.items() if name != END), default=-1)
    return found


# The layers of a figure: nodes in rows, labels in rows between, and where each edge passes a layer.


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
    labelled = {2 * row[upper] + 1 for i, (upper, _) in spans.items() if figure.edges[i].caption}
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


# The ways of edges: out of a node's lower side, past what stands between, and into the next one's upper side.


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
        node, neighbour = (chain[0], chain[1]) if lower else (chain[-1], chain[-2])
        meeting.setdefault(str(node), []).append((x[neighbour], i))
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


# A graph as lines of text, for terminals and for those who hear a page.


# A graph as lines of text, for terminals and for those who hear a page.


def graph_text(graph: Any) -> str:
    """A line per node, each behind all that lead to it, with where it leads; subgraphs are indented.

    "a -> b, c" leads to both, "a -> b or c" to what a condition chooses, "[label]" being what it answers, and "b and/or
    c" to one or several of them. "; " stands between what is decided apart, "× n" is sent to any number of times at
    once, and "(back)" closes a loop.

    Raises:
        ConfigError: it is no graph.
    """
    figure = figure_of(graph)
    return "\n".join([shown(figure.name), *_text_lines(figure, "  ")]) + "\n"


def sentence(graph: Any) -> str:
    """The same in one line."""
    figure = figure_of(graph)
    return "; ".join(line.strip() for line in _text_lines(figure, ""))


def _text_lines(figure: Figure, indent: str) -> Iterator[str]:
    backs = back_edges(figure)
    for name in in_order(figure):
        if name == END:
            continue
        node = figure.nodes[name]
        place = _name(figure.path + name if not indent and figure.path else name)
        note = f" ({node.note})" if node.note else ""
        to = _targets(figure, name, backs)
        yield f"{indent}{place}{note}{f' -> {to}' if to else ''}"
        if node.inside is not None:
            yield from _text_lines(node.inside, f"{indent}  " if indent else "")


def _targets(figure: Figure, name: str, backs: frozenset[tuple[str, str]]) -> str:
    edges = [edge for edge in figure.edges if edge.source == name]
    sure = ", ".join(_target(edge, backs) for edge in edges if not edge.conditional)
    chosen = [
        (" and/or " if choice.several else " or ").join(_target(edge, backs) for edge in choice.edges)
        for choice in figure.choices.get(name, ())
    ]
    return "; ".join(part for part in (sure, *chosen) if part)


def _target(edge: Edge, backs: frozenset[tuple[str, str]]) -> str:
    label = f" [{shown(edge.label, 80)}]" if edge.label else ""
    back = " (back)" if (edge.source, edge.target) in backs else ""
    return f"{_name(edge.target)}{' × n' if edge.sends else ''}{label}{back}"


def _name(name: str) -> str:
    return shown(name_of(name))


# A drawing as SVG text: no script, no reference out of itself, no style attribute; every name is escaped.


MARGIN = 12.0
DESCRIBED = 4000  # characters of the description


def graph_svg(
    graph: Any, badges: Mapping[str, Sequence[str]] | None = None, title: str = "", *, standalone: bool = True,
    prefix: str = "jg", marks: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    """A graph as SVG, from top to bottom; subgraphs are framed, conditional edges dashed.

    Args:
        graph: a compiled graph or a StateGraph.
        badges: node place ("weigh/judge", of a subgraph "weigh") -> short lines for its box.
        title: its accessible name. "": the graph's name.
        standalone: it brings its own CSS; else the page has `DRAWING_CSS`, and may set its custom properties.
        prefix: of its ids; two drawings in one page need two.
        marks: node place, or "source > target" of an edge by its places -> a word of ours, which the page's CSS knows.

    Raises:
        ConfigError: it is no graph.
    """
    figure = figure_of(graph)
    placed = layout(figure, badges or {}).moved(MARGIN, MARGIN)
    ids = re.sub(r"[^A-Za-z0-9_-]", "-", prefix if re.match(r"[A-Za-z]", prefix) else f"jg-{prefix}")
    lines = [
        *_opening(placed, ids),
        f'<title id="{ids}-title">{_text(title or figure.name)}</title>',
        f'<desc id="{ids}-desc">{_text(sentence(figure), DESCRIBED)}</desc>',
        *([f"<style>{DRAWING_CSS}</style>"] if standalone else []),
        f'<defs><marker id="{ids}-head" viewBox="0 0 10 8" refX="9" refY="4" markerWidth="10" markerHeight="8"'
        f' markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 10 4 0 8z" {look("jg-head")}/></marker></defs>',
        f'<rect width="100%" height="100%" rx="6" {look("jg-ground")}/>',
        *_drawn(placed, f"{ids}-head", marks or {}),
    ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _opening(placed: Layout, ids: str) -> Iterator[str]:
    wide, high = round(placed.width + 2 * MARGIN), round(placed.height + 2 * MARGIN)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="jg-drawing" role="img" viewBox="0 0 {wide} {high}"'
    yield f' width="{wide}" height="{high}" font-family="sans-serif" text-anchor="middle"'
    yield f' aria-labelledby="{ids}-title" aria-describedby="{ids}-desc">'


def _text(text: object, limit: int = 200) -> str:
    return escape(shown(text, limit))


def _drawn(placed: Layout, head: str, marks: Mapping[str, str]) -> Iterator[str]:
    yield from (_frame(box, marks) for box in placed.boxes if box.kind == "frame")
    yield from (_route(route, head, marks) for route in placed.routes)
    yield from (_labelled(route) for route in placed.routes if route.label)
    yield from (_box(box, marks) for box in placed.boxes if box.kind != "frame")


def _frame(box: Box, marks: Mapping[str, str]) -> str:
    return _group(box, marks, f'<rect {_rect(box)} rx="10" {look("jg-frame")}/>{_lines(box)}')


def _box(box: Box, marks: Mapping[str, str]) -> str:
    if box.kind == "dot":
        middle = f'cx="{box.x + box.width / 2:.1f}" cy="{box.y + box.height / 2:.1f}"'
        return _group(box, marks, f'<circle {middle} r="{box.width / 2:.1f}" {look("jg-dot")}/>')
    if box.kind == "pill":
        name = _line(box.name[0], box.x + box.width / 2, box.y + box.height / 2, "jg-pill-name")
        return _group(box, marks, f'<rect {_rect(box)} rx="{box.height / 2:.1f}" {look("jg-pill")}/>{name}')
    return _group(box, marks, f'<rect {_rect(box)} rx="6" {look("jg-box")}/>{_lines(box)}')


def _group(box: Box, marks: Mapping[str, str], inner: str) -> str:
    place = _text(name_of(box.place))
    return (
        f'<g class="jg-{box.kind}-group" data-place="{place}"{_mark(marks.get(box.place))}><title>{place}</title>'
        f"{inner}</g>"
    )


def _mark(word: str | None) -> str:
    return f' data-mark="{escape(word)}"' if word else ""


def _rect(box: Box) -> str:
    return f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'


def _lines(box: Box) -> str:
    """Its name, its note and its badges, one under the other."""
    listed = [(line, "jg-name", NAME) for line in box.name]
    listed += [(box.note, "jg-note", SMALL)] if box.note else []
    listed += [(line, "jg-badge", SMALL) for line in box.badges]
    y = box.y + PAD - 2
    found = []
    for line, look_of, size in listed:
        found.append(_line(line, box.x + box.width / 2, y + size * LEADING / 2, look_of))
        y += size * LEADING
    return "".join(found)


def _line(text: str, x: float, y: float, look_of: str) -> str:
    """A line whose middle is at x, y; the baseline is set by hand, as not every viewer knows `dominant-baseline`."""
    return f'<text x="{x:.1f}" y="{y + 4.5:.1f}" {look(look_of)}>{escape(text)}</text>'


def _route(route: Route, head: str, marks: Mapping[str, str]) -> str:
    edge = route.edge
    named = " > ".join(_text(name_of(route.path + end)) for end in (edge.source, edge.target))
    dashed = ' stroke-dasharray="5 4"' if edge.conditional else ""
    mark = _mark(marks.get(f"{route.path}{edge.source} > {route.path}{edge.target}"))
    return f'<path d="{_way(route)}" {look("jg-edge")}{dashed} marker-end="url(#{head})" data-edge="{named}"{mark}/>'


def _way(route: Route) -> str:
    (x, y), points = route.points[0], route.points
    d = [f"M{x:.1f} {y:.1f}"]
    if route.edge.source == route.edge.target:
        (_, y1), out = points[1], x + LOOP * 4 / 3 - 4
        return f"{d[0]}C{out:.1f} {y - 6:.1f} {out:.1f} {y1 + 6:.1f} {x:.1f} {y1:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (y0 + y1) / 2
        curve = f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
        d.append(f"V{y1:.1f}" if abs(x0 - x1) < 0.05 else curve)
    return "".join(d)


def _labelled(route: Route) -> str:
    x, y = route.at
    high = SMALL * LEADING
    first = y - high * (len(route.label) - 1) / 2
    wide, tall = label_size(route.label)
    chip = f'<rect x="{x - wide / 2:.1f}" y="{y - tall / 2:.1f}" width="{wide:.1f}" height="{tall:.1f}" rx="4"'
    lines = (_line(line, x, first + i * high, "jg-label") for i, line in enumerate(route.label))
    return f"{chip} {look('jg-chip')}/>{''.join(lines)}"


FORMS = {".svg": "svg", ".mmd": "mermaid", ".txt": "text"}  # suffix of a file -> what is written


@dataclass(frozen=True)
class Drawing(Shown):
    """A graph that can be looked at: `.svg`, `.text` and `.mermaid`; a notebook shows the SVG."""

    graph: Any = field(repr=False)

    @cached_property
    def figure(self) -> Figure:
        """What is drawn."""
        return figure_of(self.graph)

    @cached_property
    def svg(self) -> str:
        """A picture that stands by itself, light or dark as its viewer is."""
        return graph_svg(self.figure)

    @cached_property
    def text(self) -> str:
        """A line per node with where it leads."""
        return graph_text(self.figure)

    @cached_property
    def mermaid(self) -> str:
        """Mermaid's text, in LangGraph's form; a name or an answer is text there, whatever it says."""
        return graph_mermaid(self.graph)

    def save(self, path: str | Path) -> Path:
        """Written to a file, in the form of its suffix: .svg, .mmd or .txt.

        Raises:
            ConfigError: another suffix, or the file cannot be written.
        """
        path = Path(path)
        form = FORMS.get(path.suffix.lower())
        if form is None:
            raise ConfigError(f"{one_line(path)}: a drawing is kept as {', '.join(FORMS)}; name the file so")
        try:
            path.write_text(getattr(self, form), encoding="utf-8", newline="\n")
        except OSError as error:
            raise ConfigError(f"{one_line(path)} cannot be written: {error.strerror or error}") from None
        return path

    def _repr_html_(self) -> str:
        ids = f"jg{crc32(self.svg.encode()):x}"  # the same picture twice may share its ids
        svg = graph_svg(self.figure, prefix=ids)
        return f'<div class="jg-wide" tabindex="0" role="group" aria-label="drawing of a graph">{svg}</div>'

    def __str__(self) -> str:
        return self.text


@settings_checked
def show(graph: Any) -> Drawing:
    """A graph to look at: `jg.show("sageval")` in a notebook, `print(jg.show(graph))`, `.save("graph.svg")`.

    Args:
        graph: a compiled graph, a StateGraph, or a method: its name, a graph file, or file.py:factory.

    Raises:
        ConfigError: it is none of these, or cannot be compiled.
    """
    from langgraph.graph import StateGraph

    made = graph
    if isinstance(graph, str):
        from judgegraph.compose.nodes import as_node

        made = as_node(f"method/{graph}")
    if isinstance(made, StateGraph):
        try:
            made = made.compile(name="graph")
        except (ValueError, TypeError) as error:
            raise ConfigError(f"show: the graph cannot be compiled: {one_line(error)}") from error
    return _shown(Drawing(made))


def _shown(drawing: Drawing) -> Drawing:
    _ = drawing.figure  # what is no graph is refused here, not where it is looked at
    return drawing
