"""One call sent until it is answered or cannot be: the one retry layer around requests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_random_exponential

from judgegraph.calls.context import CallContext, Waiters
from judgegraph.calls.estimate import completion_tokens, prompt_tokens
from judgegraph.calls.exchange import Call
from judgegraph.calls.faults import Fault, classify
from judgegraph.calls.features import arguments, learn_schema, step_down
from judgegraph.calls.generate import Answer, generate
from judgegraph.calls.limits import limiter_of
from judgegraph.calls.reservation import Reservation
from judgegraph.calls.turn import Turn
from judgegraph.errors import AuthError, JudgegraphError, ReplyError
from judgegraph.models.resolve import Judge

_backoff = wait_random_exponential(multiplier=0.5, max=30)


@dataclass(slots=True)
class UnderWay:
    """A run's call, its share of the budget and who waits for it."""

    run: CallContext
    share: Reservation
    waiters: Waiters


class _Again(Exception):
    """A fault that the same request may not meet again."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


async def sent_out(judge: Judge, call: Call, under_way: UnderWay | None = None) -> Answer:
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


async def _sent_again(judge: Judge, call: Call, under_way: UnderWay | None, first: _Again) -> Answer:
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


async def _attempt(judge: Judge, call: Call, under_way: UnderWay | None) -> Answer:
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
                choices, usage = await generate(judge, call, sent)
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
