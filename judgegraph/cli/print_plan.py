"""A plan on a terminal: a line per node, a line for all, and what the figures rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from judgegraph.cli.print_sample import more
from judgegraph.cli.progress_text import money
from judgegraph.cli.screen import screen
from judgegraph.cli.table import counted, plain, rejected_lines
from judgegraph.runtime.forecast import Forecast, NodePlan, Range

MOST = 5  # mishaps, and rows, that are shown
DASH = "\u2013"


def print_plan(forecast: Forecast, rejected: Sequence[Any] = (), out: str | None = None) -> None:
    """Print what a run will ask for.

    Args:
        rejected: rows of the data that are no samples. out: the folder in which samples may be finished.
    """
    console = screen()
    console.print(plain(f"plan for {counted(forecast.samples, 'sample')}"))
    if forecast.finished:
        verb = "is" if forecast.finished == 1 else "are"
        console.print(plain(f"{counted(forecast.finished, 'sample')} {verb} finished in {out}, and left out"))
    if forecast.nodes:
        console.print(_table(forecast))
        console.print(plain(_columns(forecast)), style="dim")
    for line in _words(forecast):
        console.print(plain(line))
    _troubles(console, forecast, rejected)
    console.print(plain(forecast.signature), style="dim")


def _troubles(console: Console, forecast: Forecast, rejected: Sequence[Any]) -> None:
    if rejected:
        console.print(plain(f"{counted(len(rejected), 'row')} of the data left out:"), style="red")
        for line in rejected_lines(rejected, MOST):
            console.print(plain(line))
    if not forecast.complete:
        many = counted(forecast.failed, "sample")
        said = f"incomplete: for {many} the graph failed with invented replies, so real figures may be higher:"
        console.print(plain(said), style="red")
        for mishap in forecast.mishaps[:MOST]:
            console.print(plain(f"  {mishap}"), style="red")
        more(console, len(forecast.mishaps) - MOST, "kind of failure", "kinds of failure")


def _columns(forecast: Forecast) -> str:
    """What the table's columns mean."""
    exact = "with every kind of invented reply" if forecast.own_code else "whatever is replied"
    return (
        f"exact: asked for {exact}; more: lowest{DASH}highest when every reply can be read; at worst: when replies "
        "must be asked for again"
    )


def _table(forecast: Forecast) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    usd = ("USD",) if _costs(forecast) else ()
    for name in ("node", "exact", "more", "at worst", "in ledger", "tokens to pay", *usd):
        table.add_column(name, justify="left" if name == "node" else "right", overflow="fold", no_wrap=name != "node")
    rows = [*forecast.nodes, forecast.total] if len(forecast.nodes) != 1 else forecast.nodes
    for node in rows:
        table.add_row(*map(plain, _cells(node, bool(usd))))
    return table


def _cells(node: NodePlan, priced: bool) -> tuple[str, ...]:
    low, usual, high = node.rest
    least, most = _tokens(node.cost)[:2]
    return (
        node.node, f"{node.exact:,}", _span(low, usual), f"{high:,}" if high > usual else "", f"{node.kept:,}",
        _span(least, most), *([_money(node.cost.lowest.usd, node.cost.middle.usd)] if priced else []),
    )  # fmt: skip


def _costs(forecast: Forecast) -> bool:
    """Whether anything costs money, as far as is known."""
    return forecast.total.cost.highest.usd > 0


def _words(forecast: Forecast) -> list[str]:
    total, cost = forecast.total, forecast.total.cost
    low, usual, high = (round(amount.calls) for amount in (cost.lowest, cost.middle, cost.highest))
    paid = f"{total.missing:,} of the exact ones and {_span(low - total.missing, usual - total.missing)} more"
    tokens = _tokens(cost)
    worst = f"{counted(high, 'call')}, {tokens[2]:,} tokens"
    sums = f"{_span(*tokens[:2])} tokens"
    if _costs(forecast):
        sums = f"{sums}, {_money(cost.lowest.usd, cost.middle.usd)} USD"
        worst = f"{worst}, {money(cost.highest.usd)} USD"
    calls = "call" if low == usual == 1 else "calls"
    lines = [f"\nto pay: {_span(low, usual)} {calls} ({paid}), {sums}"]
    if high > usual:
        lines.append(f"at worst, with every reply unreadable at first and choices given one by one: {worst}")
    if forecast.pilot is not None:
        lines += _pilot(forecast)
    return [*lines, "", *forecast.basis]


def _pilot(forecast: Forecast) -> list[str]:
    pilot, projected = forecast.pilot, forecast.total.projected
    if pilot is None:
        return []
    usd = f", {money(pilot.usd)} USD" if pilot.usd else ""
    ends = ", ".join(f"{count} {status}" for status, count in pilot.statuses.items())
    spent = f"{counted(pilot.calls, 'call')}, {pilot.prompt_tokens + pilot.completion_tokens:,} tokens{usd}"
    lines = [f"\npilot of {counted(pilot.samples, 'sample')} ({ends}): paid {spent}"]
    if pilot.failure:
        lines.append(pilot.failure)
    if pilot.over_budget:
        lines.append("stopped by the budget")
    if projected is not None and forecast.samples > pilot.samples:
        left = counted(forecast.samples - pilot.samples, "sample")
        lines.append(f"projected for the {left} left: {_projected(projected, pilot.used > 1)}")
    return lines


def _projected(found: Range, interval: bool) -> str:
    """Calls, tokens and money; each with its ends where there are more samples than one to say so."""
    calls = counted(round(found.middle.calls), "call") + (f" ({_span(*_ends(found))})" if interval else "")
    said = [calls, f"{_tokens(found)[1]:,} tokens"]
    if found.highest.usd > 0:
        ends = f" ({_money(found.lowest.usd, found.highest.usd)})" if interval else ""
        said.append(f"{money(found.middle.usd)} USD{ends}")
    return ", ".join(said)


def _ends(span: Range) -> tuple[int, int]:
    return round(span.lowest.calls), round(span.highest.calls)


def _tokens(cost: Range) -> tuple[int, int, int]:
    low, middle, high = (round(a.prompt + a.completion) for a in (cost.lowest, cost.middle, cost.highest))
    return low, middle, high


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,}{DASH}{high:,}"


def _money(low: float, high: float) -> str:
    return money(low) if money(low) == money(high) else f"{money(low)}{DASH}{money(high)}"
