"""What a layout is made of: boxes with their lines, and routes between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from judgegraph.report.drawing.figure import NAMES, Edge, Node
from judgegraph.report.drawing.lettering import LEADING, NAME, SMALL, shown, width, wrapped

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
    return wrapped(shown(edge.told), 120.0, SMALL, 2) if edge.told else ()


def label_size(lines: Sequence[str]) -> tuple[float, float]:
    """(width, height) with a margin."""
    return max(width(line, SMALL) for line in lines) + 10, len(lines) * SMALL * LEADING + 4
