"""The samples of a run on a terminal, one a line, and how to open the first."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.table import Table

from judgegraph.cli.print_sample import cut
from judgegraph.cli.sample_order import Listed
from judgegraph.cli.screen import screen
from judgegraph.cli.table import GAP, counted, plain
from judgegraph.runtime.standing import Standing
from judgegraph.trace.shell import quoted
from judgegraph.trace.tree import milliseconds, money

NAME = 16  # columns that an id keeps; longer ones are folded
SPARE = ("paid/calls", "time", "tokens", "cost", "doubt", "score", "verdict")  # what goes first where it is narrow


def print_standings(
    path: str, samples: Listed, status: str | None = None, untold: int = 0, unfinished: str = ""
) -> None:  # fmt: skip
    """The table, and what it is of.

    `untold` calls were paid for beyond those of the spans; `unfinished` says how much of a run there is.
    """
    console = screen()
    rows, count = samples.rows, samples.count
    ended = f" that ended with {status}, or have an answer that did" if status else ""
    if unfinished:
        console.print(plain(unfinished), style="yellow")
    if not rows:
        console.print(plain(f"no samples{ended}"))
        return
    console.print(_table(rows, "tokens" if samples.tokens else samples.order, console.width))
    said = f"{len(rows):,} of {counted(count, 'sample')}" if count > len(rows) else counted(count, "sample")
    more = "; --limit N lists more" if count > len(rows) else ""
    console.print(plain(f"\n{said}{ended}, {samples.about}{more}"), style="dim")
    if agents := list(dict.fromkeys(agent for one in rows for agent in one.by_agent or ())):
        said = f"the scores of each sample are those of {', '.join(agents)}, who answer side by side"
        console.print(plain(f"{said}; samples are ordered by the lowest"), style="dim")
    if untold:
        calls = "1 more call was" if untold == 1 else f"{untold:,} more calls were"
        console.print(plain(f"{calls} paid for attempts that were cut off or not traced"), style="dim")
    opens = f"judgegraph trace {quoted(path)} --sample {quoted(rows[0].id)}"
    console.print(plain(opens), style="dim", soft_wrap=True)  # to be copied


def _table(rows: Sequence[Standing], order: str, width: int) -> Table:
    columns = {name: cells for name, cells in _columns(rows, order).items() if any(cells)}
    for spare in (name for name in SPARE if name != order):
        if _width(columns) > width:
            columns.pop(spare, None)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0))
    for name, cells in columns.items():
        if name == "sample":
            table.add_column(name, overflow="fold", min_width=_name_width(cells))
        else:
            table.add_column(name, justify="left" if name in ("status", "change", "verdict") else "right", no_wrap=True)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(plain, row))
    return table


def _columns(rows: Sequence[Standing], order: str) -> dict[str, list[str]]:
    """A column without any cell is left out; tokens stand there where they are what samples are ordered by."""
    failed = any(one.status != "ok" for one in rows)
    priced = any(one.usd for one in rows)
    return {
        "sample": [cut(one.id, 200) for one in rows],
        "status": [_status(one, failed) for one in rows],
        "verdict": [one.verdict or "" for one in rows],
        "score": [", ".join(map(_share, one.by_agent.values())) if one.by_agent else _share(one.value) for one in rows],
        "change": [_change(one) for one in rows],
        "doubt": [_share(one.doubt) for one in rows],
        "failures": [str(one.failures or "") for one in rows],
        "paid/calls": ["" if one.calls is None else f"{one.paid}/{one.calls}" for one in rows],
        "tokens": [f"{one.tokens:,}" if order == "tokens" and one.tokens is not None else "" for one in rows],
        "cost": [money(one.usd) if priced and one.usd is not None else "" for one in rows],
        "time": [milliseconds(one.ms) for one in rows],
    }


def _status(one: Standing, failed: bool) -> str:
    """How it ended; "no score" where nothing that it came to has an answer."""
    if one.status == "ok" and one.answers and one.lost == one.answers:
        return "no score"
    return one.status if failed else ""


def _change(one: Standing) -> str:
    """Such as "Relevancy 4.48 -> 3.95"; "none" where a critic left all as it was."""
    if one.changed_criterion is None:
        return "none" if one.change is not None else ""
    return f"{cut(one.changed_criterion, 20)} {_answer(one.changed_from)} -> {_answer(one.changed_to)}"


def _answer(value: float | str | None) -> str:
    return cut(value, 12) if isinstance(value, str) else "" if value is None else f"{value:.2f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _width(columns: dict[str, list[str]]) -> int:
    widths = {name: max(cell_len(cell) for cell in (name, *cells)) for name, cells in columns.items()}
    return sum(widths.values()) - widths["sample"] + _name_width(columns["sample"]) + GAP * (len(columns) - 1)


def _name_width(names: Sequence[str]) -> int:
    return min(NAME, max(cell_len(name) for name in ("sample", *names)))
