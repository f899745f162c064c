"""Rows of JSON Lines files, and of JSON files that hold one list."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from judgegraph.errors import DataError, one_line
from judgegraph.runtime.load_text import CUT, decoded, lines, opened
from judgegraph.runtime.load_value import Fault, Rows, kind_of

MOST_LIST = 64 * 2**20  # bytes of a JSON file that holds one list: it is read whole
BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(r"[ \t\r\n]*")


def jsonl_rows(path: Path) -> Rows:
    """One JSON object per line; blank lines are skipped, a byte order mark before a line is ignored."""
    for number, line in lines(path):
        if isinstance(line, Fault):
            yield number, line
        elif line.strip():
            try:
                yield number, _only(decoded(line.rstrip(b"\r\n")))
            except Fault as fault:
                yield number, fault


def is_list(path: Path) -> bool:
    """Whether a JSON file holds one list, rather than an object per line."""
    starts = (line if isinstance(line, Fault) else line.removeprefix(BOM).lstrip() for _, line in lines(path))
    first = next((start for start in starts if start), b"")
    return not isinstance(first, Fault) and first.startswith(b"[")


def list_rows(path: Path) -> Rows:
    """The objects of one list, numbered from 1. The file is read whole.

    Raises:
        DataError: it is larger than MOST_LIST.
    """
    with opened(path) as file:
        raw = file.read(MOST_LIST + 1)
    if len(raw) > MOST_LIST:
        limit = f"is one JSON list of over {MOST_LIST:,} bytes"
        raise DataError(f"{one_line(path)}: {limit}; write one object per line, in a .jsonl file")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        yield 1, Fault("", f"line {line} is not UTF-8; save the file as UTF-8{CUT}")
        return
    number, at = 1, _skipped(text, text.index("[") + 1)
    while number > 1 or not text.startswith("]", at):
        try:
            value, end = _parsed(text, at)
            yield number, _object(value)
            number, at = number + 1, _skipped(text, end)
            if text.startswith("]", at):
                return
            if not text.startswith(",", at):
                raise Fault("", "is not JSON: expected ',' or ']'")
            at = _skipped(text, at + 1)
        except Fault as fault:
            line = text.count("\n", 0, at) + 1
            yield number, Fault(fault.field, f"{fault.reason} (from line {line}){CUT}")
            return


def _skipped(text: str, at: int) -> int:
    """The place of the next character that is no white space."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too


def _only(text: str) -> dict[str, Any] | Fault:
    """The one object in a line."""
    value, end = _parsed(text, _skipped(text, 0))
    end = _skipped(text, end)
    if end < len(text):
        raise Fault("", f"is not JSON: more text behind the value, at character {end + 1}")
    return _object(value)


def _parsed(text: str, at: int) -> tuple[Any, int]:
    """One JSON value and where it ends; doubled keys and huge numbers stand in it as faults."""
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        said = error.msg.removesuffix(" at")
        raise Fault("", f"is not JSON: {said} at character {error.pos - at + 1}") from None
    except RecursionError:
        raise Fault("", "is nested too deeply") from None


def _object(value: Any) -> dict[str, Any] | Fault:
    if isinstance(value, dict | Fault):
        return value
    return Fault("", f"expected a JSON object, got {kind_of(value)}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any] | Fault:
    """An object; one that gives a key twice could mean either, so it is a fault."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            return Fault(one_line(name, 60), "the key is given twice in one object")
        found[name] = value
    return found


def _whole(digits: str) -> int | Fault:
    """A whole number that a float can hold; int() itself takes quadratic time, and refuses 4,300 digits."""
    return int(digits) if len(digits) <= 308 else Fault("", "is a whole number of over 308 digits")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_int=_whole)
