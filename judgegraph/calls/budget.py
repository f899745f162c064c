"""What a run may spend, and has spent: reserved before a call, settled by what its reply says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from judgegraph.calls.estimate import completion_tokens, prompt_tokens
from judgegraph.calls.exchange import Call
from judgegraph.calls.reservation import Held, Reservation, Seen, Spent
from judgegraph.errors import ConfigError, ReplyError, one_line
from judgegraph.models.prices import Prices, row_name
from judgegraph.models.resolve import Judge

__all__ = ["Budget", "OverBudget", "Purse", "Reservation", "Spent"]

HAIR = 1e-9  # of a sum in USD: those of floats differ by their order


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Caps on what a run spends; None is no cap.

    Attributes:
        calls: requests to models, whatever comes back: a retry is one more. One that no server received, as its
            connection was refused, is none. What a ledger answers is none, but to an assistant's budget, which counts
            what is asked (`jg.as_assistant`).
        tokens: of prompts and replies together. A request that was sent is booked at its estimate until its usage is
            known, and stays so where it never is: a timeout, a broken connection, an error of the server.
        usd: by the price table; a judge whose price is not known may not be asked then.

    Raises:
        ConfigError: no cap at all, one that is not above 0, or one of another kind.
    """

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "tokens"):
            _check(name, getattr(self, name), (int,), "a whole number")
        _check("usd", self.usd, (int, float), "a finite number")
        if self.calls is None and self.tokens is None and self.usd is None:
            raise ConfigError("a budget needs a cap: calls, tokens or usd; for no budget, give None")


def _check(name: str, cap: Any, kinds: tuple[type, ...], what: str) -> None:
    wrong = isinstance(cap, bool) or not isinstance(cap, kinds)
    if cap is not None and (wrong or not 0 < cap < math.inf):
        raise ConfigError(f"budget: {name} is {what} above 0, got {one_line(repr(cap), 40)}")


class OverBudget(ReplyError):
    """The call was not made: it may have gone over the budget. `later`: it may fit when calls under way have ended."""

    def __init__(self, message: str, later: bool = False) -> None:
        super().__init__(message, status="over_budget")
        self.later = later


class OverAllowance(OverBudget):
    """The budget of a part of the work has no room; the run's may have: the sample is judged without that part."""


@dataclass
class Purse:
    """A budget with what was spent of it and what is reserved.

    At a reservation, spent and reserved never pass a cap. So what is spent passes it at most by as much as calls then
    under way take more than was estimated. A call that would fit but for what those have set aside waits for them
    (`room`): they mostly take less than that. One that does not fit beside what is spent is refused at once. A later
    run takes it up. Each request of a call needs its own room (`again`).
    """

    budget: Budget | None = None
    spent: Spent = field(default_factory=Spent)
    prices: Prices = field(default_factory=Prices.load)
    _held: Held = field(default_factory=Held, repr=False)
    _seen: dict[tuple[str, str], Seen] = field(default_factory=dict, repr=False)

    def resume(self, *spent: Any) -> None:
        """Begin with what the run paid for earlier: `purse.resume(*ledger.spent())`. Called once, before any call."""
        self.spent = Spent(*spent)

    async def room(self, judge: Judge, call: Call) -> Reservation:
        """As `reserve`, but a call for which there may be room later waits until there is, or is none."""
        while True:
            try:
                return self.reserve(judge, call)
            except OverBudget as error:
                if not error.later:
                    raise
            await self.next_release()

    async def next_release(self) -> None:
        """Wait until a call under way has ended."""
        await self._held.next_release()

    def reserve(self, judge: Judge, call: Call) -> Reservation:
        """Set a call's estimate aside: its prompt by length, its reply as long as it may be or as others like it were.

        Raises:
            OverBudget: a cap leaves no room for it; the message names the cap.
            ConfigError: there is a cap in USD, and the judge's price is not known.
        """
        key = (judge.name, call.form)
        seen = self._seen.get(key)
        if seen is None:
            seen = self._seen[key] = Seen()
        guessed, price = prompt_tokens(call), self.prices.price_of(judge)
        prompt, completion = round(guessed * seen.stretch), completion_tokens(call, seen.expected)
        share = Reservation(self.spent, self._held, seen, price, guessed, call.n, prompt, completion)
        if self.budget is not None:
            self._fit(self.budget, share, judge)
        self._held.take(share)
        return share

    async def again(self, share: Reservation, judge: Judge) -> None:
        """Room for one more request of a call whose last one came to nothing; waits as `room` does.

        Raises:
            OverBudget: there is none.
        """
        while not share.open:
            try:
                self.retake(share, judge)
            except OverBudget as error:
                if not error.later:
                    raise
                await self.next_release()

    def retake(self, share: Reservation, judge: Judge) -> None:
        """As `again`, without waiting."""
        if self.budget is not None and not share.open and not share.ended:
            self._fit(self.budget, share, judge)
        share.retake()

    def _fit(self, budget: Budget, share: Reservation, judge: Judge) -> None:
        if budget.usd is not None and share.price is None:
            raise ConfigError(
                f"judge {one_line(judge.name)}: its price is not known, so a budget in USD cannot be kept; give a "
                f'price file (--prices FILE; see `judgegraph prices`) with a row "{one_line(row_name(judge))}": '
                "{prompt: ..., completion: ...}, in USD per million tokens"
            )
        for name, wanted in (("calls", 1), ("tokens", share.prompt + share.completion), ("usd", share.usd)):
            cap, held = getattr(budget, name), getattr(self._held, name)
            spent = self.spent.requests if name == "calls" else getattr(self.spent, name)
            slack = 1 - HAIR if name == "usd" else 1
            if cap is not None and (spent + held + wanted) * slack > cap:
                later = self._held.calls > 0 and (spent + wanted) * slack <= cap
                raise OverBudget(_refusal(name, cap, spent, held, wanted), later)


def _refusal(name: str, cap: float, spent: float, held: float, wanted: float) -> str:
    told = [f"{n:,.6g} USD" if name == "usd" else f"{n:,}" for n in (cap, spent, held, wanted)]
    unit = "" if name == "usd" else f" {name}"
    return (
        f"the budget of {told[0]}{unit} leaves no room: {told[1]} spent, {told[2]} set aside for calls under way, "
        f"{told[3]} needed for this one"
    )
