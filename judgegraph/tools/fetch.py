"""For assistants of yours that must read a page: a fetch that cannot be turned inward. No shipped tool opens a URL."""

from __future__ import annotations

import io
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit

from judgegraph.errors import JudgegraphError, one_line, settings_checked

# Which address a host has, and whether it is one of the public internet.


UNICAST = ipaddress.IPv6Network("2000::/3")  # all that is given out of IPv6 to hosts of the public internet
TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")  # an IPv4 address behind NAT64
SET_APART = tuple(map(ipaddress.ip_network, (  # by its use, whatever a Python's own tables say
    "192.0.0.0/24", "192.88.99.0/24", "3fff::/20",
    "168.63.129.16/32",  # a cloud's own host, under a number of the internet
)))  # fmt: skip


class FetchError(JudgegraphError, OSError):
    """A page that was not fetched, and why."""


def address_of(host: str, port: int, end: float, *, allowed: bool) -> str:
    """The address to connect to; refused where any of the host's is not public, as which one is tried is chance.

    Args:
        end: when to wait for an answer no longer, by `time.monotonic`. allowed: it may be an address of one's own.

    Raises:
        FetchError: no address, one that is not public, or no answer in time.
    """
    shown = one_line(host, 80)
    found = [str(info[4][0]) for info in _looked_up(host, port, end, shown)]
    if not found:
        raise FetchError(f"{shown}: no address found")
    inward = [one for one in found if not is_public(one)]
    if inward and not allowed:
        raise FetchError(f"{shown} is {inward[0]}, which is no address of the public internet")
    return found[0]


def _looked_up(host: str, port: int, end: float, shown: str) -> list[Any]:
    """What the resolver says. It takes no limit of time, so it works in a thread that nobody waits for too long."""
    answers: list[list[Any]] = []
    wrong: list[Exception] = []

    def ask() -> None:
        try:
            answers.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:
            wrong.append(error)

    thread = threading.Thread(target=ask, daemon=True, name="judgegraph-look-up")
    thread.start()
    thread.join(max(0.0, end - time.monotonic()))
    if wrong:
        raise FetchError(f"{shown}: no address found ({one_line(wrong[0])})")
    if not answers:
        raise FetchError(f"{shown}: not looked up in time")
    return answers[0]


def is_public(address: str) -> bool:
    """Whether an IPv4 or IPv6 address, and the IPv4 address within it, is one of the public internet."""
    one = ipaddress.ip_address(address.partition("%")[0])
    if any(one in network for network in SET_APART):
        return False
    if isinstance(one, ipaddress.IPv4Address):
        return one.is_global and not one.is_multicast and not one.is_reserved
    if one in TRANSLATED:
        return is_public(str(ipaddress.IPv4Address(int(one) & 0xFFFFFFFF)))
    within = one.sixtofour or (one.teredo[1] if one.teredo else None)
    return one in UNICAST and one.is_global and (within is None or is_public(str(within)))


# A connection that ends at a set time, however slowly bytes come: a socket's own timeout begins anew with each.


PORTS = {"http": 80, "https": 443}


class Pinned(HTTPConnection):
    """Connects to an address that was checked, under the name of its host; all of it is over by `end`."""

    def __init__(self, scheme: str, host: str, port: int, address: str, end: float) -> None:
        super().__init__(host, port)
        self._scheme, self._address, self._end = scheme, address, end
        self.default_port = PORTS[scheme]

    def connect(self) -> None:
        sock = socket.create_connection((self._address, self.port), timeout=left(self._end))
        try:
            if self._scheme == "https":
                sock.settimeout(left(self._end))
                sock = ssl.create_default_context().wrap_socket(sock, server_hostname=self.host)
        except BaseException:
            sock.close()
            raise
        self.sock = _Wire(sock, self._end)


class _Wire:
    """What `http.client` uses of a socket."""

    def __init__(self, sock: socket.socket, end: float) -> None:
        self._sock, self._end = sock, end

    def sendall(self, data: Any) -> None:
        self._sock.settimeout(left(self._end))
        self._sock.sendall(data)

    def makefile(self, _mode: str = "rb") -> io.BufferedReader:
        return io.BufferedReader(_Bytes(self._sock, self._end))

    def close(self) -> None:
        self._sock.close()


class _Bytes(io.RawIOBase):
    """The bytes of a socket, each waited for until the end and no longer."""

    def __init__(self, sock: socket.socket, end: float) -> None:
        self._sock, self._end = sock, end
        self._file = sock.makefile("rb", buffering=0)  # keeps the socket open where the connection lets go of it

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(left(self._end))
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


def left(end: float) -> float:
    """Seconds until then.

    Raises:
        TimeoutError: there are none.
    """
    seconds = end - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


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


@settings_checked
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
