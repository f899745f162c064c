"""The traces of a run, sent to a collector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def send(run: str, url: str, samples: Sequence[str], redact: bool) -> str:
    """Send a run's traces, or those of a folder that `jg.tracing` wrote; gives what was done, in a line.

    Args:
        samples: ids of those that are sent, none for all. redact: no texts.
    """
    from judgegraph.cli.table import counted
    from judgegraph.runtime.otel_export import export_folder, export_otel
    from judgegraph.runtime.run import Run

    wanted = list(samples) or None
    if (Path(run) / "manifest.json").exists():
        count = export_otel(Run.load(run), url, samples=wanted, redact=redact)
    else:
        count = export_folder(run, url, samples=wanted, redact=redact)
    return f"{counted(count, 'span')} sent"
