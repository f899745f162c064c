"""A judge in a signature: its name, the settings that go into its calls, and where it is; never a login or a key."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any
from urllib.parse import urlsplit

from judgegraph.calls import Endpoint, name_of
from judgegraph.errors import one_line
from judgegraph.models.secrets import bare, scrubbed, secrets_of

MARKS = {"temperature": "t", "top_p": "p", "max_tokens": "max", "seed": "seed"}  # a judge's setting -> its mark
SECRET = re.compile(r"(?:.*[_-])?(?:key|token|secret|password|credentials|authorization)", re.I)  # a key by its name
_NO_SETTING = re.compile(  # stands elsewhere in the line, or changes no reply; `script`: a test's replies
    r"model|model_name|.*base_url|.*api_base|temperature|top_p|max_tokens|seed"
    r"|.*client|callbacks|callback_manager|metadata|tags|profile|name|verbose|cache|max_retries|.*timeout|.*streaming"
    r"|.*organization|rate_limiter|stream_usage|script"
)


def judge_line(judge: Any, own: float | None) -> str:
    """Such as "openai:m@t0.7@host:8000/v1", or "ChatOpenAI:m@t0@set1a2b3c4d".

    Args:
        own: the agent's own temperature, which comes before the judge's.
    """
    settings = {name: getattr(judge, name, None) for name in MARKS}
    if own is not None:
        settings["temperature"] = own
    said = [f"{MARKS[k]}{v:g}" for k, v in settings.items() if isinstance(v, int | float)]
    return "@".join([name_of(judge), *said, *_digest(judge), *_address(judge)])


def _digest(judge: Any) -> list[str]:
    """8 hex digits of what else was set on a chat model object, where anything was."""
    names = [n for n in getattr(judge, "model_fields_set", ()) if not (_NO_SETTING.fullmatch(n) or SECRET.fullmatch(n))]
    known = type(judge).model_fields if names else {}
    values = {n: getattr(judge, n, None) for n in sorted(names)}
    given = {n: v for n, v in values.items() if n not in known or v != known[n].get_default(call_default_factory=True)}
    told = {n: text for n, value in given.items() if (text := _plain(value)) is not None}
    if not told:
        return []
    text = scrubbed(repr(told), secrets_of(judge))
    return [f"set{blake2b(text.encode(), digest_size=4).hexdigest()}"]


def _plain(value: Any) -> str | None:
    """A setting as text that is the same in every process; None for objects, such as clients and keys."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Mapping):
        return repr(sorted((str(k), _plain(v)) for k, v in value.items() if not SECRET.fullmatch(str(k))))
    if isinstance(value, list | tuple):
        return repr([_plain(v) for v in value])
    if isinstance(value, set | frozenset):
        return repr(sorted(str(_plain(v)) for v in value))
    return None


def _address(judge: Any) -> list[str]:
    """Host and path of its base URL."""
    address = getattr(judge, "base_url", None) or getattr(judge, "openai_api_base", None)
    if not address and isinstance(judge, str | Endpoint) and str(judge).startswith("openai:"):
        address = os.environ.get("OPENAI_BASE_URL")
    parts = urlsplit(str(address or ""))
    host = parts.netloc.rpartition("@")[2]
    return [scrubbed(host + parts.path.rstrip("/"))] if host else []


def destination(judge: Any) -> str:
    """Where a judge's prompts go and by which key, without the key.

    Such as "openai:m: texts go to https://host/v1, with the key in OPENAI_API_KEY"; "" for the embedded judge, which
    sends nothing.
    """
    name = name_of(judge)
    if name == "embedded" or getattr(judge, "_llm_type", "") == "embedded":
        return ""
    endpoint = Endpoint(model=judge) if isinstance(judge, str) else judge
    if not isinstance(endpoint, Endpoint):
        where = "".join(_address(judge)) or "where the chat model object sends them"
        return one_line(f"{name}: texts go to {where}, with what the object holds as its key", 300)
    provider = name.partition(":")[0]
    address = endpoint.address or (bare(os.environ.get("OPENAI_BASE_URL") or "") if provider == "openai" else "")
    if provider != "openai":
        return one_line(f"{name}: texts go to {provider}, with the key that its package looks up", 300)
    key = endpoint.api_key_env if os.environ.get(endpoint.api_key_env) else ""
    where = address or "https://api.openai.com/v1"
    return one_line(f"{name}: texts go to {where}, " + (f"with the key in {key}" if key else "without a key"), 300)
