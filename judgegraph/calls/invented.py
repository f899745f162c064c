"""Invented values that fit a JSON schema or a text form, as one manner of answering has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, Literal

ENDLESS = 5  # items of a list without an upper bound, where the most are given
LONG = 240  # characters of a long text
FREE = "text"  # the form of `ask` without a form
NAMES = ("name", "title", "label", "criterion", "id", "key")  # properties that hold a few words
CONSTANT = "Something else"
SHORT = ("Yes.", "No.", "5", "[RESULT] 5", "")  # drawn for a prompt of one's own; "" is a text as elsewhere
_SCALE = re.compile(r"^Scale: (.+)$", re.M)
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)(?: any)?")
_COUNT = re.compile(r"\b(\d{1,3}) (?:criteria|aspects)\b")

Numbers = Literal["none", "high", "low", "drawn"]


@dataclass(frozen=True)
class Manner:
    """One way to answer every call.

    Attributes:
        numbers: "none" abstains where that is allowed, else gives the highest.
        most: lists as long as their schema allows, and the last of several options; else the shortest, and the first.
        alike: one text for everything; else each call has its own.
        tools: how often offered tools are called.
        settled: log-probabilities decide the answer; else they say nothing of it.
        stubborn: no reply can be read before the last that is asked for.
        doubts: conditions find everything in doubt, the first criterion alone, or nothing; None: what they find.
    """

    name: str
    numbers: Numbers
    most: bool = False
    alike: bool = True
    tools: Literal["never", "once", "always"] = "never"
    settled: bool = True
    stubborn: bool = False
    doubts: bool | Literal["first"] | None = None


@dataclass
class Writer:
    """Invents what one choice of one reply says; the same seed says the same."""

    manner: Manner
    seed: str

    @cached_property
    def _draw(self) -> Random:
        return Random(self.seed)

    def value(self, schema: Mapping[str, Any], root: Mapping[str, Any], name: str = "", depth: int = 0) -> Any:
        """A value that fits a schema; recursive ones end."""
        if "$ref" in schema:
            target: Any = root
            for part in filter(None, str(schema["$ref"]).lstrip("#").split("/")):
                target = target[part]
            return self.value(target, root, name, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._one_of(list(schema["enum"]))
        if options := schema.get("anyOf") or schema.get("oneOf"):
            return self._option(options, root, name, depth)
        if "allOf" in schema:
            joined = {key: value for part in schema["allOf"] for key, value in part.items()}
            return self.value({**joined, **{k: v for k, v in schema.items() if k != "allOf"}}, root, name, depth + 1)
        return self._of_kind(schema, root, name, depth)

    def _of_kind(self, schema: Mapping[str, Any], root: Mapping[str, Any], name: str, depth: int) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            return self._option([{**schema, "type": one} for one in kind], root, name, depth)
        if kind == "object":
            held = schema.get("properties", {})
            return {key: self.value(inner, root, key, depth + 1) for key, inner in held.items()}
        if kind == "array":
            return self._list(schema, root, name, depth)
        if kind in ("integer", "number"):
            return self._number(schema, whole=kind == "integer")
        if kind == "boolean":
            return self._one_of([self.manner.numbers == "high", True])
        return None if kind == "null" else self.text(name)[: schema.get("maxLength", LONG)]

    def _option(self, options: Sequence[Any], root: Mapping[str, Any], name: str, depth: int) -> Any:
        some = [option for option in options if option.get("type") != "null"]
        silent = self.manner.numbers == "none" or (self.manner.numbers == "drawn" and self._draw.random() < 0.1)
        if not some or (len(some) < len(options) and (silent or depth > 8)):
            return None
        return self.value(self._one_of(some), root, name, depth + 1)

    def _one_of(self, options: list[Any]) -> Any:
        if all(isinstance(o, int | float) and not isinstance(o, bool) for o in options):
            options = sorted(options, reverse=self.manner.numbers in ("none", "high"))
            return self._draw.choice(options) if self.manner.numbers == "drawn" else options[0]
        if self.manner.numbers == "drawn":
            return self._draw.choice(options)
        return options[-1] if self.manner.most else options[0]

    def _list(self, schema: Mapping[str, Any], root: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        items = schema.get("items", {})
        least = int(schema.get("minItems", 0))
        listed = list(items.get("enum", ())) if isinstance(items, Mapping) else []
        most = int(schema.get("maxItems", max(least, len(listed) or ENDLESS)))
        count = most if self.manner.most and depth <= 8 else least
        if self.manner.numbers == "drawn" and depth <= 8:
            count = self._draw.randint(least, most)
        if listed:
            return [listed[i % len(listed)] for i in range(count)]
        return [self.value(items, root, name, depth + 1) for _ in range(count)]

    def _number(self, schema: Mapping[str, Any], whole: bool) -> float | int:
        step = 1 if whole else 0
        low = schema.get("minimum", schema.get("exclusiveMinimum", 0 if whole else -0.01) + (step or 0.01))
        high = schema.get("maximum", schema.get("exclusiveMaximum", max(low, 5) + (step or 0.01)) - (step or 0.01))
        return self._between(low, high, whole)

    def _between(self, low: float, high: float, whole: bool) -> float | int:
        at = {"none": high, "high": high, "low": low}.get(self.manner.numbers)
        if at is None:
            return self._draw.randint(round(low), round(high)) if whole else round(self._draw.uniform(low, high), 2)
        return round(at) if whole else at

    def text(self, name: str = "") -> str:
        """Words: a few for what names a thing, else as many as the manner has."""
        if self.manner.alike:
            return CONSTANT
        own = f"text {self._draw.getrandbits(64):x}"
        return own if name in NAMES else f"{own} " + "as was said before " * ((LONG - len(own)) // 19)

    def plain(self, form: str, asked: str) -> str:
        """A reply without a schema, such as the text forms of ours read it.

        Args:
            form: its name. asked: the prompt, for the scale or the number of lines it names.
        """
        if form == "rating":
            return f"Final score: {self._answer(asked)}"
        if form == "pairwise":
            a, b = self._answer(asked), self._answer(asked)
            return f"Response A Score: {a}\nResponse B Score: {b}\nComparison: {self.text()}"
        if form in ("criteria", "aspects"):
            found = _COUNT.findall(asked)
            count = max(map(int, found), default=ENDLESS) if self.manner.most else 1
            return "\n".join(f"{i}. {self.text('name')}: {self.text('name')}" for i in range(1, count + 1))
        drawn = form == FREE and self.manner.numbers == "drawn"
        return (self._draw.choice(SHORT) if drawn else "") or f"{self.text()}."

    def _answer(self, asked: str) -> str:
        """On the first scale that the prompt shows."""
        if self.manner.numbers == "none":
            return "N/A"
        scale = _SCALE.search(asked)
        labels = scale[1].split(" / ") if scale else []
        if len(labels) > 1:
            return str(self._one_of(labels))
        ends = _RANGE.fullmatch(scale[1].strip()) if scale else None
        low, high = (float(ends[1]), float(ends[2])) if ends else (1.0, 5.0)
        return f"{self._between(low, high, whole=True):g}"
