"""What a result is laid out as, once: paragraphs, tables, charts, folds and findings, which each view draws.

A terminal, a page and a notebook draw all of them; Markdown and LaTeX the tables. Every string is plain text, which
whoever draws it makes inert.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from judgegraph.errors import one_line

Look = Literal["", "lead", "title", "bad", "note", "fine"]


@dataclass(frozen=True)
class Para:
    """A paragraph.

    Attributes:
        look: "lead" the conclusion, "title" what stands over the blocks below it, "bad" what failed, "note" what to
            mind, "fine" what a number rests on. whole: it is not folded, so that it can be copied.
        indent: columns on a terminal that all its lines stand to the right.
    """

    text: str
    look: Look = ""
    whole: bool = False
    indent: int = 0


@dataclass(frozen=True)
class Picture:
    """A chart; a terminal draws none.

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
        numeric: the columns, from 0, that are set to the right. names: so many first columns say what a row is of;
            a table that is too wide is drawn in parts, each with these.
        left: rows that are not shown, and `rest` what they are ("criterion", "criteria").
        spare: columns that a narrow terminal leaves out, the first first, before it draws a table in parts.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str | Picture, ...], ...]
    numeric: frozenset[int] = frozenset()
    names: int = 1
    left: int = 0
    rest: tuple[str, str] = ("row", "rows")
    spare: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fold:
    """Blocks that are behind a click; a terminal, which has none, shows them below one another."""

    summary: str
    blocks: tuple[Block, ...] = field(default=())


@dataclass(frozen=True)
class Finding:
    """A sentence that answers a question about the run.

    Attributes:
        section: the key of the part of the page with its numbers. command: what to do or to look at next, "" for none.
    """

    text: str
    section: str
    command: str = ""


@dataclass(frozen=True)
class Findings:
    """What a run found, one below the other; where: key of a part that the page has -> its title."""

    rows: tuple[Finding, ...]
    where: Mapping[str, str]


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        key: its anchor, of ours: lower case letters and dashes.
    """

    key: str
    title: str
    blocks: tuple[Block, ...] = field(default=())


Block = Para | Grid | Picture | Fold | Findings


def columns(
    caption: str, cells: Mapping[str, Sequence[str]], *, texts: Iterable[str] = (), names: int = 1, most: int = 60,
    rest: tuple[str, str] = ("row", "rows"), spare: tuple[str, ...] = (),
) -> Grid:  # fmt: skip
    """A table of named columns, numbers but for the first ones and `texts`.

    Columns in which no row says anything are left out; rows beyond `most` are counted.

    Args:
        cells: name -> its cells, as many in each column.
    """
    said = {name: column for name, column in cells.items() if any(column)}
    head, first = [*said], [name for name in [*cells][:names] if name in said]
    left = frozenset([*first, *texts])
    rows = [*zip(*said.values(), strict=True)]
    numeric = frozenset(at for at, name in enumerate(head) if name not in left)
    return Grid(caption, tuple(head), tuple(rows[:most]), numeric, len(first), max(0, len(rows) - most), rest, spare)


def filled(caption: str, head: Sequence[str], rows: Sequence[tuple[str, ...]], numeric: frozenset[int]) -> Grid:
    """A table without the columns in which no row says anything."""
    kept = [at for at in range(len(head)) if any(row[at] for row in rows)]
    body = tuple(tuple(row[at] for at in kept) for row in rows)
    right = frozenset(new for new, at in enumerate(kept) if at in numeric)
    return Grid(caption, tuple(head[at] for at in kept), body, right)


def grids(blocks: Iterable[Block]) -> Iterator[Grid]:
    """The tables, those in folds too."""
    for one in blocks:
        if isinstance(one, Grid):
            yield one
        elif isinstance(one, Fold):
            yield from grids(one.blocks)


# Tables as text for a paper or a page.


def table_text(grid: Grid, form: str) -> str:
    """A table as "latex" (booktabs) or "markdown"; whatever a cell holds is escaped."""
    rows = [[cell if isinstance(cell, str) else cell.alt for cell in row] for row in grid.rows]
    return _latex(grid, rows) if form == "latex" else _markdown(grid, rows)


def _latex(grid: Grid, rows: Sequence[Sequence[str]]) -> str:
    lines = [" & ".join(map(_tex, row)) + r" \\" for row in (grid.head, *rows)]
    sides = "".join("r" if at in grid.numeric else "l" for at in range(len(grid.head)))
    return "\n".join([
        rf"\begin{{tabular}}{{{sides}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule",
        r"\end{tabular}",
    ])  # fmt: skip


def _tex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {sign: f"\\{sign}" for sign in "&%$#_{}"}
    return "".join(special.get(sign, sign) for sign in one_line(text, 200))


def _markdown(grid: Grid, rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(one_line(cell, 200).replace("|", "\\|") for cell in cells) + " |"

    sides = "".join("|---:" if at in grid.numeric else "|---" for at in range(len(grid.head)))
    return "\n".join([line(grid.head), f"{sides}|", *map(line, rows)])
