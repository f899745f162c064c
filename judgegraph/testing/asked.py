"""What a chat model is asked, as plain values: what a recording knows a request by."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

TRANSPORT = ("extra_headers", "extra_query", "headers", "timeout", "api_key", "callbacks", "run_manager")
ANSWERS = ("tool_calls", "invalid_tool_calls", "tool_call_id", "name")  # of a message, where it has some


@dataclass(frozen=True)
class Asked:
    """Messages and settings of one request.

    Attributes:
        messages: {"role", "content"} each, with the tool calls it makes or the one it answers.
        settings: what else the reply depends on; nothing of how a request is sent, so no header and no key.
    """

    messages: tuple[dict[str, Any], ...]
    settings: dict[str, Any]

    @staticmethod
    def of(messages: Sequence[Any], settings: Mapping[str, Any]) -> Asked:
        """From LangChain messages and the keyword arguments of a call."""
        kept = {k: v for k, v in settings.items() if k not in TRANSPORT and v is not None}
        return Asked(tuple(map(_message, messages)), plain(kept))

    @cached_property
    def key(self) -> str:
        """Equal for equal requests: 32 hex digits."""
        text = json.dumps([self.messages, self.settings], sort_keys=True)
        return blake2b(text.encode(), digest_size=16).hexdigest()


def _message(message: Any) -> dict[str, Any]:
    told = {name: value for name in ANSWERS if (value := getattr(message, name, None))}
    return {"role": message.type, "content": plain(message.content), **plain(told)}


def plain(value: Any) -> Any:
    """JSON of it, in which 1.0 is 1; what is no JSON as its text."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
