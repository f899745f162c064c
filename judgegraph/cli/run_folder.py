"""Folders that a command takes for a run's, though they are another's."""

from __future__ import annotations

from pathlib import Path

from judgegraph.errors import DataError
from judgegraph.runtime.claim import MANIFEST
from judgegraph.trace.file import SPANS
from judgegraph.trace.shell import quoted


def refuse_traces(path: str) -> None:
    """Say what can be done with a folder of `jg.tracing`, where only a run's will do.

    Raises:
        DataError: it is such a one.
    """
    if (Path(path) / SPANS).exists() and not (Path(path) / MANIFEST).exists():
        name = quoted(path)
        raise DataError(
            f"{path} holds traces and no run, as `jg.tracing` writes them: it has no scores. "
            f"`judgegraph trace {name}` shows them, `judgegraph export {name} --otlp URL` sends them"
        )
