"""What is written down as one line of JSON, whatever stands in it, the same with orjson and without."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from math import isfinite
from typing import Any
from uuid import UUID

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]


def compact(value: Any) -> bytes:
    """A value as JSON without spaces, in UTF-8; what JSON has no word for is written as its `repr`, nan as null.

    Raises:
        Exception: of something foreign in it that can be neither written nor told.
    """
    if orjson is not None:
        try:
            options = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
            return orjson.dumps(value, default=_told, option=options)
        except TypeError:  # a lone surrogate, a large whole number, a key that is no text: JSON can, orjson cannot
            pass
    try:
        return _ENCODER.encode(value).encode("utf-8", "replace")
    except ValueError:  # nan, which our readers refuse
        return _ENCODER.encode(_finite(value)).encode("utf-8", "replace")


def _told(value: Any) -> Any:
    if isinstance(value, float):  # a number of numpy's, say
        return float(value)
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, UUID) else repr(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_told, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
