"""A setting of an agent as JSON that is the same in every process, and holds no key."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel

from judgegraph.calls import Endpoint
from judgegraph.models.secrets import bare, scrubbed
from judgegraph.runtime.code_digest import code_of
from judgegraph.runtime.judge_line import SECRET, judge_line

DEEPEST = 8  # levels of a nested setting
_OPERATIONAL = re.compile(  # how fast, how patiently and where, never what
    r"(?:.*_)?(?:concurrency|timeout|deadline|attempts|retries|limiter|cache|cache_dir|callbacks|verbose|client)"
)
_SECRETIVE = re.compile(r".*(?:header|cookie|passw|(?:^|_)auth(?:$|_)).*", re.I)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.I)


def kept(name: str) -> bool:
    """Whether a setting of this name may change a result, and is no key."""
    return not (_OPERATIONAL.fullmatch(name) or SECRET.fullmatch(name) or _SECRETIVE.fullmatch(name))


def is_judge(value: Any) -> bool:
    """Whether it is an endpoint or a chat model object."""
    return isinstance(value, Endpoint) or (hasattr(value, "_llm_type") and hasattr(type(value), "model_fields"))


def told(value: Any, depth: int = 0) -> Any:
    """A judge by its line, a file by its name, a function or any other object by its name and code."""
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Enum)):
        return _scalar(value)
    if is_judge(value):
        return judge_line(value, None)
    if depth == DEEPEST or isinstance(value, type) or hasattr(value, "get_secret_value"):
        return _named(value)
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, PurePath | re.Pattern):
        return value.name if isinstance(value, PurePath) else str(value.pattern)
    if isinstance(value, Mapping):
        return {str(k): told(v, depth + 1) for k, v in value.items() if kept(str(k))}
    if isinstance(value, list | tuple):
        return [told(v, depth + 1) for v in value]
    if isinstance(value, set | frozenset):
        return sorted((told(v, depth + 1) for v in value), key=json.dumps)
    return _object(value, depth)


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return scrubbed(bare(value) if _URL.fullmatch(value) else value)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _object(value: Any, depth: int) -> Any:
    if hasattr(value, "ainvoke"):  # a chain of LangChain: its steps, or what is bound
        inner = [getattr(value, name, None) for name in ("steps", "steps__", "func", "afunc", "bound")]
        if any(one is not None for one in inner):
            found = next(one for one in inner if one is not None)
            return told([found, getattr(value, "kwargs", {})] if inner[-1] is found else found, depth + 1)
    if isinstance(value, BaseModel):
        return told({name: getattr(value, name) for name in type(value).model_fields}, depth)
    if is_dataclass(value):
        own = {f.name: getattr(value, f.name) for f in fields(value)}
        return {"is": _named(value), **told(own, depth)}
    return _named(value)


def _named(value: Any) -> str:
    if hasattr(value, "get_secret_value"):
        return "a secret"
    name = getattr(value, "__name__", None) or type(value).__name__
    code = code_of(value)
    return f"{name}@{code}" if code else str(name)
