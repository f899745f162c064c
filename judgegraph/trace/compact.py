"""What is written down as one line of JSON, whatever stands in it."""

from __future__ import annotations

import json
from typing import Any

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=repr)


def compact(value: Any) -> bytes:
    """A value as JSON without spaces, in UTF-8; what JSON has no word for is written as its `repr`.

    Raises:
        Exception: of something foreign in it that can be neither written nor told.
    """
    if orjson is not None:
        try:
            return orjson.dumps(value, default=repr, option=orjson.OPT_PASSTHROUGH_DATACLASS)
        except TypeError:  # a lone surrogate, a large whole number, a key that is no text: JSON can, orjson cannot
            pass
    return _ENCODER.encode(value).encode("utf-8", "replace")
