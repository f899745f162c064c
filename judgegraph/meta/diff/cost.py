"""What two runs were paid for, as their manifests have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgegraph.meta.diff.changes import told

AMOUNTS = ("calls", "prompt_tokens", "completion_tokens", "usd")
MOST = 1e18


def costs(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Of A, of B, and B less A; None what a manifest does not tell, and usd where a price is not known."""
    sides = [_cost(manifest) for manifest in (a, b)]
    apart: dict[str, float | None] = {}
    for name in AMOUNTS:
        one, other = sides[0][name], sides[1][name]
        apart[name] = None if one is None or other is None else other - one
    return {"a": sides[0], "b": sides[1], "difference": apart}


def _cost(manifest: Mapping[str, Any]) -> dict[str, float | None]:
    spent = told(manifest, "spent")
    found = {n: spent[n] if _is_amount(spent.get(n)) else None for n in AMOUNTS}
    return {**found, "usd": None} if spent.get("unpriced") else found


def _is_amount(value: Any) -> bool:
    """A manifest may have been written by anybody: nan and what no JSON holds is no amount."""
    return isinstance(value, int | float) and abs(value) < MOST
