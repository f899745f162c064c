"""The fast path to OpenAI-compatible servers: a LangChain chat model over aiohttp, without an SDK in between.

It sends what langchain-openai would send, and raises errors of the shape that the SDK's have, so whoever calls
it need not know which of the two answers.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, ClassVar

import aiohttp
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from multidict import CIMultiDict
from pydantic import Field, SecretStr, ValidationError, field_validator
from yarl import URL

from judgegraph import __version__
from judgegraph.errors import ConfigError, one_line
from judgegraph.models.codec import completion, written
from judgegraph.models.endpoint import Endpoint
from judgegraph.models.http_errors import NoAnswer, NoConnection, NoTrust, server_error
from judgegraph.models.secrets import bare, credentials, scrubbed, secrets_of
from judgegraph.models.sessions import Route, basic, route_to, session, whole
from judgegraph.models.wire import body_of, result_in

OPENAI = "https://api.openai.com/v1"
SETTINGS = ("temperature", "top_p", "max_tokens", "seed")


class FastOpenAI(BaseChatModel):
    """A model behind `/chat/completions`, asked without streaming.

    Attributes:
        model: its name there. base_url: up to and without "/chat/completions"; a login in it is sent as HTTP Basic
            in place of the key, a query is kept. headers: sent with every request.
        api_key: sent as a bearer token, if there is one.
        temperature, top_p, max_tokens, seed: sent where not None; those of a call come first.
        timeout: seconds for one request, total; None leaves it to the caller.
    """

    model: str
    base_url: str = Field(default=OPENAI, repr=False)
    api_key: SecretStr | None = None
    headers: dict[str, str] = Field(default={}, repr=False)
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    timeout: float | None = 120.0
    speaks_openai: bool = Field(default=True, repr=False)
    # What is asked of other models too, found here at once: a missing attribute costs pydantic more than our request.
    use_responses_api: ClassVar[None] = None
    root_async_client: ClassVar[None] = None
    extra_body: ClassVar[None] = None

    @field_validator("base_url")
    @classmethod
    def _web(cls, url: str) -> str:
        try:
            parsed = URL(url)
            usable = parsed.scheme in ("http", "https") and bool(parsed.host)
        except ValueError:
            usable = False
        if not usable:
            raise ValueError(f"expected an address such as {OPENAI}, got '{one_line(scrubbed(url), 100)}'")
        return url

    @property
    def _llm_type(self) -> str:
        return "judgegraph-fast-openai"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": self.model, "base_url": bare(self.base_url), **self._own()}

    async def complete(self, messages: Sequence[BaseMessage], **settings: Any) -> dict[str, Any]:
        """The server's answer to one request as it came: {"choices": [{"message": {...}, ...}], "usage": ..., ...}.

        The door for who needs no LangChain generations; no callback hears of it, and it has no time limit.

        Raises:
            ServerError: HTTP status 300 or more: no redirect is followed. NoAnswer: the connection failed.
            NoCompletion: the answer has another shape. TooLong: it is longer than 64 MiB.
        """
        return await self.post(body_of(self.model, messages, {**self._own(), **settings}))

    async def post(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """As `complete`, for a body that is whole."""
        url, headers, route = self._way
        failure: Exception
        try:
            async with (await session()).post(
                url,
                data=written(body),
                headers=headers,
                proxy=route.proxy,
                proxy_headers=route.headers,
                ssl=route.trust,
                allow_redirects=False,  # neither key nor text goes where nobody sent them
            ) as response:
                status, told, answer = response.status, response.headers, await whole(response)
        except aiohttp.ClientError as error:
            kind = _kind_of(error)
            failure = kind(one_line(scrubbed(f"{type(error).__name__}: {error}", self._secrets()), 300))
        else:
            if status < 300:
                return completion(answer, status, self._secrets)
            failure = server_error(status, told, answer, self._secrets())
        raise failure  # out here: no chain of exceptions holds aiohttp's, which carries the request's headers

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        settings = kwargs if stop is None else {**kwargs, "stop": stop}
        async with asyncio.timeout(self.timeout):
            return result_in(await self.complete(messages, **settings), self.model)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        """In a thread with a loop of its own, so that it works where a loop is running too."""
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: asyncio.run(self._agenerate(messages, stop, **kwargs))).result()

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | Any], *,
        tool_choice: str | bool | dict[str, Any] | None = None, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """Offer tools; `tool_choice` is "auto", "none", "any" (or True), or the name of one of them."""
        offered = [convert_to_openai_tool(tool) for tool in tools]
        names = {tool["function"]["name"] for tool in offered if "function" in tool}
        if tool_choice in names:
            tool_choice = {"type": "function", "function": {"name": tool_choice}}
        elif tool_choice is True or tool_choice == "any":
            tool_choice = "required"
        return self.bind(tools=offered, **({"tool_choice": tool_choice} if tool_choice else {}), **kwargs)

    def _own(self) -> dict[str, Any]:
        return {name: value for name in SETTINGS if (value := getattr(self, name)) is not None}

    @cached_property
    def _way(self) -> tuple[URL, CIMultiDict[str], Route]:
        """Where requests go, with which headers and by which way; found once."""
        url = URL(self.base_url).with_fragment(None)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        headers["User-Agent"] = f"judgegraph/{__version__}"
        if url.raw_user is not None:
            headers["Authorization"] = basic(url)
        elif self.api_key:
            headers["Authorization"] = f"Bearer {self.api_key.get_secret_value()}"
        target = url.with_user(None)
        target = target.with_path(f"{target.raw_path.rstrip('/')}/chat/completions", encoded=True, keep_query=True)
        route = route_to(target)
        told = route.headers if target.scheme == "http" and route.headers else {}  # no tunnel takes them
        all_of_them = CIMultiDict(headers)
        for name, value in (*self.headers.items(), *told.items()):
            all_of_them[name] = value
        return target, all_of_them, route

    def _secrets(self) -> tuple[str, ...]:
        found = {*secrets_of(self), *credentials(self.base_url)} - {""}
        if proxied := self._way[2].headers:
            found |= {value.removeprefix("Basic ") for value in proxied.values()}
        return tuple(sorted(found, key=len, reverse=True))


def _kind_of(error: aiohttp.ClientError) -> type[NoAnswer]:
    """Whether the request may have been received."""
    if isinstance(error, aiohttp.ClientSSLError):
        return NoTrust
    unreached = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
    return NoConnection if unreached else NoAnswer


def at(name: str, address: str | None, key: str | None, endpoint: Endpoint) -> FastOpenAI:
    """The model of an endpoint; its settings and its time limit come with each call.

    Raises:
        ConfigError: the address is none.
    """
    told = {"OpenAI-Organization": ("OPENAI_ORG_ID", "OPENAI_ORGANIZATION"), "OpenAI-Project": ("OPENAI_PROJECT_ID",)}
    found = {header: next(filter(None, map(os.environ.get, names)), None) for header, names in told.items()}
    headers = {header: value for header, value in found.items() if value}
    try:
        return FastOpenAI(
            model=name, base_url=address or OPENAI, api_key=SecretStr(key or "unused"), headers=headers,
            timeout=endpoint.timeout,
        )  # fmt: skip
    except ValidationError as error:
        raise ConfigError(f"judge {endpoint.model}: {error.errors(include_input=False)[0]['msg']}") from None
