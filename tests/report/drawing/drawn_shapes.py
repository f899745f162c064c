"""What a layout covers: rectangles, and points along an edge."""

from collections.abc import Iterator
from itertools import pairwise

from judgegraph.report.drawing.render import Box, Route, label_size

Rect = tuple[float, float, float, float]  # left, top, right, bottom


def rect(box: Box) -> Rect:
    return box.x, box.y, box.x + box.width, box.y + box.height


def label_rect(route: Route) -> Rect:
    (wide, high), (x, y) = label_size(route.label), route.at
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2


def overlap(a: Rect, b: Rect) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def within(inner: Rect, outer: Rect) -> bool:
    return inner[0] >= outer[0] and inner[1] >= outer[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def along(route: Route, steps: int = 24) -> Iterator[tuple[float, float]]:
    """Points on the way of an edge that does not lead to its own node."""
    for (x0, y0), (x1, y1) in pairwise(route.points):
        for t in (i / steps for i in range(steps + 1)):
            ease = t * t * (3 - 2 * t)  # a Bezier curve whose handles are upright, at half of the height
            y = y0 + (y1 - y0) * (1.5 * t * (1 - t) ** 2 + 1.5 * t * t * (1 - t) + t**3)
            yield x0 + (x1 - x0) * ease, y
