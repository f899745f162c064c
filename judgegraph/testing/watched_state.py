"""A state that remembers which keys were asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Watched(dict[str, Any]):
    """A plain state to whoever reads it; `touched` are the keys that were asked for by name, there or not."""

    def __init__(self, state: dict[str, Any]) -> None:
        super().__init__(state)
        self.touched: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.touched.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.touched.add(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self.touched.add(str(key))
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()  # all that is there, which is what was declared
