"""Connections to servers: one session with connections kept alive for each event loop, closed with its loop."""

from __future__ import annotations

import asyncio
import atexit
import base64
import os
import ssl
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from judgegraph.errors import ConfigError
from judgegraph.models.http_errors import TooLong

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
        keeper = _kept(loop)
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


async def _kept(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[aiohttp.ClientSession]:
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
    told = {"Proxy-Authorization": basic(proxy)} if proxy.raw_user else None
    return Route(proxy.with_user(None), told, trust)


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
