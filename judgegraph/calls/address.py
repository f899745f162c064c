"""The address of a model call: a digest of all that its reply depends on, and of nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from judgegraph.calls.exchange import Call
from judgegraph.models.prices import OPENAI
from judgegraph.models.resolve import Judge

VERSION = 2  # of the rule below: another rule must never meet the replies of this one
IDLE: tuple[str, ...] = (
    "callbacks", "cache", "rate_limiter", "verbose", "tags", "metadata", "name", "max_retries",
)  # fmt: skip
TOLD = ("base_url", "openai_api_base", "stream_usage")  # by the server that is asked


def address_of(judge: Judge, call: Call) -> bytes:
    """16 bytes; equal calls to equal judges have one address, any difference makes another.

    It covers the server that is asked and the model, messages, form, tools, settings, number of choices,
    log-probabilities and repeat index. JSON keeps the fields apart: "ab" + "c" is not "a" + "bc". Keys and timeouts
    are no part of it, but for a query in the server's address, of which nothing but this digest is kept.
    """
    parts = [
        VERSION, _who(judge), [_message(m) for m in call.messages], call.schema, call.form, list(call.tools),
        _numbers(call.settings), call.n, call.logprobs, call.repeat,
    ]  # fmt: skip
    text = _ENCODER.encode(parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _who(judge: Judge) -> list[str]:
    """An endpoint by model and server; a chat model of one's own by its class and all its settings."""
    endpoint = judge.endpoint
    if endpoint.model == "embedded":
        return ["embedded", str(judge.model._llm_type), str(getattr(judge.model, "model", ""))]
    if judge.given:
        kind = type(judge.model)
        return [kind.__module__, kind.__qualname__, _asked(judge.model) or "", *_settings(judge.model)]
    if not endpoint.model.startswith("openai:"):
        return ["endpoint", endpoint.model, server_of(endpoint.base_url or "")]
    asked = _asked(judge.model)
    if asked is None:  # in a plan, where nobody is asked
        asked = server_of(endpoint.base_url or os.environ.get("OPENAI_BASE_URL") or "")
    return ["endpoint", endpoint.model, asked]


def _asked(model: Any) -> str | None:
    """The server that a model asks by what it was made with, the environment at that time included; None if unknown."""
    kind: Any = type(model)
    if not _speaks(kind):
        return None
    client = getattr(model, "root_async_client", None)
    if client is None:
        return server_of(getattr(model, "base_url", None) or "")
    return server_of(model.openai_api_base or str(client.base_url))


def asks_openai(judge: Judge) -> bool:
    """Whether the server that is asked is OpenAI's own, or nobody knows which one it is."""
    return not _asked(judge.model)


@cache
def _speaks(kind: type) -> bool:
    return any(parent.__name__ in ("BaseChatOpenAI", "FastOpenAI") for parent in kind.__mro__)


@lru_cache(maxsize=256)
def server_of(url: str) -> str:
    """A base URL with its query, in one spelling and without a login; "" for the provider's own."""
    parts = urlsplit(url)
    try:
        host, port = parts.hostname or "", parts.port
    except ValueError:  # it is refused elsewhere
        return url
    place = host if port in (None, {"http": 80, "https": 443}.get(parts.scheme)) else f"{host}:{port}"
    found = urlunsplit((parts.scheme, place, parts.path.rstrip("/"), parts.query, ""))
    return "" if found == OPENAI else found


def _settings(model: Any) -> list[str]:
    """What was set on a model object: a setting whose text differs from one process to the next is never met again."""
    kind: Any = type(model)
    idle = IDLE + TOLD if _speaks(kind) else IDLE
    names = sorted(n for n in model.model_fields_set if n not in idle and "client" not in n)
    return [f"{name}={getattr(model, name)!r}" for name in names]


def _message(message: Any) -> list[Any]:
    kind: Any = type(message)
    said = [message.type, message.content]
    if message.name or message.additional_kwargs:
        said.append([message.name, message.additional_kwargs])
    if not _is_said(kind):
        return said
    return [
        *said,
        [[c.get("name"), c.get("args"), c.get("id")] for c in getattr(message, "tool_calls", None) or ()],
        [[c.get("name"), c.get("args"), c.get("id")] for c in getattr(message, "invalid_tool_calls", None) or ()],
        getattr(message, "tool_call_id", None),
        getattr(message, "role", None),
    ]


@cache
def _is_said(kind: type) -> bool:
    """Whether messages of this kind have more to say, such as tool calls: others are not asked, which is dear."""
    fields = getattr(kind, "model_fields", None)
    return fields is None or not fields.keys().isdisjoint(("tool_calls", "tool_call_id", "role"))


def _numbers(settings: Mapping[str, Any]) -> dict[str, Any]:
    """1.0 is the same temperature as 1."""
    return {k: int(v) if type(v) is float and v.is_integer() else v for k, v in settings.items()}


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else repr(value)


_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)
