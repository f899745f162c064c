"""The one door: every model call of every agent goes through here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar, overload

from pydantic import BaseModel

from judgegraph.errors import ConfigError, ReplyError
from judgegraph.models.call import send
from judgegraph.models.exchange import Call, Choice
from judgegraph.models.features import in_words, learn, unheeded
from judgegraph.models.form import Form, Incomplete
from judgegraph.models.reply import Reply, read
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
        settings: temperature, top_p, max_tokens, seed; a value of None is not sent.
    """
    return (await replies(judge, messages, form, **settings))[0].value


async def replies(
    judge: JudgeLike, messages: Messages, form: Any = None, *, n: int = 1, logprobs: bool = False,
    tools: Sequence[Any] = (), **settings: Any,
) -> list[Reply[Any]]:  # fmt: skip
    """Ask for n replies. A single one that cannot be read is asked for again, with what was wrong with it.

    Args:
        n: replies wanted, 1 or more. Of several, those that cannot be read are left out.
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
    known = resolve(judge)
    shape = form if isinstance(form, Form) else Form.of(form) if form is not None else NOTHING
    call = Call(
        messages=_messages(messages), schema=shape.schema, form=shape.name, n=n,
        tools=tuple(tools), settings=_settings(known, settings), logprobs=logprobs,
    )  # fmt: skip
    found = [await _one(known, call, shape)] if n == 1 else await _many(known, call, shape)
    notes = unheeded(known, call)
    return [replace(reply, notes=(*reply.notes, *notes)) for reply in found] if notes else found


def _settings(judge: Judge, settings: dict[str, Any]) -> dict[str, Any]:
    """The agent's settings over the endpoint's; zero is a setting, None is not."""
    own = {name: getattr(judge.endpoint, name) for name in ("temperature", "top_p", "max_tokens", "seed")}
    given = {**own, **{k: v for k, v in settings.items() if v is not None}}
    return {k: v for k, v in given.items() if v is not None}


def _messages(messages: Messages) -> tuple[Any, ...]:
    from langchain_core.messages.utils import convert_to_messages

    pairs: Any = messages.messages if isinstance(messages, Rendered) else messages
    return tuple(convert_to_messages([("user", pairs)] if isinstance(pairs, str) else list(pairs)))


async def _one(judge: Judge, call: Call, form: Form[Any]) -> Reply[Any]:
    """Ask, and ask again with the error while the reply cannot be read."""
    best: Incomplete | None = None
    last: ReplyError | None = None
    asked = call
    for _ in range(judge.endpoint.asks):
        try:
            choice = (await send(judge, asked))[0]
            learn(judge, asked, choice)
            return read(choice, form, tools=bool(call.tools))
        except Incomplete as error:
            best = error if best is None or error.got > best.got else best
            problem = str(error)
        except ReplyError as error:
            last = error
            if error.status != "unreadable":
                break
            problem = str(error)
        asked = replace(call, messages=(*call.messages, *_complaint(call, choice, problem, judge.support.json_schema)))
    if best is not None:  # what was read is kept, whatever became of asking for the rest
        reply: Reply[Any] = best.value
        return reply
    raise last or ReplyError("no reply could be read")


async def _many(judge: Judge, call: Call, form: Form[Any]) -> list[Reply[Any]]:
    """n readable replies: by one request where the server heeds n, by further ones where it does not."""
    untried = judge.support.json_schema is None
    choices, last = await _choices(judge, call)
    found = []
    for choice in choices:
        learn(judge, call, choice)
        try:
            found.append(read(choice, form))
        except Incomplete as error:
            found.append(error.value)
        except ReplyError as error:
            last = error
    if found:
        return found
    if untried and judge.support.json_schema is False:  # the schema was ignored: once more, in words
        return await _many(judge, call, form)
    raise last or ReplyError("no reply could be read")


async def _choices(judge: Judge, call: Call) -> tuple[list[Choice], ReplyError | None]:
    """n choices, fewer where requests failed, with the last failure."""
    choices: list[Choice] = []
    last: ReplyError | None = None
    if judge.support.n is not False:
        choices, last = await _request(judge, call)
        if last is None:
            judge.support.n = len(choices) > 1
    left = range(len(choices), call.n) if last is None else ()
    got = await asyncio.gather(*(_request(judge, replace(call, n=1, repeat=i)) for i in left))
    for more, error in got:
        choices, last = choices + more[:1], error or last
    return choices[: call.n], last


async def _request(judge: Judge, call: Call) -> tuple[list[Choice], ReplyError | None]:
    try:
        return await send(judge, call), None
    except ReplyError as error:
        return [], error


def _complaint(call: Call, choice: Choice, problem: str, heeds: bool | None) -> tuple[Any, ...]:
    """What was said and what is wrong with it, with the schema in words where no request holds it so already."""
    from langchain_core.messages import AIMessage, HumanMessage

    said = f"Your reply could not be used: {problem[:500]}. Reply again, in the form asked for and nothing else."
    words = f"{said}\n{in_words(call)}" if call.schema is not None and heeds is not False else said
    return AIMessage(choice.text or "(nothing)"), HumanMessage(words)
