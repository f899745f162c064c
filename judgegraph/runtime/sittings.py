"""How long a run worked: the seconds of its sittings, one for each process that judged something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def seconds_before(earlier: Mapping[str, Any]) -> float | None:
    """Of the sittings before, by their manifest; None where it does not know, as after a process that was killed."""
    if not earlier:
        return 0.0
    told = earlier.get("seconds") if earlier.get("state") != "running" else None
    return float(told) if isinstance(told, int | float) and 0 <= told < float("inf") else None


def seconds_of(before: float | None, more: float) -> float | None:
    """All of them; what is not known of one is not known of all."""
    return None if before is None else round(before + more, 3)
