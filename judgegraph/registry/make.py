"""An agent or a critic of its name and settings, for graphs that are given one by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from judgegraph.errors import ConfigError
from judgegraph.registry.parts import Kind, load


def make(kind: Kind, which: Any, settings: Mapping[str, Any] | None = None, **offered: Any) -> Any:
    """The agent that a name stands for, or the object itself where it is one already.

    Args:
        which: a name, or an agent. settings: what was set by the user: each must be a setting of the part.
        offered: what the graph around has to give (judge, criteria, task, reader, name, stage): a part is given those
            that it has a setting for and that the user did not set.

    Raises:
        ConfigError: no such name, or a setting that the part does not take.
    """
    if not isinstance(which, str):
        return which
    part, given = load(kind, which), dict(settings or {})
    if not (inspect.isclass(part) or not inspect.iscoroutinefunction(part)):
        return part  # a plain async function is a node as it is
    takes = inspect.signature(part).parameters
    if unknown := sorted(set(given) - set(takes)):
        raise ConfigError(f"{kind} '{which}' has no setting {', '.join(unknown)}; known: {', '.join(takes) or 'none'}")
    return part(**{key: value for key, value in offered.items() if key in takes} | given)
