"""Small HTML for notebooks: tables, folds and texts. No script and no colour of its own; whatever it shows is inert."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import NewType

from judgegraph.errors import printable

Html = NewType("Html", str)  # what this module made: escaped, and whole
ROWS = 60  # of a table
LONG = 20_000  # characters of a text
CELL = 300  # characters of a table's cell
LEFT, RIGHT = ' style="text-align:left"', ' style="text-align:right;white-space:nowrap"'


def text(value: object, most: int = LONG) -> Html:
    """A text that can neither close nor open anything, nor turn what stands around it; cut at `most` characters."""
    whole = str(value).replace("\r\n", "\n").expandtabs(4)
    cut = whole if len(whole) <= most else f"{whole[:most]}… ({len(whole):,} characters)"
    return Html(escape(printable(cut)))


def joined(*parts: Html) -> Html:
    """One after the other."""
    return Html("\n".join(part for part in parts if part))


def framed(*parts: Html) -> Html:
    """Parts as one output."""
    return Html(f'<div class="jg-shown">{joined(*parts)}</div>')


def para(value: object) -> Html:
    """A paragraph."""
    return Html(f'<p style="overflow-wrap:anywhere">{text(value)}</p>')


def verbatim(value: object) -> Html:
    """A text with its line breaks, folded to the width there is."""
    style = "white-space:pre-wrap;overflow-wrap:anywhere;text-align:left"
    return Html(f'<pre style="{style}">{text(value)}</pre>')


def fold(summary: Html, *parts: Html, opened: bool = False) -> Html:
    """What is behind a click."""
    style = ' style="margin-left:1em;text-align:left"'
    return Html(
        f"<details{style}{' open' if opened else ''}><summary>{summary}</summary>\n{joined(*parts)}\n</details>"
    )


def table(
    caption: object, head: Sequence[str], rows: Iterable[Sequence[object]], numeric: Collection[str] = (),
    most: int = ROWS,
) -> Html:  # fmt: skip
    """A table of texts; its first column names the row.

    Args:
        numeric: columns that are set to the right, on one line.
        most: rows; of more the first are shown, and their count.
    """
    sides = [RIGHT if name in numeric else LEFT for name in head]
    told = list(rows)
    first = "".join(f'<th scope="col"{side}>{text(name)}</th>' for name, side in zip(head, sides, strict=True))
    lines = ["".join(_cells(row, sides)) for row in told[:most]]
    more = f"; {most} of {len(told):,} rows are shown" if len(told) > most else ""
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return Html(
        f"<table>\n<caption{LEFT}>{text(f'{caption}{more}')}</caption>\n"
        f"<thead><tr>{first}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
    )


def _cells(row: Sequence[object], sides: Sequence[str]) -> Iterable[str]:
    for place, (cell, side) in enumerate(zip(row, sides, strict=True)):
        shown = text(cell, CELL)
        yield f'<th scope="row"{side}>{shown}</th>' if place == 0 else f"<td{side}>{shown}</td>"
