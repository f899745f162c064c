"""What sets a request apart from the nearest of those that were recorded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, unified_diff

from judgegraph.errors import one_line
from judgegraph.testing.asked import Asked

MOST_LINES, MOST_COMPARED, LOOKED_AT = 40, 200, 4000  # lines shown, requests and characters of each compared


def difference(asked: Asked, recorded: Sequence[Asked]) -> str:
    """Lines that say what is missing, for an error; of a few dozen lines at most."""
    if not recorded:
        return "the recording holds no request"
    near = max(recorded[:MOST_COMPARED], key=lambda other: _likeness(asked, other))
    said = [f"no such request among {len(recorded)} recorded; it differs from the nearest"]
    said += [f"  {name}: {now}, recorded {was}" for name, now, was in _settings(asked, near)]
    was, now = (text_of(request).splitlines() for request in (near, asked))
    lines = list(unified_diff(was, now, "recorded", "asked", n=1, lineterm=""))
    said += [f"  {line[:1]}{one_line(line[1:], 160)}" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        said.append(f"  … and {len(lines) - MOST_LINES} lines more")
    return "\n".join(said)


def text_of(asked: Asked) -> str:
    """The messages as text, each under its role."""
    return "\n".join(f"[{m['role']}]\n{_content(m)}" for m in asked.messages)


def _content(message: dict[str, object]) -> str:
    text = message["content"] if isinstance(message["content"], str) else json.dumps(message["content"])
    rest = {k: v for k, v in message.items() if k not in ("role", "content")}
    return f"{text}\n{json.dumps(rest, sort_keys=True)}" if rest else str(text)


def _likeness(asked: Asked, other: Asked) -> tuple[float, int]:
    texts = (text_of(asked), text_of(other))
    if texts[0] == texts[1]:
        return 1.0, -len(list(_settings(asked, other)))
    return SequenceMatcher(None, texts[0][:LOOKED_AT], texts[1][:LOOKED_AT]).quick_ratio(), 0


def _settings(asked: Asked, other: Asked) -> Iterable[tuple[str, str, str]]:
    for name in sorted({*asked.settings, *other.settings}):
        now, was = (json.dumps(one.settings.get(name), sort_keys=True) for one in (asked, other))
        if now != was:
            yield name, one_line(now, 100), one_line(was, 100)
