"""A request's body as bytes, and a chat completion from bytes, alike with orjson and without."""

from __future__ import annotations

import asyncio
import atexit
import base64
import json
import os
import re
import ssl
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import FunctionType
from typing import Any, ClassVar, cast
from urllib.parse import unquote
from urllib.request import getproxies, proxy_bypass

import aiohttp
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata
from langchain_core.messages.utils import convert_to_openai_messages
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from multidict import CIMultiDict
from pydantic import Field, SecretStr, ValidationError, field_validator
from yarl import URL

from judgegraph import __version__
from judgegraph.errors import ConfigError, bare, credentials, one_line, scrubbed, secrets_of

# What a server answers where it gives no chat completion: as errors of the shape that SDKs give theirs.


LONGEST = 1000  # characters of a server's message that are kept
LOOKED_AT = 2**20  # bytes of an answer that no message is found in: many more than are kept, so no key is cut in two


@dataclass(frozen=True)
class Head:
    """Of a response what a retry needs to know: its headers."""

    headers: Mapping[str, str]


class ServerError(Exception):
    """The server answered with an HTTP status of 300 or more.

    Attributes:
        status_code: the HTTP status. response: its headers, such as Retry-After.
        code, param: as the server names them, None where it does not.
    """

    def __init__(self, message: str, status: int, headers: Mapping[str, str], code: Any, param: Any) -> None:
        super().__init__(message)
        self.status_code = status
        self.response = Head(headers)
        self.code = code
        self.param = param


class NoAnswer(ConnectionError):
    """The connection failed, or broke before the answer was complete."""


class NoConnection(NoAnswer):
    """There was no connection: nothing was sent."""


class NoTrust(NoAnswer):
    """There was no encrypted connection, such as with a wrong certificate: nothing was sent."""


class TooLong(Exception):
    """An answer longer than any reply to a judge can be; it was not read to its end."""


class NoCompletion(ValueError):
    """An answer with HTTP status 200 that is no chat completion."""

    def __init__(self, what: str, *, error: bool = False) -> None:
        super().__init__(f"Unexpected response type: {what}")
        self.error = error  # it tells one, or was cut off, which may pass


def server_error(status: int, headers: Mapping[str, str], body: bytes, secrets: Iterable[str]) -> ServerError:
    """From the answer's body: {"error": {"message", "code", "param"}}, an "error", "detail" or "message", or text."""
    about = _about(body)
    message = one_line(scrubbed(_message_in(about, body), secrets), LONGEST)
    code, param = (about.get(name) if isinstance(about, Mapping) else None for name in ("code", "param"))
    return ServerError(f"Error code: {status} - {message}", status, headers, code, param)


def _about(body: bytes) -> Any:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if isinstance(data, list) and len(data) == 1:  # as some gateways wrap it
        (data,) = data
    if isinstance(data, Mapping) and isinstance(data.get("error"), Mapping):
        return data["error"]
    return data


def _message_in(about: Any, body: bytes) -> str:
    if isinstance(about, Mapping):
        message = next((about[name] for name in ("message", "error", "detail", "msg") if about.get(name)), None)
        if message is not None:
            extra = [f"{name}: {about[name]}" for name in ("type", "code") if isinstance(about.get(name), str)]
            text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
            return " ".join([text, *(f"({note})" for note in extra)])
    return body[:LOOKED_AT].decode("utf-8", "replace") or "no message"


try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]


def written(body: Mapping[str, Any]) -> bytes:
    """A body as JSON."""
    if orjson is not None:
        try:
            return orjson.dumps(body)
        except TypeError:  # a lone surrogate, a large whole number: JSON can, orjson cannot
            pass
    return json.dumps(body).encode()


def completion(answer: bytes, status: int, secrets: Callable[[], Iterable[str]] = tuple) -> dict[str, Any]:
    """A chat completion: choices that each hold a message.

    Args:
        secrets: gives the texts that must stand in no message, where one is needed.

    Raises:
        NoCompletion: it has another shape.
    """
    data = _parsed(answer)
    choices = data.get("choices") if isinstance(data, dict) else None
    if isinstance(choices, list) and all(isinstance(c, dict) and isinstance(c.get("message"), dict) for c in choices):
        return dict(data)
    error = data.get("error") if isinstance(data, dict) else None
    shown = answer[:LOOKED_AT].decode("utf-8", "replace") if error is None else str(error)
    shown = one_line(scrubbed(shown, secrets()), 200)  # cut last: half a key would not be known as one
    raise NoCompletion(
        f"HTTP {status} with {shown or 'nothing'}",
        error=error is not None or (data is None and answer.lstrip()[:1] == b"{"),
    )


def text_completion(answer: bytes, status: int, secrets: Callable[[], Iterable[str]] = tuple) -> dict[str, Any]:
    """A completion of raw text in the shape of a chat completion: each choice's text is its message.

    Raises:
        NoCompletion: it has another shape.
    """
    data = _parsed(answer)
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list) or not all(
        isinstance(c, dict) and isinstance(c.get("text"), str) for c in choices
    ):
        return completion(answer, status, secrets)  # which says what is there instead
    made = [
        {"message": {"role": "assistant", "content": c["text"]}, "finish_reason": c.get("finish_reason")}
        for c in choices
    ]
    return {**data, "choices": made}


def _parsed(answer: bytes) -> Any:
    """What `json` makes of it, with orjson or without: where that refuses, `json` has the last word."""
    if orjson is not None:
        try:
            return orjson.loads(answer)
        except ValueError:
            pass
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        return None


# Connections to servers: one session with connections kept alive for each event loop, closed with its loop.


MOST = 64 * 2**20  # bytes of an answer
CONNECT = 30.0  # seconds for a connection; it is there in milliseconds, or the server is out
LAST = 2.0  # seconds that connections of a background loop have to close when the process ends


@dataclass(frozen=True)
class _Open:
    session: aiohttp.ClientSession
    keeper: AsyncGenerator[aiohttp.ClientSession]


_open: dict[asyncio.AbstractEventLoop, _Open] = {}
_inherited: list[object] = []


async def session() -> aiohttp.ClientSession:
    """The running loop's session: as many connections as there are requests at once, no cookies, no time limit."""
    loop = asyncio.get_running_loop()
    found = _open.get(loop)
    if found is None:
        for other in [known for known in list(_open) if known.is_closed()]:
            _abandon(other)
        keeper = _session_of_loop(loop)
        found = _open[loop] = _Open(await anext(keeper), keeper)
    return found.session


async def whole(response: aiohttp.ClientResponse) -> bytes:
    """An answer's body.

    Raises:
        TooLong: it has more than 64 MiB, as they are when unpacked.
    """
    length = response.content_length
    if length is not None and length <= MOST and "Content-Encoding" not in response.headers:
        return await response.read()
    parts, size = [], 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > MOST:
            raise TooLong(f"the server's answer is longer than {MOST // 2**20} MiB")
    return b"".join(parts)


async def _session_of_loop(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[aiohttp.ClientSession]:
    """Closed by the loop itself: `asyncio.run` ends every asynchronous generator before it closes its loop."""
    opened = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=30),
        cookie_jar=aiohttp.DummyCookieJar(), timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT),
    )  # fmt: skip
    try:
        yield opened
    finally:
        _open.pop(loop, None)
        await opened.close()


def _abandon(loop: asyncio.AbstractEventLoop) -> None:
    """A loop was closed without ending its generators: its connections are dead, and nobody is to be warned of them."""
    left = _open.pop(loop, None)
    if left is None or left.session.closed:
        return
    closing = left.session.close()
    with suppress(StopIteration):  # which is the end of a coroutine: without a loop it has nothing to wait for
        closing.send(None)


def _after_fork() -> None:
    """In a forked child: the connections are the parent's. They are held and left alone, as closing them here would
    take them from what the kernel watches for the parent too.
    """
    _inherited.extend(_open.values())
    for one in _open.values():
        if (connector := one.session.connector) is not None:
            _inherited.append(connector)
        one.session.detach()
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def _close_all() -> None:
    """Those of the background loop that synchronous callers use, above all: it runs as long as the process."""
    for loop, left in list(_open.items()):
        with suppress(Exception):  # the process ends, whatever becomes of its connections
            if loop.is_closed():
                _abandon(loop)
            elif loop.is_running():
                asyncio.run_coroutine_threadsafe(left.keeper.aclose(), loop).result(LAST)
            else:
                loop.run_until_complete(left.keeper.aclose())


@dataclass(frozen=True)
class Route:
    """How a server is reached: its proxy with what the proxy is told, and the certificates that are trusted."""

    proxy: URL | None = None
    headers: dict[str, str] | None = None
    trust: ssl.SSLContext | bool = True


def route_to(url: URL) -> Route:
    """By the environment: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE, SSL_CERT_DIR.

    Raises:
        ConfigError: the proxy is of a kind that we do not speak.
    """
    trust = _trusted() if url.scheme == "https" else True
    found = getproxies()
    named = found.get(url.scheme) or found.get("all")
    if not named or proxy_bypass(f"{url.host}:{url.port}"):
        return Route(trust=trust)
    proxy = URL(named if "://" in named else f"http://{named}")
    if proxy.scheme not in ("http", "https"):
        raise ConfigError(
            f"the proxy in the environment is of kind '{proxy.scheme}:', of which the fast path speaks none; "
            'use Endpoint(transport="langchain") or JUDGEGRAPH_TRANSPORT=langchain'
        )
    headers = {"Proxy-Authorization": basic(proxy)} if proxy.raw_user else None
    return Route(proxy.with_user(None), headers, trust)


def basic(url: URL) -> str:
    """User and password of an address as HTTP Basic sends them."""
    login = f"{unquote(url.raw_user or '')}:{unquote(url.raw_password or '')}"
    return f"Basic {base64.b64encode(login.encode()).decode()}"


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    """The certificates that httpx, and so every SDK, trusts: not all systems have some of their own."""
    if file := os.environ.get("SSL_CERT_FILE"):
        return ssl.create_default_context(cafile=file)
    if folder := os.environ.get("SSL_CERT_DIR"):
        return ssl.create_default_context(capath=folder)
    import certifi

    return ssl.create_default_context(cafile=certifi.where())


# An ordinary ChatOpenAI object, asked over aiohttp: the request is its own, the SDK's way of sending it is left out.
#
# That way costs more than all else in a call. It is left out only where nothing hangs on it: a client that the user
# made, a proxy, a time limit, a key that is fetched anew, or an SDK that somebody instruments are left as they are.


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
    if not _genuine(model):
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

    client = model.root_async_client
    account_headers = {"OpenAI-Organization": client.organization, "OpenAI-Project": client.project}
    headers = {**{name: value for name, value in account_headers.items() if value}, **(model.default_headers or {})}
    address = URL(str(client.base_url)).update_query(dict(model.default_query or {}))
    return FastOpenAI(
        model=model.model_name, base_url=str(address), api_key=model.openai_api_key, headers=headers, timeout=None
    )


# A chat request and its reply as OpenAI-compatible servers know them, to and from LangChain's messages.


_ROLES = {"human": "user", "system": "system", "ai": "assistant", "tool": "tool"}
REASONING = ("reasoning_content", "reasoning")  # where servers put what a model thought
_SERIES_O = re.compile(r"o\d")


def body_of(model: str, messages: Sequence[BaseMessage], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The request's body, as langchain-openai writes it.

    The token limit goes out as `max_completion_tokens`; "extra_body" is merged into the body last.
    """
    body: dict[str, Any] = {"model": model, "stream": False, **settings}
    extra = body.pop("extra_body", None)
    if "max_tokens" in body:
        body["max_completion_tokens"] = body.pop("max_tokens")
    body["messages"] = [message_out(message) for message in messages]
    if _SERIES_O.match(model):  # they call it so
        for message in body["messages"]:
            message["role"] = "developer" if message["role"] == "system" else message["role"]
    return {**body, **extra} if extra else body


RAW_TEXT = "raw_text"  # a setting of a call: its one message is a text to go on with, without a chat template


def raw_body_of(model: str, messages: Sequence[BaseMessage], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a request to go on with a text: the messages' texts, one after the other."""
    body: dict[str, Any] = {"model": model, "stream": False, **settings}
    extra = body.pop("extra_body", None) or {}
    for longer in ("max_completion_tokens", "max_tokens"):
        if longer in extra or longer in body:
            body["max_tokens"] = extra.pop(longer, None) or body.pop(longer, None)
    body["prompt"] = "".join(str(message.text) for message in messages)
    return {**body, **extra}


def message_out(message: BaseMessage) -> dict[str, Any]:
    """One message, with the tool calls it makes or the one it answers."""
    role = _ROLES.get(message.type)
    if role is None or not isinstance(message.content, str):
        made: Any = convert_to_openai_messages(message, text_format="block")
        return dict(made)
    out: dict[str, Any] = {"content": message.content, "role": role}
    if isinstance(message, ToolMessage):
        return {**out, "tool_call_id": message.tool_call_id}
    if message.name is not None:
        out["name"] = message.name
    if isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls):
        good = [_call(c["id"], c["name"], json.dumps(c["args"], ensure_ascii=False)) for c in message.tool_calls]
        broken = [_call(c["id"], c["name"], c["args"]) for c in message.invalid_tool_calls]
        out |= {"content": message.content or None, "tool_calls": good + broken}
    return out


def _call(id: str | None, name: str | None, arguments: str | None) -> dict[str, Any]:
    return {"type": "function", "id": id, "function": {"name": name, "arguments": arguments}}


def message_in(message: Mapping[str, Any]) -> AIMessage:
    """A choice's message; tool calls whose arguments are no JSON are among the invalid ones."""
    calls: list[Any] = []
    broken: list[Any] = []
    for call in message.get("tool_calls") or ():
        try:
            calls += [made] if (made := parse_tool_call(call, return_id=True)) else []
            broken += [] if made else [_shapeless(call)]
        except OutputParserException as error:
            broken.append(make_invalid_tool_call(call, str(error)))
        except (TypeError, LookupError, AttributeError):
            broken.append(_shapeless(call))
    refusal = message.get("refusal")
    about = {"refusal": refusal} if refusal else {}
    about |= {name: message[name] for name in REASONING if isinstance(message.get(name), str) and message[name]}
    text = text_in(message.get("content"))
    return AIMessage(text, tool_calls=calls, invalid_tool_calls=broken, additional_kwargs=about)


def _shapeless(call: Any) -> Any:
    return {"name": None, "args": repr(call)[:200], "id": None, "error": "no tool call", "type": "invalid_tool_call"}


def text_in(content: Any) -> str:
    """A text, or the texts in a list of parts."""
    if isinstance(content, list):
        texts = [part.get("text") if _is_text(part) else part for part in content]
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") not in ("thinking", "reasoning")


def usage_in(usage: Any) -> UsageMetadata | None:
    """Tokens as LangChain counts them; None where the reply does not say."""
    if not isinstance(usage, Mapping):
        return None
    asked, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    read = _counts(usage, "prompt_tokens_details", audio="audio_tokens", cache_read="cached_tokens")
    written = _counts(usage, "completion_tokens_details", audio="audio_tokens", reasoning="reasoning_tokens")
    return UsageMetadata(
        input_tokens=asked, output_tokens=completion, total_tokens=_count(usage, "total_tokens") or asked + completion,
        input_token_details=cast(InputTokenDetails, read), output_token_details=cast(OutputTokenDetails, written),
    )  # fmt: skip


def _counts(usage: Mapping[str, Any], part: str, **names: str) -> Any:
    part_counts = usage.get(part)
    found = (
        {ours: part_counts.get(theirs) for ours, theirs in names.items()} if isinstance(part_counts, Mapping) else {}
    )
    return {name: count for name, count in found.items() if isinstance(count, int)}


def _count(usage: Mapping[str, Any], name: str) -> int:
    count = usage.get(name)
    return count if isinstance(count, int) else 0


def result_in(data: Mapping[str, Any], model: str) -> ChatResult:
    """LangChain's form of an answer; each message tells finish_reason, log-probabilities and the usage of them all."""
    usage, generations = usage_in(data.get("usage")), []
    about = {"model_name": data.get("model") or model, "model_provider": "openai", "id": data.get("id")}
    for choice in data["choices"]:
        message = message_in(choice["message"])
        message.usage_metadata = usage
        info = {"finish_reason": choice.get("finish_reason"), "logprobs": choice.get("logprobs")}
        message.response_metadata = {**about, "token_usage": data.get("usage"), **info}
        generations.append(ChatGeneration(message=message, generation_info=info))
    return ChatResult(generations=generations, llm_output={"token_usage": data.get("usage"), **about})


# The fast path to OpenAI-compatible servers: a LangChain chat model over aiohttp, without an SDK in between.
#
# It sends what langchain-openai would send, and raises errors of the shape that the SDK's have, so whoever calls
# it need not know which of the two answers.


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
    takes_raw_text: ClassVar[bool] = True
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
        raw = bool(settings.pop(RAW_TEXT, False))
        made = raw_body_of if raw else body_of
        return await self.post(made(self.model, messages, {**self._own(), **settings}), raw=raw)

    async def post(self, body: Mapping[str, Any], *, raw: bool = False) -> dict[str, Any]:
        """As `complete`, for a body that is whole; a raw text goes to `/completions`."""
        url, headers, route = self._way
        if raw:
            url = url.with_path(
                f"{url.raw_path.removesuffix('/chat/completions')}/completions", encoded=True, keep_query=True
            )
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
                status, answer_headers, answer = response.status, response.headers, await whole(response)
        except aiohttp.ClientError as error:
            kind = _kind_of(error)
            failure = kind(one_line(scrubbed(_in_words(error), self._secrets()), 300))
        else:
            if status < 300:
                return (text_completion if raw else completion)(answer, status, self._secrets)
            failure = server_error(status, answer_headers, answer, self._secrets())
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
        proxy_headers = route.headers if target.scheme == "http" and route.headers else {}  # no tunnel takes them
        all_of_them = CIMultiDict(headers)
        for name, value in (*self.headers.items(), *proxy_headers.items()):
            all_of_them[name] = value
        return target, all_of_them, route

    def _secrets(self) -> tuple[str, ...]:
        found = {*secrets_of(self), *credentials(self.base_url)} - {""}
        if proxied := self._way[2].headers:
            found |= {value.removeprefix("Basic ") for value in proxied.values()}
        return tuple(sorted(found, key=len, reverse=True))


def _in_words(error: aiohttp.ClientError) -> str:
    """Such as "cannot connect to localhost:8000: Connection refused"; of other errors their kind and what they say."""
    if not isinstance(error, aiohttp.ClientConnectorError) or isinstance(error, aiohttp.ClientSSLError):
        return f"{type(error).__name__}: {error}"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"cannot connect to {error.host}: no address is known for this name"
    number = error.os_error.errno or 0
    why = os.strerror(number) if number > 0 else error.os_error.strerror or str(error.os_error)
    return f"cannot connect to {error.host}:{error.port}: {why}"


def _kind_of(error: aiohttp.ClientError) -> type[NoAnswer]:
    """Whether the request may have been received."""
    if isinstance(error, aiohttp.ClientSSLError):
        return NoTrust
    unreached = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError)
    return NoConnection if unreached else NoAnswer


def at(name: str, address: str | None, key: str | None, *, judge: str, timeout: float) -> FastOpenAI:
    """The model of an endpoint; its settings and its time limit come with each call.

    Raises:
        ConfigError: the address is none.
    """
    variables = {
        "OpenAI-Organization": ("OPENAI_ORG_ID", "OPENAI_ORGANIZATION"),
        "OpenAI-Project": ("OPENAI_PROJECT_ID",),
    }
    found = {header: next(filter(None, map(os.environ.get, names)), None) for header, names in variables.items()}
    headers = {header: value for header, value in found.items() if value}
    try:
        return FastOpenAI(
            model=name, base_url=address or OPENAI, api_key=SecretStr(key or "unused"), headers=headers,
            timeout=timeout,
        )  # fmt: skip
    except ValidationError as error:
        raise ConfigError(f"judge {judge}: {error.errors(include_input=False)[0]['msg']}") from None
