"""What a section of the report is made of; every string is plain text, which the page escapes."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Para:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Picture:
    """A chart.

    Attributes:
        svg: made by our own charts, which escape every text in it; the page takes it as it is.
        alt: one sentence that says what it shows.
    """

    svg: str
    alt: str


@dataclass(frozen=True)
class Grid:
    """A table; the first cell of a row is its header.

    Attributes:
        numeric: the columns, from 0, that are set to the right.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str | Picture, ...], ...]
    numeric: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Fold:
    """Blocks that are behind a click."""

    summary: str
    blocks: tuple[Block, ...] = field(default=())


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        key: its anchor, of ours: lower case letters and dashes.
    """

    key: str
    title: str
    blocks: tuple[Block, ...] = field(default=())


Block = Para | Grid | Picture | Fold
