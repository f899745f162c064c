"""A graph over a dataset: every sample is a work unit of its own, and none can end the run."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from judgegraph.calls.budget import Budget, BudgetTracker
from judgegraph.calls.context import CallContext, context
from judgegraph.calls.limits import Limits
from judgegraph.data.samples import checked
from judgegraph.errors import ConfigError, DataError, one_line
from judgegraph.evidence import EVIDENCE
from judgegraph.models.capabilities import sees
from judgegraph.models.judges import resolve
from judgegraph.models.prices import Prices
from judgegraph.runs.folder import MANIFEST, Folder
from judgegraph.runs.identity import agents_of, details
from judgegraph.runs.manifest import open_run
from judgegraph.runs.run import Run
from judgegraph.runs.worker import OnItem, OnProgress, Work, units
from judgegraph.sync import check_stops, run_sync, without_checkpointer
from judgegraph.trace.record import recorder, tracer, within
from judgegraph.trace.watched import checks, copied
from judgegraph.types import Criterion, Sample
from judgegraph.wiring.check import refuse
from judgegraph.wiring.graph import precedence

# The arguments of a run, looked at before anything is opened: a wrong one is told in one line.


SETTINGS: dict[str, tuple[tuple[type, ...], str]] = {
    "budget": ((Budget,), "a Budget, such as judgegraph.Budget(calls=100)"),
    "limits": ((Limits,), "Limits, such as judgegraph.Limits(rpm=60)"),
    "stop": ((threading.Event,), "a threading.Event"),
    "prices": ((Prices, str, os.PathLike), "Prices, or the path of a price file"),
    "ledger": ((str, os.PathLike), "the path of a file"),
}


def check_arguments(
    graph: Any, samples: Any, concurrency: Any, timeout: Any, *, grace: Any = 0, trace: Any = True, redact: Any = (),
    **settings: Any,
) -> None:  # fmt: skip
    """Of `evaluate`.

    Raises:
        ConfigError: an argument is not what it must be. DataError: there can be no samples in what was given.
    """
    if not (hasattr(graph, "ainvoke") and hasattr(graph, "get_name")):
        what = "compile it: graph.compile()" if hasattr(graph, "compile") else "such as judgegraph.graphs.sageval()"
        raise ConfigError(f"a graph is a compiled LangGraph, {what}; got {type(graph).__name__}")
    check_stops(graph)
    if not isinstance(samples, Iterable) or isinstance(samples, Mapping):
        more = "; an async generator is read first: [s async for s in it]" if hasattr(samples, "__aiter__") else ""
        raise DataError(
            f"samples are an iterable of Sample, such as judgegraph.load(PATH); got {_shown(samples)}{more}"
        )
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        raise ConfigError(f"concurrency is 1 or more, a whole number; got {_shown(concurrency)}")
    if not isinstance(timeout, int | float) or isinstance(timeout, bool) or not timeout > 0:  # nan too
        raise ConfigError(f"timeout is more than 0 seconds; got {_shown(timeout)}")
    if not isinstance(grace, int | float) or isinstance(grace, bool) or not grace >= 0:
        raise ConfigError(f"grace is 0 seconds or more; got {_shown(grace)}")
    if not isinstance(trace, bool):
        raise ConfigError(f"trace is True or False; got {_shown(trace)}")
    if not isinstance(redact, tuple | list) or any(what != "texts" for what in redact):
        raise ConfigError(f'redact is a list of what is not kept: ("texts",) or (); got {_shown(redact)}')
    for name, value in settings.items():
        check_setting(name, value)


def check_setting(name: str, value: Any) -> None:
    """One of those that may be None.

    Raises:
        ConfigError: it is something else.
    """
    if value is None:
        return
    kinds, what = SETTINGS.get(name, ((), "a function of one argument"))
    if not (isinstance(value, kinds) if kinds else callable(value)):
        raise ConfigError(f"{name} is {what}, or None; got {_shown(value)}")
    if name == "ledger":
        path = os.fspath(value)
        if not isinstance(path, str) or not path or "\0" in path:
            raise ConfigError(f"{name} is {what}; got {_shown(path)}")


def _shown(value: Any) -> str:
    return one_line(repr(value), 60)


# Less searching for garbage while a run is under way: what was there before it is not looked at again and again.


THRESHOLDS = (20_000, 20, 20)  # containers made between two searches: of the youngest, then so many of those, ...
_lock = threading.Lock()
_runs = 0
_before: tuple[int, int, int] | None = None


@contextmanager
def seldom() -> Generator[None]:
    """Within it Python's collector of reference cycles runs seldom, and leaves out what was there when it began.

    Every call makes thousands of short-lived objects, so that with Python's own settings the collector walks through
    all imported modules some hundred times a minute: a quarter of a run's CPU. Runs may overlap; the last one to end
    puts things back. A collector that its owner switched off, froze or made still rarer is left as it is.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _runs, _before
    with _lock:
        _runs += 1
        if _runs > 1 or not gc.isenabled() or gc.get_freeze_count() or not 0 < gc.get_threshold()[0] < THRESHOLDS[0]:
            return
        _before = gc.get_threshold()
        gc.freeze()
        gc.set_threshold(*THRESHOLDS)


def _leave() -> None:
    global _runs, _before
    with _lock:
        _runs -= 1
        if _runs or _before is None:
            return
        if gc.get_threshold() == THRESHOLDS:  # else somebody set it since
            gc.set_threshold(*_before)
        gc.unfreeze()
        _before = None


def evaluate(graph: Any, samples: Iterable[Sample], **settings: Any) -> Run:
    """Run a compiled graph over samples and wait for it; arguments and errors as `aevaluate`.

    Works inside a running event loop too, such as a notebook's. The first KeyboardInterrupt sets `stop`: what is in
    flight is finished and saved, as far as `grace` lets it, then the interrupt goes on to the caller; a second one
    cancels what is in flight.
    """
    check_setting("stop", settings.get("stop"))
    stop = settings.pop("stop", None) or threading.Event()
    return run_sync(aevaluate(graph, samples, stop=stop, **settings), drain=stop.set)


async def aevaluate(
    graph: Any, samples: Iterable[Sample], *, out: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None, concurrency: int = 64, timeout: float = 600.0,
    budget: Budget | None = None, prices: Prices | str | os.PathLike[str] | None = None, limits: Limits | None = None,
    retry_failed: bool = False, on_item: OnItem | None = None, on_progress: OnProgress | None = None,
    stop: threading.Event | None = None, grace: float = 10.0, trace: bool = True, redact: Sequence[str] = (),
    check: bool = True, reference: bool = True, without: Sequence[str] = (),
) -> Run:  # fmt: skip
    """Run a compiled graph over samples, or go on with a run that has begun.

    Args:
        graph: a compiled LangGraph that reads "sample", such as `sageval()`. A checkpointer that it was compiled with
            is left aside: a copy without one is run. A sample at which it stops for a person (`interrupt`) has the
            status "agent_error".
        samples: any iterable of samples with different ids; it is read as samples are taken up, never all at once.
        out: folder of the run; None keeps the items in memory. In a folder that holds a run of the same configuration
            that run goes on: what is finished stays, and samples that a budget kept from their end are taken up again.
        ledger: file of all model calls, which runs may share: what it holds is not paid for again. None is
            ledger.sqlite in `out`, or memory.
        concurrency: samples, and model calls, in flight at once, 1 or more.
        timeout: seconds for one sample, all its calls and retries included, more than 0.
        budget: what the run may spend, all its processes together; None is no cap. A sample that it kept from its end
            has the status "over_budget".
        prices: a price file or table, for USD; None is the built-in one.
        limits: requests and tokens per minute, and requests in flight, of each judge whose endpoint names none.
        retry_failed: take up the failed samples of the run in `out`, and no others. A reply in the ledger that cannot
            be read is asked for once more. What was found before stays where the retry comes to less.
        on_item: called with every finished item, in the order of finishing; what it raises ends the run.
        on_progress: called with a `Progress` after an item, every 0.1 s at most, every second while nothing
            ends, and at the end.
        stop: once it is set, by any thread, nothing new is begun, and what is in flight has `grace` seconds to finish.
        grace: what is in flight after a stop and these seconds is left for the next run, as if it had not been begun;
            the replies that it was given by then are in the ledger.
        trace: record spans in `out`: what was done for each sample, and when. Without a folder there are none.
        redact: ("texts",) keeps no prompt in the ledger and no message of an error in the spans; replies stay in the
            ledger, and samples and reasons in the items, as the run needs them.
        reference: show a sample's reference to judges, critics and assistants; False leaves it out, for all of them,
            and the signature says so.
        without: more evidence that is left out, for all of them: "contexts", "turns", "images", "facts". Where no judge
            of the graph sees images, a sample that has some is "skipped" before anything is asked.
        check: refuse a graph that `jg.check` refuses, or that needs more than a sample; False runs it all the same.

    Returns:
        The run; its manifest's "state" is "finished", "over_budget" or "stopped". A sample whose graph failed has an
        item with a status and the reason.

    Raises:
        WiringError: the graph is not wired, with a line for each mistake; nothing was asked.
        ConfigError: the call is wrong, or a judge cannot be made or refuses the key (AuthError); items that were
            finished by then are in the folder. The folder holds a run of another configuration, is being written by
            another process, or cannot be written. A run that never began leaves no folder.
            LedgerError: the ledger's file is none of ours, or cannot be written.
        DataError: what comes is no sample, has the id of an earlier one, or was judged with another content.
    """
    check_arguments(
        graph, samples, concurrency, timeout, grace=grace, budget=budget, limits=limits, stop=stop, prices=prices,
        ledger=ledger, on_item=on_item, on_progress=on_progress, trace=trace, redact=redact,
    )  # fmt: skip
    left_out = evidence_left_out(reference, without)
    if check:
        refuse(graph)
    folder = Folder(out) if out is not None else None
    if retry_failed and not (folder and (folder.path / MANIFEST).exists()):
        raise ConfigError(f"retry_failed needs the folder of a run that has begun (out=), got {out!r}")
    reading = checked(samples)
    _resolve_judges(graph)
    purse = BudgetTracker(budget, prices=prices if isinstance(prices, Prices) else Prices.load(prices))
    calls = CallContext(width=concurrency, limits=limits, purse=purse, anew=retry_failed)
    work = Work(without_checkpointer(graph), timeout, folder, on_item=on_item, on_progress=on_progress, calls=calls)
    work.stop, work.wired, work.without = stop or work.stop, precedence(work.graph), left_out
    work.blind, work.weighted = _blind(graph), _weighted(graph)
    calls.told = "texts" not in redact
    work.traced, work.runs = trace and folder is not None, copied(work.graph, whole=True)
    with (
        seldom(),
        closing(reading),
        open_run(work, concurrency, samples, ledger, retry=retry_failed) as record,
        closing(units(reading, folder, retry_failed)) as work.units,
    ):
        await _all(work, concurrency, grace)
    return Run(record.manifest, sorted(work.items, key=lambda item: item.place), folder)


def evidence_left_out(reference: bool, without: Sequence[str]) -> tuple[str, ...]:
    """Names of what is not shown, in a fixed order.

    Raises:
        ConfigError: one of `without` is no evidence.
    """
    known = ("reference", *EVIDENCE)
    if isinstance(without, str) or (wrong := [name for name in without if name not in known]):
        named = without if isinstance(without, str) else wrong[0]
        raise ConfigError(f"without is a list of evidence to leave out, of {', '.join(known)}; got {_shown(named)}")
    return tuple(name for name in known if name in without or (name == "reference" and not reference))


def _weighted(graph: Any) -> tuple[Criterion, ...]:
    """The criteria of a graph where any has another weight than 1; one named twice counts once."""
    found = {one.name: one for one in details(graph)["criteria"]}
    return tuple(found.values()) if any(one.weight != 1 for one in found.values()) else ()


def _blind(graph: Any) -> tuple[str, ...]:
    """Judges that see no images, where no judge of the graph sees any; () where one does, or may."""
    judges = [resolve(judge) for _, agent in agents_of(graph) if (judge := getattr(agent, "judge", None)) is not None]
    names = tuple(dict.fromkeys(judge.name for judge in judges))
    return names if judges and all(sees(judge) is False for judge in judges) else ()


def _resolve_judges(graph: Any) -> None:
    """A wrong name or a missing key is told before anything is written; an agent with a prompt asks its judge."""
    for _, agent in agents_of(graph):
        if hasattr(agent, "prompt") and (judge := getattr(agent, "judge", None)) is not None:
            resolve(judge)


async def _all(work: Work, concurrency: int, grace: float) -> None:
    token, outer = context.set(work.calls), (tracer.set(None), within.set(0), recorder.set(None))  # its own spans
    looks = checks.set(None)
    beat, end = asyncio.create_task(work.beat()), asyncio.create_task(work.end_in_time(grace))
    try:
        async with asyncio.TaskGroup() as group:
            for slot in range(concurrency):
                group.create_task(work.take(slot))
        async with asyncio.TaskGroup() as group:
            group.create_task(work.take_alone())
    except BaseExceptionGroup as errors:
        known = [e for e in errors.exceptions if isinstance(e, ConfigError)]
        raise (known or errors.exceptions)[0] from None
    finally:
        beat.cancel()
        end.cancel()
        context.reset(token)
        checks.reset(looks)
        tracer.reset(outer[0])
        recorder.reset(outer[2])
        within.reset(outer[1])
    if beat.done():  # it ends by itself only where `on_progress` raised
        beat.result()
    if work.on_progress:
        work.on_progress(work.progress())
