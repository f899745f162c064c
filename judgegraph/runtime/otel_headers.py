"""Headers for a collector, from the environment and its address: a mistake in them is told before anything is sent."""

from __future__ import annotations

import binascii
import logging
import os
import re
from base64 import b64decode, b64encode
from urllib.parse import parse_qsl, quote, unquote, unquote_to_bytes, urlsplit

from judgegraph.errors import ConfigError

NAMES = ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")  # the first that is set is taken
PARSER = "opentelemetry.util.re"  # its logger, which would print what it cannot read
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
SHORT = 4  # characters; what is shorter is no secret, and stands in many words


def header_values() -> list[str]:
    """The values that will be sent.

    Raises:
        ConfigError: an entry is no header; the line does not repeat it.
    """
    from opentelemetry.util.re import parse_env_headers

    name = next((one for one in NAMES if os.environ.get(one)), "")
    found: list[str] = []
    logger = logging.getLogger(PARSER)
    before, logger.disabled = logger.disabled, True
    try:
        for number, entry in enumerate(re.split(r"[ \t]*,[ \t]*", os.environ.get(name, "")), 1):
            told = parse_env_headers(entry, liberal=True)
            if entry.strip() and not (told and all(map(_sendable, told, told.values()))):
                raise ConfigError(f"{name}: entry {number} is no header; write name=value, and commas between several")
            found += told.values()
    finally:
        logger.disabled = before
    return found


def _sendable(name: str, value: str) -> bool:
    return bool(TOKEN.fullmatch(name)) and value.isprintable() and all(ord(one) < 256 for one in value)


def login_of(endpoint: str) -> str:
    """The login of an address, as it stands there."""
    return urlsplit(endpoint).netloc.rpartition("@")[0]


def basic(login: str) -> str:
    """What an authorization header says after "Basic"; "" for no login. A name alone has an empty password."""
    told = unquote_to_bytes(login if ":" in login else f"{login}:")
    return b64encode(told).decode() if told != b":" else ""


def secrets(endpoint: str, headers: list[str]) -> list[str]:
    """What no message shows, the longest first: the address's login and query, and the headers' values.

    A login and what a Basic header holds are in both forms, as collectors repeat either.
    """
    query, login = urlsplit(endpoint).query, login_of(endpoint)
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
        told = b64decode(word, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return told if ":" in told else ""
