"""One request and one choice of its reply, as plain values: the same whoever answers."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from judgegraph.evidence import IMAGE_TOKENS, content_text, image_count
from judgegraph.models.judges import OPENAI, Judge
from judgegraph.trace.record import ReplyStatus

# How long a reply may be where nobody has said: tokens of the whole of it, characters of each text in it.


# Characters of the texts in forms of this package: well above what a judge writes who keeps to the point. A text that
# is a result of its own (a corrected response) is in none of these tables: it is never cut.
TEXTS: Mapping[str, int] = MappingProxyType({
    "reason": 600, "explanation_a": 400, "explanation_b": 400, "comparison": 400, "case_against": 600, "answer": 600,
    "thoughts": 1500, "definition": 400, "name": 120, "guideline": 1200,
})  # fmt: skip
SHORTER: Mapping[str, int] = MappingProxyType({
    **{name: min(most, 120) for name, most in TEXTS.items()}, "thoughts": 400, "guideline": 400,
})  # fmt: skip
TOGETHER, EACH = 2000, 300  # characters of all reasons of one reply, and of each of many at the least
ANY_SHORTER = 500  # characters of any other text, once a reply was cut off
WHOLE = ("response",)  # texts that may be as long as one in the prompt, and are of no use when cut

COMPLAINT = "Your reply could not be used:"  # how asking again begins
SHARE = 1 / 2  # tokens to a character of a text: twice what English takes, about what Chinese does
OPEN = 1000  # tokens of a text of which nothing is known
MORE = 300  # of a text that may be as long as its prompt, beside that
SMALL = 12  # of a number, a name of a list, a bracket
ITEMS = 8  # of a list whose length is open
LISTED = 100  # numbers in a list at most
SLACK, TIGHT = 250, 60  # of what stands around the texts of a form: words, where a server ignores schemas; or blanks
FREE = 2048  # tokens of a reply that is free text, beside as many as the prompt has
CALLS = 1000  # more where tools are offered
THINKING = 16_384  # more for a judge that thinks before it answers: what it thinks counts
_THINKERS = re.compile(
    r"(?<![a-z0-9])(?:o\d|r1|gpt-?5|gpt-?oss|qwq|qwen-?3|magistral|grok-[34]|gemini-[23])|think|reason", re.I
)


@cache
def texts_of_many(reasons: int) -> Mapping[str, int]:
    """The bounds for a reply with so many reasons: of more than three each is shorter."""
    most = max(EACH, min(TEXTS["reason"], TOGETHER // max(1, reasons)))
    return MappingProxyType({**TEXTS, "reason": most}) if most < TEXTS["reason"] else TEXTS


@dataclass(frozen=True)
class ReplyBounds:
    """What a reply may take, where neither the agent nor the judge's settings say.

    Attributes:
        tokens: of one choice, without what a judge thinks before it answers; 0 is no cap.
        around: those of them that are for what stands around the texts of a form.
        texts: name of a property -> characters at most. rest: of any other text, 0 for no bound.
        steps: list the numbers of a range: many servers make a grammar of a list, and ignore the ends of a range.
    """

    tokens: int = 0
    texts: Mapping[str, int] = field(default_factory=lambda: TEXTS)
    rest: int = 0
    steps: bool = False
    around: int = 0

    def shorter(self) -> ReplyBounds:
        """The same room, and shorter texts in it: after a reply that was cut off, or for a judge that often is."""
        return replace(self, texts=SHORTER, rest=ANY_SHORTER)


MADE = 500  # schemas of which is kept what was made of them
_sizes: dict[tuple[int, int], tuple[Any, Any, float | None]] = {}
_made: dict[tuple[int, int, int, bool], tuple[Any, Any, Mapping[str, Any]]] = {}


class Bounded(dict[str, Any]):
    """A schema with bounds of ours: so that a refusal of them is told from a refusal of the schema."""


class Settled(dict[str, Any]):
    """The schema of a form of ours, made once for all calls that ask for it: nobody changes it.

    Attributes:
        text: as an address has it, "" until it is wanted.
    """

    text: str = ""


def bounds_for(
    schema: Mapping[str, Any] | None, texts: Mapping[str, int], prompt: int, tokens: int, tools: bool
) -> ReplyBounds:
    """The room of a reply to a form.

    Args:
        texts: of the form. prompt: tokens of the prompt. tokens: of the texts in the reply, or of the whole of one
            without a form, calls of tools included; 0 where that is not known.
        tools: whether some are offered.
    """
    if not tokens:
        tokens = FREE + prompt if schema is None else round(_tokens_of(schema, texts, prompt))
        tokens += CALLS * tools
    around = 0 if schema is None else SLACK
    return ReplyBounds(tokens + around, texts, around=around)


def _tokens_of(schema: Mapping[str, Any], texts: Mapping[str, int], prompt: int) -> float:
    """What the texts of a form take; counted once for a schema in which nothing is as long as the prompt."""
    known = _sizes.get((id(schema), id(texts)))
    if known is None or known[0] is not schema or known[1] is not texts:
        short, long = _tokens(schema, schema, texts, 0), _tokens(schema, schema, texts, 10**9)
        if len(_sizes) >= MADE:
            _sizes.clear()
        known = _sizes[id(schema), id(texts)] = schema, texts, short if short == long else None
    return _tokens(schema, schema, texts, prompt) if known[2] is None else known[2]


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


def bounded(schema: Mapping[str, Any], room: ReplyBounds) -> Mapping[str, Any]:
    """The schema with a `maxLength` for each text that the room names, and numbers listed where it says so.

    It is made once for a form's schema, which nobody changes, and a room.
    """
    key = (id(schema), id(room.texts), room.rest, room.steps)
    if (known := _made.get(key)) is not None and known[0] is schema and known[1] is room.texts:
        return known[2]
    found = _bounded(schema, room, "")
    if len(_made) >= MADE:
        _made.clear()
    _made[key] = schema, room.texts, Bounded(found) if found != schema else schema
    return _made[key][2]


def _bounded(schema: Any, room: ReplyBounds, key: str) -> Any:
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


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))  # `json.dumps` would make one for every reply


@dataclass(frozen=True)
class Call:
    """All that a reply depends on, beside who answers. This is what a ledger will address it by.

    Attributes:
        messages: LangChain messages. schema: of the form, None for text; form: its name.
        tools: in OpenAI's shape. settings: parameters as sent (temperature, seed, ...). n: choices asked for.
        logprobs: ask for token log-probabilities. repeat: tells equal calls apart that must be answered anew.
        prompt: "NAME@DIGEST" of the template, "" where there was none; the reply depends on what was made of it alone.
        room: how long the reply may be where the settings do not say; no part of the address, as replies that are
            longer are asked for again, with an address of their own.
    """

    messages: tuple[Any, ...]
    schema: Mapping[str, Any] | None = None
    form: str = "text"
    tools: tuple[Mapping[str, Any], ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    n: int = 1
    logprobs: bool = False
    repeat: int = 0
    prompt: str = field(default="", compare=False)
    room: ReplyBounds = field(default=ReplyBounds(), compare=False)


@dataclass(frozen=True)
class Token:
    """One token of a reply: its text, and text -> natural log of probability of what could have stood there.

    An empty `top` means that what the server told of this place are no log-probabilities, or contradict one another.
    `listed`: the server listed what could have stood there; else `top` is the token alone.
    """

    text: str
    top: Mapping[str, float]
    listed: bool = True


@dataclass(frozen=True)
class Choice:
    """One choice of a reply.

    Attributes:
        finish: why it ended: "stop", "length", "content_filter", "tool_calls" or "".
        tool_calls: ({"name", "args", "id"}, ...). tokens: None where the judge gave no log-probabilities.
        given: the LangChain message that it came as, None where it came as plain values.
        reasoning: thoughts that the server gave beside the text; kept to be shown, never read.
        ends: told what becomes of it, where spans are recorded.
    """

    text: str
    finish: str = ""
    refusal: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    tokens: tuple[Token, ...] | None = None
    given: Any = None
    reasoning: str = ""
    ends: ReplyStatus | None = field(default=None, compare=False, repr=False)

    @property
    def message(self) -> Any:
        """A LangChain message to continue a conversation by; made when it is wanted, which is seldom."""
        return self.given if self.given is not None else message_of(self.text, self.tool_calls)


def message_of(text: str, tool_calls: Iterable[dict[str, Any]]) -> Any:
    """What a model said, as a LangChain message."""
    from langchain_core.messages import AIMessage

    return AIMessage(text, tool_calls=list(tool_calls))


def choice_of(message: Any, info: Mapping[str, Any] | None) -> Choice:
    """Plain values from a LangChain message."""
    about = {**(getattr(message, "response_metadata", None) or {}), **(info or {})}
    refusal = (getattr(message, "additional_kwargs", None) or {}).get("refusal") or ""
    text = message.content if isinstance(message.content, str) else str(message.text)
    calls = tuple(dict(c) for c in getattr(message, "tool_calls", None) or ())
    finish = finish_of(about)
    refusal = refusal or (DECLINED if finish == "refusal" else "")
    tokens, thought = tokens_of(about.get("logprobs")), writable(reasoning_in(message))
    return Choice(writable(text), finish, str(refusal), calls, tokens, message, thought)


ENDS = ("finish_reason", "stop_reason", "done_reason", "stopReason")  # how providers call why a reply ended
DECLINED = "the model declined (stop reason: refusal)"
_WITHHELD = frozenset({
    "safety", "prohibited_content", "blocklist", "spii", "recitation", "image_safety", "content_filtered",
    "guardrail_intervened",
})  # fmt: skip


def finish_of(about: Mapping[str, Any]) -> str:
    """Why a reply ended, in OpenAI's words where they differ in spelling alone, or by a filter."""
    found = str(next((about[name] for name in ENDS if about.get(name)), "")).rpartition(".")[2].lower()
    blocked = (about.get("prompt_feedback") or {}).get("block_reason")
    if found in _WITHHELD or (blocked and not found):
        return "content_filter"
    return {"end_turn": "stop", "model_context_window_exceeded": "length"}.get(found, found)


def reasoning_in(message: Any) -> str:
    """Thoughts that a LangChain message holds beside its text."""
    beside = getattr(message, "additional_kwargs", None) or {}
    return thoughts_in(beside) or thoughts_in({"content": message.content})


def thoughts_in(said: Mapping[str, Any]) -> str:
    """Thoughts in a message as servers give it: a text under one of two names, or parts of its content."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(thought := said.get(name), str) and thought.strip():
            return thought
    content = said.get("content")
    if not isinstance(content, list):
        return ""
    thoughts = [_thought(part) for part in content if isinstance(part, Mapping)]
    return "\n".join(thought for thought in thoughts if thought)


def _thought(part: Mapping[str, Any]) -> str:
    """What a part of kind "thinking" or "reasoning" holds: a text, or texts."""
    if part.get("type") not in ("thinking", "reasoning"):
        return ""
    found = part.get("thinking") or part.get("reasoning") or part.get("text") or part.get("summary")
    rows = found if isinstance(found, list) else [found]
    texts = [row.get("text") if isinstance(row, Mapping) else row for row in rows]
    return "".join(text for text in texts if isinstance(text, str))


def packed(choices: Iterable[Choice]) -> bytes:
    """Choices as bytes, for a ledger."""
    rows = [
        {
            "text": c.text, "finish": c.finish, "refusal": c.refusal, "tool_calls": list(c.tool_calls),
            "tokens": None if c.tokens is None else [
                [t.text, dict(t.top), *(() if t.listed else (False,))] for t in c.tokens
            ],
            **({"reasoning": c.reasoning} if c.reasoning else {}),
        }
        for c in choices
    ]  # fmt: skip
    return _ENCODER.encode(rows).encode("utf-8", "replace")


def read_back(choices: Sequence[Choice], body: bytes) -> list[Choice]:
    """Choices as they are read from the bytes made of them; of plain ones, as nearly all are, nothing need be read."""
    plain = all(
        c.given is None and c.tokens is None and not c.tool_calls and not c.refusal and c.finish.isascii()
        and c.text == writable(c.text) and c.reasoning == writable(c.reasoning)
        for c in choices
    )  # fmt: skip
    return list(choices) if plain else unpacked(body)


def unpacked(body: bytes) -> list[Choice]:
    """Choices from their bytes."""
    found = []
    for row in json.loads(body):
        tokens = None if row["tokens"] is None else tuple(Token(*token) for token in row["tokens"])
        calls, thought = tuple(row["tool_calls"]), row.get("reasoning", "")
        found.append(Choice(row["text"], row["finish"], row["refusal"], calls, tokens, reasoning=thought))
    return found


ROUNDING = 0.01  # between probabilities that a server means to be the same


def writable(text: str) -> str:
    """Without lone surrogates, which no file can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def tokens_of(logprobs: Any) -> tuple[Token, ...] | None:
    """Tokens from the `logprobs` of a choice; None where there are none, or what stands there makes no sense.

    A character that is split over several tokens is known by its bytes alone: such tokens are joined to one,
    with the product of their probabilities. A token whose log-probabilities are positive, no numbers, or at odds with
    its own has no `top`.
    """
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not content:
        return None
    try:
        if all(entry["logprob"] is None for entry in content):  # the fields are there, and nobody fills them in
            return None
        return tuple(_joined(content))
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        return None


def _joined(content: Iterable[Mapping[str, Any]]) -> Iterable[Token]:
    held, total = b"", 0.0
    for entry in content:
        own, logprob = _bytes(entry), _logprob(entry)
        if not held and (text := _decoded(own)) is not None:
            yield Token(text, _top(entry, text, logprob), bool(entry.get("top_logprobs")))
            continue
        held, total = held + own, total + logprob
        if (text := _decoded(held)) is not None:
            yield Token(text, {text: total} if _sound(total) else {})
            held, total = b"", 0.0
    if held:
        raise ValueError("the last character is incomplete")


def _top(entry: Mapping[str, Any], own: str, logprob: float) -> dict[str, float]:
    """Text -> log-probability of the token and of its alternatives; nothing where they are none, or contradict it."""
    told = [(_decoded(_bytes(item)), _logprob(item)) for item in entry.get("top_logprobs") or ()]
    found = [(text, value) for text, value in told if text is not None]
    if not all(map(_sound, (logprob, *(value for _, value in found)))) or _at_odds(own, logprob, found):
        return {}
    top: dict[str, float] = {}
    for text, value in [*found, (own, logprob)]:
        top[text] = min(0.0, max(value, top.get(text, -math.inf)))
    return top


def _at_odds(own: str, logprob: float, found: Iterable[tuple[str, float]]) -> bool:
    """Whether a token has another probability among its alternatives, or is not there and above all of them.

    A token that was sampled may be less probable than others, and too improbable to stand among them.
    """
    probability, others = math.exp(logprob), [(text, math.exp(value)) for text, value in found]
    same = [other for text, other in others if text == own]
    if same:
        return all(abs(probability - other) > ROUNDING for other in same)
    return bool(others) and probability > max(other for _, other in others) + ROUNDING


def _bytes(entry: Mapping[str, Any]) -> bytes:
    """A token's bytes; a server that gives none means its text."""
    given = entry.get("bytes")
    return bytes(given) if given else str(entry["token"]).encode("utf-8", "replace")


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _logprob(entry: Mapping[str, Any]) -> float:
    """As told; it may be no natural log of a probability. NaN where it is no number ("-0.1" is a text)."""
    told = entry["logprob"]
    return float(told) if isinstance(told, int | float) and not isinstance(told, bool) else math.nan


def _sound(logprob: float) -> bool:
    """A natural log of a probability; a little above 0 is rounding, anything else no probability."""
    return logprob <= ROUNDING  # NaN is not


# How many tokens a call will take, before it is made.


COMPLETION = 256  # tokens of a reply of which nothing is known
BYTES = 4  # of UTF-8 to a token: right for English; other scripts take more bytes a character, and more tokens
FRAME = 4  # tokens that a chat format puts around each message
_LIMITS = ("max_tokens", "max_completion_tokens")


def prompt_tokens(messages: Iterable[Any]) -> int:
    """Tokens of a prompt's messages, by their length: four bytes to a token. Quick, for every call is measured.

    Form and tools are not in it: to write them out would cost more than all else here. `TokenCounter.prompt` has
    them, and a run's purse learns from replies how much they add.
    """
    total, count = 0, 0
    for message in messages:
        content = message.content
        total += utf8_size(content if isinstance(content, str) else sized(content))
        count += 1
    return total // BYTES + FRAME * count


def sized(content: Any) -> str:
    """A message's content as a text that is about as long as what it takes: an image counts as `IMAGE_TOKENS`."""
    images = image_count(content)
    return content_text(content) + " " * (images * IMAGE_TOKENS * BYTES) if images else str(content)


def completion_tokens(call: Call, expected: float = COMPLETION) -> int:
    """Tokens of all its choices: at most where the call says how many a reply may have, else as expected.

    Args:
        expected: tokens of one choice.
    """
    for name in _LIMITS:
        most = call.settings.get(name)
        if isinstance(most, int) and most > 0:
            return call.n * most
    return round(call.n * expected)


def utf8_size(text: str) -> int:
    """Bytes of its UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


# The address of a model call: a digest of all that its reply depends on, and of nothing else.


VERSION = 2  # of the rule below: another rule must never meet the replies of this one
IDLE: tuple[str, ...] = (
    "callbacks", "cache", "rate_limiter", "verbose", "tags", "metadata", "name", "max_retries",
)  # fmt: skip
TOLD = ("base_url", "openai_api_base", "stream_usage")  # by the server that is asked


def address_of(judge: Judge, call: Call) -> bytes:
    """16 bytes; equal calls to equal judges have one address, any difference makes another.

    It covers the server that is asked and the model, messages, form, tools, settings, number of choices,
    log-probabilities and repeat index. JSON keeps the fields apart: "ab" + "c" is not "a" + "bc". Keys and timeouts
    are no part of it, but for a query in the server's address, of which nothing but this digest is kept.
    """
    rest = _encode([call.form, list(call.tools), _numbers(call.settings), call.n, call.logprobs, call.repeat])
    said, form = ",".join([_message_text(m) for m in call.messages]), _form_text(call.schema)
    text = f"[{VERSION},{_encode(_who(judge))},[{said}],{form},{rest[1:]}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _message_text(message: Any) -> str:
    """A message in the address, as JSON."""
    kind: Any = type(message)
    content = message.content
    plain = isinstance(content, str) and not (message.name or message.additional_kwargs)
    if plain and not _has_more_fields(kind):  # as nearly all are
        return f"[{_quoted(message.type)},{_quoted(content)}]"
    return _encode(_message(message))


def _form_text(schema: Mapping[str, Any] | None) -> str:
    """A form's schema in the address, as JSON; made once of one that nobody changes."""
    if not isinstance(schema, Settled):
        return _encode(schema)
    if not schema.text:
        schema.text = _encode(schema)
    return schema.text


def _who(judge: Judge) -> list[str]:
    """An endpoint by model and server; a chat model of one's own by its class and all its settings."""
    endpoint = judge.endpoint
    if endpoint.model == "embedded":
        return ["embedded", str(judge.model._llm_type), str(getattr(judge.model, "model", ""))]
    if judge.given:
        kind = type(judge.model)
        return [kind.__module__, kind.__qualname__, _server_of(judge.model) or "", *_settings(judge.model)]
    if not endpoint.model.startswith("openai:"):
        return ["endpoint", endpoint.model, server_of(endpoint.base_url or "")]
    asked = _server_of(judge.model)
    if asked is None:  # in a plan, where nobody is asked
        asked = server_of(endpoint.base_url or os.environ.get("OPENAI_BASE_URL") or "")
    return ["endpoint", endpoint.model, asked]


def _server_of(model: Any) -> str | None:
    """The server that a model asks by what it was made with, the environment at that time included; None if unknown."""
    kind: Any = type(model)
    if not _speaks(kind):
        return None
    client = getattr(model, "root_async_client", None)
    if client is None:
        return server_of(getattr(model, "base_url", None) or "")
    return server_of(model.openai_api_base or str(client.base_url))


def asks_openai(judge: Judge) -> bool:
    """Whether the server that is asked is OpenAI's own, or nobody knows which one it is."""
    return not _server_of(judge.model)


@cache
def _speaks(kind: type) -> bool:
    return any(parent.__name__ in ("BaseChatOpenAI", "FastOpenAI") for parent in kind.__mro__)


@lru_cache(maxsize=256)
def server_of(url: str) -> str:
    """A base URL with its query, in one spelling and without a login; "" for the provider's own."""
    parts = urlsplit(url)
    try:
        host, port = parts.hostname or "", parts.port
    except ValueError:  # it is refused elsewhere
        return url
    place = host if port in (None, {"http": 80, "https": 443}.get(parts.scheme)) else f"{host}:{port}"
    found = urlunsplit((parts.scheme, place, parts.path.rstrip("/"), parts.query, ""))
    return "" if found == OPENAI else found


def _settings(model: Any) -> list[str]:
    """What was set on a model object: a setting whose text differs from one process to the next is never met again."""
    kind: Any = type(model)
    idle = IDLE + TOLD if _speaks(kind) else IDLE
    names = sorted(n for n in model.model_fields_set if n not in idle and "client" not in n)
    return [f"{name}={getattr(model, name)!r}" for name in names]


def _message(message: Any) -> list[Any]:
    kind: Any = type(message)
    said = [message.type, message.content]
    if message.name or message.additional_kwargs:
        said.append([message.name, message.additional_kwargs])
    if not _has_more_fields(kind):
        return said
    return [
        *said,
        [[c.get("name"), c.get("args"), c.get("id")] for c in getattr(message, "tool_calls", None) or ()],
        [[c.get("name"), c.get("args"), c.get("id")] for c in getattr(message, "invalid_tool_calls", None) or ()],
        getattr(message, "tool_call_id", None),
        getattr(message, "role", None),
    ]


@cache
def _has_more_fields(kind: type) -> bool:
    """Whether messages of this kind have more to say, such as tool calls: others are not asked, which is dear."""
    fields = getattr(kind, "model_fields", None)
    return fields is None or not fields.keys().isdisjoint(("tool_calls", "tool_call_id", "role"))


def _numbers(settings: Mapping[str, Any]) -> dict[str, Any]:
    """1.0 is the same temperature as 1."""
    return {k: int(v) if type(v) is float and v.is_integer() else v for k, v in settings.items()}


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else repr(value)


_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain).encode
_quoted = json.encoder.encode_basestring  # a text, as `_encode` writes it
