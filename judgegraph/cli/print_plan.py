"""A plan on a terminal: a line per node, a line for all, and what the figures rest on."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from judgegraph.cli.table import counted, plain
from judgegraph.runtime.forecast import Forecast, NodePlan, Range

WIDTH = 100
MOST = 5  # mishaps that are shown
DASH = "\u2013"


def print_plan(forecast: Forecast, rejected: int = 0) -> None:
    """Print what a run will ask for."""
    console = Console(width=None if Console().is_terminal else WIDTH, highlight=False)
    console.print(plain(f"plan for {counted(forecast.samples, 'sample')}"))
    console.print(_table(forecast))
    for line in _words(forecast):
        console.print(plain(line))
    if rejected:
        console.print(plain(f"{counted(rejected, 'row')} of the data left out: no samples"), style="red")
    if not forecast.complete:
        many = counted(len(forecast.mishaps), "run", "runs")
        said = f"incomplete: {many} of the graph with invented replies failed, so real figures may be higher:"
        console.print(plain(said), style="red")
        for mishap in forecast.mishaps[:MOST]:
            console.print(plain(f"  {mishap}"), style="red")
    console.print(plain(forecast.signature), style="dim")


def _table(forecast: Forecast) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("node", "exact", "more", "more at worst", "in ledger", "tokens to pay", "USD"):
        table.add_column(name, justify="left" if name == "node" else "right", overflow="fold", no_wrap=name != "node")
    rows = [*forecast.nodes, forecast.total] if len(forecast.nodes) != 1 else forecast.nodes
    for node in rows:
        table.add_row(*map(plain, _cells(node, forecast.priced)))
    return table


def _cells(node: NodePlan, priced: bool) -> tuple[str, ...]:
    low, usual, high = node.rest
    least, most = _tokens(node.cost)[:2]
    return (
        node.node, f"{node.exact:,}", _span(low, usual), f"{high:,}" if high > usual else "", f"{node.kept:,}",
        _span(least, most), _money(node.cost.lowest.usd, node.cost.middle.usd) if priced else "?",
    )  # fmt: skip


def _words(forecast: Forecast) -> list[str]:
    total, cost = forecast.total, forecast.total.cost
    low, usual, high = (round(amount.calls) for amount in (cost.lowest, cost.middle, cost.highest))
    paid = f"{total.missing:,} of the exact calls and {_span(low - total.missing, usual - total.missing)} more"
    tokens = _tokens(cost)
    worst = f"{high:,} calls, {tokens[2]:,} tokens"
    sums = f"{_span(*tokens[:2])} tokens"
    if forecast.priced:
        sums, worst = f"{sums}, {_money(cost.lowest.usd, cost.middle.usd)} USD", f"{worst}, {cost.highest.usd:,.2f} USD"
    lines = [f"\nto pay: {_span(low, usual)} calls ({paid}), {sums}"]
    if high > usual:
        lines.append(f"at worst, were every reply unreadable at first and choices given one by one: {worst}")
    if forecast.pilot is not None:
        lines += _pilot(forecast)
    return [*lines, "", *forecast.basis]


def _pilot(forecast: Forecast) -> list[str]:
    pilot, projected = forecast.pilot, forecast.total.projected
    if pilot is None:
        return []
    usd = f", {pilot.usd:,.4f} USD" if pilot.usd is not None else ""
    ends = ", ".join(f"{count} {status}" for status, count in pilot.statuses.items())
    spent = f"{counted(pilot.calls, 'call')}, {pilot.prompt_tokens + pilot.completion_tokens:,} tokens{usd}"
    lines = [f"\npilot of {counted(pilot.samples, 'sample')} ({ends}): paid {spent}"]
    if projected is not None and forecast.samples > pilot.samples:
        left = counted(forecast.samples - pilot.samples, "sample")
        calls = f"{projected.middle.calls:,.0f} calls ({_span(*_ends(projected))})"
        money = f", {projected.middle.usd:,.2f} USD" if forecast.priced else ""
        money += f" ({_money(projected.lowest.usd, projected.highest.usd)})" if forecast.priced else ""
        lines.append(f"projected for the {left} left: {calls}, {_tokens(projected)[1]:,} tokens{money}")
    return lines


def _ends(span: Range) -> tuple[int, int]:
    return round(span.lowest.calls), round(span.highest.calls)


def _tokens(cost: Range) -> tuple[int, int, int]:
    low, middle, high = (round(a.prompt + a.completion) for a in (cost.lowest, cost.middle, cost.highest))
    return low, middle, high


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,}{DASH}{high:,}"


def _money(low: float, high: float) -> str:
    return f"{low:,.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:,.2f}{DASH}{high:,.2f}"
