"""A choice between edges: what the conditions of a file become in LangGraph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from judgegraph.compose.conditions import Condition, title
from judgegraph.graph_files.conditions import own_code
from judgegraph.types import EvalState


@dataclass(frozen=True)
class Route:
    """Goes where the first condition that finds something in doubt says, else elsewhere.

    Attributes:
        ways: (condition, nodes) in the order they are tried. otherwise: nodes.
    """

    ways: tuple[tuple[Condition, tuple[str, ...]], ...]
    otherwise: tuple[str, ...]

    def __call__(self, state: EvalState) -> list[str]:
        return list(next((to for condition, to in self.ways if condition(state)), self.otherwise))

    @property
    def outcomes(self) -> tuple[tuple[str, ...], ...]:
        """The nodes of each way, for who proves the wiring."""
        return (*(to for _, to in self.ways), self.otherwise)

    @property
    def targets(self) -> list[str]:
        """Every node it may lead to."""
        return list(dict.fromkeys(one for to in self.outcomes for one in to))

    @property
    def __name__(self) -> str:  # what a run's configuration names a choice by: its settings are in it
        return ", else ".join(f"{title(condition)}: {' and '.join(to)}" for condition, to in self.ways)

    @property
    def __wrapped__(self) -> Any:
        """Code of the user's own in a condition: a run's configuration has its digest, and its plan names it."""
        if found := [code for condition, _ in self.ways if (code := own_code(condition)) is not None]:
            return found[0]
        raise AttributeError("__wrapped__")
