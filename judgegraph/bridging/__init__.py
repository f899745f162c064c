"""Bridging: judgements of other projects made into training data with criteria and guidelines."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgegraph.bridging.bridge import bridge, gather
    from judgegraph.bridging.records import Reading, read_records

_HOMES = {
    "bridge": "judgegraph.bridging.bridge",
    "gather": "judgegraph.bridging.bridge",
    "Reading": "judgegraph.bridging.records",
    "read_records": "judgegraph.bridging.records",
}

__all__ = [
    "Reading",
    "bridge",
    "gather",
    "read_records",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'judgegraph.bridging' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
