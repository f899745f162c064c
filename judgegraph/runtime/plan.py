"""What a run will cost, before it costs anything."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from judgegraph.calls.estimate import COMPLETION
from judgegraph.calls.kept import Kept
from judgegraph.errors import ConfigError
from judgegraph.models.prices import Prices
from judgegraph.runtime.bridge import run_sync
from judgegraph.runtime.forecast import NOT_CALLS, READABLE, Forecast, NodePlan, total_of
from judgegraph.runtime.pilot import TOTAL, Pilot, judged
from judgegraph.runtime.plan_count import Tally
from judgegraph.runtime.rehearsal import Rehearsal
from judgegraph.runtime.signature import signature
from judgegraph.runtime.stand_in_value import CONSTANT, LONG
from judgegraph.runtime.work import checked
from judgegraph.types import Sample

HANGING = 3  # samples that may run into the time limit before the plan gives up

Path = str | os.PathLike[str]


def plan(graph: Any, samples: Iterable[Sample], **settings: Any) -> Forecast:
    """Say what a run over samples will ask for, and wait for it; arguments and errors as `aplan`."""
    return run_sync(aplan(graph, samples, **settings))


async def aplan(
    graph: Any, samples: Iterable[Sample], *, ledger: Path | None = None, prices: Prices | Path | None = None,
    pilot: int = 0, on_sample: Callable[[int], None] | None = None,
) -> Forecast:  # fmt: skip
    """Say what a run over samples will ask for: the graph is run with invented replies, and nothing is sent.

    Calls that are asked for whatever is replied are exact. For the others the graph is run with replies of several
    manners, from the most sparing to the most demanding, which gives a lowest and a highest number. What the ledger
    holds is answered from it, as in the run, and costs nothing.

    Only calls by `judgegraph.ask` and the agents of this package can be planned: what a node of your own sends in
    another way is sent, and not counted.

    Args:
        graph: a compiled LangGraph that reads "sample". samples: any iterable with different ids, read once.
        ledger: file of model calls of earlier runs, which is only read; one that is not there holds nothing.
        prices: a table of prices of one's own, before the built-in ones.
        pilot: so many of the first samples are judged first, and paid for, to project the rest; 0 is none. Their
            replies go into the ledger, where the run finds them.
        on_sample: called with the number of samples planned so far.

    Raises:
        ConfigError: the call is wrong, or the ledger's file is none of ours. DataError: as `aevaluate`.
    """
    if not hasattr(graph, "ainvoke"):
        raise ConfigError(f"a graph is a compiled LangGraph, got {type(graph).__name__}")
    if pilot < 0:
        raise ConfigError(f"pilot is a number of samples, 0 or more, got {pilot}")
    if pilot and ledger is None:
        raise ConfigError("a pilot is paid for: name a ledger for its replies, where the run will find them")
    given, table = checked(samples), prices if isinstance(prices, Prices) else Prices.load(prices)
    first = list(islice(given, pilot))
    tried = await judged(graph, first, ledger, table) if first and ledger is not None else None
    with closing(Kept(ledger)) as kept:
        rehearsal = Rehearsal(graph, kept, table, completion=tried.completion if tried else {})
        tally, count = await _counted(rehearsal, chain(first, given), on_sample)
    return _forecast(rehearsal, tally, count, tried, table)


async def _counted(
    rehearsal: Rehearsal, samples: Iterable[Sample], on_sample: Callable[[int], None] | None
) -> tuple[Tally, int]:
    tally, count = Tally(), 0
    for count, sample in enumerate(samples, 1):
        tally.add(await rehearsal.runs(sample))
        if on_sample:
            on_sample(count)
        if rehearsal.timeouts >= HANGING:
            break
    return tally, count


def _forecast(rehearsal: Rehearsal, tally: Tally, count: int, pilot: Pilot | None, prices: Prices) -> Forecast:
    left = max(0, count - pilot.cost.samples) if pilot else 0

    def planned(name: str, node: Any) -> NodePlan:
        made = NodePlan.of(name, node)
        return replace(made, projected=pilot.projected(name, left, made.cost)) if pilot else made

    return Forecast(
        signature(rehearsal.graph), count, tuple(planned(n, c) for n, c in tally.nodes.items()),
        planned(TOTAL, total_of(tally)), _basis(rehearsal, pilot, prices), tuple(sorted(rehearsal.unpriced)),
        tuple(rehearsal.mishaps), pilot.cost if pilot else None, frozenset(tally.exact),
    )  # fmt: skip


def _basis(rehearsal: Rehearsal, pilot: Pilot | None, prices: Prices) -> tuple[str, ...]:
    by_basis: dict[str, list[str]] = {}
    for judge, counter in rehearsal.counters.items():
        by_basis.setdefault(counter.basis, []).append(judge)
    prompts = [f"Tokens of prompts: {basis} ({', '.join(judges)})." for basis, judges in by_basis.items()]
    assumed = f"{COMPLETION} for each choice, an assumption, or the judge's max_tokens"
    lines = [*prompts, f"Tokens of replies: {f'as in the pilot, else {assumed}' if pilot else assumed}."]
    if rehearsal.invented:
        lines.append(f"Texts of replies in other prompts: {len(CONSTANT)} to {LONG} characters each, an assumption.")
    if rehearsal.unpriced:
        lines.append(f"No price is known for {', '.join(sorted(rehearsal.unpriced))}: not in the sum (see --prices).")
    if len(rehearsal.unpriced) < len(rehearsal.counters):
        lines.append(f"Prices as of {prices.as_of}.")
    if pilot:
        lines.append(pilot.basis)
    return (*lines, READABLE, NOT_CALLS)
