"""What a run will cost, before it costs anything."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path as File
from typing import Any

from judgegraph.calls.budget import Budget
from judgegraph.calls.estimate import COMPLETION
from judgegraph.calls.invented import CONSTANT, LONG, SHORT
from judgegraph.calls.kept import Kept
from judgegraph.calls.limits import Limits
from judgegraph.errors import ConfigError
from judgegraph.models.prices import Prices
from judgegraph.runtime.bridge import run_sync
from judgegraph.runtime.finished import Finished
from judgegraph.runtime.folder import LEDGER
from judgegraph.runtime.forecast import NOT_CALLS, READABLE, Forecast, NodePlan, total_of
from judgegraph.runtime.pilot import TOTAL, Pilot, judged
from judgegraph.runtime.plan_count import NodeCount, Tally
from judgegraph.runtime.rehearsal import Rehearsal
from judgegraph.runtime.signature import signature
from judgegraph.runtime.stand_in import MANNERS
from judgegraph.runtime.work import checked
from judgegraph.types import Sample

HANGING = 3  # runs of the graph that may come to no end before the plan gives up
SHOWN = 5  # places of the caller's own code that are named

Path = str | os.PathLike[str]


def plan(graph: Any, samples: Iterable[Sample], **settings: Any) -> Forecast:
    """Say what a run over samples will ask for, and wait for it; arguments and errors as `aplan`."""
    return run_sync(aplan(graph, samples, **settings))


async def aplan(
    graph: Any, samples: Iterable[Sample], *, out: Path | None = None, ledger: Path | None = None,
    prices: Prices | Path | None = None, pilot: int = 0, budget: Budget | None = None, limits: Limits | None = None,
    concurrency: int = 64, timeout: float = 600.0, on_sample: Callable[[int], None] | None = None,
) -> Forecast:  # fmt: skip
    """Say what a run over samples will ask for: the graph is run with invented replies, and nothing is sent.

    The graph is run with replies of several manners, from the most sparing to the most demanding: calls that are made
    with all of them are exact, for the others there is a lowest and a highest number. In graphs of ours what is exact
    is asked for whatever is replied; where a node or a choice between edges is code of your own, which may look at
    anything, only as far as these manners show (`Forecast.own_code`). What the ledger holds is answered from it, as
    in the run, and costs nothing.

    Only calls by `judgegraph.ask` and the agents of this package can be planned: what a node of your own sends in
    another way is sent, and not counted.

    Args:
        graph: a compiled LangGraph that reads "sample"; its checkpointer is left aside.
        samples: any iterable with different ids, read once.
        out: folder of a run, which is only read: samples that are finished there are left out, as the run would.
        ledger: file of model calls of earlier runs, which is only read; one that is not there holds nothing. None is
            ledger.sqlite in `out`, or none.
        prices: a table of prices of one's own, before the built-in ones.
        pilot: so many of the first samples are judged first, and paid for, to project the rest; 0 is none. Their
            replies go into the ledger, where the run finds them.
        budget, limits, concurrency, timeout: of the pilot, as `aevaluate` takes them.
        on_sample: called with the number of samples planned so far.

    Raises:
        ConfigError: the call is wrong, the ledger's file is none of ours, or the folder holds a run of another
            configuration. DataError: as `aevaluate`.
    """
    if not hasattr(graph, "ainvoke"):
        raise ConfigError(f"a graph is a compiled LangGraph, got {type(graph).__name__}")
    if pilot < 0:
        raise ConfigError(f"pilot is a number of samples, 0 or more, got {pilot}")
    ledger = File(out) / LEDGER if ledger is None and out is not None else ledger
    if pilot and ledger is None:
        raise ConfigError("a pilot is paid for: name a ledger for its replies, where the run will find them")
    table = prices if isinstance(prices, Prices) else Prices.load(prices)
    finished = Finished(out, graph)
    given = (sample for sample in checked(samples) if not finished.holds(sample))
    first = list(islice(given, pilot))
    limited: dict[str, Any] = {"budget": budget, "limits": limits, "concurrency": concurrency, "timeout": timeout}
    tried = await judged(graph, first, ledger, table, out, **limited) if first and ledger is not None else None
    with closing(Kept(ledger)) as kept:
        rehearsal = Rehearsal(graph, kept, table, completion=tried.completion if tried else {}, limits=limits)
        counted = await _counted(rehearsal, chain(first, given), on_sample, len(first))
    return replace(_forecast(rehearsal, counted, tried, table), finished=finished.count)


@dataclass
class _Counted:
    """What was counted, of all samples and of those of the pilot."""

    tally: Tally
    before: Tally
    samples: int = 0
    whole: bool = True


async def _counted(
    rehearsal: Rehearsal, samples: Iterable[Sample], on_sample: Callable[[int], None] | None, pilot: int
) -> _Counted:
    tally = Tally()
    found = _Counted(tally, Tally())
    for found.samples, sample in enumerate(samples, 1):
        tally.add(await rehearsal.runs(sample))
        if found.samples == pilot:
            found.before = Tally({name: replace(node) for name, node in tally.nodes.items()})
        if on_sample:
            on_sample(found.samples)
        if rehearsal.stuck >= HANGING:
            found.whole = False
            break
    return found


def _forecast(rehearsal: Rehearsal, counted: _Counted, pilot: Pilot | None, prices: Prices) -> Forecast:
    tally, left = counted.tally, max(0, counted.samples - pilot.cost.samples) if pilot else 0

    def planned(name: str, node: NodeCount, before: NodeCount) -> NodePlan:
        made = NodePlan.of(name, node)
        bounds = made.cost.minus(NodePlan.of(name, before).cost)
        return replace(made, projected=pilot.projected(name, left, bounds)) if pilot else made

    total = planned(TOTAL, total_of(tally), total_of(counted.before))
    basis = _basis(rehearsal, pilot, prices, total.cost.highest.usd > 0)
    if not counted.whole:
        basis = (f"Given up after {counted.samples:,} of the samples; the others were not planned.", *basis)
    return Forecast(
        signature(rehearsal.graph), counted.samples,
        tuple(planned(n, c, counted.before.nodes.get(n, NodeCount())) for n, c in tally.nodes.items()),
        total, basis, tuple(sorted(rehearsal.unpriced)), tuple(rehearsal.mishaps), pilot.cost if pilot else None,
        failed=rehearsal.mishaps.samples, own_code=rehearsal.own, exact_addresses=frozenset(tally.exact),
    )  # fmt: skip


def _basis(rehearsal: Rehearsal, pilot: Pilot | None, prices: Prices, paid: bool) -> tuple[str, ...]:
    by_basis: dict[str, list[str]] = {}
    for judge, counter in rehearsal.counters.items():
        by_basis.setdefault(counter.basis, []).append(judge)
    prompts = [f"Tokens of prompts: {basis} ({', '.join(judges)})." for basis, judges in by_basis.items()]
    assumed = f"{COMPLETION} for each choice, an assumption, or the judge's max_tokens"
    lines = [_own(rehearsal.own)] if rehearsal.own else []
    lines += [*prompts, f"Tokens of replies: {f'as in the pilot, else {assumed}' if pilot else assumed}."]
    if rehearsal.invented:
        least = min(map(len, (CONSTANT, *(filter(None, SHORT) if rehearsal.own else ()))))
        lines.append(f"Texts of replies in other prompts: {least} to {LONG} characters each, an assumption.")
    if rehearsal.unpriced:
        lines.append(f"No price is known for {', '.join(sorted(rehearsal.unpriced))}: not in the sum (see --prices).")
    if paid or (pilot and pilot.cost.usd):
        lines.append(f"Prices as of {prices.as_of}.")
    if pilot:
        lines.append(pilot.basis)
    return (*lines, READABLE, NOT_CALLS)


def _own(places: tuple[str, ...]) -> str:
    shown = ", ".join(places[:SHOWN]) + (f" and {len(places) - SHOWN} more" if len(places) > SHOWN else "")
    return (
        f"Exact as far as {len(MANNERS)} kinds of invented replies show: code of your own decides in {shown}, and "
        "another reply may lead elsewhere."
    )
