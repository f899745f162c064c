"""The graph of a run: drawn, with what each node took beside it, and the same as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from judgegraph.report.amounts import cost, count, money, time
from judgegraph.report.blocks import Block, Grid, Para, Picture, Section
from judgegraph.report.drawing.svg import graph_svg
from judgegraph.report.run_figure import run_figure
from judgegraph.report.sections.figures import counts
from judgegraph.report.visible import line
from judgegraph.runtime.node_times import NodeTime, node_times, within
from judgegraph.runtime.run import Run

HEAD = ("Node", "Runs", "Model calls", "Paid", "From ledger", "Shared", "Tokens", "Cost", "Total time", "Median time",
        "Failed runs", "Failed calls")  # fmt: skip
SHARED = HEAD.index("Shared")
WAITING = (
    "A time is from a node's start to its end. Waiting is in it, for a reply or for a turn among all that runs at "
    "once, so that a node of plain code takes longer in a busy run. Nodes run side by side, for many samples at once, "
    "so their total time exceeds the run's. A median is told within 2.5 %."
)
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
        yield _grid(total)
        yield Para(
            f"{WAITING} Calls that were refused before they were sent, as by a budget, are no model calls."
            f"{_shared(times)} A run of a node failed where it raised, or wrote anything that failed; a call, where "
            f"no reply of it could be used, also where the next one could.{_twice(times)}"
        )
    else:
        yield Para(UNTRACED)
        if rows := list(_billed(run.manifest.get("calls"))):
            yield Grid("What each node asked for", ("Node", "Paid calls", "Calls not paid for", "Tokens", "Cost"),
                       tuple(rows), frozenset(range(1, 5)))  # fmt: skip


def _badge(one: NodeTime) -> tuple[str, ...]:
    """At most three short lines: how often, how long, what for."""
    found = [f"{count(one.visits)} runs" + (f", {count(one.failures)} failed" if one.failures else "")]
    if calls := _calls(one):
        cost = f" · {money(one.usd)}" if one.usd else ""
        found.append(f"{count(calls)} calls{cost}")
    return (*found, f"{time(one.median)} median") if one.median is not None else tuple(found)


def _grid(times: Mapping[str, NodeTime]) -> Grid:
    """A line per node; what is shared only where anything is."""
    shared = any(one.shared for one in times.values())
    keep = [at for at in range(len(HEAD)) if at != SHARED or shared]
    rows = tuple(tuple(row[at] for at in keep) for row in _rows(times))
    numeric = frozenset(range(1, len(keep)))
    return Grid("Each node, from its start to its end", tuple(HEAD[at] for at in keep), rows, numeric)


def _rows(times: Mapping[str, NodeTime]) -> Iterator[tuple[str, ...]]:
    for place, one in sorted(times.items(), key=lambda pair: not pair[0]):
        tokens = one.prompt_tokens + one.completion_tokens
        calls = _calls(one)
        asked = [count(n) if calls else "" for n in (calls, one.paid, one.found, one.shared, tokens)]
        price = cost(one.usd, one.paid, one.unpriced) if one.paid else ""
        yield (line(place, 120) or "outside of all nodes", count(one.visits), *asked, price, time(one.ms),
               time(one.median), _failed(one), count(one.failed_calls) if one.calls else "")  # fmt: skip


def _failed(one: NodeTime) -> str:
    """How many runs failed, and how."""
    return f"{count(one.failures)} ({counts(one.statuses)})" if one.failures else "0"


def _calls(one: NodeTime) -> int:
    """Those that were paid for, found or at least sent."""
    return one.calls - one.unsent


def _shared(times: Mapping[str, NodeTime]) -> str:
    if not any(one.shared for one in times.values()):
        return ""
    return " A shared call waited for the same call of another sample, which paid for it."


def _twice(times: Mapping[str, NodeTime]) -> str:
    outer = [place for place in times if place and any(other.startswith(f"{place}/") for other in times)]
    return " What nodes within a node asked for counts in both." if outer else ""


def _billed(calls: object) -> Iterator[tuple[str, ...]]:
    nodes = calls.get("by_node") if isinstance(calls, Mapping) else None
    for place, bill in nodes.items() if isinstance(nodes, Mapping) else ():
        tokens = bill.get("prompt_tokens", 0) + bill.get("completion_tokens", 0)
        asked = count(bill.get("calls")), count(bill.get("found")), count(tokens)
        paid, unpriced = bill.get("calls") or 0, bill.get("unpriced") or 0
        yield line(place, 120), *asked, cost(bill.get("usd") or 0.0, paid, unpriced) if paid else ""
