"""Ask until a reply can be read, or enough of several can: with what was wrong, as often as the endpoint allows."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from judgegraph.calls.address import address_of
from judgegraph.calls.call import send
from judgegraph.calls.context import context
from judgegraph.calls.exchange import Call, Choice
from judgegraph.calls.features import in_words, learn_logprobs
from judgegraph.calls.form import Form, Incomplete
from judgegraph.calls.reply import Reply, read
from judgegraph.errors import ReplyError, one_line
from judgegraph.models.resolve import Judge
from judgegraph.prompts.template import section

NEVER_CAME = ("provider_error", "timeout", "over_budget")
_Got = tuple[list[Choice], ReplyError | None]  # choices, and why there are no more


async def one(judge: Judge, call: Call, form: Form[Any]) -> Reply[Any]:
    """Ask, and ask again with the error while the reply cannot be read.

    In a run that takes up what failed, replies that came to nothing may all have lain in the ledger: then once anew.
    """
    reply, problem = await _one(judge, call, form)
    if problem is not None and _old(problem):
        again, still = await _one(judge, call, form, anew=True)
        if still is None or reply is None:
            reply, problem = again, still
    if reply is None:  # what was read is kept, whatever became of asking for the rest
        raise problem if isinstance(problem, ReplyError) else ReplyError("no reply could be read")
    return reply


def _old(problem: Exception) -> bool:
    """Whether the replies behind it may have been found in the ledger: one that never came is not kept there."""
    run = context.get()
    return run is not None and run.anew and getattr(problem, "status", "") not in NEVER_CAME


async def _one(
    judge: Judge, call: Call, form: Form[Any], *, anew: bool = False
) -> tuple[Reply[Any] | None, Exception | None]:
    """The reply or the richest part of one, and what kept it from being whole."""
    best: Incomplete | None = None
    last: ReplyError | None = None
    asked = call
    for ask in range(1, judge.endpoint.asks + 1):
        try:
            choice = (await send(judge, asked, anew=anew))[0]
            learn_logprobs(judge, asked, choice)
            return read(choice, form, tools=bool(call.tools)), None
        except Incomplete as error:
            best = error if best is None or error.got > best.got else best
            problem = str(error)
        except ReplyError as error:
            last = error
            if error.status != "unreadable":
                break
            problem = str(error)
        said = _complaint(call, choice, problem)
        asked = replace(call, messages=(*call.messages, *said), repeat=ask)  # anew, also where the same was said again
    return (best.value, last or best) if best is not None else (None, last)


@dataclass(frozen=True)
class _Round:
    """What came of asking once for several replies: read in full, in part, and what was wrong with the last bad one."""

    whole: list[Reply[Any]]
    parts: list[Reply[Any]]
    bad: tuple[Choice, str] | None
    last: ReplyError | None


async def many(judge: Judge, call: Call, form: Form[Any]) -> list[Reply[Any]]:
    """n replies, fewer where some cannot be read; the missing are asked for again while they are more than half.

    Where more than half cannot be read in the end, a run that takes up what failed asks anew, as `one` does.
    """
    whole, parts, last = await _many(judge, call, form)
    if 2 * len(whole) < call.n and _old(last or ReplyError("incomplete")):
        more, rest, still = await _many(judge, call, form, anew=True)
        if len(more) > len(whole) or not (whole or parts):
            whole, parts, last = more, rest, still
    if whole or parts:
        return (whole + parts)[: call.n]
    raise last or ReplyError("no reply could be read")


async def _many(
    judge: Judge, call: Call, form: Form[Any], *, anew: bool = False
) -> tuple[list[Reply[Any]], list[Reply[Any]], ReplyError | None]:
    """Replies read in full, those read in part, and the last failure."""
    whole: list[Reply[Any]] = []
    parts: list[Reply[Any]] = []
    last: ReplyError | None = None
    asked, rounds = call, 0
    while rounds < judge.endpoint.asks:
        got = await _round(judge, asked, form, anew)
        whole, parts, last = whole + got.whole, parts + got.parts, got.last or last
        if 2 * len(whole) >= call.n or got.bad is None:
            break
        said = _complaint(call, *got.bad)
        rounds += 1
        asked = replace(call, n=call.n - len(whole), messages=(*call.messages, *said), repeat=rounds * call.n)
    return whole, parts, last


async def _round(judge: Judge, call: Call, form: Form[Any], anew: bool) -> _Round:
    choices, last = await _choices(judge, call, anew)
    whole: list[Reply[Any]] = []
    parts: list[Reply[Any]] = []
    bad = None
    for choice in choices:
        learn_logprobs(judge, call, choice)
        try:
            whole.append(read(choice, form))
        except Incomplete as error:
            parts.append(error.value)
            bad = choice, str(error)
        except ReplyError as error:
            last = error
            bad = (choice, str(error)) if error.status == "unreadable" else bad
    return _Round(whole, parts, bad, last)


async def _choices(judge: Judge, call: Call, anew: bool) -> _Got:
    """n choices, fewer where requests failed, with the last failure.

    The first request has the address of all n, whatever is known of the judge, and those for what it leaves out
    have one each: so a ledger is asked for the same, whoever filled it and in whatever order.
    """
    if call.n > 1 and judge.support.n is False and not held(judge, call):
        wanted = (call, *_singles(call, 1))
        rest = await asyncio.gather(*(_request(judge, asked, anew) for asked in wanted))
        return _gathered([], rest)
    choices, last = await _request(judge, call, anew)
    if last is not None:
        return choices, last
    if call.n > 1 and judge.support.n is not False:
        judge.support.n = len(choices) > 1
    rest = await asyncio.gather(*(_request(judge, asked, anew) for asked in _singles(call, len(choices))))
    return _gathered(choices[: call.n], rest)


def _singles(call: Call, start: int) -> list[Call]:
    """Of n choices those from `start` on, one at a time."""
    return [replace(call, n=1, repeat=call.repeat + index) for index in range(start, call.n)]


def _gathered(choices: list[Choice], rest: list[_Got]) -> _Got:
    """With one choice of each request in `rest`."""
    last: ReplyError | None = None
    for more, error in rest:
        choices, last = choices + more[:1], error or last
    return choices, last


def held(judge: Judge, call: Call) -> bool:
    """Whether the run's ledger has a reply to it; in a plan, the ledger that the plan looks into."""
    run = context.get()
    return run is not None and run.holds(address_of(judge, call))


async def _request(judge: Judge, call: Call, anew: bool) -> _Got:
    try:
        return await send(judge, call, anew=anew), None
    except ReplyError as error:
        return [], error


def _complaint(call: Call, choice: Choice, problem: str) -> tuple[Any, ...]:
    """What was said and what is wrong with it, with the schema in words, whether or not the judge needs them.

    A rerun must ask for the same, whatever it knows of the judge by then.
    """
    from langchain_core.messages import AIMessage, HumanMessage

    why = section("problem", one_line(problem, 500))  # it may quote the reply, and that the judged text
    said = f"Your reply could not be used:\n{why}\nReply again, in the form asked for and nothing else."
    words = f"{said}\n{in_words(call)}" if call.schema is not None else said
    return AIMessage(choice.text or "(nothing)"), HumanMessage(words)
