"""How many tokens a call will take, before it is made."""

from __future__ import annotations

import json
import os
import re
import tempfile
from bisect import bisect_left
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha1, sha256
from pathlib import Path
from random import Random
from typing import Any, Literal

from judgegraph.calls.types import BYTES, COMPLAINT, FRAME, Call, Choice, sized, utf8_size
from judgegraph.evidence import content_text
from judgegraph.replies.tokens import Token

APPROXIMATION = "about 4 characters a token"
PIECE = 10_000  # characters at a time: a tokenizer's regular expressions give up on a million spaces


@dataclass(frozen=True)
class TokenCounter:
    """Counts tokens.

    Attributes:
        basis: how, in words to print beside a figure: "tokenizer o200k_base" or "about 4 characters a token".
    """

    basis: str = APPROXIMATION
    _encoding: Any = field(default=None, repr=False)

    def count(self, text: str) -> int:
        """Tokens of a text. A long one is counted in pieces, each of which may add one."""
        if self._encoding is None:
            return -(-utf8_size(text) // BYTES)
        pieces = (text[at : at + PIECE] for at in range(0, len(text), PIECE))
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in pieces)

    def prompt(self, call: Call) -> int:
        """Tokens of a call's messages, form and tools; how a provider words the latter two is not public."""
        contents = [message.content for message in call.messages]
        texts = [content if isinstance(content, str) else sized(content) for content in contents]
        texts += [json.dumps(part, ensure_ascii=False, default=str) for part in (call.schema, *call.tools) if part]
        return sum(map(self.count, texts)) + FRAME * len(contents)


def counter_for(model_name: str) -> TokenCounter:
    """The best counter there is for a judge ("openai:gpt-4.1-mini") without fetching anything.

    The first of a kind reads its vocabulary, which takes about half a second.
    """

    _, colon, name = model_name.partition(":")
    encoding = encoding_of(name if colon else model_name)
    return TokenCounter() if encoding is None else TokenCounter(f"tokenizer {encoding.name}", encoding)


# A tokenizer's vocabulary, where it is on this machine already: `tiktoken` downloads one that is missing or damaged.


FOLDERS = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")  # environment variables, in tiktoken's order
ENCODINGS = {"o200k_base": "o200k_base", "o200k_harmony": "o200k_base", "cl100k_base": "cl100k_base"}
"""tiktoken's name -> one with the same words: they differ in special tokens, which no judged text may hold."""
VOCABULARIES = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""An encoding's name -> the SHA-256 of its file."""
VOCABULARY_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


def encoding_of(model: str) -> Any:
    """The tiktoken encoding of a model ("gpt-4.1-mini"), None where it has none or its vocabulary is not at hand."""
    try:
        from tiktoken import get_encoding
        from tiktoken.model import encoding_name_for_model

        name = ENCODINGS.get(encoding_name_for_model(model))
        return get_encoding(name) if name and _is_cached(name) else None
    except (ImportError, KeyError, ValueError, OSError):  # an estimate will do
        return None


def _is_cached(name: str) -> bool:
    """Whether tiktoken finds a whole vocabulary in its folder: under the SHA-1 of its address."""
    default = str(Path(tempfile.gettempdir(), "data-gym-cache"))
    folder = next((os.environ[one] for one in FOLDERS if one in os.environ), default)
    if not folder:  # it was told to keep none
        return False
    data = Path(folder, sha1(VOCABULARY_ADDRESS.format(name).encode()).hexdigest()).read_bytes()
    return sha256(data).hexdigest() == VOCABULARIES[name]


# Invented values that fit a JSON schema or a text form, as one manner of answering has them.


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
class ReplyPolicy:
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

    manner: ReplyPolicy
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


# Replies that nobody gave: what stands in for a judge while a plan is made, in several manners.
#
# A run's calls depend on its replies. A plan therefore runs the graph with replies of several manners, from the most
# sparing to the most demanding: what is asked under all of them depends on none, the others give the ends of a range.


SPARING = ReplyPolicy("sparing", "none", doubts=False)
PLEASED = ReplyPolicy("pleased", "high", doubts="first")
DRAWN = ReplyPolicy("drawn", "drawn", alike=False, tools="once")
DEMANDING = ReplyPolicy(
    "demanding", "low", most=True, alike=False, tools="always", settled=False, stubborn=True, doubts=True
)
MANNERS = (DEMANDING, SPARING, PLEASED, DRAWN)

PARTIAL = "ratings"  # the form whose reader takes what is there, and may ask for the rest in a call of its own


def simulated_choices(manner: ReplyPolicy, call: Call, address: bytes, last: bool) -> list[Choice]:
    """The choices of a reply, all that were asked for; the same for the same address.

    Args:
        last: it will not be asked again, should it be unreadable.
    """
    return [_choice(manner, call, f"{address.hex()}/{index}", last or not manner.stubborn) for index in range(call.n)]


def complains(call: Call) -> bool:
    """Whether it asks once more, as an earlier reply could not be used."""
    text = call.messages[-1].content if call.messages else ""
    return isinstance(text, str) and text.startswith(COMPLAINT)


@dataclass
class AskCounts:
    """How often each question was asked before, in vain: by the repeat index of the call.

    Several replies to one question have an index each, also where a judge is asked for them one at a time.
    """

    _wide: dict[int, int] = field(default_factory=dict)  # question -> replies wanted of it

    def before(self, call: Call) -> int:
        """Of this call."""
        again = complains(call)
        asked = call.messages[:-2] if again else call.messages
        question = hash((call.form, *((m.type, str(m.content)) for m in asked)))
        if not again:
            self._wide[question] = max(self._wide.get(question, 1), call.n, call.repeat + 1)
            return 0
        return call.repeat // max(call.n, self._wide.get(question, 1))


def _choice(manner: ReplyPolicy, call: Call, seed: str, last: bool) -> Choice:
    writer = Writer(manner, seed)
    if call.tools and _calls_tools(manner, call):
        return _tool_call(writer, call, seed)
    if not last and not call.tools:
        text = f'{{"{writer.text()}' if call.schema is not None else ""
    elif call.schema is None:
        text = writer.plain(call.form, "\n".join(content_text(m.content) for m in call.messages))
    else:
        value = writer.value(call.schema, call.schema)
        if manner.stubborn and call.form == PARTIAL and isinstance(value, dict) and len(value) > 1:
            value.popitem()
        text = json.dumps(value)
    return Choice(text, "stop", tokens=_tokens(manner, text) if call.logprobs else None)


def _tokens(manner: ReplyPolicy, text: str) -> tuple[Token, ...]:
    """One token that is sure of the whole text, or one in which no answer is found."""
    return (Token(text, {text: 0.0}),) if manner.settled else (Token("\0", {"\0": 0.0}),)


def _calls_tools(manner: ReplyPolicy, call: Call) -> bool:
    answered = any(message.type == "tool" for message in call.messages)
    return manner.tools == "always" or (manner.tools == "once" and not answered)


def _tool_call(writer: Writer, call: Call, seed: str) -> Choice:
    """The first tool offered, again and again: while others are not called, more may be wanted."""
    tool = call.tools[0].get("function", call.tools[0])
    schema = tool.get("parameters") or {"type": "object"}
    called = {
        "name": str(tool["name"]), "args": writer.value(schema, schema), "id": f"call_{seed[:16]}",
        "type": "tool_call",
    }  # fmt: skip
    return Choice("", "tool_calls", tool_calls=(called,))


# Prompt prefixes: what a provider that caches prompts charges less for.


REMEMBERED = 4_000_000  # characters of prompts, for each judge; the oldest are forgotten first


@dataclass
class Prefixes:
    """How much of the prompts stands in a prefix that the same judge was sent before.

    Attributes:
        prompt: tokens of all prompts. shared: those that stand in such a prefix.
    """

    prompt: int = 0
    shared: int = 0
    _judges: dict[Hashable, _Remembered] = field(default_factory=dict, repr=False)

    @property
    def share(self) -> float | None:
        """0 to 1; None before any prompt."""
        return self.shared / self.prompt if self.prompt else None

    def add(self, judge: Hashable, call: Call, tokens: int) -> None:
        """Count one prompt.

        Args:
            judge: whoever caches it. tokens: of the prompt, as counted or as the provider says.
        """
        text = "\0".join(f"{message.type}\0{message.content}" for message in call.messages)
        seen = self._judges.get(judge)
        if seen is None:
            seen = self._judges[judge] = _Remembered()
        self.prompt += tokens
        self.shared += round(tokens * seen.add(text) / len(text)) if text else 0


@dataclass
class _Remembered:
    """Prompts in alphabetical order, where the one with the longest common prefix is a neighbour."""

    texts: list[str] = field(default_factory=list)
    order: deque[str] = field(default_factory=deque)
    size: int = 0
    usual: int = 0  # characters that the last two had in common: those of a method's prompts are often as many

    def add(self, text: str) -> int:
        """The characters that it has in common with the start of one before it."""
        place = bisect_left(self.texts, text)
        shared = 0
        for other in self.texts[max(0, place - 1) : place + 1]:
            self.usual = _common(text, other, self.usual)
            shared = max(shared, self.usual)
        if shared == len(text):
            return shared
        self.texts.insert(place, text)
        self.order.append(text)
        self.size += len(text)
        while self.size > REMEMBERED and len(self.order) > 1:
            oldest = self.order.popleft()
            del self.texts[bisect_left(self.texts, oldest)]
            self.size -= len(oldest)
        return shared


def _common(one: str, other: str, guess: int = 0) -> int:
    """The length of their common prefix; a right guess makes it short."""
    low, high = 0, min(len(one), len(other))
    if guess <= high and one[:guess] == other[:guess]:
        low = guess
        if guess < high and one[guess] != other[guess]:
            return guess
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
