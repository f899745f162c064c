"""What should stand on one upright line: an edge that passes layers, and nodes that follow each other alone."""

from __future__ import annotations

from collections.abc import Sequence

from judgegraph.report.drawing.order import Key, Layers, Link, neighbours


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
