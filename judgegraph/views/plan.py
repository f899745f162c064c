"""A plan: calls and money per node, then for all, and what the figures rest on.

Alone, because a plan brings LangGraph with it, which reading a run does without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from judgegraph.errors import status_text
from judgegraph.planning.forecast import Forecast, Range
from judgegraph.views.blocks import Block, Grid, Para, columns, counted, money, more, rejected_lines, span
from judgegraph.views.notebook import lays_out

MOST = 5  # mishaps, and rows, that are shown
FIRST = ("Over the budget", "Given up after")  # how what a figure rests on begins where it changes the sum
AT_WORST = (
    "at worst: instead of more, if each reply can be read only at the last of its asks (3 unless set) and choices "
    "come one a call"
)


@lays_out(Forecast)
def plan(forecast: Forecast, rejected: Sequence[Any] = (), out: str | None = None) -> Iterator[Block]:
    """What a run will ask for: the sum first, and what makes it doubtful, then each node and what it rests on.

    Args:
        rejected: rows of the data that are no samples. out: the folder in which samples may be finished.
    """
    yield Para(f"plan for {counted(forecast.samples, 'sample')}", "lead")
    if forecast.finished:
        verb = "is" if forecast.finished == 1 else "are"
        yield Para(f"{counted(forecast.finished, 'sample')} {verb} finished in {out}, and left out")
    yield from (Para(line, "lead") for line in _sums(forecast))
    yield from (Para(line, "bad") for line in forecast.basis if line.startswith(FIRST))
    yield from map(Para, _pilot(forecast))
    yield from _troubles(forecast, rejected)
    if forecast.nodes:
        yield Para("")
        yield _table(forecast)
        yield from (Para(line, "fine") for line in _columns(forecast))
    yield from map(Para, ("", *(line for line in forecast.basis if not line.startswith(FIRST))))
    yield Para(forecast.signature, "fine", whole=True)


def _troubles(forecast: Forecast, rejected: Sequence[Any]) -> Iterator[Block]:
    if rejected:
        yield Para(f"{counted(len(rejected), 'row')} of the data left out:", "bad")
        yield from map(Para, rejected_lines(rejected, MOST))
    if not forecast.complete:
        many = counted(forecast.failed, "sample")
        said = f"incomplete: for {many} the graph failed with invented replies, so real figures may be higher:"
        yield Para(said, "bad")
        yield from (Para(f"  {mishap}", "bad") for mishap in forecast.mishaps[:MOST])
        yield from more(len(forecast.mishaps) - MOST, "kind of failure", "kinds of failure", indent="  ")


def _table(forecast: Forecast) -> Grid:
    rows = [*forecast.nodes, forecast.total] if len(forecast.nodes) != 1 else forecast.nodes
    priced = _costs(forecast)
    return columns("", {
        "node": [node.node for node in rows],
        "exact": [f"{node.exact:,}" for node in rows],
        "more": [_span(*node.rest[:2]) for node in rows],
        "at worst": [f"{node.rest[2]:,}" if node.rest[2] > node.rest[1] else "" for node in rows],
        "in ledger": [f"{node.kept:,}" for node in rows],
        "tokens to pay": [_span(*_tokens(node.cost)[:2]) for node in rows],
        "cost": [_money(node.cost.lowest.usd, node.cost.middle.usd) if priced else "" for node in rows],
    }, most=len(rows))  # fmt: skip


def _columns(forecast: Forecast) -> Iterator[str]:
    """What the columns mean, a line each."""
    exact = "with every kind of invented reply" if forecast.own_code else "whatever is replied"
    yield f"exact: asked for {exact}; more: lowest\u2013highest beside these when every reply can be read"
    if forecast.total.rest[2] > forecast.total.rest[1]:
        yield AT_WORST


def _costs(forecast: Forecast) -> bool:
    """Whether anything costs money, as far as is known."""
    return forecast.total.cost.highest.usd > 0


def _sums(forecast: Forecast) -> list[str]:
    """What is to pay, and at worst."""
    total, cost = forecast.total, forecast.total.cost
    low, usual, high = (round(amount.calls) for amount in (cost.lowest, cost.middle, cost.highest))
    paid = f"{total.missing:,} of the exact ones and {_span(low - total.missing, usual - total.missing)} more"
    tokens = _tokens(cost)
    worst = f"{counted(high, 'call')}, {tokens[2]:,} tokens"
    sums = f"{_span(*tokens[:2])} tokens"
    if _costs(forecast):
        sums = f"{sums}, {_money(cost.lowest.usd, cost.middle.usd)}"
        worst = f"{worst}, {money(cost.highest.usd)}"
    calls = "call" if low == usual == 1 else "calls"
    said = [f"to pay: {_span(low, usual)} {calls} ({paid}), {sums}"]
    return [*said, f"to pay at worst: {worst}"] if high > usual else said


def _pilot(forecast: Forecast) -> list[str]:
    pilot, projected = forecast.pilot, forecast.total.projected
    if pilot is None:
        return []
    usd = f", {money(pilot.usd)}" if pilot.usd else ""
    ends = ", ".join(f"{count:,} {status_text(status)}" for status, count in pilot.statuses.items())
    spent = f"{counted(pilot.calls, 'call')}, {counted(pilot.prompt_tokens + pilot.completion_tokens, 'token')}{usd}"
    lines = [f"pilot of {counted(pilot.samples, 'sample')} ({ends}): paid {spent}"]
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
    low, high = round(found.lowest.calls), round(found.highest.calls)
    calls = counted(round(found.middle.calls), "call") + (f" ({_span(low, high)})" if interval else "")
    parts = [calls, f"{_tokens(found)[1]:,} tokens"]
    if found.highest.usd > 0:
        ends = f" ({_money(found.lowest.usd, found.highest.usd)})" if interval else ""
        parts.append(f"{money(found.middle.usd)}{ends}")
    return ", ".join(parts)


def _tokens(cost: Range) -> tuple[int, int, int]:
    low, middle, high = (round(a.prompt + a.completion) for a in (cost.lowest, cost.middle, cost.highest))
    return low, middle, high


def _span(low: int, high: int) -> str:
    return span(f"{low:,}", f"{high:,}")


def _money(low: float, high: float) -> str:
    return span(money(low), money(high))
