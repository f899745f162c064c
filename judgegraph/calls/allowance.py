"""The budget of a part of one sample's work: what that part asks is counted, whoever pays for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

from judgegraph.calls.budget import OverAllowance, OverBudget, Purse
from judgegraph.calls.exchange import Call, Choice
from judgegraph.calls.reservation import Reservation
from judgegraph.models.resolve import Judge

Told: TypeAlias = "tuple[list[Choice], int, int]"  # with prompt and completion tokens; zeros: an estimate is booked


@dataclass(eq=False)
class _Asked:
    """A question's share, and how many ask it at this moment; one that was answered is asked again for nothing."""

    share: Reservation
    wanted: int = 0


@dataclass(eq=False)
class Allowance:
    """What a part of the work may ask for one sample, and has asked.

    A reply from a ledger, or one that a neighbour pays for, counts like one that this part pays for: whether it has
    room for a call then hangs on nothing but what it asked before. For the same reason calls are made one after the
    other where tokens or USD are capped: what a call takes is known by its reply.

    A request that came to nothing counts too, in the part that it was sent for.

    Attributes:
        purse: its budget, with what was asked. parent: of the part that this one belongs to; both count each call.
    """

    purse: Purse
    parent: Allowance | None = None
    _asked: dict[Hashable, _Asked] = field(default_factory=dict, repr=False)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    async def spend(self, judge: Judge, call: Call, question: Hashable, answer: Callable[[], Awaitable[Told]]) -> Told:
        """What `answer` gives, counted here and by the parts around this one.

        A call that fails counts as the requests that were sent for it, none where this part did not pay for it.

        Args:
            question: equal ones are one call.

        Raises:
            OverAllowance: one of the parts has no room for it. ConfigError: as `Purse.reserve`, the run ends by it.
        """
        budget = self.purse.budget
        capped = budget is not None and (budget.tokens is not None or budget.usd is not None)
        async with self._turn if capped else nullcontext():
            asked = await self._room(judge, call, question)
            sending = shares.set((*shares.get(), (self.purse, asked.share)))
            try:
                told = await (self.parent.spend(judge, call, question, answer) if self.parent else answer())
                self._settle(asked.share, *told)
                return told
            finally:
                shares.reset(sending)
                asked.wanted -= 1
                if not asked.share.settled and not asked.wanted:
                    del self._asked[question]
                    asked.share.end()

    async def _room(self, judge: Judge, call: Call, question: Hashable) -> _Asked:
        """As `Purse.room`, but an equal question that is under way, or was answered, needs none."""
        while (asked := self._asked.get(question)) is None:
            try:
                asked = self._asked[question] = _Asked(self.purse.reserve(judge, call))
                break
            except OverBudget as error:
                if not error.later:
                    raise OverAllowance(str(error)) from None
            await self.purse.next_release()
        asked.wanted += 1
        return asked

    def _settle(self, share: Reservation, choices: list[Choice], prompt: int, completion: int) -> None:
        if not share.settled:
            share.choices = len(choices) or 1  # some servers give fewer than they were asked for
            share.settle(prompt, completion)


allowance: ContextVar[Allowance | None] = ContextVar("judgegraph_allowance", default=None)
shares: ContextVar[tuple[tuple[Purse, Reservation], ...]] = ContextVar("judgegraph_shares", default=())
