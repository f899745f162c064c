"""What a check is given: an agent or an assistant, as it is, as a class or by its name."""

from __future__ import annotations

import inspect
from typing import Any, get_type_hints

from judgegraph import registry
from judgegraph.errors import ConfigError, one_line
from judgegraph.tools import Assistant, Metric, assistant
from judgegraph.types import Sample

GRAPH = "judgegraph.check looks at its wiring and its calls; what is checked here are its agents, one by one"


def assistant_of(which: Any) -> Assistant | None:
    """The assistant that this is, None where it is something else.

    Raises:
        ConfigError: no such name.
    """
    if isinstance(which, str):
        kind, name = registry.find(which)
        return assistant(name) if kind == "assistant" else None
    if inspect.isclass(which) and hasattr(which, "about") and hasattr(which, "name"):
        which = agent_of(which)
    if isinstance(getattr(which, "name", None), str) and hasattr(which, "about") and callable(which):
        return assistant(which)
    if inspect.isfunction(which) and _first_hint(which) is Sample:
        about = (inspect.getdoc(which) or "").partition("\n")[0]
        return Metric(name=which.__name__.replace("_", "-"), about=about, measure=which)
    return None


def agent_of(which: Any) -> Any:
    """An agent of its name or its class.

    Raises:
        ConfigError: it cannot be made without settings, or is a graph or what builds one.
    """
    if isinstance(which, str):
        kind, name = registry.find(which)
        if kind == "method":
            raise ConfigError(f"check_agent: '{one_line(which, 80)}' is a method: {GRAPH}")
        thing = registry.load(kind, name)
        which = thing if inspect.isclass(thing) or registry.is_made(thing) else registry.make(kind, name)
    if hasattr(which, "builder") or hasattr(which, "compile"):
        raise ConfigError(f"check_agent: {type(which).__name__} is a graph: {GRAPH}")
    if not isinstance(which, type):
        return which
    try:
        return which()
    except Exception as error:
        why = f"{type(error).__name__}: {one_line(error)}"
        raise ConfigError(f"check_agent: {which.__name__}() fails ({why}); give an agent with its settings") from error


def _first_hint(function: Any) -> Any:
    try:
        hints = get_type_hints(function)
    except Exception:  # whatever stands in a user's annotations
        return None
    names = list(inspect.signature(function).parameters)
    return hints.get(names[0]) if names else None
