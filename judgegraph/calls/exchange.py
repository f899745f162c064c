"""One request and one choice of its reply, as plain values: the same whoever answers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from judgegraph.calls.length import Room
from judgegraph.calls.tokens import Token
from judgegraph.trace.record import ReplyStatus

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
    room: Room = field(default=Room(), compare=False)


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
    finish = str(about.get("finish_reason") or about.get("stop_reason") or "")
    tokens, thought = tokens_of(about.get("logprobs")), writable(reasoning_in(message))
    return Choice(writable(text), finish, str(refusal), calls, tokens, message, thought)


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
            "tokens": None if c.tokens is None else [[t.text, dict(t.top)] for t in c.tokens],
            **({"reasoning": c.reasoning} if c.reasoning else {}),
        }
        for c in choices
    ]  # fmt: skip
    return _ENCODER.encode(rows).encode("utf-8", "replace")


def unpacked(body: bytes) -> list[Choice]:
    """Choices from their bytes."""
    found = []
    for row in json.loads(body):
        tokens = None if row["tokens"] is None else tuple(Token(text, top) for text, top in row["tokens"])
        calls, thought = tuple(row["tool_calls"]), row.get("reasoning", "")
        found.append(Choice(row["text"], row["finish"], row["refusal"], calls, tokens, reasoning=thought))
    return found


def writable(text: str) -> str:
    """Without lone surrogates, which no file can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def tokens_of(logprobs: Any) -> tuple[Token, ...] | None:
    """Tokens from the `logprobs` of a choice; None where there are none, or what stands there makes no sense.

    A character that is split over several tokens is known by its bytes alone: such tokens are joined to one,
    with the product of their probabilities. A token whose log-probabilities are positive or no numbers has no `top`.
    """
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not content:
        return None
    try:
        return tuple(_joined(content))
    except (TypeError, ValueError, KeyError, AttributeError):
        return None


def _joined(content: Iterable[Mapping[str, Any]]) -> Iterable[Token]:
    held, total = b"", 0.0
    for entry in content:
        own, logprob = _bytes(entry), _logprob(entry)
        if not held and (text := _decoded(own)) is not None:
            yield Token(text, _top(entry, text, logprob))
            continue
        held, total = held + own, total + logprob
        if (text := _decoded(held)) is not None:
            yield Token(text, {text: total} if _sound(total) else {})
            held, total = b"", 0.0
    if held:
        raise ValueError("the last character is incomplete")


def _top(entry: Mapping[str, Any], own: str, logprob: float) -> dict[str, float]:
    top: dict[str, float] = {}
    for item in entry.get("top_logprobs") or ():
        text = _decoded(_bytes(item))
        if text is not None:
            logprob_of_it = _logprob(item)
            top[text] = logprob_of_it if not logprob_of_it <= top.get(text, -math.inf) else top[text]
    top.setdefault(own, logprob)
    return {text: min(0.0, value) for text, value in top.items()} if all(map(_sound, top.values())) else {}


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
    """As told; it may be no natural log of a probability."""
    return float(entry["logprob"])


def _sound(logprob: float) -> bool:
    """A natural log of a probability; a little above 0 is rounding, anything else no probability."""
    return logprob <= 0.01  # NaN is not
