"""For assistants of yours that must read a page: a fetch that cannot be turned inward. No shipped tool opens a URL."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from urllib.parse import SplitResult, urljoin, urlsplit

from judgegraph.errors import one_line
from judgegraph.tools.addresses import FetchError, address_of
from judgegraph.tools.timed_wire import PORTS, Pinned, left

__all__ = ["FetchError", "Page", "fetch"]
HOPS = 5  # redirects followed at most
PIECE = 65536


@dataclass(frozen=True)
class Page:
    """What came.

    Attributes:
        url: of the page itself, after redirects. status: 200 to 299. kind: its content type, "" if it says none.
    """

    url: str
    status: int
    kind: str
    body: bytes

    @property
    def text(self) -> str:
        """As UTF-8; what is none is replaced."""
        return self.body.decode("utf-8", "replace")


def fetch(
    url: str, *, max_bytes: int = 1_000_000, seconds: float = 10.0, allow: Collection[str] = ()
) -> Page:  # fmt: skip
    """Fetch a page of the public internet.

    Every host is resolved here, and the connection is made to the very address that was checked: private, link-local,
    loopback, multicast and reserved addresses are refused, at the first URL and at each of up to five redirects. So
    are schemes other than http and https, and logins in a URL. Proxies of the environment are not used. Blocks: call
    it from a plain assistant, which runs in a thread, or by `asyncio.to_thread`.

    Args:
        max_bytes: of a page at most; a longer one is refused. seconds: for all of it, redirects included.
        allow: "host:port" of servers of your own network that may be asked all the same.

    Raises:
        FetchError: refused, too large, too slow, another status than 2xx, or no answer; the message says which.
    """
    end, own = time.monotonic() + seconds, (allow,) if isinstance(allow, str) else tuple(allow)
    for _ in range(HOPS + 1):
        found = _asked(url, max_bytes, end, own)
        if isinstance(found, Page):
            return found
        url = found
    raise FetchError(f"{_shown(url)}: over {HOPS} redirects")


def _asked(url: str, max_bytes: int, end: float, allow: Collection[str]) -> Page | str:
    """The page, or where it has gone to."""
    parts = _checked(url)
    host, port = str(parts.hostname), parts.port or PORTS[parts.scheme]
    address = address_of(host, port, end, allowed=f"{host}:{port}" in allow)
    connection = Pinned(parts.scheme, host, port, address, end)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("GET", path, headers={"Accept-Encoding": "identity", "User-Agent": "judgegraph"})
        with connection.getresponse() as answer:
            if answer.status in (301, 302, 303, 307, 308) and (to := answer.getheader("Location")):
                return urljoin(url, to)
            return _page(url, answer, max_bytes, end)
    except FetchError:
        raise
    except TimeoutError:
        raise FetchError(f"{_shown(url)}: not fetched in time") from None
    except (OSError, HTTPException, ValueError) as error:
        raise FetchError(f"{_shown(url)}: {type(error).__name__}: {one_line(error)}") from None
    finally:
        connection.close()


def _checked(url: str) -> SplitResult:
    if any(ord(c) <= 32 or ord(c) >= 127 for c in url):
        raise FetchError(f"{_shown(url)}: write spaces and letters beyond ASCII in %-form, names of hosts in xn-- form")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise FetchError(f"{_shown(url)}: no URL: {one_line(error)}") from None
    if parts.username is not None or parts.password is not None:
        raise FetchError(f"{one_line(parts.scheme)}://{one_line(parts.hostname, 80)}: a login in a URL is not sent")
    if parts.scheme not in PORTS or not parts.hostname or port == 0:
        raise FetchError(f"{_shown(url)}: only http:// and https:// with a host are fetched")
    return parts


def _page(url: str, answer: HTTPResponse, max_bytes: int, end: float) -> Page:
    if not 200 <= answer.status < 300:
        raise FetchError(f"{_shown(url)}: status {answer.status}")
    if (answer.getheader("Content-Encoding") or "identity") != "identity":
        raise FetchError(f"{_shown(url)}: packed content, which was not asked for")
    kind = one_line(answer.getheader("Content-Type") or "")
    return Page(url, answer.status, kind, _body(answer, max_bytes, end, url))


def _body(answer: HTTPResponse, max_bytes: int, end: float, url: str) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while True:
        left(end)
        piece = answer.read1(min(PIECE, max_bytes + 1 - size))
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
        if size > max_bytes:
            raise FetchError(f"{_shown(url)}: over {max_bytes:,} bytes")
    if answer.length:
        raise FetchError(f"{_shown(url)}: cut short, {answer.length:,} bytes are missing")
    return b"".join(pieces)


def _shown(url: str) -> str:
    return one_line(url.partition("?")[0], 120)
