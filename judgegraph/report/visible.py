"""Judged and generated texts as a page may show them: what cannot be seen is made visible, what is long is cut."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_JOINERS = frozenset("\u200c\u200d")  # letters of some scripts and composed emoji need them
_ASKED = re.compile(r"[^\x20-\x7e\n\t\w]")


def visible(text: str) -> str:
    """Control characters as their pictures; direction marks, tag characters, halves of pairs and the like as U+FFFD."""
    return _ASKED.sub(_shown, text.replace("\r\n", "\n"))


def _shown(found: re.Match[str]) -> str:
    c = found[0]
    if c.isprintable() or (c.isspace() and ord(c) > 0x9F and c not in "\u2028\u2029") or c in _JOINERS:
        return c
    return chr(0x2400 + ord(c)) if ord(c) < 0x20 else "\u2421" if c == "\x7f" else "\ufffd"


def finalize(value: Any) -> Any:
    """What every expression of a template goes through before it is escaped."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return value if value.isascii() and value.isprintable() else visible(value)
    return value


@dataclass(frozen=True)
class Cut:
    """A text of which at most a beginning is shown; `more` says how many characters of it are not."""

    text: str
    more: int = 0

    def __bool__(self) -> bool:
        return bool(self.text or self.more)


def cut(text: str, most: int) -> Cut:
    """The beginning of a text, of at most `most` characters."""
    return Cut(text) if len(text) <= most else Cut(text[:most], len(text) - most)


def line(text: str, most: int) -> str:
    """One line of at most `most` characters, ending in "…" where it was longer."""
    found = " ".join(text[: 4 * most + 4].split())
    return found if len(found) <= most else found[: max(0, most - 1)].rstrip() + "…"
