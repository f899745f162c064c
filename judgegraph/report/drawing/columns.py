"""Where the things of a layer stand from left to right: in their order, apart, and near what they are joined to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from judgegraph.report.drawing.lanes import lanes
from judgegraph.report.drawing.order import Key, Layers, Link, neighbours

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
        beside = both if last else uppers if sweep % 2 == 0 else lowers
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            x |= _settled(layer, widths, beside, x)
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
    layer: Sequence[Key], widths: Mapping[Key, float], beside: Mapping[Key, Sequence[Key]], x: Mapping[Key, float]
) -> dict[Key, float]:
    """The layer moved so that each stands as near the mean of its neighbours as the others let it.

    It is the least-squares solution: less the steps, the middles must only not fall, which is isotonic regression.
    """
    steps = _steps(layer, widths)
    blocks: list[tuple[float, float, int]] = []  # mean of what is wished for, weight, how many
    for key, step in zip(layer, steps, strict=True):
        near = [x[n] for n in beside.get(key, ())]
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
    beside = {key: (layer[i - 1] if i else None, layer[i + 1] if i + 1 < len(layer) else None)
              for layer in layers for i, key in enumerate(layer)}  # fmt: skip
    found = lanes(layers, links)
    for lane in found * ROUNDS:
        least, most = -inf, inf
        for key in lane:
            left, right = beside[key]
            least = max(least, -inf if left is None else moved[left] + apart(left, key, widths))
            most = min(most, inf if right is None else moved[right] - apart(key, right, widths))
        if least <= most:
            line = min(max(sum(moved[key] for key in lane) / len(lane), least), most)
            moved |= dict.fromkeys(lane, line)
    return moved
