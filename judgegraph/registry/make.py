"""An agent or a critic of its name and settings, for graphs that are given one by name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from typing import Any

from judgegraph.errors import ConfigError, JudgegraphError, one_line
from judgegraph.registry.keys import is_state
from judgegraph.registry.part import Kind, Part, raised, usable
from judgegraph.registry.parts import part_of


def make(kind: Kind, which: Any, settings: Mapping[str, Any] | None = None, **offered: Any) -> Any:
    """The agent that a name stands for, or the object itself where it is one already.

    Args:
        which: a name, or an agent. settings: what was set by the user: each must be a setting of the part.
        offered: what the graph around has to give (judge, criteria, task, reader, name, stage): a part is given those
            that it has a setting for and that neither the user nor the variant sets.

    Raises:
        ConfigError: no such name, a setting that the part does not take, or it cannot be built.
    """
    if not isinstance(which, str):
        return which
    part, given = part_of(kind, which), dict(settings or {})
    thing = part.load()
    takes, any_more = settings_of(thing)
    if not any_more and (unknown := sorted(set(given) - set(takes))):
        listed = ", ".join(one_line(name, 80) for name in unknown)
        raise ConfigError(f"{kind} '{which}' has no setting {listed}; known: {', '.join(takes) or 'none'}")
    if is_made(thing):
        return thing
    fixed = getattr(thing, "preset", {}) if part.variant else {}
    return _built(part, thing, {k: v for k, v in offered.items() if k in takes and k not in fixed} | given)


def is_made(thing: Any) -> bool:
    """Whether a part is an agent as it stands: an object, a graph, or a function of a state or a sample."""
    plain = _function(thing)
    if inspect.isclass(plain):
        return False
    if not inspect.isroutine(plain):
        return True
    return inspect.iscoroutinefunction(plain) or is_state(plain)


def settings_of(thing: Any) -> tuple[dict[str, inspect.Parameter], bool]:
    """(setting -> its parameter, whether it takes any other too); none of what is made already.

    A function with `**settings` passes them on to the `builder` of its module.
    """
    if is_made(thing):
        return {}, False
    try:
        found = inspect.signature(thing).parameters
    except (TypeError, ValueError):  # a class of C, say
        return {}, False
    named = {n: p for n, p in found.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    if inspect.Parameter.VAR_KEYWORD not in {p.kind for p in found.values()}:
        return named, False
    builder = None if inspect.isclass(thing) else getattr(inspect.getmodule(thing), "builder", None)
    if builder is None or builder is thing:
        return named, True
    return {**settings_of(builder)[0], **named}, False


def _function(thing: Any) -> Any:
    while isinstance(thing, partial):
        thing = thing.func
    return thing


def _built(part: Part, thing: Any, given: dict[str, Any]) -> Any:
    what = f"{part.kind} '{part.name}'"
    try:
        inspect.signature(thing).bind(**given)
    except TypeError as error:
        raise ConfigError(f"{what}: {error}") from None
    except ValueError:
        pass  # it does not say what it takes
    try:
        made = thing(**given)
    except JudgegraphError:
        raise
    except (Exception, SystemExit) as error:  # a part does not end the command
        raise ConfigError(f"{what}, {part.origin}, cannot be built: {raised(error)}") from error
    if inspect.iscoroutine(made):
        made.close()
    if inspect.iscoroutine(made) or not usable(made):
        raise ConfigError(f"{what}, {part.origin}, made {one_line(type(made).__name__)}, which is no agent")
    return made
