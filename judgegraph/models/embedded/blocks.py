"""The blocks ("## Name ...") in a prompt's sections: criteria, and scores given to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SCALE = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:-|–|to|\.\.)\s*(-?\d+(?:\.\d+)?)\s*(any)?")
_FIELD = re.compile(r"^(key|scale|definition|steps|guideline|score|label|status|reason)\s*:\s*(.*)$", re.I)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE]-?\d+)?")


@dataclass(frozen=True)
class Seen:
    """A criterion as a prompt shows it, with a draft score where one stands."""

    name: str
    key: str = ""  # of a form, where the prompt says it
    definition: str = ""
    low: float | None = None
    high: float | None = None
    whole: bool = True
    labels: tuple[str, ...] = ()
    value: float | None = None
    label: str = ""
    reason: str = ""


def slug(name: str) -> str:
    """A name in any script as a key: two names are one where they differ in case and marks alone."""
    return re.sub(r"[\W_]+", "_", name.lower()).strip("_")


def _fields(block: str) -> dict[str, str]:
    held: dict[str, str] = {}
    current = ""
    for line in block.splitlines():
        match = _FIELD.match(line)
        if match and match[1].lower() not in held:
            current = match[1].lower()
            held[current] = match[2]
        elif current:
            held[current] += "\n" + line
        elif line.strip():
            held["definition"] = (held.get("definition", "") + " " + line).strip()
    return held


def _seen(name: str, block: str) -> Seen:
    held = _fields(block)
    scale = held.get("scale", "").strip()
    match = _SCALE.fullmatch(scale)
    low, high = (float(match[1]), float(match[2])) if match else (None, None)
    labels = tuple(p.strip() for p in re.split(r"\s*[/|]\s*", scale) if p.strip()) if scale and not match else ()
    number = NUMBER.search(held.get("score", ""))
    whole = not (match and (match[3] or "." in match[1] + match[2]))
    return Seen(
        name=name.strip(), key=held.get("key", "").strip(), definition=" ".join(held.get("definition", "").split()),
        low=low, high=high, whole=whole,
        labels=labels, value=float(number[0]) if number else None, label=held.get("label", "").strip(),
        reason=" ".join(held.get("reason", "").split()),
    )  # fmt: skip


def blocks(text: str) -> Iterator[Seen]:
    """Criteria or scores in a section; a section without "## " headings is one, or one per "name: text" line."""
    if not text.strip():
        return
    parts = re.split(r"^##\s+(.+)$", text, flags=re.M)
    if len(parts) > 2:
        for name, block in zip(parts[1::2], parts[2::2], strict=False):
            yield _seen(name, block)
        return
    lines = [re.sub(r"^\s*(?:[-*]|\d+[.)])\s*", "", line) for line in text.splitlines() if line.strip()]
    named = [line.partition(":") for line in lines]
    if len(lines) > 1 and all(colon and len(name) < 80 for name, colon, _ in named):
        for name, _, rest in named:
            yield _seen(name, "Definition: " + rest.strip())
        return
    name, colon, rest = lines[0].partition(":")
    short = bool(colon) and len(name) < 80
    yield _seen(
        name if short else lines[0][:80], "Definition: " + " ".join([rest.strip() if short else lines[0], *lines[1:]])
    )
