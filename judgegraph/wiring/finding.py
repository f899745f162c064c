"""What a check finds: a code, where it is, and a message with its cure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a graph's wiring.

    Attributes:
        code: its kind, such as "missing-writer". node: its name, an inner one as "weigh/judge".
        key: of the state; "" where none is concerned. message: one line: node, key and cure.
        severity: an "error" refuses the graph, a "warning" is shown.
    """

    code: str
    node: str
    key: str
    message: str
    severity: Severity = "error"

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def to_dict(self) -> dict[str, str]:
        """All of it, for JSON."""
        about = {"code": self.code, "node": self.node, "key": self.key}
        return {**about, "severity": self.severity, "message": self.message}


def listed(names: Iterable[str]) -> str:
    """Names in words: "'a', 'b' and 'c'"."""
    *most, last = [f"'{name}'" for name in names] or ["nothing"]
    return f"{', '.join(most)} and {last}" if most else last
