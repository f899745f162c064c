"""A chat model that stands for every judge while an agent is checked: it answers well, badly or not at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from judgegraph.calls import Endpoint
from judgegraph.calls.context import context
from judgegraph.calls.invented import Manner, Writer
from judgegraph.models.resolve import Judge, trying
from judgegraph.testing.asked import Asked
from judgegraph.testing.hostile_texts import marked

DRAWN, SPARING = Manner("drawn", "drawn", alike=False, tools="once"), Manner("sparing", "none")
DEMANDING = Manner("demanding", "low", most=True, alike=False, tools="once")
MANNERS = {manner.name: manner for manner in (DRAWN, SPARING, DEMANDING)}
FAILURES = ("refused", "filtered", "truncated", "empty", "provider error", "timeout")
HUGE = 10**9  # on no scale
Answer = Callable[[list[BaseMessage]], Any]


class ProviderError(Exception):
    """What an SDK raises where its server breaks."""

    status_code = 500


class KeyRefused(ProviderError):
    """What it raises where the key is wrong."""

    status_code = 401


class Answering(BaseChatModel):
    """Answers in one way.

    Attributes:
        way: a manner of answering well, "off the scale", "marked" (its words are a hostile text's), one of FAILURES,
            "key refused", "says" (gives `text`), or "hangs".
        seed: of what is invented: another one, another reply. answer: invents instead, from the messages.
    """

    way: str = "drawn"
    text: str = ""
    seed: int = 0
    answer: Any = None
    speaks_openai: bool = True
    _asked: list[Asked] = PrivateAttr(default_factory=list)
    _reached: asyncio.Event = PrivateAttr(default_factory=asyncio.Event)

    @property
    def asked(self) -> list[Asked]:
        """Every request so far."""
        return self._asked

    @property
    def reached(self) -> asyncio.Event:
        """Set by the first request."""
        return self._reached

    @property
    def _llm_type(self) -> str:
        return "judgegraph-answering"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Tools are offered as they are."""
        return self.bind(tools=list(tools), **kwargs)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        if self.way == "hangs":
            self._reached.set()
            await asyncio.Event().wait()
        await asyncio.sleep(0)  # others run meanwhile, as with a real judge
        return self._generate(messages, stop, **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        asked = Asked.of(messages, kwargs)
        self._asked.append(asked)
        if self.way == "provider error":
            raise ProviderError("the server is on fire")
        if self.way == "key refused":
            raise KeyRefused("the key is wrong")
        if self.way == "timeout":
            raise TimeoutError("no answer")
        count = int(kwargs.get("n") or 1)
        return ChatResult(generations=[self._choice(messages, kwargs, f"{asked.key}/{i}") for i in range(count)])

    def _choice(self, messages: list[BaseMessage], kwargs: dict[str, Any], seed: str) -> ChatGeneration:
        message, finish = self._said(messages, kwargs, f"{self.seed}/{seed}"), "stop"
        if self.way in ("truncated", "filtered"):
            message = AIMessage(message.text[: len(message.text) // 2])
            finish = "length" if self.way == "truncated" else "content_filter"
        told: dict[str, Any] = {"finish_reason": finish}
        if kwargs.get("logprobs"):
            token = {"token": message.text, "logprob": 0.0, "bytes": list(message.text.encode("utf-8", "replace"))}
            told["logprobs"] = {"content": [{**token, "top_logprobs": [token]}]}
        return ChatGeneration(message=message, generation_info=told)

    def _said(self, messages: list[BaseMessage], kwargs: dict[str, Any], seed: str) -> AIMessage:
        if self.way == "refused":
            return AIMessage("", additional_kwargs={"refusal": "I will not judge this."})
        if self.way in ("says", "empty"):
            return AIMessage(self.text)
        if self.answer is not None:
            return _given(self.answer(messages), self.way)
        writer = Writer(MANNERS.get(self.way, DRAWN), seed)
        if kwargs.get("tools") and not any(message.type == "tool" for message in messages):
            return AIMessage("", tool_calls=[_call(writer, kwargs["tools"][0], seed)])
        schema = ((kwargs.get("response_format") or {}).get("json_schema") or {}).get("schema")
        if schema is None:
            text = _plain(writer, "\n".join(str(m.content) for m in messages))
            return AIMessage(text if self.way != "marked" else f"{marked('text 0')}\n{marked(text)}")
        value = writer.value(schema, schema)
        return AIMessage(json.dumps(CHANGED.get(self.way, _same)(value)))


def _call(writer: Writer, tool: Any, seed: str) -> dict[str, Any]:
    about = tool.get("function", tool)
    schema = about.get("parameters") or {"type": "object"}
    return {
        "name": about["name"],
        "args": writer.value(schema, schema),
        "id": f"call_{seed[-20:]}",
        "type": "tool_call",
    }


def _plain(writer: Writer, prompt: str) -> str:
    """A reply without a form, as what the prompt asks for is most often written."""
    if "Response A" in prompt:
        return writer.plain("pairwise", prompt)
    listed = "definition" in prompt.lower() and "Scale:" not in prompt
    return writer.plain("criteria" if listed else "rating", prompt)


def _huge(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _huge(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_huge(inner) for inner in value]
    return HUGE if isinstance(value, int | float) and not isinstance(value, bool) else value


def _given(said: Any, way: str) -> AIMessage:
    """A reply that an author gave."""
    if isinstance(said, AIMessage):
        return said
    return AIMessage(said if isinstance(said, str) else json.dumps(_huge(said) if way == "off the scale" else said))


def _same(value: Any) -> Any:
    return value


CHANGED: dict[str, Callable[[Any], Any]] = {"off the scale": _huge, "marked": marked}  # way -> what of a good reply


class _Everyone(dict[Any, Judge]):
    """Whoever is asked for, this judge answers."""

    def __init__(self, judge: Judge) -> None:
        super().__init__()
        self._judge = judge

    def __contains__(self, key: object) -> bool:
        return True

    def __getitem__(self, key: Any) -> Judge:
        return self._judge


@contextmanager
def answered_by(model: Answering) -> Generator[None]:
    """Every judge that is asked meanwhile is this one: tried once, asked twice, outside of any run."""
    judge = Judge("checking", model, Endpoint(model="checking", attempts=1, asks=2, timeout=60), True, given=True)
    tokens = trying.set(_Everyone(judge)), context.set(None)
    try:
        yield
    finally:
        trying.reset(tokens[0])
        context.reset(tokens[1])
