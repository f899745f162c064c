"""How two configurations differ, in lines for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from judgegraph.errors import one_line

ABSENT = "not there"
LONGEST = 80  # characters of a value in a line
LISTED = ("edges", "state")  # a line for each that came or went


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """A readable line for each thing that is not the same: "nodes.critique.prompt: sage@1111aaaa -> sage@2222bbbb".

    What came or went as a whole (a node, a criterion) is one line: "nodes.extra: not there -> Judge". None where
    two configurations mean the same, whatever the order of their keys.
    """
    lines: list[str] = []
    for key in [*old, *(key for key in new if key not in old)]:
        if not (_inside(key, old, new) or _inside(key, new, old)):
            lines += _changed(key, old.get(key, ABSENT), new.get(key, ABSENT))
    return lines


def _inside(key: str, lacking: Mapping[str, Any], having: Mapping[str, Any]) -> bool:
    """Whether it is a part of something that is lacking as a whole, which has a line of its own."""
    ends = [place for place, sign in enumerate(key) if sign in "./"]
    return any(key[:end] in having and key[:end] not in lacking for end in ends)


def _changed(key: str, old: Any, new: Any) -> list[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        names = [*old, *(name for name in new if name not in old)]
        lines = [line for n in names for line in _changed(f"{key}.{n}", old.get(n, ABSENT), new.get(n, ABSENT))]
        return lines if lines or list(old) == list(new) else _changed(f"{key}, in order", list(old), list(new))
    if old == new:
        return []
    if key in LISTED and isinstance(old, list) and isinstance(new, list):
        gone = [f"{key}: no more: {one_line(one)}" for one in old if one not in new]
        return gone + [f"{key}: new: {one_line(one)}" for one in new if one not in old]
    before, after = _cut(_text(old), _text(new))
    return [f"{one_line(key, 120)}: {before} -> {after}"]


def _cut(old: str, new: str) -> tuple[str, str]:
    """Both in short; where they begin alike beyond that, from shortly before they part."""
    same = next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = same - LONGEST // 4 if same > LONGEST // 2 and max(len(old), len(new)) > LONGEST else 0
    before, after = (("…" if start else "") + one_line(text[start:], LONGEST) for text in (old, new))
    return (before, after) if before != after else (before, f"{after} (other white space)")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
