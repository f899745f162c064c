"""A request's body as bytes, and a chat completion from bytes, alike with orjson and without."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from judgegraph.errors import one_line
from judgegraph.models.http_errors import LOOKED_AT, NoCompletion
from judgegraph.models.secrets import scrubbed

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]


def written(body: Mapping[str, Any]) -> bytes:
    """A body as JSON."""
    if orjson is not None:
        try:
            return orjson.dumps(body)
        except TypeError:  # a lone surrogate, a large whole number: JSON can, orjson cannot
            pass
    return json.dumps(body).encode()


def completion(answer: bytes, status: int, secrets: Callable[[], Iterable[str]] = tuple) -> dict[str, Any]:
    """A chat completion: choices that each hold a message.

    Args:
        secrets: gives the texts that must stand in no message, where one is needed.

    Raises:
        NoCompletion: it has another shape.
    """
    data = _parsed(answer)
    choices = data.get("choices") if isinstance(data, dict) else None
    if isinstance(choices, list) and all(isinstance(c, dict) and isinstance(c.get("message"), dict) for c in choices):
        return dict(data)
    said = data.get("error") if isinstance(data, dict) else None
    shown = answer[:LOOKED_AT].decode("utf-8", "replace") if said is None else str(said)
    shown = one_line(scrubbed(shown, secrets()), 200)  # cut last: half a key would not be known as one
    raise NoCompletion(f"HTTP {status} with {shown or 'nothing'}")


def _parsed(answer: bytes) -> Any:
    """What `json` makes of it, with orjson or without: where that refuses, `json` has the last word."""
    if orjson is not None:
        try:
            return orjson.loads(answer)
        except ValueError:
            pass
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        return None
