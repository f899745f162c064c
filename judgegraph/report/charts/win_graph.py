"""Which systems win against which: an arrow from each winner to the loser, with its share of wins."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from judgegraph.report.blocks import Picture
from judgegraph.report.charts.canvas import WIDE, centred, picture, seen, text
from judgegraph.report.drawing.lettering import shown

MOST, LABELLED = 8, 4  # systems that are drawn; so many of them whose arrows are labelled too
HEAD, BALL = 24.0, 13.0
Met = Mapping[tuple[str, str], tuple[float, int]]  # two systems -> the first one's share, ties half, and of how many


def win_graph(title: str, systems: Sequence[str], met: Met) -> Picture:
    """Systems in a ring, numbered as they are listed below it; the thicker an arrow, the surer the wins.

    An even pair has a line without a head. The share on an arrow is the winner's, ties counted half.

    Args:
        systems: the best first; the first eight are drawn.
    """
    systems = systems[:MOST]
    radius = 105.0 if len(systems) <= LABELLED else 135.0
    rise = radius if len(systems) > 2 else 0.0
    middle = WIDE / 2, HEAD + rise + BALL + 4
    spots = [_spot(at, len(systems), middle, radius) for at in range(len(systems))]
    parts = [text(0, 13, title, look="jg-title")]
    labels: list[str] = []
    for i, one in enumerate(systems):
        for j in range(i + 1, len(systems)):
            if (found := _between(one, systems[j], met)) is not None:
                share, n = found
                ends = (spots[i], spots[j]) if share >= 0.5 else (spots[j], spots[i])
                parts += _arrow(*ends, max(share, 1 - share))
                labels += _label(*ends, max(share, 1 - share), n) if len(systems) <= LABELLED else ()
    bottom = middle[1] + rise + BALL + 8
    parts += [*labels, *_nodes(spots), *_names(systems, bottom)]
    return picture(title, _about(systems, met), parts, bottom + 17 * len(systems) + 4)


def _spot(at: int, of: int, middle: tuple[float, float], radius: float) -> tuple[float, float]:
    angle = 2 * math.pi * at / of - (math.pi if of == 2 else math.pi / 2)
    return middle[0] + radius * math.cos(angle), middle[1] + radius * math.sin(angle)


def _between(one: str, other: str, met: Met) -> tuple[float, int] | None:
    if (one, other) in met:
        return met[one, other]
    if (other, one) in met:
        share, n = met[other, one]
        return 1 - share, n
    return None


def _arrow(start: tuple[float, float], end: tuple[float, float], share: float) -> Iterator[str]:
    (x1, y1), (x2, y2) = start, end
    long = math.dist(start, end)
    dx, dy = (x2 - x1) / long, (y2 - y1) / long
    stop = long - BALL - 3
    tip, back = (x1 + dx * stop, y1 + dy * stop), (x1 + dx * (stop - 9), y1 + dy * (stop - 9))
    width = 1 + 5 * (share - 0.5)
    yield f'<path d="M{x1:.4g} {y1:.4g}L{back[0]:.4g} {back[1]:.4g}" stroke-width="{width:.3g}" {seen("jg-edge")}/>'
    if share > 0.5:
        left, right = ((back[0] - s * dy * 5, back[1] + s * dx * 5) for s in (1, -1))
        points = " ".join(f"{x:.4g},{y:.4g}" for x, y in (tip, left, right))
        yield f'<polygon points="{points}" {seen("jg-edge")}/>'


def _label(start: tuple[float, float], end: tuple[float, float], share: float, n: int) -> Iterator[str]:
    """In the middle of short arrows; of long ones nearer to the winner, so that labels of crossing ones do not meet."""
    at = 0.5 if math.dist(start, end) < 190 else 0.36
    x, y = (a + (b - a) * at for a, b in zip(start, end, strict=True))
    said = f"{100 * share:.0f} % of {n:,}"
    wide = 6.4 * len(said)
    yield f'<rect x="{x - wide / 2:.4g}" y="{y - 8:.4g}" width="{wide:.4g}" height="15" rx="3" {seen("jg-chip")}/>'
    yield centred(x, y + 4, said, look="jg-muted")


def _nodes(spots: Sequence[tuple[float, float]]) -> Iterator[str]:
    for at, (x, y) in enumerate(spots):
        yield f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{BALL:g}" {seen("jg-node")}/>'
        yield centred(x, y + 4, at + 1)


def _names(systems: Sequence[str], top: float) -> Iterator[str]:
    for at, name in enumerate(systems):
        yield text(0, top + 12 + 17 * at, f"{at + 1}: {shown(name)}", WIDE)


def _about(systems: Sequence[str], met: Met) -> str:
    names = {name: shown(name, 40) for name in systems}
    said = [
        f"{names[a]} wins {100 * share:.0f} % of {n:,} against {names[b]}"
        for (a, b), (share, n) in met.items()
        if a in names and b in names
    ]
    return "; ".join(said) or "no two of these systems were compared"
