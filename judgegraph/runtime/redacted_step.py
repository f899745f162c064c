"""A step of a trace without texts; its scores and the steps below it stay, for who redacts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judgegraph.runtime.known_names import Names
from judgegraph.runtime.redacted_text import hidden
from judgegraph.trace.step import Step

PLAIN = ("place", "class", "judge", "prompt", "digest", "reader", "address", "form", "from")  # none is ever judged
ENDS = ("stop", "length", "content_filter", "tool_calls", "function_call", "end_turn", "max_tokens", "refusal", "")


def redacted_step(step: Step, names: Names) -> Step:
    """Without messages, replies, thoughts, errors, what an assistant said in words, and names that are not known."""
    return replace(
        step,
        name=names.of("assistant", step.name) if step.kind == "tool" else step.name,
        about={str(key): _told(str(key), value, names) for key, value in step.about.items()},
        messages=tuple((role, hidden(text)) for role, text in step.messages),
        replies=tuple(map(hidden, step.replies)),
        reasoning=tuple(hidden(text) if text else "" for text in step.reasoning),
    )


def _told(key: str, value: Any, names: Names) -> Any:
    if key in ("reads", "writes") and isinstance(value, Mapping):
        return {names.of("key", str(name)): _entries(str(name), one, names) for name, one in value.items()}
    if key == "finish" and isinstance(value, list):
        return [one if one in ENDS else hidden(str(one)) for one in value]
    if isinstance(value, str):
        return value if key in PLAIN or names.known(value) else hidden(value)
    if isinstance(value, Mapping):  # such as a judge's settings
        return {str(name): _told(str(name), one, names) for name, one in value.items()}
    return [_told(key, one, names) for one in value] if isinstance(value, list | tuple) else value


def _entries(key: str, value: Any, names: Names) -> Any:
    """How many, a number, or the entries' own keys."""
    if isinstance(value, list | tuple):
        return [names.key(key, str(entry)) for entry in value]
    return hidden(value) if isinstance(value, str) else value
