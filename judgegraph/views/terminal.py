"""Blocks on a terminal: as wide as it is, or as COLUMNS says, or as a page; whatever they hold is made inert."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from judgegraph.errors import printable
from judgegraph.views.blocks import Block, Findings, Fold, Grid, Para, counted

GAP = 2  # columns between two of a table
NAME, TEXT = 16, 46  # columns that a name keeps, and that another text has whole; longer ones are folded
STYLES: Mapping[str, str] = {"": "", "lead": "bold", "title": "bold", "bad": "red", "note": "yellow", "fine": "dim"}
MORE = "; --json has {}"  # where the rest of a table is
PAGE = 100


def screen() -> Console:
    """Colours are for terminals alone, and none where NO_COLOR is set."""
    known = Console().is_terminal or os.environ.get("COLUMNS", "").isdigit()
    return Console(width=None if known else PAGE, highlight=False)


def side_by_side(widths: Sequence[int], room: int) -> Iterator[range]:
    """Which columns fit beside one another, in their order: a range of places for each table that is needed.

    Args:
        widths: of each column, the gap before it included. room: what the columns that every table repeats leave.
    """
    start = taken = 0
    for place, width in enumerate(widths):
        if taken + width > room and place > start:
            yield range(start, place)
            start, taken = place, 0
        taken += width
    yield range(start, len(widths))


def plain(text: str) -> Text:
    """Inert: neither markup nor control characters."""
    return Text(printable(text))


def show(blocks: Iterable[Block], console: Console | None = None, *, more: str = MORE) -> None:
    """Print them in their order.

    Args:
        more: where rows are that a table leaves out; {} is "it" or "them all".
    """
    console = console or screen()
    for at, one in enumerate(blocks):
        if at and isinstance(one, Grid) and one.rows and one.caption:
            console.print()
        _show(console, one, more)


def _show(console: Console, one: Block, more: str) -> None:
    if isinstance(one, Para):
        text = f"\n{one.text}" if one.look == "title" else one.text
        said = Padding(plain(text), (0, 0, 0, one.indent), expand=False) if one.indent else plain(text)
        console.print(said, style=STYLES[one.look] or None, soft_wrap=one.whole)
    elif isinstance(one, Grid):
        _table(console, one, more)
    elif isinstance(one, Fold):
        console.print(plain(f"\n{one.summary}"), style="bold")
        show(one.blocks, console, more=more)
    elif isinstance(one, Findings):
        for finding in one.rows:
            console.print(plain(finding.text))
            if finding.command:
                console.print(plain(f"  next: {finding.command}"), style="dim", soft_wrap=True)


def _table(console: Console, grid: Grid, more: str) -> None:
    """A table, in as many parts below one another as the width asks for; none without a row."""
    if not grid.rows:
        return
    if grid.caption:
        console.print(plain(grid.caption), style="bold")
    cells = [[cell if isinstance(cell, str) else cell.alt for cell in row] for row in grid.rows]
    widths = [max(map(cell_len, column)) for column in zip(grid.head, *cells, strict=True)]
    needed = [_needed(grid, at, width) for at, width in enumerate(widths)]
    first, rest = range(grid.names), _fitting(grid, needed, console.width)
    room = console.width - sum(needed[at] for at in first) - GAP * (len(first) - 1)
    for part in side_by_side([GAP + needed[at] for at in rest], room):
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
        chosen = [*first, *(rest[place] for place in part)]
        for at in chosen:
            side: Literal["left", "right"] = "right" if at in grid.numeric else "left"
            least, whole = needed[at], needed[at] == widths[at]
            table.add_column(plain(grid.head[at]), justify=side, overflow="fold", min_width=least, no_wrap=whole)
        for row in cells:
            table.add_row(*(plain(row[at]) for at in chosen))
        console.print(table)
    if grid.left:
        where = more.format("it" if grid.left == 1 else "them all")
        one, many = grid.rest
        console.print(plain(f"and {counted(grid.left, f'more {one}', f'more {many}')}{where}"))


def _needed(grid: Grid, at: int, width: int) -> int:
    """Columns that are never folded: numbers and short texts; names and long texts may be, down to `NAME`."""
    whole = at in grid.numeric or (at >= grid.names and width <= TEXT)
    return width if whole else min(NAME, width)


def _fitting(grid: Grid, needed: Sequence[int], width: int) -> list[int]:
    """The columns behind the names, without the spare ones that have no room."""
    kept = [*range(len(grid.head))]
    for spare in grid.spare:
        if spare in grid.head and sum(needed[at] for at in kept) + GAP * (len(kept) - 1) > width:
            kept.remove(grid.head.index(spare))
    return kept[grid.names :]
