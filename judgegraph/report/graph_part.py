"""The graph of a run: drawn, with what each node took beside it, and the same as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from judgegraph.report.amounts import count, money, time
from judgegraph.report.blocks import Block, Grid, Para, Picture, Section
from judgegraph.report.drawing.svg import graph_svg
from judgegraph.report.run_figure import run_figure
from judgegraph.report.visible import line
from judgegraph.runtime.node_times import NodeTime, node_times, within
from judgegraph.runtime.run import Run

HEAD = ("Node", "Runs", "Model calls", "Paid", "From ledger", "Tokens", "Cost", "Total time", "Median time", "Failed")
UNTRACED = (
    "This run was not traced, so it is not known how long each node took. `judgegraph run` without --no-trace tells it."
)


def graph_part(run: Run) -> Section:
    """The section; a run that was not traced has its calls by node."""
    return Section("graph", "Graph", tuple(_blocks(run)))


def _blocks(run: Run) -> Iterator[Block]:
    times = node_times(run)
    figure = run_figure(run.manifest)
    total = {place: within(times, place) if place else times[place] for place in times}
    if figure is not None:
        badges = {place: _badge(one) for place, one in total.items() if place}
        svg = graph_svg(figure, badges, standalone=False, prefix="run")
        same = "; the table below says the same of each node" if times else ""
        yield Picture(svg, f"The graph of {line(figure.name, 80)}{same}.")
    if times:
        yield Grid("What each node took", HEAD, tuple(_rows(total)), frozenset(range(1, len(HEAD))))
        yield Para(
            "Nodes run side by side, for many samples at once, so their total time exceeds the run's. A median is told "
            "within 2.5 %. Calls that were refused before they were sent, as by a budget, are no model calls. Failed "
            f"counts runs of a node and its model calls, refused ones too.{_twice(times)}"
        )
    else:
        yield Para(UNTRACED)
        if rows := list(_billed(run.manifest.get("calls"))):
            yield Grid("What each node asked for", ("Node", "Model calls", "From ledger", "Tokens", "Cost"),
                       tuple(rows), frozenset(range(1, 5)))  # fmt: skip


def _badge(one: NodeTime) -> tuple[str, ...]:
    """At most three short lines: how often, how long, what for."""
    found = [f"{count(one.visits)} runs" + (f", {count(one.failures)} failed" if one.failures else "")]
    if calls := _calls(one):
        cost = f" · {money(one.usd)}" if one.usd else ""
        found.append(f"{count(calls)} calls{cost}")
    return (*found, f"{time(one.median)} median") if one.median is not None else tuple(found)


def _rows(times: Mapping[str, NodeTime]) -> Iterator[tuple[str, ...]]:
    for place, one in sorted(times.items(), key=lambda pair: not pair[0]):
        tokens = one.prompt_tokens + one.completion_tokens
        calls = _calls(one)
        asked = [count(n) if calls else "" for n in (calls, one.paid, one.found, tokens)]
        cost = _cost(one) if one.paid else ""
        yield (line(place, 120) or "outside of all nodes", count(one.visits), *asked, cost, time(one.ms),
               time(one.median), count(one.failures + one.failed_calls))  # fmt: skip


def _calls(one: NodeTime) -> int:
    """Those that were paid for, found or at least sent."""
    return one.calls - one.unsent


def _twice(times: Mapping[str, NodeTime]) -> str:
    outer = [place for place in times if place and any(other.startswith(f"{place}/") for other in times)]
    return " What nodes within a node asked for counts in both." if outer else ""


def _cost(one: NodeTime) -> str:
    if one.unpriced:
        return f"{money(one.usd)} and more" if one.usd else "no price"
    return money(one.usd)


def _billed(calls: object) -> Iterator[tuple[str, ...]]:
    nodes = calls.get("by_node") if isinstance(calls, Mapping) else None
    for place, bill in nodes.items() if isinstance(nodes, Mapping) else ():
        tokens = bill.get("prompt_tokens", 0) + bill.get("completion_tokens", 0)
        asked = count(bill.get("calls")), count(bill.get("found")), count(tokens)
        yield line(place, 120), *asked, money(bill.get("usd"))
