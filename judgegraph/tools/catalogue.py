"""Which assistants there are, by name; nothing is imported before one is asked for."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

from judgegraph import registry
from judgegraph.errors import ConfigError, one_line
from judgegraph.registry.methods import is_file
from judgegraph.registry.shipped import ASSISTANTS
from judgegraph.tools.finding import Assistant, Metric

__all__ = ["ASSISTANTS", "DEFAULTS", "AssistantLike", "assistant", "assistants"]

DEFAULTS = tuple(  # ours, whatever a plug-in is called
    f"judgegraph:{name}" for name in ("rouge-l", "chrf", "coverage", "novelty", "length-ratio")
)

AssistantLike: TypeAlias = str | Assistant
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what an OpenAI-compatible server takes for the name of a tool
_made: dict[str, tuple[Any, Assistant]] = {}  # name -> what stood in the registry, and what came of it


def assistant(which: AssistantLike) -> Assistant:
    """An assistant by its name, or an object that is one already.

    Raises:
        ConfigError: no such name, or an object without name, about and a call, or a name no tool can have.
    """
    if isinstance(which, str):
        return _registered(which)
    name = getattr(which, "name", None)
    if not _is_assistant(which):
        raise ConfigError(
            "an assistant is a name, or an object with name, about and assistant(sample); "
            f"got {one_line(repr(which), 80)}"
        )
    if not _NAME.fullmatch(str(name)):
        raise ConfigError(
            f"assistant {one_line(name, 80)!r}: a name is 1 to 64 letters, digits, '_' or '-'; models call it by that"
        )
    return which


def assistants(which: AssistantLike | Sequence[AssistantLike]) -> tuple[Assistant, ...]:
    """One or more assistants, in order.

    Raises:
        ConfigError: as `assistant`; none at all, or two of one name.
    """
    listed = which if isinstance(which, Sequence) and not isinstance(which, str) else [which]
    found = tuple(map(assistant, listed))
    if not found:
        raise ConfigError(f"no assistants given; known: {', '.join(registry.names('assistant'))}")
    twice = [name for name, n in Counter(a.name for a in found).items() if n > 1]
    if twice:
        raise ConfigError(f"two assistants are called '{twice[0]}'; a plan could not tell them apart")
    return found


def _is_assistant(thing: Any) -> bool:
    return isinstance(getattr(thing, "name", None), str) and hasattr(thing, "about") and callable(thing)


def _registered(name: str) -> Assistant:
    """What a name stands for, made once: an object as it is, a class or a factory called, a function of a sample."""
    part = registry.part_of("assistant", name, _of_a_method(name))
    thing = part.load()
    known = _made.get(name)
    if known is not None and known[0] is thing:
        return known[1]
    if _measures(thing):
        about = (inspect.getdoc(thing) or part.name).splitlines()[0]
        made: Any = Metric(name=part.name, about=about, measure=thing)
    elif _is_assistant(thing) and not inspect.isclass(thing):
        made = thing
    else:
        made = registry.make("assistant", name)
    if inspect.isclass(made) or not _is_assistant(made):
        raise ConfigError(
            f"assistant '{part.name}', {part.origin}: expected an object with name, about and assistant(sample), "
            f"got {one_line(repr(made), 80)}"
        )
    _made[name] = thing, assistant(made)
    return _made[name][1]


def _of_a_method(name: str) -> str:
    """What to say where no assistant, but a method has the name."""
    method = name.rpartition(":")[2] in registry.names("method") or is_file(name)
    return f"; '{one_line(name, 80)}' is a method: jg.as_assistant makes an assistant of its graph" if method else ""


def _measures(thing: Any) -> bool:
    """Whether it is a function of a sample itself: one that makes an assistant can be called without arguments."""
    if not inspect.isfunction(thing) or _is_assistant(thing):
        return False
    wanted = [p for p in inspect.signature(thing).parameters.values() if p.default is p.empty]
    return any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in wanted)
