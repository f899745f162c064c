"""One request to one judge, with the one retry layer around it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_random_exponential

from judgegraph.calls.address import address_of
from judgegraph.calls.allowance import Allowance, Told, allowance
from judgegraph.calls.budget import OverBudget, Purse
from judgegraph.calls.context import CallContext, Waiters, context, unit
from judgegraph.calls.estimate import completion_tokens, prompt_tokens
from judgegraph.calls.exchange import Call, Choice, choice_of, packed, unpacked
from judgegraph.calls.faults import Fault, classify
from judgegraph.calls.features import (
    arguments,
    as_sent,
    described,
    learn_schema,
    past_the_parser,
    step_down,
    unbound,
    with_settings,
)
from judgegraph.calls.ledger import Paid
from judgegraph.calls.limits import limiter_of
from judgegraph.calls.native import callbacks_here, choices_of, door_of, told, usage_of
from judgegraph.calls.notes import note, payer
from judgegraph.calls.reservation import Reservation
from judgegraph.calls.turn import Turn, standing
from judgegraph.errors import AuthError, ConfigError, JudgegraphError, ReplyError
from judgegraph.models.resolve import Judge
from judgegraph.trace.record import recording, span

_backoff = wait_random_exponential(multiplier=0.5, max=30)
UNBOUNDED = 1_000_000  # tokens of a reply that may be as long as it likes, where a plan wants the longest
Usage = tuple[int, int]  # prompt and completion tokens; zeros where the reply does not say
Answer = tuple[list[Choice], Usage]
About = dict[str, Any] | None  # of the call's span, where spans are recorded


@dataclass(slots=True)
class _UnderWay:
    """A run's call, its share of the budget and who waits for it."""

    run: CallContext
    share: Reservation
    waiters: Waiters


class _Again(Exception):
    """A fault that the same request may not meet again."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


async def send(judge: Judge, call: Call, *, anew: bool = False) -> list[Choice]:
    """The reply to a call, at least one choice: from the run's ledger, else sent for and committed there.

    Args:
        anew: a reply that lay in the ledger before this process will not do: ask, and put the new one in its place.

    Raises:
        AuthError, ReplyError: as `_sent`. OverBudget: it was not sent. LedgerError: the reply could not be kept.
    """
    if not recording():
        return await _answered(judge, call, anew)
    told: dict[str, Any] = {"prompt": call.prompt, "form": call.form}
    if call.n != 1 or call.repeat:
        told["n"], told["repeat"] = call.n, call.repeat
    if call.settings:
        told["settings"] = dict(call.settings)
    with span("model", judge.name, told) as about:
        found: Sequence[Choice] = ()
        try:
            return (found := await _answered(judge, call, anew, about))
        finally:
            if "address" not in about:  # no ledger of a run has it
                note(judge, call, found, about)


async def _answered(judge: Judge, call: Call, anew: bool, about: About = None) -> list[Choice]:
    if (part := allowance.get()) is not None:
        return await _counted(part, judge, call, anew, about)
    run = context.get()
    if run is None:
        if about is None:
            return (await _sent(judge, call))[0]
        return (await _settled(payer(), judge, call, Waiters(), about))[0]
    if run.stand_in is not None:
        found = run.stand_in(judge, call)
        return found if isinstance(found, list) else await found
    if run.ledger is None:
        waiters = Waiters()
        waiters.join(unit.get())
        return (await _bought(run, judge, call, waiters, about))[0]
    address, sample, ours = address_of(judge, call), unit.get(), False
    anew = anew and address not in run.renewed
    waiters, joined = run.wait_for(address, sample), run.ledger.flies(address)

    def pay() -> Awaitable[Paid]:
        nonlocal ours
        ours = True
        return _paid(run, judge, call, waiters, address, about)

    try:
        if sample and sample.waits:
            sample.waits(1)
        body = await run.ledger.answer(address, pay, anew=anew)
        if ours and sample and sample.progressed:
            sample.progressed()  # when the reply is safe: this writes too, and may fail
            sample.progressed = None
        if not ours:
            run.bills.found(sample.asked if sample else None)
        return unpacked(body)
    except OverBudget as error:
        if sample:
            sample.denied = str(error)
        raise
    except ConfigError as error:
        error.ends_run = True  # a judge that cannot be made or has no price: it would meet every sample alike
        raise
    finally:
        if about is not None:
            about["address"] = address.hex()
            if not ours:
                about["from"] = "joined" if joined else "ledger"
            if run.told and not about.pop("asked", False):
                run.ledger.ask(address, call.messages)
        run.waited(address, sample)
        if sample and sample.waits:
            sample.waits(-1)


async def _counted(part: Allowance, judge: Judge, call: Call, anew: bool, about: About) -> list[Choice]:
    """Within the allowance of the part of the work that the call belongs to, whoever answers and pays."""
    run = context.get()
    keeps = run is not None and (run.stand_in is not None or run.ledger is not None)
    address = address_of(judge, call)

    async def answer() -> Told:
        before = allowance.set(None)  # what a judge asks to answer is no call of this part
        try:
            if run is not None and keeps:
                choices = await _answered(judge, call, anew, about)
                return choices, *_taken(run, call, address)
            payer = run or CallContext(purse=Purse(prices=part.purse.prices))
            choices, share = await _bought(payer, judge, call, Waiters(), about)
            return choices, *share.paid[:2]
        finally:
            allowance.reset(before)

    try:
        return (await part.spend(judge, call, address if keeps else object(), answer))[0]
    except ConfigError as error:
        error.ends_run = True  # as in `send`
        raise


def _taken(run: CallContext, call: Call, address: bytes) -> Usage:
    """Tokens of a reply, as the ledger has them; in a plan such as let the part ask the most, or the least, it may."""
    row, doubted = run.row(address), run.doubted() if run.doubted is not None else None
    if row is not None:
        return row.prompt, row.completion
    if doubted not in (True, False):
        return 0, 0
    return (1, 1) if doubted else (prompt_tokens(call), completion_tokens(call, UNBOUNDED))


async def _bought(
    run: CallContext, judge: Judge, call: Call, waiters: Waiters, about: About = None
) -> tuple[list[Choice], Reservation]:
    """Send within the budget."""
    return await _settled(run, judge, as_sent(judge, call), waiters, about)


async def _settled(
    run: CallContext, judge: Judge, call: Call, waiters: Waiters, about: About
) -> tuple[list[Choice], Reservation]:
    share = await _share(run, judge, call, waiters)
    try:
        choices, usage = await _sent(judge, call, _UnderWay(run, share, waiters))
        share.settle(*usage)
    except BaseException:
        share.release()
        _told(about, share, share.lost if any(share.lost[:2]) else None)
        raise
    _told(about, share, share.paid)
    return choices, share


def _told(about: About, share: Reservation, paid: tuple[int, int, float | None] | None) -> None:
    if about is not None:
        about["requests"] = share.requests
        if paid is not None:
            about["from"] = "paid"
            about["prompt_tokens"], about["completion_tokens"], about["usd"] = paid


async def _paid(run: CallContext, judge: Judge, call: Call, waiters: Waiters, address: bytes, about: About) -> Paid:
    """As a ledger keeps it; what was asked is committed with it."""
    choices, share = await _bought(run, judge, call, waiters, about)
    if about is not None and run.told and run.ledger is not None:
        run.ledger.ask(address, call.messages, new=True)
        about["asked"] = True
    if run.anew:
        run.renewed.add(address)
    sample = unit.get()
    run.bills.paid(sample.asked if sample else None, *share.paid)
    return Paid(packed(choices), judge.name, *share.paid, share.estimated)


async def _share(run: CallContext, judge: Judge, call: Call, waiters: Waiters) -> Reservation:
    """Of the budget; while a call waits for its share, nobody's clock runs."""
    try:
        return run.purse.reserve(judge, call)
    except OverBudget as error:
        if not error.later:
            raise
    with standing(waiters):
        return await run.purse.room(judge, call)


async def _sent(judge: Judge, call: Call, under_way: _UnderWay | None = None) -> Answer:
    """Send until it is answered or cannot be.

    Raises:
        AuthError: the endpoint refuses us; every other call would fail too.
        ReplyError: status "timeout", "provider_error" or "filtered" after the last attempt.
            OverBudget: replies that were paid for and no use leave no room for another attempt.
    """
    try:
        return await _attempt(judge, call, under_way)
    except _Again as again:
        first = again
    return await _sent_again(judge, call, under_way, first)


async def _sent_again(judge: Judge, call: Call, under_way: _UnderWay | None, first: _Again) -> Answer:
    """The retry layer; the try that failed before it is its first."""
    failed: list[_Again] = [first]
    tries = AsyncRetrying(
        retry=retry_if_exception_type(_Again),
        stop=stop_after_attempt(judge.endpoint.attempts),
        wait=_wait,
        reraise=True,
        sleep=asyncio.sleep,
    )
    try:
        async for attempt in tries:
            with attempt:
                if failed:
                    raise failed.pop()
                if under_way:
                    under_way.run.purse.allow_again(under_way.share, judge)
                return await _attempt(judge, call, under_way)
    except _Again as again:
        fault = again.fault
    raise ReplyError(f"{judge.name}: {fault.message}", status=fault.status)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.fault.wait if isinstance(error, _Again) else None
    drawn = float(_backoff(state))
    return drawn if asked is None else asked + min(1.0, drawn)  # spread those that were told the same second


async def _attempt(judge: Judge, call: Call, under_way: _UnderWay | None) -> Answer:
    """One request; more only where a refused feature is left out, each at most once."""
    run = under_way.run if under_way else None
    sent = arguments(judge, call) if judge.speaks_openai else {}
    limiter = limiter_of(judge, run.limits if run else None)
    place = limiter.place(prompt_tokens(call) + completion_tokens(call) if limiter.tpm else 0)
    try:
        turn = Turn(run.slots(judge) if run else None, place, under_way.waiters if under_way else None)
        async with turn:
            if under_way:
                under_way.run.requests += 1
                under_way.share.requests += 1
            async with asyncio.timeout(judge.endpoint.timeout):
                choices, usage = await _generate(judge, call, sent)
            place.used = sum(usage) or None
    except (JudgegraphError, AssertionError):  # ours, or a test's: not the provider's
        raise
    except Exception as raised:
        # langchain-openai warns of some refusals on its way; where warnings are errors, that hides the refusal
        error = raised.__context__ if isinstance(raised, Warning) and raised.__context__ else raised
        stepped_down = step_down(judge.support, sent, error)
        fault = classify(error, secrets=judge.secrets, timeout=judge.endpoint.timeout)
        if fault.throttled:
            place.throttled(fault.wait)
    else:
        if run:
            run.count(judge.name, *usage)
        if choices and choices[0].finish != "error":
            if "response_format" in sent:
                learn_schema(judge.support, choices)
            return choices, usage
        if under_way:
            under_way.share.lose(*usage)
        what = "the provider stopped the reply with an error" if choices else "a reply without choices"
        stepped_down, fault = False, Fault("provider_error", what, retry=True)
    # Raised out here, so that no chain of exceptions holds the SDK's, which carries the request and its headers.
    if stepped_down:
        return await _attempt(judge, call, under_way)
    raise _failure(judge, fault)


def _failure(judge: Judge, fault: Fault) -> Exception:
    if fault.fatal:
        return AuthError(f"judge {judge.name}: {fault.message}")
    if fault.retry:
        return _Again(fault)
    error = ReplyError(f"{judge.name}: {fault.message}", status=fault.status)
    error.final = True
    return error


async def _generate(judge: Judge, call: Call, sent: dict[str, Any]) -> Answer:
    if not judge.speaks_openai:
        return await _generate_other(judge, call)
    callbacks = callbacks_here()  # so that astream_events and tracers see the call
    messages, keywords = described(judge, call), past_the_parser(judge.model, sent)
    if (complete := door_of(judge, callbacks, keywords)) is not None:
        answer = await complete(messages, **keywords)
        return choices_of(answer), usage_of(answer)
    result = await judge.model.agenerate([messages], callbacks=callbacks, **keywords)
    choices = [choice_of(g.message, g.generation_info) for g in result.generations[0]]  # type: ignore[union-attr]
    usage = (result.llm_output or {}).get("token_usage") or {}  # once for all choices: each repeats it
    if usage or not choices:
        return choices, _usage(usage, "prompt_tokens", "completion_tokens")
    of_one = getattr(choices[0].message, "usage_metadata", None) or {}  # of the first: each choice has the whole usage
    return choices, _usage(of_one, "input_tokens", "output_tokens")


def _usage(usage: Any, *names: str) -> Usage:
    return told(*(usage.get(name) for name in names)) if isinstance(usage, Mapping) else (0, 0)


async def _generate_other(judge: Judge, call: Call) -> Answer:
    """Any other LangChain chat model: by its own structured output, or the schema in the prompt."""
    model, rest = with_settings(judge, call), unbound(judge, call)
    if call.tools:
        model = model.bind_tools([dict(tool) for tool in call.tools], **rest)
    elif call.schema is not None and judge.support.json_schema is not False:
        titled = {"title": call.form, "description": f"The {call.form} asked for.", **call.schema}
        try:
            model = model.with_structured_output(titled, include_raw=True)
        except (NotImplementedError, ValueError):
            judge.support.json_schema = False
            return await _generate_other(judge, call)
    elif rest:
        model = model.bind(**rest)
    answer = await model.ainvoke(described(judge, call))
    message = answer["raw"] if isinstance(answer, dict) else answer
    usage = getattr(message, "usage_metadata", None) or {}
    choice = choice_of(message, None)
    if isinstance(answer, dict):
        choice = _from_tool(choice)
        learn_schema(judge.support, [choice])
    return [choice], _usage(usage, "input_tokens", "output_tokens")


def _from_tool(choice: Choice) -> Choice:
    """Structured output by a tool call: its arguments are the reply, also where they are no JSON."""
    if choice.tool_calls:
        return replace(choice, text=json.dumps(choice.tool_calls[0]["args"]), tool_calls=())
    broken = getattr(choice.message, "invalid_tool_calls", None)
    return replace(choice, text=str(broken[0].get("args") or "")) if broken else choice
