"""Keys never leave: what must not stand in any message, and how it is taken out."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

SHORTEST = 4  # characters: a shorter "key" would blank out innocent words
_LOOKS = re.compile(r"\b(?:sk|pk|rk)-[\w-]{8,}|(?<=bearer )\S{8,}|(?<=://)[^/\s@]+(?=@)", re.I)


def secrets_of(model: Any) -> tuple[str, ...]:
    """Keys, header values and credentials in addresses that a chat model holds; longest first."""
    settings = getattr(model, "__dict__", {})
    found = {text for name, value in settings.items() for text in _held(name, value)}
    return tuple(sorted((s for s in found if len(s) >= SHORTEST), key=len, reverse=True))


def _held(name: str, value: Any) -> Iterator[str]:
    if hasattr(value, "get_secret_value"):
        secret = value.get_secret_value()
        yield from [secret] if isinstance(secret, str) and secret != "unused" else []
    elif isinstance(value, Mapping) and ("header" in name or "query" in name):
        yield from (str(v) for v in value.values() if isinstance(v, str))
    elif isinstance(value, str) and "://" in value:
        yield from credentials(value)


def credentials(url: str) -> Iterator[str]:
    """Whatever in an address may be a key: user, password, both as Basic sends them, values of a query."""
    parts = urlsplit(url)
    userinfo, at, _ = parts.netloc.rpartition("@")
    if at:
        name, _, word = userinfo.partition(":")
        yield from {userinfo, name, word, unquote(name), unquote(word)}
        yield base64.b64encode(f"{unquote(name)}:{unquote(word)}".encode()).decode()
    yield from (value for _, value in parse_qsl(parts.query))


@lru_cache(maxsize=256)
def bare(url: str) -> str:
    """The address without user, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def scrubbed(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with every secret, and whatever looks like a key, as "***"."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return _LOOKS.sub("***", text)
