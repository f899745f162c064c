"""The short way to a chat model that gives its server's answer as it came: without LangChain's layer of generations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

from judgegraph.calls.exchange import Choice, thoughts_in, tokens_of, writable
from judgegraph.models.resolve import Judge

MOST = 10**12  # tokens: no call takes so many, and sums of such counts are still whole numbers of 64 bits
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
    return None if _heard(callbacks) or _langchain().cache() is not None else door


def _heard(callbacks: Any) -> bool:
    """Whether somebody hears of a call made now: those in the config, and those that the environment asks for.

    `configure` knows, but costs more than all else here; it is asked where it may find somebody.
    """
    known = _langchain()
    idle = known.hooks is not None and all(var.get() is None and name is None for var, _, _, name in known.hooks)
    if idle and not getattr(callbacks, "handlers", callbacks) and not known.tracing() and not known.debug():
        return False
    return any(not (one.ignore_llm and one.ignore_chat_model) for one in known.configure(callbacks).handlers)


def callbacks_here() -> Any:
    """Of the config that this runs under, such as a graph's node; None outside of one."""
    config = _langchain().config.get()
    return config.get("callbacks") if config else None


@dataclass(frozen=True)
class _LangChain:
    """What is needed of it at every call.

    Attributes:
        hooks: (variable, ..., name in the environment) of handlers that others registered; None where LangChain does
            not tell, and `configure` is asked each time.
    """

    configure: Callable[..., Any]
    tracing: Callable[[], Any]
    debug: Callable[[], bool]
    cache: Callable[[], Any]
    config: ContextVar[Any]
    hooks: list[Any] | None


@cache
def _langchain() -> _LangChain:
    """Imported at the first call."""
    from langchain_core.callbacks import AsyncCallbackManager
    from langchain_core.globals import get_debug, get_llm_cache
    from langchain_core.runnables.config import var_child_runnable_config
    from langchain_core.tracers import context as tracers

    tracing: Any = getattr(tracers, "_tracing_v2_is_enabled", None)  # not promised to stay
    hooks = getattr(tracers, "_configure_hooks", None) if tracing is not None else None
    return _LangChain(
        AsyncCallbackManager.configure, tracing, get_debug, get_llm_cache, var_child_runnable_config, hooks
    )


def choices_of(answer: dict[str, Any]) -> list[Choice]:
    """The choices of a chat completion whose shape was checked."""
    return [_choice(choice, choice["message"]) for choice in answer["choices"]]


def _choice(choice: dict[str, Any], said: dict[str, Any]) -> Choice:
    refusal, finish = str(said.get("refusal") or ""), str(choice.get("finish_reason") or "")
    tokens, text, thought = tokens_of(choice.get("logprobs")), said.get("content"), writable(thoughts_in(said))
    if isinstance(text, str) and not said.get("tool_calls"):  # as nearly all are
        return Choice(writable(text), finish, refusal, (), tokens, reasoning=thought)
    from judgegraph.models.wire import message_in

    message = message_in(said)
    if not said.get("tool_calls"):
        return Choice(writable(str(message.content)), finish, refusal, (), tokens, reasoning=thought)
    calls = tuple(dict(call) for call in message.tool_calls)
    return Choice(writable(str(message.content)), finish, refusal, calls, tokens, message, thought)


def usage_of(answer: dict[str, Any]) -> tuple[int, int]:
    """Prompt and completion tokens of all choices together; zeros where it does not say."""
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return 0, 0
    return told(usage.get("prompt_tokens"), usage.get("completion_tokens"))


def told(prompt: Any, completion: Any) -> tuple[int, int]:
    """Tokens that a server may mean; zeros, as where it tells none, if either count makes no sense."""
    asked, said = prompt if prompt is not None else 0, completion if completion is not None else 0
    sane = type(asked) is int and type(said) is int and 0 <= asked <= MOST and 0 <= said <= MOST
    return (asked, said) if sane else (0, 0)
