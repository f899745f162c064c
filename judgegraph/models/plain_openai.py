"""An ordinary ChatOpenAI object, asked over aiohttp: the request is its own, the SDK's way of sending it is left out.

That way costs more than all else in a call. It is left out only where nothing hangs on it: a client that the user
made, a proxy, a time limit, a key that is fetched anew, or an SDK that somebody instruments are left as they are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

from judgegraph.models.endpoint import Endpoint
from judgegraph.models.transport import is_fast

UNLIKE = (  # settings that the short way would pass by
    "http_client", "http_async_client", "openai_proxy", "request_timeout", "include_response_headers", "_uses_gateway",
    "http_socket_options", "streaming",
)  # fmt: skip
SDKS = {"extra_headers", "extra_query", "timeout"}  # parameters of the SDK's that are no part of a body


class Plain:
    """Gives a server's answer to what a ChatOpenAI object would send."""

    def __init__(self, model: Any, fast: Any) -> None:
        self._model, self._fast = model, fast

    def takes(self, settings: Mapping[str, Any]) -> bool:
        """Whether a call with these settings is one of chat completions."""
        return not self._model._use_responses_api(dict(settings))

    async def complete(self, messages: Sequence[Any], **settings: Any) -> dict[str, Any]:
        """As `FastOpenAI.complete`."""
        body = self._model._get_request_payload(list(messages), **settings)
        extra = body.pop("extra_body", None) or {}
        answer: dict[str, Any] = await self._fast.post({**body, **extra})
        return answer


def plain(model: Any) -> Plain | None:
    """The short way of a model object; None where it is no ordinary ChatOpenAI, or aiohttp is not to be used."""
    if type(model).__name__ != "ChatOpenAI" or not type(model).__module__.startswith("langchain_openai."):
        return None
    if any(getattr(model, name, None) for name in UNLIKE) or SDKS & set(model.model_kwargs):
        return None
    if not is_fast(Endpoint(model="openai:given")) or not _genuine(model):
        return None
    return Plain(model, _fast(model))


def _genuine(model: Any) -> bool:
    """The SDK's own client with a fixed key, and nobody's wrapper around it or around its method."""
    client, key = model.root_async_client, getattr(model.openai_api_key, "get_secret_value", None)
    resource = type(model.async_client)
    headers = (model.default_headers or {}).values()
    ours = key is not None and client.api_key == key() and all(isinstance(value, str) for value in headers)
    method = resource.__module__.startswith("openai.") and isinstance(vars(resource).get("create"), FunctionType)
    private = all(hasattr(model, name) for name in ("_use_responses_api", "_get_request_payload"))
    return ours and method and private and not os.environ.get("OPENAI_LOG")  # who sets that wants to read of requests


def _fast(model: Any) -> Any:
    from yarl import URL

    from judgegraph.models.fast import FastOpenAI

    client = model.root_async_client
    told = {"OpenAI-Organization": client.organization, "OpenAI-Project": client.project}
    headers = {**{name: value for name, value in told.items() if value}, **(model.default_headers or {})}
    address = URL(str(client.base_url)).update_query(dict(model.default_query or {}))
    return FastOpenAI(
        model=model.model_name, base_url=str(address), api_key=model.openai_api_key, headers=headers, timeout=None
    )
