"""Traces of runs: spans joined with what items and ledger hold; redacted, ranked, sent to OpenTelemetry."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgegraph.traces.read import node_times, top, trace_of

_HOMES = {
    "node_times": "judgegraph.traces.read",
    "top": "judgegraph.traces.read",
    "trace_of": "judgegraph.traces.read",
}

__all__ = [
    "node_times",
    "top",
    "trace_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'judgegraph.traces' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
