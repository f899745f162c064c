"""How a collector is asked: each request ends in its time, little of the answer is read, and what it means is told."""

from __future__ import annotations

import json
import threading
import time
import zlib
from queue import Empty, SimpleQueue
from typing import Any

from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from requests import PreparedRequest, RequestException, Response, Session
from requests.auth import AuthBase
from requests.exceptions import ReadTimeout, Timeout

MOST = 65_536  # bytes of an answer that are read; a collector's has a few
TEXTS = ("text/plain", "application/json")  # kinds of a refusal that say why
NO_COLLECTOR = "is this the address of an OTLP collector?"
OTHER = f"it answered with what no collector says; {NO_COLLECTOR}"
KNOWN = {name for one in ExportTraceServiceResponse.DESCRIPTOR.fields for name in (one.name, one.json_name)}


class Login(AuthBase):
    """That of an address, where no header says who asks.

    A session that has one looks for none in a .netrc, which would replace the header; proxies it still takes from the
    environment.
    """

    def __init__(self, basic: str) -> None:
        self._basic = basic

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        if self._basic and "Authorization" not in request.headers:
            request.headers["Authorization"] = f"Basic {self._basic}"
        return request


class CollectorSession(Session):
    """As OpenTelemetry's exporter wants one.

    Args:
        basic: the address's login in base64, "" for none.

    Attributes:
        why: what was wrong with the last answer, or that there was none; "" where all was taken.
    """

    def __init__(self, basic: str = "") -> None:
        super().__init__()
        self.why, self.auth = "", Login(basic)
        self.headers["Accept-Encoding"] = "identity"

    def request(self, method: Any, url: Any, *args: Any, timeout: Any = None, **more: Any) -> Response:
        """One, whole within `timeout` seconds, however slowly it is answered; a redirect is not followed.

        Raises:
            RequestException: there was no answer.
        """
        found: SimpleQueue[Response | BaseException] = SimpleQueue()
        ends = time.monotonic() + timeout if timeout is not None else None
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
            self.why = self.why or _mishap(answer)  # what was answered before says more than that time ran out
            raise answer
        self.why = refusal(answer)
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
    """Why not all was taken, "" where it was: a status of success, and a body that says so or nothing."""
    kind, body = answer.headers.get("Content-Type", "").lower(), answer.content
    if not 200 <= answer.status_code < 300:
        wait = answer.headers.get("Retry-After", "").strip()
        said = body.decode("utf-8", "replace").strip() if kind.startswith(TEXTS) else ""
        return "".join((
            f"it answered {answer.status_code} {answer.reason or ''}".rstrip(),
            ", a redirect" if 300 <= answer.status_code < 400 and answer.status_code != 304 else "",
            f", and asks to wait {f'{wait} seconds' if wait.isdecimal() else f'until {wait}'}" if wait else "",
            f": {said}" if said else "",
        ))  # fmt: skip
    if kind.startswith("text/html"):
        return f"it answered with a page; {NO_COLLECTOR}"
    return _partial(body) if body else ""


def _partial(body: bytes) -> str:
    """By its first byte JSON or not: some name no kind, or another. JSON with none of OTLP's fields is an error's."""
    told = ExportTraceServiceResponse()
    try:
        if len(body) > MOST:
            raise DecodeError
        if body.lstrip()[:1] == b"{":
            Parse(body, told, ignore_unknown_fields=True)
            if (said := json.loads(body)) and not KNOWN & said.keys():
                return f"{OTHER} it says {json.dumps(said, ensure_ascii=False)}"
        else:
            told.ParseFromString(body)
    except (DecodeError, ParseError, ValueError, RecursionError):
        return OTHER
    part = told.partial_success
    return f"{part.rejected_spans} of them left out: {part.error_message}" if part.rejected_spans else ""


def _mishap(error: BaseException) -> str:
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
