"""One call's share of a budget, from its reservation to its settling."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from judgegraph.calls.estimate import COMPLETION
from judgegraph.models.prices import Price


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

    @property
    def tokens(self) -> int:
        """Of prompts and replies."""
        return self.prompt_tokens + self.completion_tokens


@dataclass
class Held:
    """What calls under way have set aside, and who waits for one of them to end."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    waiting: list[asyncio.Future[None]] = field(default_factory=list, repr=False)

    def take(self, share: Reservation) -> None:
        """A call begins."""
        self.calls += 1
        self.tokens += share.prompt + share.completion
        self.usd += share.usd

    def give_back(self, share: Reservation) -> None:
        """It ended, its estimate still as it was."""
        self.take_out(share)
        self._wake()

    def take_out(self, share: Reservation) -> None:
        """As if it were not under way."""
        self.calls -= 1
        self.tokens -= share.prompt + share.completion
        self.usd = self.usd - share.usd if self.calls else 0.0  # floats: no crumbs are left over

    async def next_release(self) -> None:
        """Wait until a call under way has ended."""
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(ended)
        await ended

    def _wake(self) -> None:
        """All of them, in their order: a small one may fit where the first does not."""
        waiting, self.waiting = self.waiting, []
        for ended in waiting:
            if not ended.done():
                ended.set_result(None)


@dataclass
class Seen:
    """What replies to one form by one judge were found to take."""

    choices: int = 0
    completion: int = 0
    guessed: int = 0  # tokens of their prompts, by length
    prompt: int = 0  # and by their usage

    @property
    def expected(self) -> float:
        """Completion tokens of one choice."""
        return self.completion / self.choices if self.choices else COMPLETION

    @property
    def stretch(self) -> float:
        """By how much prompts are longer than their length says: a form, tools, another script. Never below 1."""
        return max(1.0, self.prompt / self.guessed) if self.guessed else 1.0


@dataclass
class Reservation:
    """A call's share of the budget while it is under way, as estimated."""

    spent: Spent = field(repr=False)
    held: Held = field(repr=False)
    seen: Seen = field(repr=False)
    price: Price | None
    guessed: int
    choices: int
    prompt: int
    completion: int
    open: bool = True
    estimated: bool = False
    lost_prompt: int = 0
    lost_completion: int = 0
    requests: int = 0

    @property
    def usd(self) -> float:
        """Its estimate in USD, 0 where its price is not known."""
        return self.price.usd(self.prompt, self.completion) if self.price else 0.0

    def settle(self, prompt: int, completion: int) -> float | None:
        """Book what the reply says it used, once; gives its USD, None if unpriced.

        Where it says nothing (0 and 0), the estimate is booked. `prompt` and `completion` are what was booked then.
        """
        self.release()
        told = prompt > 0 or completion > 0
        self.estimated = not told
        if told:
            self.prompt, self.completion = max(0, prompt), max(0, completion)  # a wrong sign must not earn money
            self.seen.choices += self.choices
            self.seen.completion += self.completion
            self.seen.guessed += self.guessed
            self.seen.prompt += self.prompt
        spent = self.spent
        spent.calls += 1
        spent.prompt_tokens += self.prompt
        spent.completion_tokens += self.completion
        spent.usd += self.usd
        spent.estimated += not told
        spent.unpriced += self.price is None
        return self.usd if self.price else None

    @property
    def paid(self) -> tuple[int, int, float | None]:
        """Prompt and completion tokens and USD (None if unpriced) of a settled call, with its lost replies."""
        prompt, completion = self.prompt + self.lost_prompt, self.completion + self.lost_completion
        return prompt, completion, self.price.usd(prompt, completion) if self.price else None

    @property
    def lost(self) -> tuple[int, int, float | None]:
        """The same of its lost replies alone: what a call that failed was paid for."""
        prompt, completion = self.lost_prompt, self.lost_completion
        return prompt, completion, self.price.usd(prompt, completion) if self.price else None

    def lose(self, prompt: int, completion: int) -> None:
        """Book a reply that is of no use, and paid for all the same; the estimate stays aside for the next try."""
        prompt, completion = max(0, prompt), max(0, completion)
        self.lost_prompt += prompt
        self.lost_completion += completion
        self.spent.prompt_tokens += prompt
        self.spent.completion_tokens += completion
        self.spent.usd += self.price.usd(prompt, completion) if self.price else 0.0

    def release(self) -> None:
        """The call failed: nothing more is booked."""
        if self.open:
            self.open = False
            self.held.give_back(self)
