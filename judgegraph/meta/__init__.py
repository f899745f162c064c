"""How far a judge agrees with people: from a run or from any table."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judgegraph.meta.corrected import correction_gain, corrections_of

_HOMES = {
    "correction_gain": "judgegraph.meta.corrected",
    "corrections_of": "judgegraph.meta.corrected",
}

__all__ = [
    "correction_gain",
    "corrections_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'judgegraph.meta' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
