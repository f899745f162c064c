"""The address of a model call: a digest of all that its reply depends on, and of nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from typing import Any

from judgegraph.calls.exchange import Call
from judgegraph.models.resolve import Judge

VERSION = 1  # of the rule below: another rule must never meet the replies of this one


def address_of(judge: Judge, call: Call) -> bytes:
    """16 bytes; equal calls to equal judges have one address, any difference makes another.

    It covers endpoint and model, messages, form, tools, settings, number of choices, log-probabilities and repeat
    index. JSON keeps the fields apart: "ab" + "c" is not "a" + "bc". Keys and timeouts are no part of it.
    """
    parts = [
        VERSION, _who(judge), [_message(m) for m in call.messages], call.schema, call.form, list(call.tools),
        call.settings, call.n, call.logprobs, call.repeat,
    ]  # fmt: skip
    text = _ENCODER.encode(parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _who(judge: Judge) -> list[str]:
    """An endpoint by model and address; a chat model of one's own by its class and all its settings."""
    endpoint = judge.endpoint
    if endpoint.model == "embedded":
        return ["embedded", str(judge.model._llm_type), str(getattr(judge.model, "model", ""))]
    if judge.given:
        return [type(judge.model).__module__, type(judge.model).__qualname__, *_settings(judge.model)]
    return ["endpoint", endpoint.model, endpoint.address]


def _settings(model: Any) -> list[str]:
    """What was set on a model object: a setting whose text differs from one process to the next is never met again."""
    idle = ("callbacks", "cache", "rate_limiter", "verbose", "tags", "metadata", "name", "max_retries")
    names = sorted(n for n in model.model_fields_set if n not in idle and "client" not in n)
    return [f"{name}={getattr(model, name)!r}" for name in names]


def _message(message: Any) -> list[Any]:
    kind: Any = type(message)
    if not _is_said(kind):
        return [message.type, message.content, [], None]
    return [
        message.type,
        message.content,
        [[c.get("name"), c.get("args"), c.get("id")] for c in getattr(message, "tool_calls", None) or ()],
        getattr(message, "tool_call_id", None),
    ]


@cache
def _is_said(kind: type) -> bool:
    """Whether messages of this kind may carry tool calls or answer one: others are not asked, which is dear."""
    fields = getattr(kind, "model_fields", None)
    return fields is None or "tool_calls" in fields or "tool_call_id" in fields


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else repr(value)


_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)
