"""Text as it stands in a drawing: safe to show, broken into lines, as wide as it will at most be."""

from __future__ import annotations

import re
import unicodedata

from judgegraph.errors import one_line

NAME, SMALL = 14.0, 12.0  # sizes of type, pixels
LEADING = 1.3  # height of a line, of its size
_THIN, _BROAD = frozenset("ijlrtfI.,:;'|!()[]/-_ "), frozenset("mwMWOQ@%—…")
_PIECE = re.compile(r"[^\s_\-/.:]*[\s_\-/.:]*")


def width(text: str, size: float) -> float:
    """Pixels that a line takes in a sans-serif face, rather too many than too few."""
    return size * sum(map(_em, text))


def _em(c: str) -> float:
    if c.isascii():
        return 0.42 if c in _THIN else 0.92 if c in _BROAD else 0.72 if c.isupper() else 0.6
    if unicodedata.combining(c):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(c) in "WF" else 0.9 if c in _BROAD else 0.75


def shown(text: object, limit: int = 200) -> str:
    """One line without control characters and direction marks, of whatever it was."""
    return one_line(text, limit) or "(no name)"


def wrapped(text: object, widest: float, size: float, most: int = 3) -> tuple[str, ...]:
    """Lines of at most `widest` pixels, broken where a name has a joint if that can be; the last may end in "…"."""
    lines = [""]
    for piece in _pieces(shown(text), widest, size):
        if width((lines[-1] + piece).rstrip(), size) <= widest or not lines[-1]:
            lines[-1] += piece
        else:
            lines.append(piece)
    lines = [line.strip() for line in lines]
    if len(lines) > most:
        lines = [*lines[: most - 1], _cut(lines[most - 1], widest, size)]
    return tuple(lines)


def _pieces(text: str, widest: float, size: float) -> list[str]:
    found: list[str] = []
    for piece in _PIECE.findall(text):
        while width(piece, size) > widest and len(piece) > 1:
            keep = max(1, next(n for n in range(1, len(piece) + 1) if width(piece[:n], size) > widest) - 1)
            found.append(piece[:keep])
            piece = piece[keep:]
        found.append(piece)
    return [piece for piece in found if piece]


def _cut(line: str, widest: float, size: float) -> str:
    while line and width(line + "…", size) > widest:
        line = line[:-1]
    return line + "…"
