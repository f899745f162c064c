"""Blocks in a notebook: small HTML without script or colour of its own; whatever they hold is made inert."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from judgegraph.shown import draws
from judgegraph.views.amounts import counted
from judgegraph.views.blocks import Block, Findings, Fold, Grid, Para, Picture
from judgegraph.views.trace import ROWS, Html, fold, framed, para, table, text

Layout = TypeVar("Layout", bound=Callable[..., Iterable[Block]])


def lays_out(kind: type[Any]) -> Callable[[Layout], Layout]:
    """Registers the function below it as the layout of a kind of result, which a notebook draws."""

    def register(layout: Layout) -> Layout:
        draws(kind, "blocks")(layout)
        draws(kind)(lambda result: shown(layout(result)))
        return layout

    return register


def shown(blocks: Iterable[Block]) -> Html:
    """All of them as one output."""
    return framed(*html(blocks))


def html(blocks: Iterable[Block]) -> Iterator[Html]:
    """Each as HTML."""
    for one in blocks:
        if isinstance(one, Para):
            yield Html(f"<p><b>{text(one.text)}</b></p>") if one.look in ("lead", "title") else para(_noted(one))
        elif isinstance(one, Grid):
            if one.rows:
                yield _table(one)
        elif isinstance(one, Fold):
            yield fold(text(one.summary), *html(one.blocks))
        elif isinstance(one, Picture):
            yield Html(one.svg)
        elif isinstance(one, Findings):
            yield from (para(finding.text) for finding in one.rows)


def _noted(one: Para) -> str:
    return one.text.strip()


def _table(grid: Grid) -> Html:
    rows = [[cell if isinstance(cell, str) else cell.alt for cell in row] for row in grid.rows]
    numeric = [name for at, name in enumerate(grid.head) if at in grid.numeric]
    one, many = grid.rest
    beyond = max(0, len(rows) - ROWS) + grid.left
    caption = grid.caption + (f"; {counted(beyond, f'more {one}', f'more {many}')}" if beyond else "")
    return table(caption, grid.head, rows[:ROWS], numeric)
