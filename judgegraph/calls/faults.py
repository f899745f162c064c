"""What went wrong with a request, and whether sending it again can help."""

from __future__ import annotations

import email.utils
import errno
import math
import socket
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any, Literal

from judgegraph.errors import one_line
from judgegraph.models.secrets import SHORTEST, bare, scrubbed
from judgegraph.types import Status

LONGEST = 300  # characters of a server's message that we repeat
PATIENCE = 3600.0  # seconds: a server that asks for a longer wait is taken at its word, and not waited for
_BROKEN = {"APIConnectionError", "TransportError", "APIResponseValidationError", "JSONDecodeError", "ClientError"}
_UNREACHED = {"NoConnection", "ClientConnectorError", "ConnectionTimeoutError", "ConnectError", "ConnectTimeout"}
_NO_WAY = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.EADDRNOTAVAIL}
_FILTERED = ("content_filter", "content management policy", "content policy", "moderation", "flagged")


@dataclass(frozen=True)
class Fault:
    """A failed request.

    Attributes:
        status: what a score ends with if this is the last try. message: one line.
        retry: the same request may succeed later. wait: seconds the server asked for, None if it did not.
        throttled: the server asks for less at once: a 429, or a 503 that names a time.
        fatal: every other call to this endpoint may fail alike (a wrong key, an unknown model).
        costs: what a request that met it is booked at: "nothing" where no server received it, "a call" where one
            refused it (HTTP 4xx), else its "estimate": it may be billed.
        answered: the server is there, and said so.
        outage: what the server lacks for anybody, such as "no connection"; "" where it may be this request alone.
        of_text: of a fatal one: a firewall may say it of one text, and answer others.
        code: its HTTP status, 0 without one.
    """

    status: Status
    message: str
    retry: bool
    wait: float | None = None
    fatal: bool = False
    throttled: bool = False
    costs: Literal["nothing", "a call", "estimate"] = "estimate"
    answered: bool = False
    outage: str = ""
    of_text: bool = False
    code: int = 0


def classify(
    error: BaseException, clock: Callable[[], float] = time.time, *,
    secrets: Iterable[str] = (), timeout: float | None = None,
) -> Fault:  # fmt: skip
    """Judge an exception of an SDK by its HTTP status or its kind; SDKs are recognised, not imported.

    Args:
        clock: seconds since 1970, for a Retry-After that is a date in a reply without one.
        secrets: texts that must not stand in the message. timeout: seconds after which we gave up.
    """
    message = _message(error, secrets)
    if unreachable(error):
        return Fault("provider_error", message, retry=True, costs="nothing", outage="no connection")
    if _untrusted(error):
        return Fault("provider_error", message, retry=True, costs="nothing")
    code = getattr(error, "status_code", None)
    if isinstance(code, int):
        return _by_code(code, error, message, clock)
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, TimeoutError) or "APITimeoutError" in names:
        return Fault("timeout", "no answer" + ("" if timeout is None else f" within {timeout:g} s"), retry=True)
    if "LengthFinishReasonError" in names:
        return Fault("truncated", "the reply was cut off at its token limit", retry=False)
    if "ContentFilterFinishReasonError" in names:
        return Fault("filtered", "the provider's content filter stopped the reply", retry=False)
    if isinstance(error, OSError) or names & _BROKEN:
        return Fault("provider_error", message, retry=True)
    # langchain-openai takes any 200 for a chat completion, and trips over what is missing in it
    shapeless = isinstance(error, TypeError | AttributeError | LookupError) and getattr(error, "response", None)
    plain = isinstance(error, ValueError) and "Unexpected response type" in str(error)  # a 200 that is no JSON
    error_in = isinstance(error, ValueError) and isinstance(next(iter(error.args), None), Mapping)  # {"error": {...}}
    empty = plain or error_in or (isinstance(error, TypeError) and "choices" in str(error))
    if shapeless or empty:
        told = f"the server's answer is no chat completion ({message})"
        return Fault("provider_error", told, retry=True, answered=True)
    return Fault("provider_error", message, retry=False)


def _by_code(code: int, error: BaseException, message: str, clock: Callable[[], float]) -> Fault:
    said = f"{getattr(error, 'code', '')} {error}".lower()
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    refused = Fault("provider_error", message, retry=False, costs="a call", answered=True)
    if code < 300:
        return replace(refused, costs="estimate")
    if code in (400, 403) and any(name in said for name in _FILTERED):
        return replace(refused, status="filtered")
    if 300 <= code < 400:
        return replace(refused, message=_redirected(code, headers), fatal=True, of_text=True)
    if code in (401, 403, 404):
        return replace(refused, fatal=True, of_text=True, code=code)
    if code == 429 and "insufficient_quota" in said:
        return replace(refused, fatal=True)
    if code not in (408, 409, 429) and code < 500:
        return refused
    wait = retry_after(headers, clock)
    found = replace(refused, retry=True, wait=wait, costs="a call" if code < 500 else "estimate")
    if wait is not None and wait > PATIENCE:
        return replace(found, message=f"asked to wait {wait:.0f} s, which is too long: {message}", retry=False)
    if code in (502, 503, 504) and wait is None:
        return replace(found, answered=False, outage=f"HTTP {code}")
    return replace(found, throttled=code == 429 or (code == 503 and wait is not None))


def _redirected(code: int, headers: Mapping[str, Any]) -> str:
    """Where to, without anything that may be a key; a path alone stays on the server."""
    to = next((str(value) for name, value in headers.items() if str(name).lower() == "location"), "")
    try:
        where = f" to {one_line(scrubbed(bare(to)), 120)}" if to else ""
    except ValueError:  # no address
        where = ""
    return f"HTTP {code}: the server sends us on{where}, and no redirect is followed; give the right address (base_url)"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what it came from."""
    found: BaseException | None = error
    for _ in range(6):
        if found is None:
            return
        yield found
        found = found.__cause__


def _untrusted(error: BaseException) -> bool:
    """There is no encrypted connection, such as with a wrong certificate: nothing was sent, and it will not pass."""
    return any(isinstance(one, ssl.SSLError) or type(one).__name__ == "NoTrust" for one in _chain(error))


def unreachable(error: BaseException) -> bool:
    """There was no connection: it was refused, has no way, or the name of the server is not found."""
    if getattr(error, "status_code", None) is not None or _untrusted(error):
        return False
    return any(
        isinstance(one, ConnectionRefusedError | socket.gaierror)
        or {kind.__name__ for kind in type(one).__mro__} & _UNREACHED
        or (isinstance(one, OSError) and one.errno in _NO_WAY)
        for one in _chain(error)
    )


def retry_after(headers: Mapping[str, Any], clock: Callable[[], float] = time.time) -> float | None:
    """Seconds to wait by the Retry-After header, given in seconds or as an HTTP date; None without one.

    A date is measured against the reply's own Date, so that a clock that differs from the server's does not matter.
    Finer, where a server sends it: `retry-after-ms`, milliseconds.
    """
    lower = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    if (finer := _seconds(lower.get("retry-after-ms", ""))) is not None:
        return finer / 1000
    text = lower.get("retry-after", "")
    if (seconds := _seconds(text)) is not None:
        return seconds
    if (date := _seconds_of(text)) is None:
        return None
    now = _seconds_of(lower.get("date", ""))
    return max(0.0, date - (clock() if now is None else now))


def _seconds_of(date: str) -> float | None:
    """Seconds since 1970 of an HTTP date."""
    try:
        found = email.utils.parsedate_to_datetime(date)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _message(error: BaseException, secrets: Iterable[str]) -> str:
    """Kind and text of the error, and of what it came from where an SDK says no more than "Connection error."."""
    secrets = tuple(secrets)
    text = f"{type(error).__name__}: {_uncut(str(error), secrets)}"
    cause = error.__cause__
    if cause is not None and not isinstance(getattr(error, "status_code", None), int):
        text += f" ({type(cause).__name__}: {cause})"
    return one_line(scrubbed(text, secrets), LONGEST)


def _uncut(text: str, secrets: Iterable[str]) -> str:
    """Where an SDK cut a server's words short in the middle of a key, what is left of the key goes too."""
    kept = text.removesuffix("...")
    if kept == text:
        return text
    for secret in secrets:
        for size in range(len(secret) - 1, SHORTEST - 1, -1):
            if kept.endswith(secret[:size]):
                return f"{kept[:-size]}***..."
    return text
