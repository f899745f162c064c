"""Folders that a command takes for a run's, though they are another's."""

from __future__ import annotations

import shlex
from pathlib import Path

from judgegraph.errors import DataError


def refuse_traces(path: str) -> None:
    """Say what can be done with a folder of `jg.tracing`, where only a run's will do.

    Raises:
        DataError: it is such a one.
    """
    if (Path(path) / "spans.jsonl").exists() and not (Path(path) / "manifest.json").exists():
        name = shlex.quote(path)
        raise DataError(
            f"{path} holds traces and no run, as `jg.tracing` writes them: it has no scores. "
            f"`judgegraph trace {name}` shows them, `judgegraph export {name} --otlp URL` sends them"
        )
