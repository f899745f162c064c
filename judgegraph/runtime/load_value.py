"""What may stand in a row: values that strict JSON can write. Anything else is a fault, named by its field."""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any, TypeAlias

from judgegraph.errors import one_line

MOST_NESTED = 100  # levels of JSON in a row; what walks a value later can rely on it
Rows: TypeAlias = Generator[tuple[int, "dict[str, Any] | Fault"]]  # where a row starts, what stands there


class Fault(Exception):
    """Why a row is no sample: the field it lies in ("" for the whole row), and the reason in one line."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field, self.reason = field, reason


def plain(value: Any, field: str) -> Any:
    """A value as strict JSON can write it: dates as text, decimals as numbers.

    Raises:
        Fault: nested too deeply, no finite number, a lone surrogate, or nothing JSON has; its field is the path.
    """
    try:
        return _plain(value, 1)
    except Fault as fault:
        raise Fault(one_line(_path(field, fault.field), 80), fault.reason) from None


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Mapping | list | tuple):
        if depth > MOST_NESTED:
            raise Fault("", f"is nested deeper than {MOST_NESTED} levels")
        return _object(value, depth) if isinstance(value, Mapping) else _list(value, depth)
    if isinstance(value, float | Decimal):
        if not math.isfinite(value):
            raise Fault("", f"{value} is no number that JSON has; leave the value out, or write null")
        return float(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Fault):
        raise value
    raise Fault("", f"expected text, a number or JSON, got {type(value).__name__}")


def _object(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    found = {}
    for key, item in value.items():
        name = _text(str(key))
        try:
            found[name] = _plain(item, depth + 1)
        except Fault as fault:
            raise Fault(_path(name, fault.field), fault.reason) from None
    return found


def _list(value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
    found: list[Any] = []
    for item in value:
        try:
            found.append(_plain(item, depth + 1))
        except Fault as fault:
            raise Fault(_path(f"[{len(found)}]", fault.field), fault.reason) from None
    return found


def _path(outer: str, inner: str) -> str:
    return outer + ("." if inner and not inner.startswith("[") else "") + inner


def _text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            code = ord(text[error.start])
            if 0xDC80 <= code <= 0xDCFF:  # how a byte that is no UTF-8 was read
                raise Fault("", "is not UTF-8; save the file as UTF-8") from None
            raise Fault("", f"holds a lone surrogate (\\u{code:04x}), which is no character") from None
    return text


def kind_of(value: Any) -> str:
    """What a value is, in the words of JSON."""
    if isinstance(value, list):
        return "a list with something else in it" if value else "an empty list"
    if isinstance(value, str):
        return "text" if value else "empty text"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return "an object" if isinstance(value, Mapping) else "a number"
