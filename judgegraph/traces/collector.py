"""A collector over HTTP: headers and keys from the environment, one request in its time, what its answer means."""

from __future__ import annotations

import binascii
import json
import logging
import os
import re
import threading
import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, unquote, unquote_to_bytes, urlsplit

from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from requests import PreparedRequest, RequestException, Response, Session
from requests.auth import AuthBase
from requests.exceptions import ReadTimeout, Timeout

from judgegraph.errors import ConfigError, one_line

T = TypeVar("T")

# Headers for a collector, from the environment and its address: a mistake in them is told before anything is sent.


NAMES = ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")  # the first that is set is taken
PARSER = "opentelemetry.util.re"  # its logger, which would print what it cannot read
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
SHORT = 4  # characters; what is shorter is no secret, and stands in many words


def environment_headers() -> dict[str, str]:
    """Those that will be sent: their names in small letters, and their values.

    Raises:
        ConfigError: an entry is no header; the line does not repeat it.
    """
    from opentelemetry.util.re import parse_env_headers

    name = next((one for one in NAMES if os.environ.get(one)), "")
    found: dict[str, str] = {}
    logger = logging.getLogger(PARSER)
    before, logger.disabled = logger.disabled, True
    try:
        for number, entry in enumerate(re.split(r"[ \t]*,[ \t]*", os.environ.get(name, "")), 1):
            parsed = parse_env_headers(entry, liberal=True)
            if entry.strip() and not (parsed and all(map(sendable, parsed, parsed.values()))):
                raise ConfigError(f"{name}: entry {number} is no header; write name=value, and commas between several")
            found |= parsed
    finally:
        logger.disabled = before
    return found


def sendable(name: str, value: str) -> bool:
    """Whether both can stand in a header."""
    return bool(TOKEN.fullmatch(name)) and value.isprintable() and all(ord(one) < 256 for one in value)


def login_of(endpoint: str) -> str:
    """The login of an address, as it stands there."""
    return urlsplit(endpoint).netloc.rpartition("@")[0]


def basic(login: str) -> str:
    """What an authorization header says after "Basic"; "" for no login. A name alone has an empty password."""
    decoded = unquote_to_bytes(login if ":" in login else f"{login}:")
    return b64encode(decoded).decode() if decoded != b":" else ""


def secrets(endpoint: str, headers: Iterable[str]) -> list[str]:
    """What no message shows, the longest first: the address's login and query, and values of headers.

    A login and what a Basic header holds are in both forms, as collectors repeat either.
    """
    query, login, headers = urlsplit(endpoint).query, login_of(endpoint), list(headers)
    words = [word for one in headers for word in one.split()]
    logins = [login, unquote(login), *map(_login_in, words)]
    held = {
        *logins, *(part for one in logins for part in one.split(":", 1)), basic(login), query,
        *(value for _, value in parse_qsl(query)), *headers, *words,
    }  # fmt: skip
    held |= {one.rstrip("=") for one in held}  # the end of base64, which some leave out and JSON may escape
    forms = {form for one in held for form in (one, unquote(one), quote(one), quote(one, safe=""))}
    forms |= {one.replace("/", "\\/") for one in forms}  # as some write it in JSON
    return sorted((one for one in forms if len(one) >= SHORT), key=len, reverse=True)


def _login_in(word: str) -> str:
    """The login that a word of a header is the base64 of, "" where it is none."""
    try:
        decoded = b64decode(word, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return decoded if ":" in decoded else ""


# Its address, as it may be shown.


def shown_address(endpoint: str) -> str:
    """An address without a login and a query.

    Raises:
        ConfigError: it is none.
    """
    try:
        parts = urlsplit(endpoint if isinstance(endpoint, str) else "")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in ("http", "https"):
        raise ConfigError("the address of a collector begins with http:// or https://, such as http://127.0.0.1:6006")
    if any("\ud800" <= one <= "\udfff" for one in endpoint):  # of bytes that are no text
        raise ConfigError("the address of a collector is no text; write what is not ASCII as %XX")
    return one_line(f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}")


# How a collector is asked: each request ends in its time, little of the answer is read, and what it means is told.


SECONDS = 10.0  # of a request, where none are told
MOST = 65_536  # bytes of an answer that are read; a collector's has a few
TEXTS = ("text/plain", "application/json")  # kinds of a refusal that say why
NO_COLLECTOR = "is this the address of an OTLP collector?"
OTHER = f"it answered with what no collector says; {NO_COLLECTOR}"
KNOWN = {name for one in ExportTraceServiceResponse.DESCRIPTOR.fields for name in (one.name, one.json_name)}


class Login(AuthBase):
    """What says who asks, such as "Basic bWU6d29yZA==", where no header does; "" for nothing.

    A session that has one looks for none in a .netrc, which would replace the header; proxies it still takes from the
    environment.
    """

    def __init__(self, authorization: str) -> None:
        self._authorization = authorization

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        if self._authorization and "Authorization" not in request.headers:
            request.headers["Authorization"] = self._authorization
        return request


class CollectorSession(Session):
    """As OpenTelemetry's exporter wants one.

    Args:
        authorization: what that header says where the environment has none, "" for nothing.

    Attributes:
        why: what was wrong with the last answer, or that there was none; "" where all was taken.
        answer: the last one, None before the first.
    """

    def __init__(self, authorization: str = "") -> None:
        super().__init__()
        self.why, self.auth = "", Login(authorization)
        self.answer: Response | None = None
        self.headers["Accept-Encoding"] = "identity"
        self._as_before: dict[str, Any] = {}

    @property
    def timeout(self) -> float:
        """Seconds that a request has."""
        return float(self._as_before.get("timeout") or SECONDS)

    def post_json(self, url: str, body: str) -> Response | None:
        """Post, with the headers, the time and the certificates of the requests before; None, and `why`, for nothing.

        Its `why` is about the status alone: what the body means is for who asked.
        """
        before = dict(self._as_before)
        headers = {name.lower(): value for name, value in (before.pop("headers", None) or {}).items()}
        headers |= {"content-type": "application/json", "content-encoding": None}  # none, as this is not compressed
        self.why = ""
        try:
            answer = self.request("POST", url, data=body.encode(), headers=headers, **before)
        except (RequestException, OSError, ValueError) as error:
            self.why = self.why or _failure(error)
            return None
        self.why = refused(answer)
        return answer

    def request(self, method: Any, url: Any, *args: Any, timeout: Any = None, **more: Any) -> Response:
        """One, whole within `timeout` seconds, however slowly it is answered; a redirect is not followed.

        Raises:
            RequestException: there was no answer.
        """
        found: SimpleQueue[Response | BaseException] = SimpleQueue()
        ends = time.monotonic() + timeout if timeout is not None else None
        self._as_before = {"timeout": self._as_before.get("timeout") or timeout}
        self._as_before |= {key: more[key] for key in ("headers", "verify", "cert") if key in more}
        more |= {"allow_redirects": False, "stream": True, "timeout": timeout}

        def ask() -> None:  # a wait for bytes has a clock, the whole of them has none: so somebody waits beside it
            try:
                found.put(_read(super(CollectorSession, self).request(method, url, *args, **more), ends))
            except BaseException as error:
                if ends is None or time.monotonic() < ends:  # later it is told below, always in the same words
                    found.put(error)

        threading.Thread(target=ask, name="judgegraph-otlp", daemon=True).start()
        try:
            answer = found.get(timeout=None if timeout is None else max(0.0, timeout))
        except Empty:
            answer = ReadTimeout(f"no answer in {timeout:.3g} seconds")
        if isinstance(answer, BaseException):
            self.why = self.why or _failure(answer)  # what was answered before says more than that time ran out
            raise answer
        self.answer, self.why = answer, refusal(answer)
        return answer


def _read(answer: Response, ends: float | None) -> Response:
    """With as much of its body as is looked at, and no decoding that could swell."""
    read, body = getattr(answer.raw, "read1", None), b""
    with answer:
        while len(body) <= MOST:
            piece = read(4096, decode_content=False) if read else answer.raw.read(1, decode_content=False)
            if not piece:
                break
            body += piece
            if ends is not None and time.monotonic() > ends:
                raise ReadTimeout("the answer came too slowly")
    if answer.headers.get("Content-Encoding", "").lower() in ("gzip", "deflate"):
        try:
            body = zlib.decompressobj(47).decompress(body, MOST + 1)
        except zlib.error:
            body = b"\xff"  # which is no answer
    answer._content, answer._content_consumed = body, True
    return answer


def refusal(answer: Response) -> str:
    """Why not all spans were taken, "" where they were: a status of success, and a body that says so or nothing."""
    return refused(answer) or (_partial(answer.content) if answer.content else "")


def refused(answer: Response) -> str:
    """Why it is no success, by its status; "" where it is one."""
    kind, body = answer.headers.get("Content-Type", "").lower(), answer.content
    if not 200 <= answer.status_code < 300:
        wait = answer.headers.get("Retry-After", "").strip()
        reason = body.decode("utf-8", "replace").strip() if kind.startswith(TEXTS) else ""
        return "".join((
            f"it answered {answer.status_code} {answer.reason or ''}".rstrip(),
            ", a redirect" if 300 <= answer.status_code < 400 and answer.status_code != 304 else "",
            f", and asks to wait {f'{wait} seconds' if wait.isdecimal() else f'until {wait}'}" if wait else "",
            f": {reason}" if reason else "",
        ))  # fmt: skip
    return f"it answered with a page; {NO_COLLECTOR}" if kind.startswith("text/html") else ""


def _partial(body: bytes) -> str:
    """By its first byte JSON or not: some name no kind, or another. JSON with none of OTLP's fields is an error's."""
    response = ExportTraceServiceResponse()
    try:
        if len(body) > MOST:
            raise DecodeError
        if body.lstrip()[:1] == b"{":
            Parse(body, response, ignore_unknown_fields=True)
            if (values := json.loads(body)) and not KNOWN & values.keys():
                return f"{OTHER} it says {json.dumps(values, ensure_ascii=False)}"
        else:
            response.ParseFromString(body)
    except (DecodeError, ParseError, ValueError, RecursionError):
        return OTHER
    part = response.partial_success
    return f"{part.rejected_spans} of them left out: {part.error_message}" if part.rejected_spans else ""


def _failure(error: BaseException) -> str:
    """In words without the address, whose query may hold a key."""
    if isinstance(error, Timeout) and error.__context__ is None:
        return str(error)
    if not isinstance(error, RequestException):
        return f"{type(error).__name__}: {error}"
    at: BaseException | None = error
    for _ in range(9):
        if at is None:
            break
        if isinstance(at, OSError) and at.strerror:
            return f"{type(error).__name__}: {at.strerror}"
        at = at.__cause__ or at.__context__
    return "no answer in time" if isinstance(error, Timeout) else type(error).__name__


def batches(things: Iterable[T], size: Callable[[T], int], most: int, room: int) -> Iterator[list[T]]:
    """What is sent, in the order that it comes, cut into requests of so many things and bytes at most.

    Args:
        size: bytes of one; one that is larger than a request is a request of its own. most: things. room: bytes.
    """
    held: list[T] = []
    taken = 0
    for one in things:
        takes = size(one)
        if held and (len(held) >= most or taken + takes > room):
            yield held
            held, taken = [], 0
        held.append(one)
        taken += takes
    if held:
        yield held
