"""One call to one judge: found in the run's ledger, else sent within the budget until it is answered or cannot be.

From the top down, in a run: `send` refuses what is too long and records a span; `_reply` chooses who answers;
`_from_ledger` looks the call up, and lets one of those who want it pay; `_within_budget` reserves what it may cost;
`sent_out` retries; `_attempt` makes one request of it; `_sent` waits for the request's turn and sends it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type
from tenacity.wait import wait_random_exponential

from judgegraph.calls.budget import (
    BudgetTracker,
    Lost,
    OverBudget,
    OverPartBudget,
    PartBudget,
    Reserved,
    Told,
    part_budget,
    shares,
)
from judgegraph.calls.context import ALIKE, TEXTS, CallContext, Waiters, context, outer, unit, waits_for_it
from judgegraph.calls.ledger import LEASE_PATIENCE, Ledger, Paid
from judgegraph.calls.limits import MOST_PROMPT, Patience, Ticket, Unreachable, limiter_of, patience_of
from judgegraph.calls.send import (
    ADDRESS,
    Answer,
    Fault,
    Usage,
    arguments,
    as_sent,
    cap_refused,
    classify,
    fall_back,
    fall_back_of_others,
    generate,
    learn_endless,
    learn_schema,
    sent_to_others,
)
from judgegraph.calls.types import (
    Call,
    Choice,
    address_of,
    completion_tokens,
    packed,
    prompt_tokens,
    read_back,
    unpacked,
)
from judgegraph.errors import AuthError, ConfigError, JudgegraphError, ReplyError, counted, one_line
from judgegraph.evidence import content_text
from judgegraph.models.judges import Judge
from judgegraph.models.prices import SMALLEST, refuse_beyond_window
from judgegraph.trace.record import ReplyStatus, recorder, span, tracer

UNBOUNDED = 1_000_000  # tokens of a reply that may be as long as it likes, where a plan wants the longest
About = dict[str, Any] | None  # of the call's span, where spans are recorded


async def send(judge: Judge, call: Call, *, anew: bool = False) -> list[Choice]:
    """The reply to a call, at least one choice: from the run's ledger, else sent for and committed there.

    Args:
        anew: a reply that lay in the ledger before this process will not do: ask, and put the new one in its place.

    Raises:
        AuthError, ReplyError: as `sent_out`, and "too_large" for a prompt above `Limits.prompt`.
        OverBudget: it was not sent.
        LedgerError: the reply could not be kept.
    """
    _refuse_too_large(call)
    if (tokens := prompt_tokens(call.messages)) >= SMALLEST:
        refuse_beyond_window(judge, tokens, run_prices())
    if recorder.get() is None and ((at := tracer.get()) is None or at.here() is None):  # nobody records
        return await _reply(judge, call, anew)
    told: dict[str, Any] = {"prompt": call.prompt, "form": call.form}
    if call.n != 1 or call.repeat:
        told["n"], told["repeat"] = call.n, call.repeat
    if call.settings:
        told["settings"] = dict(call.settings)
    with (sent := span("model", judge.name, told)) as about:
        found: Sequence[Choice] = ()
        try:
            found = await _reply(judge, call, anew, about)
            return [replace(choice, ends=ReplyStatus(sent.row, len(found))) for choice in found] if sent.row else found
        finally:
            if "address" not in about:  # no ledger of a run has it
                note(judge, call, found, about)


def run_prices() -> Any:
    """The price table of the run under way, None where there is none."""
    run = context.get()
    return run.purse.prices if run is not None else None


def _refuse_too_large(call: Call) -> None:
    """Before anything is looked up or paid for."""
    run = context.get()
    most = MOST_PROMPT if run is None or run.limits is None else run.limits.prompt
    contents = [message.content for message in call.messages]
    size = sum(len(one if isinstance(one, str) else content_text(one)) for one in contents)  # images by their names
    if most is not None and size > most:
        raise ReplyError(
            f"the prompt has {size:,} characters, and at most {most:,} are sent; shorten the sample, or allow more: "
            "--max-prompt N, Limits(prompt=N)",
            "too_large",
        )


async def _reply(judge: Judge, call: Call, anew: bool, about: About = None) -> list[Choice]:
    """The reply by whoever answers here, the first of these that holds.

    1. A part of the work with a budget of its own: that budget counts the call, and whoever follows answers it.
    2. No run: the judge. Its tokens are counted where a span is recorded.
    3. A plan: the simulated judge, and nothing is sent.
    4. A run without a ledger: the judge, within the run's budget.
    5. A run: its ledger, and the judge for what the ledger lacks.
    """
    if (part := part_budget.get()) is not None:
        return await _counted(part, judge, call, anew, about)
    run = context.get()
    if run is None:
        if about is None:
            return (await sent_out(judge, call))[0]
        return (await _within_budget(payer(), judge, call, Waiters(), about))[0]
    if run.stand_in is not None:
        found = run.stand_in(judge, call)
        return found if isinstance(found, list) else await found
    if run.ledger is None:
        return (await _within_budget_alone(run, judge, call, about))[0]
    return await _from_ledger(run, run.ledger, judge, call, anew, about)


async def _from_ledger(
    run: CallContext, ledger: Ledger, judge: Judge, call: Call, anew: bool, about: About
) -> list[Choice]:
    """The reply as the run's ledger has it; where it has none, one of those who want it pays, and all get it."""
    address, sample, waiting = address_of(judge, call), unit.get(), waits_for_it()
    ours: list[Sequence[Choice]] = []
    anew = anew and address not in run.renewed
    waiters, joined = run.wait_for(address, waiting), ledger.flies(address)

    def pay() -> Awaitable[Paid]:
        got: list[Choice] = []
        ours.append(got)
        return _paid(run, judge, call, waiters, address, about, got)

    try:
        if sample and sample.waits:
            sample.waits(1)
        body = await ledger.answer(
            address, pay, anew=anew, waiting=lambda: clock_stopped(waiters), patience=_longest(judge)
        )
        if anew:  # also where another process asked for it meanwhile
            run.renewed.add(address)
        if ours and sample and sample.progressed:
            sample.progressed()  # when the reply is safe: this writes too, and may fail
            sample.progressed = None
        if not ours:
            run.bills.found(sample.asked if sample else None)
        return read_back(ours[-1], body) if ours and ours[-1] else unpacked(body)
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
                ledger.ask(address, call.messages)
        run.waited(address, waiting)
        if sample and sample.waits:
            sample.waits(-1)


def _longest(judge: Judge) -> float:
    """Seconds that a call to a judge may take, with all its tries, while a process that pays for it is at work."""
    return max(LEASE_PATIENCE, judge.endpoint.attempts * (judge.endpoint.timeout + BACKOFF))


async def _counted(part: PartBudget, judge: Judge, call: Call, anew: bool, about: About) -> list[Choice]:
    """Within the allowance of the part of the work that the call belongs to, whoever answers and pays."""
    run = context.get()
    keeps = run is not None and (run.stand_in is not None or run.ledger is not None)
    address = address_of(judge, call)

    async def answer() -> Told:
        before = part_budget.set(None)  # what a judge asks to answer is no call of this part
        try:
            if run is not None and keeps:
                choices = await _reply(judge, call, anew, about)
                return choices, *_taken(run, call, address)
            payer = run or CallContext(purse=BudgetTracker(prices=part.purse.prices))
            choices, share = await _within_budget_alone(payer, judge, call, about)
            return choices, *share.usage[:2]
        finally:
            part_budget.reset(before)

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
    return (1, 1) if doubted else (prompt_tokens(call.messages), completion_tokens(call, UNBOUNDED))


async def _within_budget_alone(
    run: CallContext, judge: Judge, call: Call, about: About
) -> tuple[list[Choice], Reserved]:
    """As `_within_budget`, where nobody else can wait for the same call."""
    waiters, waiting = Waiters(), waits_for_it()
    waiters.join(waiting)
    try:
        return await _within_budget(run, judge, as_sent(judge, call), waiters, about)
    finally:
        waiters.leave(waiting)


async def _within_budget(
    run: CallContext, judge: Judge, call: Call, waiters: Waiters, about: About
) -> tuple[list[Choice], Reserved]:
    """Reserve what the call may cost, send it, and settle for what it did cost; a failure gives the rest back."""
    share = await _share(run, judge, call, waiters)
    try:
        choices, usage = await sent_out(judge, call, UnderWay(run, share, waiters, shares.get()))
        share.settle(*usage)
    except BaseException:
        share.release()
        _note_usage(about, share, share.lost if share.lost_prompt or share.lost_completion else None)
        raise
    _note_usage(about, share, share.paid)
    return choices, share


def _note_usage(about: About, share: Reserved, paid: tuple[int, int, float | None] | None) -> None:
    if about is not None:
        about["requests"] = share.requests
        if paid is not None:
            about["from"] = "paid"
            about["prompt_tokens"], about["completion_tokens"], about["usd"] = paid


async def _paid(
    run: CallContext, judge: Judge, call: Call, waiters: Waiters, address: bytes, about: About, got: list[Choice]
) -> Paid:
    """As a ledger keeps it; what was asked is committed with it. `got` is filled with what it is made of."""
    choices, share = await _within_budget(run, judge, as_sent(judge, call), waiters, about)
    got.extend(choices)
    if about is not None and run.told and run.ledger is not None:
        run.ledger.ask(address, call.messages, new=True)
        about["asked"] = True
    if run.anew:
        run.renewed.add(address)
    sample = unit.get()
    run.bills.paid(sample.asked if sample else None, *share.paid)
    return Paid(packed(choices), judge.name, *share.usage, share.estimated)


async def _share(run: CallContext, judge: Judge, call: Call, waiters: Waiters) -> Reserved:
    """Of the budget; while a call waits for its share, nobody's clock runs."""
    try:
        return run.purse.reserve(judge, call)
    except OverBudget as error:
        if not error.later:
            raise
    with clock_stopped(waiters):
        return await run.purse.reserve_later(judge, call)


def note(judge: Judge, call: Call, choices: Sequence[Choice], about: dict[str, Any]) -> None:
    """Of a call's span: where it is written down, if somebody traces it."""
    at = tracer.get()
    if at is not None:
        about["address"] = at.note(judge, call, choices, about).hex()
        about["from"] = "paid"


def payer() -> CallContext:
    """Who sends a call of no run, where its tokens are wanted."""
    at = tracer.get()
    found: CallContext | None = at.payer if at is not None else None
    return CallContext() if found is None else found


# A request's turn: a slot among its run's requests to the judge, and a place at the judge's limiter.


class RequestSlot:
    """`async with RequestSlot(...):` waits until a request may be sent; leaving it ends the request's being in flight.

    While it waits for our own limits it is held, and a sample's clock stands while all its calls are: who asks for ten
    requests a minute wants them sent slowly, not timed out. However the waiting ends, what was taken by then is given
    back.
    """

    __slots__ = ("_admitted", "_has_slot", "_slots", "_ticket", "_waiters")

    def __init__(self, slots: asyncio.Semaphore | None, ticket: Ticket, waiters: Waiters | None) -> None:
        self._slots, self._ticket, self._waiters = slots, ticket, waiters
        self._has_slot = self._admitted = False

    async def __aenter__(self) -> Ticket:
        try:
            if self._slots is not None:
                if self._slots.locked():
                    with self._clock_stopped():
                        self._has_slot = await self._slots.acquire()
                else:
                    self._has_slot = await self._slots.acquire()
            self._admitted = self._ticket.enter()
            if not self._admitted:
                with self._clock_stopped():
                    await self._ticket.wait_in_queue()
                    self._admitted = True
        except BaseException as error:
            await self.__aexit__(type(error))
            raise
        return self._ticket

    def _clock_stopped(self) -> AbstractContextManager[object]:
        return PausedClock(self._waiters, self._ticket) if self._waiters is not None else nullcontext()

    async def __aexit__(self, *error: object) -> None:
        if self._has_slot and self._slots is not None:
            self._slots.release()
        if self._admitted:
            await self._ticket.__aexit__(*error)


class PausedClock:
    """The call is held by our own limits, but not while the server asked for a pause.

    It may name any time, and a sample has no more than its own; it is not us who hold it back then.
    """

    __slots__ = ("_loop", "_stands", "_ticket", "_timer", "_waiters", "_wake")

    def __init__(self, waiters: Waiters, ticket: Ticket) -> None:
        self._waiters, self._ticket, self._stands = waiters, ticket, False
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._wake: Callable[[], object] | None = lambda: self._loop.call_soon_threadsafe(self._look)

    def __enter__(self) -> None:
        self._look()

    def __exit__(self, *error: object) -> None:
        if self._wake is not None:
            self._ticket.watch_no_more(self._wake)
            self._wake = None
        if self._timer is not None:
            self._timer.cancel()
        self._stand(False)

    def _look(self) -> None:
        if self._wake is None:  # it was called for before the end
            return
        if self._timer is not None:
            self._timer.cancel()
        left = self._ticket.watch(self._wake)
        self._timer = self._loop.call_later(left, self._look) if left else None
        if left:
            self._waiters.server_asked(self._ticket.asked_to_wait())
        self._stand(not left)

    def _stand(self, stands: bool) -> None:
        if stands != self._stands:
            self._stands = stands
            if stands:
                self._waiters.stop()
            else:
                self._waiters.start()


@contextmanager
def clock_stopped(waiters: Waiters | None) -> Generator[None]:
    """The call is held: by the budget, or by another process that pays for it."""
    if waiters is None:
        yield
        return
    waiters.stop()
    try:
        yield
    finally:
        waiters.start()


# Send until it is answered or cannot be: the one retry layer around requests.


BACKOFF = 30.0  # seconds between two tries at most, where the server names none
_backoff = wait_random_exponential(multiplier=0.5, max=BACKOFF)


@dataclass(slots=True)
class UnderWay:
    """A run's call, its share of the budget and who waits for it.

    Attributes:
        parts: budgets of the parts of the work that it belongs to, each with the call's share of it.
    """

    run: CallContext
    share: Reserved
    waiters: Waiters
    parts: tuple[tuple[BudgetTracker, Reserved], ...] = ()

    def began(self, judge: Judge, by: int = 1) -> None:
        """A request is sent; -1: it was not received."""
        self.run.requests += by
        self.share.requests += by

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

    def _shares(self) -> list[Reserved]:
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
            raise OverPartBudget(str(error)) from None
        if not self.share.open:
            with clock_stopped(self.waiters):
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
        stop=lambda state: _gives_up(state, judge, patience),
        wait=_wait,
        reraise=True,
        sleep=lambda seconds: _pause(seconds, under_way, last),
    )
    try:
        async for attempt in tries:
            with attempt:
                if failed:
                    raise failed.pop()
                if under_way:
                    await _reserve_again(judge, under_way, last)
                try:
                    return await _received(judge, call, under_way, patience)
                except _Again as again:
                    last = again.fault
                    raise
    except _Again as again:
        fault = again.fault
    cure, run = "", under_way.run if under_way else None
    if fault.shapeless and run is not None and unit.get() is not None:
        ended = _refused(judge, replace(fault, of_text=True), run)
        if ended is not None and (fault.costs == "a call" or not ended.put_off):  # what may be billed is not put off
            raise ended
    if fault.throttled:
        times, seconds = (tries.statistics[name] for name in ("attempt_number", "delay_since_first_attempt"))
        cure = f"; asked {counted(times, 'time')} in {seconds:.0f} s: ask it less often (--rpm N), and again for what "
        cure += "it left out (--retry-failed)"
    raise ReplyError(f"{_named(judge)}: {fault.message}{cure}", status=fault.status)


def _gives_up(state: RetryCallState, judge: Judge, patience: Patience) -> bool:
    """After so many attempts; where the server asks us to wait (429), only when it was asked for long enough, too.

    A server that answers nobody is not waited for anew by each call. With one attempt, or where it names 0 seconds,
    nothing is waited for.
    """
    fault, most = _fault_of(state), judge.endpoint.attempts
    if fault is not None and fault.shapeless:  # once more at most
        met = state.retry_object.statistics
        met["shapeless"] = met.get("shapeless", 0) + 1
        if met["shapeless"] > 1:
            return True
    if state.attempt_number < most:
        return False
    if fault is None or not fault.throttled or fault.wait == 0 or most == 1:
        return True
    return max(state.seconds_since_start or 0.0, limiter_of(judge).throttling()) >= patience.throttled


async def _pause(seconds: float, under_way: UnderWay | None, last: Fault) -> None:
    """A clock stands while the server wants fewer requests, but not for a time that it names: it may name any."""
    ours = under_way is not None and last.throttled and last.wait is None
    with clock_stopped(under_way.waiters if under_way and ours else None):
        await asyncio.sleep(seconds)


async def _reserve_again(judge: Judge, under_way: UnderWay, last: Fault) -> None:
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
    """One request, and what follows from its outcome.

    1. A reply that is of use is counted and given back.
    2. A reply that is of no use is booked as lost, and is a fault.
    3. An error of the provider is booked, and is a fault; where it refuses a feature of the call, such as a schema or
       log-probabilities, the call is sent again at once without it, each feature once.
    4. A fault of an outage raises `_Paused`, and `Unreachable` once it was waited for long enough. Any other raises
       `_Again` where the same request may fare better, else its final error.
    """
    run = under_way.run if under_way else None
    sent: dict[str, Any] = {}  # known when its turn has come: what was learnt of the judge meanwhile counts
    ticket = _ticket(judge, call, run, patience)
    reduced: Call | None = None
    outage: bool | Unreachable = False
    try:
        choices, usage = await _sent(judge, call, sent, ticket, under_way)
    except Unreachable as gone:
        if run:
            run.unreachable = str(gone)
        raise
    except (JudgegraphError, AssertionError):  # ours, or a test's: not the provider's
        raise
    except Exception as raised:
        fault, reduced, outage = _fault_of_error(judge, call, sent, ticket, under_way, raised)
    else:
        if run:
            _count(run, judge, call, sent, usage)
            if choices:
                run.refusals.answered(judge)
        if choices and choices[0].finish != "error":
            if "response_format" in sent:
                learn_schema(judge.support, choices)
            return choices, usage
        if under_way:
            under_way.lost(judge, *usage)
        what = "the provider stopped the reply with an error" if choices else f"a reply without choices; {ADDRESS}"
        fault = Fault("provider_error", what, retry=True, shapeless=not choices)
    # Raised out here, so that no chain of exceptions holds the SDK's, which carries the request and its headers.
    if reduced is not None:
        if under_way:
            await under_way.again(judge)
        return await _attempt(judge, reduced, under_way, patience)
    if isinstance(outage, Unreachable) and run:
        run.unreachable = str(outage)
    raise outage if isinstance(outage, Unreachable) else _Paused if outage else _failure(judge, fault, run)


def _fault_of_error(
    judge: Judge, call: Call, sent: dict[str, Any], ticket: Ticket, under_way: UnderWay | None, raised: Exception
) -> tuple[Fault, Call | None, bool | Unreachable]:
    """The fault that an error of the provider is, booked; the call without a feature it refused; an outage, as
    `_learnt` tells of it."""
    # langchain-openai warns of some refusals on its way; where warnings are errors, that hides the refusal
    error = raised.__context__ if isinstance(raised, Warning) and raised.__context__ else raised
    reduced = _without_refused(judge, call, sent, error)
    fault = classify(error, secrets=judge.secrets, timeout=judge.endpoint.timeout)
    outage = _learnt(ticket, fault, under_way)
    if fault.status == "timeout":
        _learnt_late(judge, call, sent, ticket)
    if under_way:
        under_way.failed(judge, fault)
    return fault, reduced, outage


def _ticket(judge: Judge, call: Call, run: CallContext | None, patience: Patience) -> Ticket:
    """Where the request waits for its turn at the judge's limiter."""
    limiter, sample = limiter_of(judge, run.limits if run else None), unit.get()
    tokens = prompt_tokens(call.messages) + completion_tokens(call) if limiter.tpm else 0
    choices = min(call.n, judge.support.most_n or call.n) if judge.support.n is not False else 1
    return limiter.ticket(tokens, patience, run if sample else None, sample.order if sample else 0, choices)


def _without_refused(judge: Judge, call: Call, sent: dict[str, Any], error: BaseException) -> Call | None:
    """The call to send instead, where the server refused a feature of it: from now on this is left out."""
    if fall_back(judge.support, sent, error) or (not judge.speaks_openai and fall_back_of_others(judge, sent, error)):
        return call
    return replace(call, room=replace(call.room, tokens=0)) if cap_refused(judge, call, error) else None


def _count(run: CallContext, judge: Judge, call: Call, sent: dict[str, Any], usage: Usage) -> None:
    """A reply came, of use or not."""
    run.count(judge.name, *usage)
    run.prefixes.add(judge.name, call, usage[0])
    if call.schema is not None and "response_format" not in sent and judge.support.json_schema is False:
        run.in_words[judge.name] = run.in_words.get(judge.name, 0) + 1


def _learnt_late(judge: Judge, call: Call, sent: dict[str, Any], ticket: Ticket) -> None:
    """No reply in time: fewer requests at once take less, and so does a shorter reply; and fewer choices at once, where
    the server had little else to do."""
    crowded = ticket.late()
    learn_endless(judge, call)
    if sent.get("n", 1) > 2 and not crowded:
        judge.support.most_n = max(2, min(judge.support.most_n or sent["n"], sent["n"] // 2))


async def _sent(judge: Judge, call: Call, sent: dict[str, Any], ticket: Ticket, under_way: UnderWay | None) -> Answer:
    """The answer to one request, in its turn; who is cancelled meanwhile does not know what becomes of it."""
    run = under_way.run if under_way else None
    async with RequestSlot(run.slots(judge) if run else None, ticket, under_way.waiters if under_way else None):
        if under_way:
            if under_way.run.refusals.in_doubt(judge):
                with clock_stopped(under_way.waiters):
                    await under_way.run.refusals.hold(judge)
            under_way.began(judge)
            under_way.run.refusals.sent(judge, ticket)
        sent.update(arguments(judge, call) if judge.speaks_openai else sent_to_others(judge, call))
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
                under_way.run.refusals.ended(judge, ticket)
        ticket.used, ticket.wrote = sum(usage) or None, usage[1] // max(1, len(choices))
        return choices, usage


def _learnt(ticket: Ticket, fault: Fault, under_way: UnderWay | None) -> bool | Unreachable:
    """What a fault says of the server; gives whether it is out and waited for, or that this was done long enough."""
    if fault.throttled:
        ticket.throttled(fault.wait)
        if fault.wait and under_way:
            under_way.waiters.server_asked(fault.wait)
    if fault.outage:
        return ticket.out(fault.outage, fault.message, strict=fault.costs == "nothing")
    if fault.answered:
        ticket.answered()
    return False


def _failure(judge: Judge, fault: Fault, run: CallContext | None) -> Exception:
    if fault.fatal and (ended := _refused(judge, fault, run)) is not None:
        return ended
    if fault.retry:
        return _Again(fault)
    cure = OF_TEXT if fault.code or fault.status == "filtered" else ""
    error = ReplyError(f"{_named(judge)}: {fault.message}{cure}", status=fault.status)
    error.final = True
    return error


OF_TEXT = "; if it answers others, it refuses this text: ask another judge (--judge), or leave the sample out"


def _named(judge: Judge) -> str:
    return f"{judge.name} at {judge.endpoint.address}" if judge.endpoint.address else judge.name


def _refused(judge: Judge, fault: Fault, run: CallContext | None) -> AuthError | None:
    """None where the judge answers others, so that it is this call that is refused."""
    sample = unit.get()
    if run is None or sample is None or not fault.of_text:
        return AuthError(f"judge {judge.name}: {fault.message}")
    if fault.code == 403 and run.ledger is not None and run.ledger.has_paid(judge.name):
        return None  # it answered an earlier process with this ledger: a key that works, and a text that is refused
    samples, sure = run.refusals.refused(judge, sample, TEXTS if fault.code == 403 else ALIKE)
    if not samples or (fault.shapeless and sure and len(samples) < 2):  # one odd answer tells nothing of others
        return None
    error = AuthError(_nobody(judge, fault, samples))
    error.put_off = not sure
    if sure:
        run.refusals.decided(judge, error)
    return error


def _nobody(judge: Judge, fault: Fault, samples: Sequence[str]) -> str:
    """That a judge refused these samples and answered none, and what may help."""
    more = f" and {len(samples) - 1:,} more" if len(samples) > 1 else ""
    cure = "" if not fault.code else (
        "; check the key, the model's name and --base-url (base_url)"
        + ("; or the server refuses these texts" if fault.code == 403 else "")
    )  # fmt: skip
    did = "gave this for" if fault.shapeless else "refused"
    return (
        f"judge {_named(judge)}: {fault.message}; it {did} sample '{one_line(samples[0], 80)}'{more}, "
        f"and answered none{cure}"
    )
