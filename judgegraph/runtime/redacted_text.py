"""What stands in the place of a text that was judged or generated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgegraph.runtime.known_names import Names, hidden

__all__ = ["hidden", "hidden_values"]


def hidden_values(value: Any, names: Names) -> Any:
    """JSON without its texts; keys that are not known are numbered, so that none takes another's place."""
    if isinstance(value, str):
        return hidden(value)
    if isinstance(value, Mapping):
        return {names.of("key", str(key)): hidden_values(one, names) for key, one in value.items()}
    return [hidden_values(one, names) for one in value] if isinstance(value, list | tuple) else value
