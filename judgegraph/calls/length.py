"""How long a reply may be where nobody has said: tokens of the whole of it, characters of each text in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

# Characters of the texts in forms of this package: well above what a judge writes who keeps to the point. A text that
# is a result of its own (a corrected response, a plan) is in none of these tables: it is never cut.
TEXTS: Mapping[str, int] = MappingProxyType({
    "reason": 600, "explanation_a": 600, "explanation_b": 600, "comparison": 600, "case_against": 600, "answer": 600,
    "thoughts": 1500, "definition": 400, "name": 120, "guideline": 1600,
})  # fmt: skip
SHORTER: Mapping[str, int] = MappingProxyType({
    **{name: min(most, 200) for name, most in TEXTS.items()}, "thoughts": 400, "guideline": 600,
})  # fmt: skip
ANY_SHORTER = 500  # characters of any other text, once a reply was cut off
WHOLE = ("response",)  # texts that may be as long as one in the prompt, and are of no use when cut

SHARE = 1 / 2  # tokens to a character of a text: twice what English takes, about what Chinese does
OPEN = 1000  # tokens of a text of which nothing is known
MORE = 300  # of a text that may be as long as its prompt, beside that
SMALL = 12  # of a number, a name of a list, a bracket
ITEMS = 8  # of a list whose length is open
LISTED = 100  # numbers in a list at most
SLACK = 250  # of words around a form, which servers that ignore schemas let through
FREE = 2048  # tokens of a reply that is free text, beside as many as the prompt has
CALLS = 1000  # more where tools are offered
THINKING = 16_384  # more for a judge that thinks before it answers: what it thinks counts
_THINKERS = re.compile(
    r"(?<![a-z0-9])(?:o\d|r1|gpt-?5|gpt-?oss|qwq|qwen-?3|magistral|grok-[34]|gemini-[23])|think|reason", re.I
)


@dataclass(frozen=True)
class Room:
    """What a reply may take, where neither the agent nor the judge's settings say.

    Attributes:
        tokens: of one choice, without what a judge thinks before it answers; 0 is no cap.
        texts: name of a property -> characters at most. rest: of any other text, 0 for no bound.
        steps: list the numbers of a range: many servers make a grammar of a list, and ignore the ends of a range.
    """

    tokens: int = 0
    texts: Mapping[str, int] = field(default_factory=lambda: TEXTS)
    rest: int = 0
    steps: bool = False

    def shorter(self) -> Room:
        """The same room, and shorter texts in it: after a reply that was cut off, or for a judge that often is."""
        return replace(self, texts=SHORTER, rest=ANY_SHORTER)


class Bounded(dict[str, Any]):
    """A schema with bounds of ours: so that a refusal of them is told from a refusal of the schema."""


def room_for(schema: Mapping[str, Any] | None, texts: Mapping[str, int], prompt: int, tokens: int, tools: bool) -> Room:
    """The room of a reply to a form.

    Args:
        texts: of the form. prompt: tokens of the prompt. tokens: of a text form that knows; 0 where it does not.
        tools: whether some are offered.
    """
    if not tokens:
        tokens = FREE + prompt if schema is None else SLACK + round(_tokens(schema, schema, texts, prompt))
    return Room(tokens + CALLS * tools, texts)


def _tokens(
    schema: Any, root: Mapping[str, Any], texts: Mapping[str, int], prompt: int, key: str = "", deep: int = 0
) -> float:
    if not isinstance(schema, Mapping) or deep > 12:
        return OPEN
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return _tokens((root.get("$defs") or {}).get(name), root, texts, prompt, key, deep + 1)
    if "enum" in schema or "const" in schema:
        return SMALL
    if options := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        return max(_tokens(option, root, texts, prompt, key, deep + 1) for option in options)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if kind == "object":
        inner = schema.get("properties") or {}
        own = (_tokens(s, root, texts, prompt, name, deep + 1) for name, s in inner.items())
        return SMALL + sum(own) + sum(len(name) / 2 + SMALL for name in inner)
    if kind == "array":
        item = _tokens(schema.get("items"), root, texts, prompt, key, deep + 1)
        return SMALL + int(schema.get("maxItems", _items(schema))) * item
    if kind != "string":
        return SMALL
    most = schema.get("maxLength") or texts.get(key)
    if key in WHOLE:
        return MORE + prompt
    return most * SHARE if most else OPEN


def bounded(schema: Mapping[str, Any], room: Room) -> Mapping[str, Any]:
    """The schema with a `maxLength` for each text that the room names, and numbers listed where it says so."""
    found = _bounded(schema, room, "")
    return Bounded(found) if found != schema else schema


def _bounded(schema: Any, room: Room, key: str) -> Any:
    if isinstance(schema, list):
        return [_bounded(one, room, key) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    if schema.get("type") == "string":
        most = room.rest if key in WHOLE else room.texts.get(key, room.rest)
        own = schema.keys() & {"enum", "const", "maxLength", "pattern", "format"}
        return {**schema, "maxLength": most} if most and not own and key not in WHOLE else schema
    if schema.get("type") == "number" and room.steps and "enum" not in schema:
        return _listed(schema)
    found = dict(schema)
    for name in ("properties", "$defs"):
        if isinstance(inner := schema.get(name), Mapping):
            found[name] = {key: _bounded(one, room, key) for key, one in inner.items()}
    for name in ("items", "anyOf", "oneOf", "allOf"):
        if name in schema:
            found[name] = _bounded(schema[name], room, key)
    if schema.get("type") == "array" and room.texts and "maxItems" not in schema:
        found["maxItems"] = _items(schema)
    return found


def _listed(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A range of numbers as a list of them, ten to a point on a short scale; itself where it has no ends."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None or high is None or not 0 < high - low <= LISTED:
        return schema
    parts = 10 if high - low <= LISTED / 10 else 1
    return {"type": "number", "enum": [round(low + i / parts, 6) for i in range(int((high - low) * parts) + 1)]}


def _items(schema: Mapping[str, Any]) -> int:
    """Of a list whose length is open: one for each name that it may hold, or that its entries are about."""
    item = schema.get("items")
    item = item if isinstance(item, Mapping) else {}
    about = [item, *(one for one in (item.get("properties") or {}).values() if isinstance(one, Mapping))]
    names = [len(one["enum"]) for one in about if isinstance(one.get("enum"), list | tuple)]
    return max([int(schema.get("minItems", 0)), *(names[:1] or [ITEMS])])


@lru_cache(maxsize=256)
def thinks_by_name(model: str) -> bool:
    """Whether a model of this name is known to think before it answers; others are found out."""
    return _THINKERS.search(model.rpartition(":")[2]) is not None
