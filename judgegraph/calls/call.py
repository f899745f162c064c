"""One call to one judge: found in the run's ledger, else sent for within the budget, and its span."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Any

from judgegraph.calls.address import address_of
from judgegraph.calls.allowance import Allowance, Told, allowance, shares
from judgegraph.calls.budget import OverBudget, Purse
from judgegraph.calls.context import CallContext, Waiters, context, unit, waits_for_it
from judgegraph.calls.estimate import completion_tokens, prompt_tokens
from judgegraph.calls.exchange import Call, Choice, packed, unpacked
from judgegraph.calls.features import as_sent
from judgegraph.calls.generate import Usage
from judgegraph.calls.leases import PATIENCE
from judgegraph.calls.ledger import Paid
from judgegraph.calls.limits import MOST_PROMPT
from judgegraph.calls.notes import note, payer
from judgegraph.calls.reservation import Reservation
from judgegraph.calls.sending import BACKOFF, UnderWay, sent_out
from judgegraph.calls.turn import standing
from judgegraph.errors import ConfigError, ReplyError
from judgegraph.models.resolve import Judge
from judgegraph.trace.record import ReplyStatus, recording, span

UNBOUNDED = 1_000_000  # tokens of a reply that may be as long as it likes, where a plan wants the longest
About = dict[str, Any] | None  # of the call's span, where spans are recorded


async def send(judge: Judge, call: Call, *, anew: bool = False) -> list[Choice]:
    """The reply to a call, at least one choice: from the run's ledger, else sent for and committed there.

    Args:
        anew: a reply that lay in the ledger before this process will not do: ask, and put the new one in its place.

    Raises:
        AuthError, ReplyError: as `sending.sent_out`, and "too_large" for a prompt above `Limits.prompt`.
        OverBudget: it was not sent.
        LedgerError: the reply could not be kept.
    """
    _refuse_too_large(call)
    if not recording():
        return await _answered(judge, call, anew)
    told: dict[str, Any] = {"prompt": call.prompt, "form": call.form}
    if call.n != 1 or call.repeat:
        told["n"], told["repeat"] = call.n, call.repeat
    if call.settings:
        told["settings"] = dict(call.settings)
    with (sent := span("model", judge.name, told)) as about:
        found: Sequence[Choice] = ()
        try:
            found = await _answered(judge, call, anew, about)
            return [replace(choice, ends=ReplyStatus(sent.row, len(found))) for choice in found] if sent.row else found
        finally:
            if "address" not in about:  # no ledger of a run has it
                note(judge, call, found, about)


def _refuse_too_large(call: Call) -> None:
    """Before anything is looked up or paid for."""
    run = context.get()
    most = MOST_PROMPT if run is None or run.limits is None else run.limits.prompt
    size = sum(len(message.content) for message in call.messages)  # of a message in parts, their number: a lower bound
    if most is not None and size > most:
        raise ReplyError(
            f"the prompt has {size:,} characters, and at most {most:,} are sent; shorten the sample, or allow more: "
            "--max-prompt N, Limits(prompt=N)",
            "too_large",
        )


async def _answered(judge: Judge, call: Call, anew: bool, about: About = None) -> list[Choice]:
    if (part := allowance.get()) is not None:
        return await _counted(part, judge, call, anew, about)
    run = context.get()
    if run is None:
        if about is None:
            return (await sent_out(judge, call))[0]
        return (await _settled(payer(), judge, call, Waiters(), about))[0]
    if run.stand_in is not None:
        found = run.stand_in(judge, call)
        return found if isinstance(found, list) else await found
    if run.ledger is None:
        return (await _bought_alone(run, judge, call, about))[0]
    address, sample, waiting, ours = address_of(judge, call), unit.get(), waits_for_it(), False
    anew = anew and address not in run.renewed
    waiters, joined = run.wait_for(address, waiting), run.ledger.flies(address)

    def pay() -> Awaitable[Paid]:
        nonlocal ours
        ours = True
        return _paid(run, judge, call, waiters, address, about)

    try:
        if sample and sample.waits:
            sample.waits(1)
        body = await run.ledger.answer(
            address, pay, anew=anew, waiting=lambda: standing(waiters), patience=_longest(judge)
        )
        if anew:  # also where another process asked for it meanwhile
            run.renewed.add(address)
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
        run.waited(address, waiting)
        if sample and sample.waits:
            sample.waits(-1)


def _longest(judge: Judge) -> float:
    """Seconds that a call to a judge may take, with all its tries, while a process that pays for it is at work."""
    return max(PATIENCE, judge.endpoint.attempts * (judge.endpoint.timeout + BACKOFF))


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
            choices, share = await _bought_alone(payer, judge, call, about)
            return choices, *share.bill[:2]
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


async def _bought_alone(run: CallContext, judge: Judge, call: Call, about: About) -> tuple[list[Choice], Reservation]:
    """As `_bought`, where nobody else can wait for the same call."""
    waiters, waiting = Waiters(), waits_for_it()
    waiters.join(waiting)
    try:
        return await _bought(run, judge, call, waiters, about)
    finally:
        waiters.leave(waiting)


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
        choices, usage = await sent_out(judge, call, UnderWay(run, share, waiters, shares.get()))
        share.settle(*usage)
    except BaseException:
        share.release()
        _told(about, share, share.lost if share.lost_prompt or share.lost_completion else None)
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
    return Paid(packed(choices), judge.name, *share.bill, share.estimated)


async def _share(run: CallContext, judge: Judge, call: Call, waiters: Waiters) -> Reservation:
    """Of the budget; while a call waits for its share, nobody's clock runs."""
    try:
        return run.purse.reserve(judge, call)
    except OverBudget as error:
        if not error.later:
            raise
    with standing(waiters):
        return await run.purse.room(judge, call)
