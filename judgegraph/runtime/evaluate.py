"""A graph over a dataset: every sample is a work unit of its own, and none can end the run."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator, Iterable
from contextlib import closing, contextmanager, suppress
from itertools import chain, islice
from typing import Any

from judgegraph.calls.context import context
from judgegraph.calls.ledger import Ledger
from judgegraph.errors import ConfigError
from judgegraph.models.resolve import resolve
from judgegraph.runtime.bridge import run_sync
from judgegraph.runtime.folder import LEDGER, MANIFEST, REJECTED, Folder
from judgegraph.runtime.run import Run
from judgegraph.runtime.signature import agents_of
from judgegraph.runtime.work import OnItem, Work, checked
from judgegraph.types import Sample


def evaluate(graph: Any, samples: Iterable[Sample], **settings: Any) -> Run:
    """Run a compiled graph over samples and wait for it; arguments and errors as `aevaluate`.

    Works inside a running event loop too, such as a notebook's.
    """
    return run_sync(aevaluate(graph, samples, **settings))


async def aevaluate(
    graph: Any, samples: Iterable[Sample], *, out: str | os.PathLike[str] | None = None,
    ledger: str | os.PathLike[str] | None = None, concurrency: int = 64, timeout: float = 600.0,
    on_item: OnItem | None = None,
) -> Run:  # fmt: skip
    """Run a compiled graph over samples.

    Args:
        graph: a compiled LangGraph that reads "sample", such as `sageval()`.
        samples: any iterable of samples with different ids; it is read as samples are taken up, never all at once.
        out: folder for items.jsonl and manifest.json; None keeps the items in memory.
        ledger: file of all model calls, which runs may share: what it holds is not paid for again. None is
            ledger.sqlite in `out`, or memory.
        concurrency: samples, and model calls, in flight at once, 1 or more.
        timeout: seconds for one sample, all its calls and retries included, more than 0.
        on_item: called with every finished item, in the order of finishing; what it raises ends the run.

    Returns:
        The run. A sample whose graph failed has an item with a status and the reason.

    Raises:
        ConfigError: the call is wrong, or a judge cannot be made or refuses the key (AuthError); items
            that were finished by then are in the folder. A run that never began leaves no folder.
            LedgerError: the ledger's file is none of ours, or cannot be written.
        DataError: what comes is no sample, or has the id of an earlier one.
    """
    _check(graph, concurrency, timeout)
    folder = Folder(out) if out is not None else None
    if folder:
        folder.check()
    given = checked(samples)
    first = list(islice(given, 1))
    _resolve_judges(graph)
    work = Work(graph, timeout, chain(first, given), folder, on_item)
    with _kept(work, samples, ledger):
        await _all(work, concurrency)
    return Run(work.manifest("finished"), work.items, folder)


def _check(graph: Any, concurrency: int, timeout: float) -> None:
    if not (hasattr(graph, "ainvoke") and hasattr(graph, "get_name")):
        what = "compile it: graph.compile()" if hasattr(graph, "compile") else "such as judgegraph.graphs.sageval()"
        raise ConfigError(f"a graph is a compiled LangGraph, {what}; got {type(graph).__name__}")
    if concurrency < 1:
        raise ConfigError(f"concurrency is 1 or more, got {concurrency}")
    if not timeout > 0:  # nan too
        raise ConfigError(f"timeout is more than 0 seconds, got {timeout:g}")


def _resolve_judges(graph: Any) -> None:
    """A wrong name or a missing key is told before anything is written; an agent with a prompt asks its judge."""
    for _, agent in agents_of(graph):
        if hasattr(agent, "prompt") and (judge := getattr(agent, "judge", None)) is not None:
            resolve(judge)


async def _all(work: Work, concurrency: int) -> None:
    token = context.set(work.calls)
    work.calls.width = concurrency
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work.take())
    except BaseExceptionGroup as errors:
        known = [e for e in errors.exceptions if isinstance(e, ConfigError)]
        raise (known or errors.exceptions)[0] from None
    finally:
        context.reset(token)


@contextmanager
def _kept(work: Work, samples: Iterable[Sample], ledger: str | os.PathLike[str] | None) -> Generator[None]:
    """The run's folder and ledger are open; however the run ends, its manifest says so."""
    folder = work.folder
    if folder is not None:
        folder.open()
    with closing(Ledger(ledger or (folder.path / LEDGER if folder else None))) as work.calls.ledger:
        if folder is None:
            yield
            return
        try:
            folder.write(MANIFEST, work.manifest("running"))
            yield
        except BaseException:
            with suppress(ConfigError):  # what ended the run is worth more than what became of its manifest
                _end(folder, work.manifest("stopped"), samples)
            raise
        _end(folder, work.manifest("finished"), samples)


def _end(folder: Folder, manifest: dict[str, Any], samples: Iterable[Sample]) -> None:
    folder.close()
    folder.write(REJECTED, [rejection.model_dump() for rejection in getattr(samples, "rejected", ())])
    folder.write(MANIFEST, manifest)
