"""What calls take: how many they are, their tokens, and money."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from judgegraph.models.prices import Price


@dataclass(frozen=True)
class Asked:
    """A call that a plan met.

    Attributes:
        node: who asks, such as "weigh/judge". kept: its reply is in the ledger.
        prompt: tokens. completion: tokens of one choice. n: choices asked for.
        most: calls that it may turn into, 1 or more: n choices become n calls where a judge gives one at a time.
        again: it asks once more, as an earlier reply could not be read.
    """

    node: str
    kept: bool
    prompt: int
    completion: float
    n: int = 1
    most: int = 1
    again: bool = False
    price: Price | None = None

    def costs(self) -> Amount:
        """As one call."""
        return self._amount(1, self.n * self.completion)

    def may_add(self) -> Amount:
        """What it may take beyond that, at most."""
        if self.most == 1:
            return Amount()
        return self._amount(self.most, self.most * self.completion).minus(self.costs())

    def _amount(self, calls: int, completion: float) -> Amount:
        prompt = calls * self.prompt
        usd = self.price.usd(prompt, round(completion)) if self.price else 0.0
        return Amount(calls, prompt, completion, usd)


@dataclass(frozen=True)
class Amount:
    """Calls, tokens of prompts and of replies, USD."""

    calls: float = 0
    prompt: float = 0
    completion: float = 0
    usd: float = 0

    def plus(self, other: Amount) -> Amount:
        """Both together."""
        return Amount(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def minus(self, other: Amount) -> Amount:
        """What is left without the other."""
        return Amount(*(a - b for a, b in zip(self.parts, other.parts, strict=True)))

    @property
    def parts(self) -> tuple[float, float, float, float]:
        """In the order of the fields."""
        return self.calls, self.prompt, self.completion, self.usd

    @staticmethod
    def least(amounts: Iterable[Amount]) -> Amount:
        """The least of each part."""
        return Amount(*map(min, zip(*(a.parts for a in amounts), strict=True)))

    @staticmethod
    def most(amounts: Iterable[Amount]) -> Amount:
        """The greatest of each part."""
        return Amount(*map(max, zip(*(a.parts for a in amounts), strict=True)))

    @staticmethod
    def sum(amounts: Iterable[Amount]) -> Amount:
        """All together."""
        total = Amount()
        for amount in amounts:
            total = total.plus(amount)
        return total


NOTHING = Amount()
