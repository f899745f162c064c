"""One call sent until it is answered or cannot be: the one retry layer around requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_random_exponential

from judgegraph.calls.budget import OverAllowance, OverBudget, Purse
from judgegraph.calls.context import ALIKE, TEXTS, CallContext, Waiters, outer, unit
from judgegraph.calls.estimate import completion_tokens, prompt_tokens
from judgegraph.calls.exchange import Call
from judgegraph.calls.faults import Fault, classify
from judgegraph.calls.features import arguments, cap_refused, learn_schema, step_down
from judgegraph.calls.generate import Answer, generate
from judgegraph.calls.limiter import Place, Unreachable
from judgegraph.calls.limits import limiter_of, patience_of
from judgegraph.calls.outage import Patience
from judgegraph.calls.payments import Paid
from judgegraph.calls.reservation import Lost, Reservation
from judgegraph.calls.turn import Turn, standing
from judgegraph.errors import AuthError, JudgegraphError, ReplyError, one_line
from judgegraph.models.resolve import Judge

BACKOFF = 30.0  # seconds between two tries at most, where the server names none
_backoff = wait_random_exponential(multiplier=0.5, max=BACKOFF)


@dataclass(slots=True)
class UnderWay:
    """A run's call, its share of the budget and who waits for it.

    Attributes:
        parts: budgets of the parts of the work that it belongs to, each with the call's share of it.
        answered: replies that the judge had given when the last request was sent.
    """

    run: CallContext
    share: Reservation
    waiters: Waiters
    parts: tuple[tuple[Purse, Reservation], ...] = ()
    answered: int = 0

    def began(self, judge: Judge, by: int = 1) -> None:
        """A request is sent; -1: it was not received."""
        self.answered = self.run.models.get(judge.name, 0)
        self.run.requests += by
        self.share.requests += by

    def others_answered(self, judge: Judge) -> bool:
        """Whether the judge gave replies since the last request was sent."""
        return self.run.models.get(judge.name, 0) > self.answered

    def failed(self, judge: Judge, fault: Fault) -> None:
        """Book a request that came to nothing; one that was not received keeps its share for the next try."""
        if fault.costs == "nothing":
            self.began(judge, -1)
        elif fault.costs == "a call":
            self._book(judge, [share.refuse() for share in self._shares()])
        else:
            self.lost(judge)

    def lost(self, judge: Judge, prompt: int = 0, completion: int = 0) -> None:
        """Book a request whose reply never came, or is of no use: by its usage, at its estimate without one."""
        self._book(judge, [share.lose(prompt, completion) for share in self._shares()])

    def _shares(self) -> list[Reservation]:
        return [self.share, *(share for _, share in self.parts)]

    def _book(self, judge: Judge, lost: list[Lost]) -> None:
        if self.run.ledger is not None:
            self.run.ledger.book(Paid(b"", judge.name, *lost[0], unanswered=True))

    async def again(self, judge: Judge) -> None:
        """Room for the next request, in the run's budget and in those of its parts.

        The run's is waited for, with clocks that stand; a part's is not: who has it may be waiting for this very call.

        Raises:
            OverBudget: one of them has none.
        """
        try:
            for purse, share in self.parts:
                purse.retake(share, judge)
        except OverBudget as error:
            raise OverAllowance(str(error)) from None
        if not self.share.open:
            with standing(self.waiters):
                await self.run.purse.again(self.share, judge)


class _Paused(Exception):
    """The request met an outage: it is sent again when that is over, and counts as one attempt with it."""


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
            OverBudget: what was sent leaves no room for another request.
            Unreachable: an outage lasted longer than we wait.
    """
    run = under_way.run if under_way else None
    patience = patience_of(judge, run.limits if run else None, run.begun if run else None)
    try:
        return await _received(judge, call, under_way, patience)
    except _Again as again:
        first = again
    return await _sent_again(judge, call, under_way, first, patience)


async def _received(judge: Judge, call: Call, under_way: UnderWay | None, patience: Patience) -> Answer:
    """One attempt, sent as often as an outage wants it."""
    while True:
        try:
            return await _attempt(judge, call, under_way, patience)
        except _Paused:
            pass
        if under_way:
            await under_way.again(judge)


async def _sent_again(
    judge: Judge, call: Call, under_way: UnderWay | None, first: _Again, patience: Patience
) -> Answer:
    """The retry layer; the try that failed before it is its first."""
    failed, last = [first], first.fault
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
                    await _room(judge, under_way, last)
                try:
                    return await _received(judge, call, under_way, patience)
                except _Again as again:
                    last = again.fault
                    raise
    except _Again as again:
        fault = again.fault
    raise ReplyError(f"{judge.name}: {fault.message}", status=fault.status)


async def _room(judge: Judge, under_way: UnderWay, last: Fault) -> None:
    """For one more request; where there is none, what became of the last one is told too."""
    try:
        await under_way.again(judge)
    except OverBudget as error:
        raise type(error)(f"{error}; the last try: {last.message}") from None


def _fault_of(state: RetryCallState) -> Fault | None:
    error = state.outcome.exception() if state.outcome else None
    return error.fault if isinstance(error, _Again) else None


def _wait(state: RetryCallState) -> float:
    fault = _fault_of(state)
    asked = fault.wait if fault else None
    drawn = float(_backoff(state))
    return drawn if asked is None else asked + min(1.0, drawn)  # spread those that were told the same second


async def _attempt(judge: Judge, call: Call, under_way: UnderWay | None, patience: Patience) -> Answer:
    """One request; more only where a refused feature is left out, each at most once."""
    run = under_way.run if under_way else None
    sent = arguments(judge, call) if judge.speaks_openai else {}
    limiter = limiter_of(judge, run.limits if run else None)
    place = limiter.place(prompt_tokens(call) + completion_tokens(call) if limiter.tpm else 0, patience)
    try:
        choices, usage = await _sent(judge, call, sent, place, under_way)
    except Unreachable as gone:
        if run:
            run.unreachable = str(gone)
        raise
    except (JudgegraphError, AssertionError):  # ours, or a test's: not the provider's
        raise
    except Exception as raised:
        # langchain-openai warns of some refusals on its way; where warnings are errors, that hides the refusal
        error = raised.__context__ if isinstance(raised, Warning) and raised.__context__ else raised
        stepped_down = step_down(judge.support, sent, error)
        if not stepped_down and cap_refused(judge, call, error):
            call, stepped_down = replace(call, room=replace(call.room, tokens=0)), True
        fault = classify(error, secrets=judge.secrets, timeout=judge.endpoint.timeout)
        out = _learnt(place, fault, under_way)
        slow = fault.status == "timeout" and under_way is not None and under_way.others_answered(judge)
        if slow:  # a server that answers others in that time has too much to do at once
            place.throttled(fault.wait)
        if under_way:
            under_way.failed(judge, fault)
    else:
        if run:
            run.count(judge.name, *usage)
            if call.schema is not None and "response_format" not in sent and judge.support.json_schema is False:
                run.in_words[judge.name] = run.in_words.get(judge.name, 0) + 1
            run.refusals.answered(judge)
        if choices and choices[0].finish != "error":
            if "response_format" in sent:
                learn_schema(judge.support, choices)
            return choices, usage
        if under_way:
            under_way.lost(judge, *usage)
        what = "the provider stopped the reply with an error" if choices else "a reply without choices"
        stepped_down, out, fault = False, False, Fault("provider_error", what, retry=True)
    # Raised out here, so that no chain of exceptions holds the SDK's, which carries the request and its headers.
    if stepped_down:
        if under_way:
            await under_way.again(judge)
        return await _attempt(judge, call, under_way, patience)
    if isinstance(out, Unreachable) and run:
        run.unreachable = str(out)
    raise out if isinstance(out, Unreachable) else _Paused if out else _failure(judge, fault, run)


async def _sent(judge: Judge, call: Call, sent: dict[str, Any], place: Place, under_way: UnderWay | None) -> Answer:
    """The answer to one request, in its turn; who is cancelled meanwhile does not know what becomes of it."""
    run = under_way.run if under_way else None
    async with Turn(run.slots(judge) if run else None, place, under_way.waiters if under_way else None):
        if under_way:
            under_way.began(judge)
            under_way.run.refusals.sent(judge, place)
        before = outer.set(under_way.waiters if under_way else None)  # a judge may ask others to answer
        try:
            async with asyncio.timeout(judge.endpoint.timeout):
                choices, usage = await generate(judge, call, sent)
        except (asyncio.CancelledError, GeneratorExit):
            if under_way:
                under_way.lost(judge)
            raise
        finally:
            with suppress(ValueError):  # it is closed from without
                outer.reset(before)
            if under_way:
                under_way.run.refusals.ended(judge, place)
        place.used = sum(usage) or None
        return choices, usage


def _learnt(place: Place, fault: Fault, under_way: UnderWay | None) -> bool | Unreachable:
    """What a fault says of the server; gives whether it is out and waited for, or that this was done long enough."""
    if fault.throttled:
        place.throttled(fault.wait)
        if fault.wait and under_way:
            under_way.waiters.server_asked(fault.wait)
    if fault.outage:
        return place.out(fault.outage, fault.message, strict=fault.costs == "nothing")
    if fault.answered:
        place.answered()
    return False


def _failure(judge: Judge, fault: Fault, run: CallContext | None) -> Exception:
    if fault.fatal and (ended := _refused(judge, fault, run)) is not None:
        return ended
    if fault.retry:
        return _Again(fault)
    error = ReplyError(f"{judge.name}: {fault.message}", status=fault.status)
    error.final = True
    return error


def _refused(judge: Judge, fault: Fault, run: CallContext | None) -> AuthError | None:
    """None where the judge answers others, so that it is this call that is refused."""
    sample = unit.get()
    if run is None or sample is None or not fault.of_text:
        return AuthError(f"judge {judge.name}: {fault.message}")
    if fault.code == 403 and run.ledger is not None and run.ledger.has_paid(judge.name):
        return None  # it answered an earlier process with this ledger: a key that works, and a text that is refused
    samples, sure = run.refusals.refused(judge, sample, TEXTS if fault.code == 403 else ALIKE)
    if not samples:
        return None
    error = AuthError(_nobody(judge, fault, samples))
    error.put_off = not sure
    return error


def _nobody(judge: Judge, fault: Fault, samples: Sequence[str]) -> str:
    """That a judge refused these samples and answered none, and what may help."""
    at = f" at {judge.endpoint.address}" if judge.endpoint.address else ""
    more = f" and {len(samples) - 1:,} more" if len(samples) > 1 else ""
    cure = "" if not fault.code else (
        "; check the key, the model's name and --base-url (base_url)"
        + ("; or the server refuses these texts" if fault.code == 403 else "")
    )  # fmt: skip
    return (
        f"judge {judge.name}{at}: {fault.message}; it refused sample '{one_line(samples[0], 80)}'{more}, "
        f"and answered none{cure}"
    )
