"""Counts by name, the greatest first, as SAGEval's Figure 4 shows what its critic suggests; and shares of a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judgegraph.report.blocks import Picture
from judgegraph.report.charts.canvas import WIDE, bar, percent, picture, swatch, text
from judgegraph.report.drawing.lettering import shown

ROW, HEAD = 31.0, 24.0


def bars(title: str, rows: Sequence[tuple[str, int]], of: int, colour: int = 1) -> Picture:
    """A name and its count in words, below it its bar; the axis is `of`, what the counts are shares of.

    Args:
        of: what all of it would be, such as the samples; its share is printed beside each count.
    """
    most = max([of, *(count for _, count in rows)]) or 1
    parts = [text(0, 13, title, look="jg-title")]
    for at, (name, count) in enumerate(rows):
        y, said = HEAD + at * ROW, f"{count:,} of {of:,} ({percent(count, of)})"
        parts.append(text(0, y + 12, name, WIDE - 8 - 6.9 * len(said)))
        parts.append(text(WIDE, y + 12, said, look="jg-muted", end=True))
        parts.append(bar(0.5, y + 17, (WIDE - 1) * count / most, 8, colour))
    about = "; ".join(f"{shown(name, 60)} {count:,} of {of:,}" for name, count in rows)
    return picture(title, about, parts, HEAD + ROW * len(rows))


def split_bar(title: str, parts: Sequence[tuple[str, int]]) -> Picture:
    """One bar, cut by counts; below it each part's name, count and share. The middle one of three is hollow."""
    whole = sum(count for _, count in parts)
    drawn = [text(0, 13, title, look="jg-title"), *_cut(parts, whole)]
    for at, (name, count) in enumerate(parts):
        y = HEAD + 38 + at * 17
        drawn.append(swatch(0.5, y, *_fill(at)))
        drawn.append(text(16, y, f"{name}: {count:,} ({percent(count, whole)})", WIDE - 16))
    about = ", ".join(f"{shown(name, 60)} {count:,}" for name, count in parts) + f"; n {whole:,}"
    return picture(title, about, drawn, HEAD + 30 + 17 * len(parts))


def _cut(parts: Sequence[tuple[str, int]], whole: int) -> Iterator[str]:
    x = 0.5
    for at, (_, count) in enumerate(parts):
        wide = (WIDE - 1) * count / whole if whole else 0.0
        if count:
            yield bar(x, HEAD, wide, 16, *_fill(at))
        x += wide


def _fill(at: int) -> tuple[int, bool]:
    return ((1, False), (3, True), (2, False), (4, True))[at % 4]
