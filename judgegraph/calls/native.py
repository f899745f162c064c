"""The short way to a chat model that gives its server's answer as it came: without LangChain's layer of generations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any

from judgegraph.calls.exchange import Choice, tokens_of, writable
from judgegraph.models.resolve import Judge

Door = Callable[..., Awaitable[dict[str, Any]]]


def door_of(judge: Judge, callbacks: Any, settings: Mapping[str, Any]) -> Door | None:
    """The way that gives a server's answer as it came, if there is one and nobody is there to hear of the call.

    A tracer, a stream of events, a global cache or a rate limiter of the model's own would be passed by: then None.

    Args:
        callbacks: of the running config. settings: keyword arguments of the call.
    """
    model: Any = judge.model
    if judge.short is not None:
        door = judge.short.complete if judge.short.takes(settings) else None
    else:
        door = getattr(model, "complete", None)
    if door is None or model.rate_limiter is not None or model.callbacks or model.cache:
        return None
    configure, cached, _ = _langchain()
    heard = configure(callbacks).handlers  # those that the environment asks for too
    return None if heard or cached() is not None else door


def callbacks_here() -> Any:
    """Of the config that this runs under, such as a graph's node; None outside of one."""
    config = _langchain()[2].get()
    return config.get("callbacks") if config else None


@cache
def _langchain() -> tuple[Any, Any, Any]:
    """What is needed of it at every call, imported at the first."""
    from langchain_core.callbacks import AsyncCallbackManager
    from langchain_core.globals import get_llm_cache
    from langchain_core.runnables.config import var_child_runnable_config

    return AsyncCallbackManager.configure, get_llm_cache, var_child_runnable_config


def choices_of(answer: dict[str, Any]) -> list[Choice]:
    """The choices of a chat completion whose shape was checked."""
    return [_choice(choice, choice["message"]) for choice in answer["choices"]]


def _choice(choice: dict[str, Any], said: dict[str, Any]) -> Choice:
    refusal, finish = str(said.get("refusal") or ""), str(choice.get("finish_reason") or "")
    tokens = tokens_of(choice.get("logprobs"))
    from judgegraph.models.wire import message_in, text_in

    if not said.get("tool_calls"):
        return Choice(writable(text_in(said.get("content"))), finish, refusal, (), tokens)
    message = message_in(said)
    calls = tuple(dict(call) for call in message.tool_calls)
    return Choice(writable(str(message.content)), finish, refusal, calls, tokens, message)


def usage_of(answer: dict[str, Any]) -> tuple[int, int]:
    """Prompt and completion tokens of all choices together; zeros where it does not say."""
    told = answer.get("usage")
    counts = [told.get(name) for name in ("prompt_tokens", "completion_tokens")] if isinstance(told, dict) else [0, 0]
    asked, said = (count if isinstance(count, int) else 0 for count in counts)
    return asked, said
