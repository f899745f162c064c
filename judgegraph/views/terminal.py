"""Blocks on a terminal: as wide as it is, or as COLUMNS says, or as a page; whatever they hold is made inert."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from judgegraph.errors import printable, status_text
from judgegraph.shown import whole_tables
from judgegraph.views.blocks import (
    Answers,
    Block,
    Cut,
    Facts,
    Findings,
    Fold,
    Grid,
    Para,
    Remarks,
    ScoreRow,
    StepView,
    Texts,
    bars,
    counted,
    likeliest,
)

GAP = 2  # columns between two of a table
NAME, WHOLE, TEXT = 16, 32, 46  # columns that a name keeps, that one is not folded to for spare columns, and that
# another text has whole; longer ones are folded
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


def put(console: Console, text: str, style: str = "") -> None:
    """Print a text folded between its words; a word that is longer than a line, a path or a signature, stays whole."""
    lines = [line for given in text.split("\n") for line in _folded(printable(given), console.width)]
    console.print(Text("\n".join(lines)), style=style or None, soft_wrap=True)


def _folded(line: str, width: int) -> list[str]:
    lines = [""]
    for word in re.split(r"(?<= )(?=\S)", line):
        if lines[-1].strip() and cell_len(lines[-1]) + cell_len(word.rstrip()) > width:
            lines.append("")
        lines[-1] += word
    return [one if cell_len(one) <= width else one.rstrip() for one in lines]


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
        if one.look == "fine" and _is_sized(console):
            text = _at_joints(text, console.width)
        if one.indent:
            console.print(Padding(plain(text), (0, 0, 0, one.indent), expand=False), style=STYLES[one.look] or None)
        elif one.whole:
            console.print(plain(text), style=STYLES[one.look] or None, soft_wrap=True)
        else:
            put(console, text, STYLES[one.look])
    elif isinstance(one, Grid):
        _table(console, one, more)
    elif isinstance(one, Fold):
        put(console, f"\n{one.summary}", "bold")
        show(one.blocks, console, more=more)
    elif isinstance(one, Facts):
        put(console, "; ".join(f"{name}: {value}" for name, value in one.rows))
    elif isinstance(one, Answers):
        _answers(console, one)
    elif isinstance(one, Remarks | Texts):
        for who, what in _labelled_texts(one):
            console.print(_labelled(console, who, what))
    elif isinstance(one, StepView):
        console.print(_tree(console, one))
    elif isinstance(one, Findings):
        for finding in one.rows:
            put(console, finding.text)
            if finding.command:
                console.print(plain(f"  next: {finding.command}"), style="dim", soft_wrap=True)


JOINT = re.compile(r"(?<=[|,;])(?=\S)")


def _is_sized(console: Console) -> bool:
    """Whether somebody looks at it, or said how wide it is: what is read by a program stays in one line."""
    return console.is_terminal or os.environ.get("COLUMNS", "").isdigit()


def _at_joints(text: str, width: int) -> str:
    """A text whose words that are too long, as signatures are, go on in a line of their own behind a joint."""
    if "|" not in text or max(map(len, text.split(" "))) <= width:
        return text
    lines = [""]
    for part in re.split(r"(?<= )", text):
        for piece in JOINT.split(part) if len(part) > width else [part]:
            if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
                lines.append("  ")
            lines[-1] += piece
    return "\n".join(lines)


def _table(console: Console, grid: Grid, more: str) -> None:
    """A table, in as many parts below one another as the width asks for; none without a row."""
    if not grid.rows:
        return
    if grid.caption:
        console.print(plain(grid.caption), style="bold")
    cells = [[cell if isinstance(cell, str) else cell.alt for cell in row] for row in grid.rows]
    widths = [max(map(cell_len, column)) for column in zip(grid.head, *cells, strict=True)]
    needed = [_needed(grid, at, width) for at, width in enumerate(widths)]
    fitting = _fitting(grid, [*zip(needed, widths, strict=True)], console.width)
    first, rest = range(grid.names), [*range(grid.names, len(widths))] if whole_tables.get() else fitting
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
    if gone := [grid.head[at] for at in range(grid.names, len(widths)) if at not in rest]:
        them = "it" if len(gone) == 1 else "them"
        console.print(plain(f"no room for {', '.join(gone)}; --wide draws {them}"), style="dim")
    if grid.left:
        where = more.format("it" if grid.left == 1 else "them all")
        one, many = grid.rest
        console.print(plain(f"and {counted(grid.left, f'more {one}', f'more {many}')}{where}"))


def _needed(grid: Grid, at: int, width: int) -> int:
    """Columns that are never folded: numbers and short texts; names and long texts may be, down to `NAME`."""
    whole = at in grid.numeric or (at >= grid.names and width <= TEXT)
    return width if whole else min(NAME, width)


def _fitting(grid: Grid, both: Sequence[tuple[int, int]], width: int) -> list[int]:
    """The columns behind the names, without the spare ones that have no room beside whole names.

    Args:
        both: of each column how much it needs, and how much it would take.
    """
    kept = [*range(len(grid.head))]
    wanted = [max(least, min(whole, WHOLE)) if at < grid.names else least for at, (least, whole) in enumerate(both)]
    for spare in grid.spare:
        if spare in grid.head and sum(wanted[at] for at in kept) + GAP * (len(kept) - 1) > width:
            kept.remove(grid.head.index(spare))
    return kept[grid.names :]


# A sample: its answers with small bars and reasons, what was said and judged, and its steps as a tree.


NAMED = 26  # columns of a criterion's name that answers stand beside
FINE = ("ok", "skipped", "abstained")


def _answers(console: Console, answers: Answers) -> None:
    """A row for each with its reasons below; what is said of all of them stands once, below them."""
    rows = answers.rows
    width = min(NAMED, max((cell_len(printable(row.name)) for row in rows), default=0))
    scales = [row.scale for row in rows if row.scale] if len(rows) > 1 else []
    scale = max(scales, key=scales.count, default="")
    shared = [fact for fact in rows[0].facts if all(fact in row.facts for row in rows)] if len(rows) > 1 else []
    for row in rows:
        about = [f"on {row.scale}"] if row.scale and row.scale != scale else []
        about += [fact for fact in row.facts if fact not in shared] + ([f"people: {row.human}"] if row.human else [])
        console.print(_answer(console, row, width, about))
        for who, what in row.why:
            console.print(Padding(_labelled(console, who, what), (0, 0, 0, 4), expand=False), style="dim")
    if answers.left:
        console.print(f"and {counted(answers.left, 'more score')}; --full shows them all")
    if said := [*([f"on {scale}"] if scale else []), *shared]:
        console.print(plain(f"scores {', '.join(said)}"), style="dim")


def _answer(console: Console, row: ScoreRow, width: int, about: Sequence[str]) -> Text:
    name = printable(row.name)
    line = Text(overflow="fold")
    line.append(name + " " * max(0, width - cell_len(name)), "bold")
    moved = f"{row.draft} -> " if row.draft and row.draft != row.final else ""
    line.append(f"  {printable(moved + row.final)}", "red" if row.failed else "yellow" if moved else "")
    for one in row.distributions[-1:]:
        drawn = bars(one.shares, one.scale, plain=console.options.ascii_only)
        if one.scale is not None and one.scale.low is not None:
            drawn = f"{one.scale.low:g}{drawn}{one.scale.high:g}"
        line.append(f"  {drawn}  {printable(likeliest(one.shares))}")
    for fact in about:
        line.append(f"  {printable(fact)}")
    return line


def _labelled_texts(one: Remarks | Texts) -> Iterator[tuple[str, Cut]]:
    """(who or what, text); the parts of a text are numbered."""
    if isinstance(one, Remarks):
        yield from one.rows
        return
    for title, parts in one.rows:
        for at, part in enumerate(parts, 1):
            yield title if len(parts) == 1 else f"{title}, {at}", part


def _labelled(console: Console, who: str, what: Cut) -> Text:
    line = Text(overflow="fold")
    line.append(printable(f"{who}: " if what else who), "dim")
    return line.append(_whole(console, what), "default")


def _whole(console: Console, what: Cut) -> str:
    """A text, and where only its beginning stands there its length."""
    text = printable(what.text.replace("\r\n", "\n").expandtabs(4)).rstrip()
    dots = "..." if console.options.ascii_only else "…"
    return f"{text}{dots} ({len(what.text) + what.more:,} characters)" if what.more else text


def _tree(console: Console, step: StepView) -> Tree:
    """The step with all below it, each with its times, and what was read, written, asked and answered."""
    tree = Tree(_step(console, step), guide_style="dim")
    _grow(console, tree, step)
    return tree


def _grow(console: Console, tree: Tree, step: StepView) -> None:
    for below in step.steps:
        _grow(console, tree.add(_step(console, below)), below)
    if step.left:
        tree.add(plain(f"{counted(step.left, 'more step')}; --full shows them all"))


def _step(console: Console, step: StepView) -> Text:
    text = Text(overflow="fold")
    text.append(printable(f"{step.kind} "), "dim")
    text.append(printable(step.name), "bold")
    for fact in (step.ms, *step.facts):
        text.append(printable(f"  {fact}"))
    if step.status != "ok":
        text.append(printable(f"  {status_text(step.status)}"), "dim" if step.status in FINE else "red")
    if step.about:
        about = "  ".join(f"{name}: {value}" for name, value in step.about)
        text.append(printable(f"\n{about}"), "dim")
    if step.error:
        text.append(printable(f"\n{step.error}"), "dim" if step.status in FINE else "red")
    for who, what in step.texts:
        text.append("\n").append(_labelled(console, who, what))
    return text
