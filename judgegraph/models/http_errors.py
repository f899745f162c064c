"""What a server answers where it gives no chat completion: as errors of the shape that SDKs give theirs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from judgegraph.errors import one_line
from judgegraph.models.secrets import scrubbed

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

    def __init__(self, what: str) -> None:
        super().__init__(f"Unexpected response type: {what}")


def server_error(status: int, headers: Mapping[str, str], body: bytes, secrets: Iterable[str]) -> ServerError:
    """From the answer's body: {"error": {"message", "code", "param"}}, an "error", "detail" or "message", or text."""
    about = _about(body)
    said = one_line(scrubbed(_said(about, body), secrets), LONGEST)
    code, param = (about.get(name) if isinstance(about, Mapping) else None for name in ("code", "param"))
    return ServerError(f"Error code: {status} - {said}", status, headers, code, param)


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


def _said(about: Any, body: bytes) -> str:
    if isinstance(about, Mapping):
        told = next((about[name] for name in ("message", "error", "detail", "msg") if about.get(name)), None)
        if told is not None:
            extra = [f"{name}: {about[name]}" for name in ("type", "code") if isinstance(about.get(name), str)]
            text = told if isinstance(told, str) else json.dumps(told, ensure_ascii=False)
            return " ".join([text, *(f"({note})" for note in extra)])
    return body[:LOOKED_AT].decode("utf-8", "replace") or "no message"
