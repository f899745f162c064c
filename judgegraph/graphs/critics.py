"""The critic of a method: SAGE, one by name, or an agent that was passed in."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from judgegraph import registry
from judgegraph.agents.under_review import informed
from judgegraph.errors import ConfigError, one_line
from judgegraph.graphs.settings import named

UNNAMED = ("LangGraph", "<lambda>", "")  # what a graph or a function is called that nobody named


def critic_of(
    method: str, which: Any, name: str, own: Mapping[str, Any] | None = None, **offered: Any
) -> tuple[Any, str]:  # fmt: skip
    """(the critic, the name that the final scores have).

    Args:
        method: for messages. which: a critic's name, an agent or a graph. name: put before the critic's own.
        own: what the user set for the critic alone: it must take that.
        offered: what one by name is given where it takes it: judge, criteria, task, reader, stage; an agent that has
            no criteria of its own is given the criteria.

    Raises:
        ConfigError: no such critic, nothing that can be a node, or a setting that the critic does not take.
    """
    if not isinstance(which, str):
        if inspect.isclass(which) or not registry.usable(which):
            got = f"the class {which.__name__}" if inspect.isclass(which) else type(which).__name__
            raise ConfigError(f"{method}: critic: expected a critic's name or an agent, got {got}")
        return informed(which, offered.get("criteria") or ()), named(name, name_of(which) or "critic")
    try:
        takes, _ = registry.settings_of(registry.load("critic", which))
        if missing := [key for key in own or {} if key not in takes]:
            raise ConfigError(f"'{one_line(which, 80)}' takes no {missing[0]}: leave critic_{missing[0]} out")
        default = takes["name"].default if "name" in takes else None
        called = default if isinstance(default, str) and default else which.rpartition(":")[2]
        critic = registry.make("critic", which, own, **{**offered, "name": named(name, called)})
    except ConfigError as error:
        raise ConfigError(f"{method}: critic: {error}") from error.__cause__
    said = name_of(critic) if not inspect.isroutine(critic) else ""
    return critic, said if said and "name" in takes else named(name, said or called)


def name_of(agent: Any) -> str:
    """What an agent, a graph or a function is called, "" where nobody named it."""
    found = getattr(agent, "name", None) or getattr(agent, "__name__", None)
    return found if isinstance(found, str) and found not in UNNAMED else ""
