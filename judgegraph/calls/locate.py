"""Where a value stands in a JSON text: needed because tokens do not align with JSON."""

from __future__ import annotations

import json
import re
from collections import Counter

_SPACE = re.compile(r"[\s,:]*")
_SCALAR = re.compile(r"-?[\d.eE+-]+|[A-Za-z]+")
_OPEN = re.compile(r'\{\s*["}]')  # of an object, not of prose in braces
_DEEPEST = 40
_MOST = 50  # objects looked at: a text of braces alone must not cost quadratic time
Path = tuple[str, ...]
Span = tuple[int, int]


def spans(text: str) -> dict[Path, Span]:
    """Path -> (start, end) in characters of every scalar under the objects in a text.

    The text may have prose or a fence around its objects, and trailing commas. Items of arrays count by their
    index, written as text. A text that is cut off gives what stands before the cut. A path that stands twice,
    in one object or in two, is left out: it has no one place.
    """
    found: list[tuple[Path, Span]] = []
    at, tries = text.find("{"), 0
    while at >= 0 and tries < _MOST:
        tries += 1
        end = _value(text, at, (), found) if _OPEN.match(text, at) else at + 1
        at = text.find("{", end)
    counts = Counter(path for path, _ in found)
    return {path: span for path, span in found if counts[path] == 1}


def _value(text: str, at: int, path: Path, found: list[tuple[Path, Span]]) -> int:
    """Reads one value at `at`, returns where it ends; len(text) where it is cut off."""
    if at >= len(text) or len(path) > _DEEPEST:
        return len(text)
    if text[at] in "{[":
        return _inside(text, at, path, found)
    quoted = text[at] == '"'
    if quoted:
        end = _string_end(text, at)
    else:
        match = _SCALAR.match(text, at)
        end = match.end() if match else len(text)
    found.append((path, (at + 1, max(at + 1, end - 1)) if quoted else (at, end)))
    return end


def _inside(text: str, at: int, path: Path, found: list[tuple[Path, Span]]) -> int:
    is_object, index = text[at] == "{", 0
    at = _skip(text, at + 1)
    while at < len(text) and text[at] not in "}]":
        key = str(index)
        if is_object:
            if text[at] != '"':
                return len(text)
            end = _string_end(text, at)
            key = _text(text[at:end])
            at = _skip(text, end)
        at = _skip(text, _value(text, at, (*path, key), found))
        index += 1
    return at + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _string_end(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))


def _text(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted.strip('"')
