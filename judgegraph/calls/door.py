"""The one door: every model call of every agent goes through here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, TypeVar, overload

from pydantic import BaseModel

from judgegraph.calls.estimate import prompt_tokens
from judgegraph.calls.exchange import Call
from judgegraph.calls.form import Form
from judgegraph.calls.length import Room, room_for
from judgegraph.calls.reply import Reply
from judgegraph.errors import ConfigError
from judgegraph.models.resolve import Judge, JudgeLike, resolve
from judgegraph.prompts import Rendered

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Messages = Rendered | Sequence[Any]  # a text is one message
__all__ = ["Messages", "Reply", "ask", "replies"]
NOTHING: Form[str] = Form("text", None, str)


@overload
async def ask(judge: JudgeLike, messages: Messages, form: type[M], **settings: Any) -> M: ...
@overload
async def ask(judge: JudgeLike, messages: Messages, form: Form[T], **settings: Any) -> T: ...
@overload
async def ask(judge: JudgeLike, messages: Messages, form: None = None, **settings: Any) -> str: ...
async def ask(judge: JudgeLike, messages: Messages, form: Any = None, **settings: Any) -> Any:
    """Ask one judge for one form; see `replies` for arguments and errors.

    Args:
        judge: "embedded", "openai:MODEL", an Endpoint, or a LangChain chat model.
        messages: a rendered prompt, LangChain messages, or a text.
        form: a pydantic class or a Form; None asks for free text.
        settings: temperature, top_p, max_tokens, seed; a value of None is not sent. Where nobody sets max_tokens, a
            generous one is sent that follows from the form; 0 sends none.
    """
    return (await replies(judge, messages, form, **settings))[0].value


async def replies(
    judge: JudgeLike, messages: Messages, form: Any = None, *, n: int = 1, logprobs: bool = False,
    tools: Sequence[Any] = (), **settings: Any,
) -> list[Reply[Any]]:  # fmt: skip
    """Ask for n replies. What cannot be read is asked for again, with what was wrong with it.

    Args:
        n: replies wanted, 1 or more. Of several, those that cannot be read are left out, and asked for again only
            where fewer than half of them could be read in full.
        logprobs: token log-probabilities, if the judge has them (`Reply.tokens` is None if not).
        tools: OpenAI-shaped dicts the model may call.

    Returns:
        One reply or more.

    Raises:
        ReplyError: not one could be read; its status is "unreadable", "truncated", "refused", "filtered",
            "timeout" or "provider_error".
        AuthError: the endpoint refuses our key.
        ConfigError: the judge cannot be made.
    """
    if n < 1:
        raise ConfigError(f"n is the number of replies wanted, 1 or more, got {n}")
    known = _made(judge)
    call, shape = _asked(known, messages, form, settings, n=n, logprobs=logprobs, tools=tuple(tools))
    asking, features = _making()
    found = [await asking.one(known, call, shape)] if n == 1 else await asking.many(known, call, shape)
    notes = features.unheeded(known, call)
    return [replace(reply, notes=(*reply.notes, *notes)) for reply in found] if notes else found


def answered(judge: JudgeLike, messages: Messages, form: Any = None, *, n: int = 1, logprobs: bool = False,
             **settings: Any) -> bool:  # fmt: skip
    """Whether the run's ledger has what `replies` would ask for first."""
    known = _made(judge)
    return bool(_making()[0].held(known, _asked(known, messages, form, settings, n=n, logprobs=logprobs)[0]))


@cache
def _making() -> tuple[Any, Any]:
    """How a call is made, with ledger, limits and budget: brought by the first one, as a graph is built without it."""
    from judgegraph.calls import asking, features

    return asking, features


def _made(judge: JudgeLike) -> Judge:
    try:
        return resolve(judge)
    except ConfigError as error:
        error.ends_run = True
        raise


def _asked(
    judge: Judge, messages: Messages, form: Any, settings: dict[str, Any], **asked: Any
) -> tuple[Call, Form[Any]]:
    """The call, and what its replies are read by."""
    shape = form if isinstance(form, Form) else Form.of(form) if form is not None else NOTHING
    own = _settings(judge, settings)
    prompt = f"{messages.prompt}@{messages.digest}" if isinstance(messages, Rendered) else ""
    said = _messages(messages)
    call = Call(said, schema=shape.schema, form=shape.name, settings=own, prompt=prompt, **asked)
    if "max_tokens" not in own and settings.get("max_tokens", judge.endpoint.max_tokens) is None:
        tokens = prompt_tokens(call)
        call = replace(call, room=room_for(shape.schema, shape.texts, tokens, shape.tokens, bool(call.tools)))
    elif shape.texts:
        call = replace(call, room=Room(0, shape.texts))
    return call, shape


def _settings(judge: Judge, settings: dict[str, Any]) -> dict[str, Any]:
    """The agent's settings over the endpoint's; zero is a setting, None is not. A max_tokens of 0 is no limit."""
    own = {name: getattr(judge.endpoint, name) for name in ("temperature", "top_p", "max_tokens", "seed")}
    given = {**own, **{k: v for k, v in settings.items() if v is not None}}
    return {k: v for k, v in given.items() if v is not None and (v or k != "max_tokens")}


def _messages(messages: Messages) -> tuple[Any, ...]:
    if isinstance(messages, Rendered):
        return tuple(_constant(text) if role == "system" else _kinds()[role](text) for role, text in messages.messages)
    from langchain_core.messages.utils import convert_to_messages

    pairs: Any = messages
    return tuple(convert_to_messages([("user", pairs)] if isinstance(pairs, str) else list(pairs)))


@cache
def _kinds() -> dict[str, Any]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    return {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


@lru_cache(maxsize=256)
def _constant(text: str) -> Any:
    """A system message; what a method tells every judge alike."""
    return _kinds()["system"](text)
