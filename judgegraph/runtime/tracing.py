"""Spans of plain LangGraph runs: `with jg.tracing("dir"):` around `graph.ainvoke`, `astream` and the like."""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from judgegraph.errors import ConfigError, one_line
from judgegraph.runtime.claim import MANIFEST, NOTES
from judgegraph.runtime.tracer import Tracer
from judgegraph.trace.file import SPANS, SpanFile, lines
from judgegraph.trace.record import tracer


@contextmanager
def tracing(path: str | os.PathLike[str], *, redact: Sequence[str] = ()) -> Generator[None]:
    """Record every run of a LangGraph graph that begins within: what was done, when, and what models were asked.

    A folder gets `spans.jsonl`, a line for each run of a graph, and `notes.sqlite` with the texts; `judgegraph trace
    DIR` shows them, and what is there stays. Nothing else changes: no reply is taken from there, and equal calls are
    all made. A run is named by the id of the "sample" in its state, else "run-1", "run-2", ... One that stops for a
    person has the status "skipped". Models are those that agents and assistants of judgegraph ask; one that a node of
    yours asks by itself is no span. Tasks and `asyncio.to_thread` are within, threads of your own are not. Of several
    that are open the innermost records; `jg.evaluate` within records into its own folder as ever.

    Args:
        path: the folder, made where there is none. redact: ("texts",) keeps no prompt, no reply and no message of an
            error.

    Raises:
        ConfigError: the folder is a run's, or cannot be written.
    """
    folder = _folder(path)
    if not isinstance(redact, tuple | list) or any(what != "texts" for what in redact):
        what = one_line(repr(redact), 80)
        raise ConfigError(f'tracing: redact is a list of what is not kept: ("texts",) or (); got {what}')
    _hook()
    at = _opened(folder, bare=bool(redact))
    token = tracer.set(at)
    try:
        yield
    except BaseException as error:
        _left(token)
        try:
            _closed(at, folder)
        except RuntimeWarning as told:  # where warnings are errors; what was raised within is what is to be heard
            error.add_note(str(told))
        raise
    _left(token)
    _closed(at, folder)


def _opened(folder: Path, *, bare: bool) -> Tracer:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = SpanFile(folder / SPANS)
        before = sum(1 for _ in lines(folder / SPANS))
    except OSError as error:
        raise ConfigError(f"tracing: {folder} cannot be written: {error.strerror}") from None
    try:
        return Tracer(file, None if bare else folder / NOTES, before)
    except BaseException:
        file.close()
        raise


def _closed(at: Tracer, folder: Path) -> None:
    at.close()
    if at.failed:
        warnings.warn(f"the trace in {folder} is incomplete: {one_line(at.failed)}", RuntimeWarning, stacklevel=4)


def _folder(path: str | os.PathLike[str]) -> Path:
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(name, str) or not name or "\0" in name:
        raise ConfigError(f"tracing: a folder has a name; got {one_line(repr(path), 80)}")
    if (Path(name) / MANIFEST).exists():
        raise ConfigError(f"tracing: {name} is a run's folder, which has its own trace; name another one")
    return Path(name)


def _left(token: object) -> None:
    try:
        tracer.reset(token)  # type: ignore[arg-type]
    except ValueError:  # left in another task than it was entered in, as some test fixtures are
        tracer.set(None)


@cache
def _hook() -> None:
    """LangChain asks the variable at every run for a handler to be told."""
    from langchain_core.tracers.context import register_configure_hook

    register_configure_hook(tracer, inheritable=True)
