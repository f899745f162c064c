"""One request and one choice of its reply, as plain values: the same whoever answers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from judgegraph.calls.tokens import Token

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))  # `json.dumps` would make one for every reply


@dataclass(frozen=True)
class Call:
    """All that a reply depends on, beside who answers. This is what a ledger will address it by.

    Attributes:
        messages: LangChain messages. schema: of the form, None for text; form: its name.
        tools: in OpenAI's shape. settings: parameters as sent (temperature, seed, ...). n: choices asked for.
        logprobs: ask for token log-probabilities. repeat: tells equal calls apart that must be answered anew.
        prompt: "NAME@DIGEST" of the template, "" where there was none; the reply depends on what was made of it alone.
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


@dataclass(frozen=True)
class Choice:
    """One choice of a reply.

    Attributes:
        finish: why it ended: "stop", "length", "content_filter", "tool_calls" or "".
        tool_calls: ({"name", "args", "id"}, ...). tokens: None where the judge gave no log-probabilities.
        given: the LangChain message that it came as, None where it came as plain values.
    """

    text: str
    finish: str = ""
    refusal: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    tokens: tuple[Token, ...] | None = None
    given: Any = None

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
    return Choice(writable(text), finish, str(refusal), calls, tokens_of(about.get("logprobs")), message)


def packed(choices: Iterable[Choice]) -> bytes:
    """Choices as bytes, for a ledger."""
    rows = [
        {
            "text": c.text, "finish": c.finish, "refusal": c.refusal, "tool_calls": list(c.tool_calls),
            "tokens": None if c.tokens is None else [[t.text, dict(t.top)] for t in c.tokens],
        }
        for c in choices
    ]  # fmt: skip
    return _ENCODER.encode(rows).encode("utf-8", "replace")


def unpacked(body: bytes) -> list[Choice]:
    """Choices from their bytes."""
    found = []
    for row in json.loads(body):
        tokens = None if row["tokens"] is None else tuple(Token(text, top) for text, top in row["tokens"])
        found.append(Choice(row["text"], row["finish"], row["refusal"], tuple(row["tool_calls"]), tokens))
    return found


def writable(text: str) -> str:
    """Without lone surrogates, which no file can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def tokens_of(logprobs: Any) -> tuple[Token, ...] | None:
    """Tokens from the `logprobs` of a choice; None where there are none, or what stands there makes no sense.

    A character that is split over several tokens is known by its bytes alone: such tokens are joined to one,
    with the product of their probabilities.
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
            yield Token(text, {text: total})
            held, total = b"", 0.0
    if held:
        raise ValueError("the last character is incomplete")


def _top(entry: Mapping[str, Any], own: str, logprob: float) -> dict[str, float]:
    top: dict[str, float] = {}
    for item in entry.get("top_logprobs") or ():
        text = _decoded(_bytes(item))
        if text is not None:
            top[text] = max(_logprob(item), top.get(text, -math.inf))
    top.setdefault(own, logprob)
    return top


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
    """A natural log of a probability; a little above 0 is rounding, anything else no probability."""
    logprob = float(entry["logprob"])
    if math.isnan(logprob) or logprob > 0.01:
        raise ValueError(f"{logprob} is no log-probability")
    return min(0.0, logprob)
