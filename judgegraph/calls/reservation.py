"""One call's share of a budget, from its reservation to its settling."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TypeAlias

from judgegraph.calls.estimate import COMPLETION
from judgegraph.models.prices import Price

Lost: TypeAlias = "tuple[int, int, float, bool]"  # of a request: tokens, USD, and whether they are estimates


@dataclass
class Spent:
    """What was paid for, or may have to be.

    Attributes:
        calls: that were answered by a reply.
        estimated: calls and requests of which no usage is known; their tokens are estimates.
        unpriced: calls to models whose price is not known; they are not in `usd`.
        unanswered: requests beside those of `calls`: sent, and no reply of use came back. One that timed out, was cut
            off or met an error of the server may be billed, and is in tokens and `usd` at its estimate; one that the
            server refused (HTTP 4xx) is in neither.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0
    estimated: int = 0
    unpriced: int = 0
    unanswered: int = 0

    @property
    def tokens(self) -> int:
        """Of prompts and replies."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def requests(self) -> int:
        """All that were sent: what a budget's `calls` caps."""
        return self.calls + self.unanswered


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
    """A call's share of the budget while it is under way, as estimated.

    Each request is booked: by its usage, at its estimate where that is not known, as a call without tokens where the
    server refused it. One that was never received is not.

    Attributes:
        open: its estimate is set aside. settled: its reply came, and is booked.
        lost_prompt, lost_completion: tokens booked for its requests that brought no reply of use.
    """

    spent: Spent = field(repr=False)
    held: Held = field(repr=False)
    seen: Seen = field(repr=False)
    price: Price | None
    guessed: int
    choices: int
    prompt: int
    completion: int
    open: bool = True
    settled: bool = False
    ended: bool = False
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
        self.settled = True
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
    def bill(self) -> tuple[int, int, float | None]:
        """Prompt and completion tokens and USD (None if unpriced) of a settled call's reply."""
        return self.prompt, self.completion, self.usd if self.price else None

    @property
    def paid(self) -> tuple[int, int, float | None]:
        """The same with its requests that brought no reply of use."""
        prompt, completion = self.prompt + self.lost_prompt, self.completion + self.lost_completion
        return prompt, completion, self.price.usd(prompt, completion) if self.price else None

    @property
    def lost(self) -> tuple[int, int, float | None]:
        """The same of those requests alone: what a call that failed was paid for."""
        prompt, completion = self.lost_prompt, self.lost_completion
        return prompt, completion, self.price.usd(prompt, completion) if self.price else None

    def lose(self, prompt: int = 0, completion: int = 0) -> Lost:
        """Book a request that was sent and brought no reply of use: by the usage it told, else at its estimate."""
        prompt, completion = max(0, prompt), max(0, completion)
        told = prompt > 0 or completion > 0
        return self._book(prompt, completion, 0) if told else self._book(self.prompt, self.completion, 1)

    def refuse(self) -> Lost:
        """Book a request that the server refused: it is one, and nobody bills it."""
        return self._book(0, 0, 0)

    def _book(self, prompt: int, completion: int, estimated: int) -> Lost:
        usd = self.price.usd(prompt, completion) if self.price else 0.0
        self.lost_prompt += prompt
        self.lost_completion += completion
        self.spent.prompt_tokens += prompt
        self.spent.completion_tokens += completion
        self.spent.usd += usd
        self.spent.estimated += estimated
        self.spent.unanswered += 1
        self.release()  # last: whoever waits for room must see what is spent
        return prompt, completion, usd, bool(estimated)

    def retake(self) -> None:
        """Set the estimate aside once more: for the next request of the same call."""
        if not self.open and not self.ended:
            self.open = True
            self.held.take(self)

    def end(self) -> None:
        """Nobody waits for the call any more on this account: whoever goes on with it does so on another."""
        self.ended = True
        self.release()

    def release(self) -> None:
        """Nothing of it is under way, and nothing more is booked."""
        if self.open:
            self.open = False
            self.held.give_back(self)
