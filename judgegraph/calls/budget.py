"""What a run may spend, and has spent: reserved before a call, settled by what its reply says."""

from __future__ import annotations

from dataclasses import dataclass, field

from judgegraph.calls.estimate import completion_tokens, prompt_tokens
from judgegraph.calls.exchange import Call
from judgegraph.errors import ReplyError
from judgegraph.models.resolve import Judge


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A cap on what a run spends; None is no cap."""

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None


class OverBudget(ReplyError):
    """The call was not made: it may have gone over the budget."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status="over_budget")


@dataclass
class Spent:
    """What was paid for.

    Attributes:
        estimated: calls whose reply told no usage; their tokens are estimates.
        unpriced: calls to models whose price is not known; they are not in `usd`.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0
    estimated: int = 0
    unpriced: int = 0


@dataclass
class Reservation:
    """A call's share of the budget while it is under way."""

    purse: Purse
    judge: Judge
    prompt: int
    completion: int

    def settle(self, prompt: int, completion: int) -> float | None:
        """Book what the reply says it used; 0 and 0 is a reply that says nothing. Gives its USD, None if unpriced."""
        self.purse.spent.calls += 1
        self.purse.spent.prompt_tokens += prompt
        self.purse.spent.completion_tokens += completion
        return None

    def release(self) -> None:
        """The call failed: nothing is booked."""


@dataclass
class Purse:
    """A budget with what was spent of it and what is reserved."""

    budget: Budget | None = None
    spent: Spent = field(default_factory=Spent)

    def reserve(self, judge: Judge, call: Call) -> Reservation:
        """Set a call's estimate aside.

        Raises:
            OverBudget: the cap leaves no room for it.
        """
        return Reservation(self, judge, prompt_tokens(call), completion_tokens(call))
