"""Which assistants there are, by name; nothing is imported before one is asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import TypeAlias

from judgegraph.errors import ConfigError, one_line
from judgegraph.tools.finding import Assistant

ASSISTANTS = {
    "rouge-1": "judgegraph.tools.rouge:rouge_1",
    "rouge-2": "judgegraph.tools.rouge:rouge_2",
    "rouge-l": "judgegraph.tools.rouge:rouge_l",
    "chrf": "judgegraph.tools.chrf:chrf",
    "coverage": "judgegraph.tools.fragments:coverage",
    "density": "judgegraph.tools.fragments:density",
    "novelty": "judgegraph.tools.novelty:novelty",
    "length-ratio": "judgegraph.tools.length_ratio:length_ratio",
}
DEFAULTS = ("rouge-l", "chrf", "coverage", "novelty", "length-ratio")

AssistantLike: TypeAlias = str | Assistant
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what an OpenAI-compatible server takes for the name of a tool


def assistant(which: AssistantLike) -> Assistant:
    """An assistant by its name, or an object that is one already.

    Raises:
        ConfigError: no such name, or an object without name, about and a call, or a name no tool can have.
    """
    if isinstance(which, str):
        return _built_in(which)
    name = getattr(which, "name", None)
    if not (isinstance(name, str) and hasattr(which, "about") and callable(which)):
        raise ConfigError(
            "an assistant is a name, or an object with name, about and assistant(sample); "
            f"got {one_line(repr(which), 80)}"
        )
    if not _NAME.fullmatch(name):
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
        raise ConfigError(f"no assistants given; known: {', '.join(ASSISTANTS)}")
    twice = [name for name, n in Counter(a.name for a in found).items() if n > 1]
    if twice:
        raise ConfigError(f"two assistants are called '{twice[0]}'; a plan could not tell them apart")
    return found


@lru_cache(maxsize=64)
def _built_in(name: str) -> Assistant:
    if name not in ASSISTANTS:
        raise ConfigError(f"no assistant '{one_line(name, 80)}'; known: {', '.join(ASSISTANTS)}")
    module, _, factory = ASSISTANTS[name].partition(":")
    made: Assistant = getattr(import_module(module), factory)()
    return made
