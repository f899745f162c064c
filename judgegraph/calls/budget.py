"""What a run may spend, and has spent: reserved before a call, settled by what its reply says."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from judgegraph.calls.types import COMPLETION, Call, Choice, completion_tokens, prompt_tokens
from judgegraph.compiled import node_at_work
from judgegraph.errors import ConfigError, ReplyError, handing_on, one_line
from judgegraph.models.judges import Judge
from judgegraph.models.prices import Price, Prices, row_name

# One call's share of a budget, from its reservation to its settling.


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


def at_least(amounts: Mapping[str, Any]) -> dict[str, Any]:
    """Amounts with calls of unknown price among them: `usd` is null, and what is known of it is `usd_at_least`."""
    return {**amounts, "usd": None, "usd_at_least": amounts.get("usd") or 0.0}


def priced(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Counts of a manifest ("spent", "calls") for JSON, by `at_least` where a call's price is unknown."""
    found = dict(counts)
    if isinstance(nodes := counts.get("by_node"), Mapping):
        found["by_node"] = {node: priced(one) for node, one in nodes.items()}
    return at_least(found) if found.get("unpriced") else found


def in_numbers(counts: Mapping[str, Any]) -> dict[str, Any]:
    """What `priced` made of counts, as they were: `usd` is what is known of it."""
    found = {name: value for name, value in counts.items() if name != "usd_at_least"}
    if isinstance(nodes := found.get("by_node"), Mapping):
        found["by_node"] = {node: in_numbers(one) if isinstance(one, Mapping) else one for node, one in nodes.items()}
    return found | {"usd": counts["usd_at_least"]} if "usd_at_least" in counts else found


class PriceUnknown(ConfigError):
    """There is a budget in USD, and a judge's price is not known."""

    def __init__(self, judge: Judge) -> None:
        row = f'"{one_line(row_name(judge))}": {{"prompt": ..., "completion": ...}}'
        super().__init__(
            f"judge {one_line(judge.name)}: its price is not known, so a budget in USD cannot be kept; give a "
            f'price file (--prices FILE; see `judgegraph prices`) that holds {{"prices": {{{row}}}}}, in USD per '
            "million tokens"
        )


@dataclass
class Held:
    """What calls under way have set aside, and who waits for one of them to end."""

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    waiting: list[asyncio.Future[None]] = field(default_factory=list, repr=False)

    def take(self, share: Reserved) -> None:
        """A call begins."""
        self.calls += 1
        self.tokens += share.prompt + share.completion
        self.usd += share.usd

    def give_back(self, share: Reserved) -> None:
        """It ended, its estimate still as it was."""
        self.take_out(share)
        self._wake()

    def take_out(self, share: Reserved) -> None:
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
class Reserved:
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
    def usage(self) -> tuple[int, int, float | None]:
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
        """This part no longer wants the call: its share is closed. Whoever goes on with the call pays from another."""
        self.ended = True
        self.release()

    def release(self) -> None:
        """Nothing of it is under way, and nothing more is booked."""
        if self.open:
            self.open = False
            self.held.give_back(self)


HAIR = 1e-9  # of a sum in USD: those of floats differ by their order


@handing_on(kinds=())
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


class OverPartBudget(OverBudget):
    """The budget of a part of the work has no room; the run's may have: the sample is judged without that part."""


@dataclass
class BudgetTracker:
    """A budget with what was spent of it and what is reserved.

    At a reservation, spent and reserved never pass a cap. So what is spent passes it at most by as much as calls then
    under way take more than was estimated. A call that would fit but for what those have set aside waits for them
    (`reserve_later`): they mostly take less than that. One that does not fit beside what is spent is refused at once. A
    later run takes it up. Each request of a call needs its own room (`again`).
    """

    budget: Budget | None = None
    spent: Spent = field(default_factory=Spent)
    prices: Prices = field(default_factory=Prices.load)
    _held: Held = field(default_factory=Held, repr=False)
    _seen: dict[tuple[str, str], Seen] = field(default_factory=dict, repr=False)

    def resume(self, *spent: Any) -> None:
        """Begin with what the run paid for earlier: `purse.resume(*ledger.spent())`. Called once, before any call."""
        self.spent = Spent(*spent)

    async def reserve_later(self, judge: Judge, call: Call) -> Reserved:
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

    def reserve(self, judge: Judge, call: Call) -> Reserved:
        """Set a call's estimate aside: its prompt by length, its reply as long as it may be or as others like it were.

        Raises:
            OverBudget: a cap leaves no room for it; the message names the cap.
            ConfigError: there is a cap in USD, and the judge's price is not known.
        """
        key = (judge.name, call.form)
        seen = self._seen.get(key)
        if seen is None:
            seen = self._seen[key] = Seen()
        guessed, price = prompt_tokens(call.messages), self.prices.price_of(judge)
        prompt, completion = round(guessed * seen.stretch), completion_tokens(call, seen.expected)
        share = Reserved(self.spent, self._held, seen, price, guessed, call.n, prompt, completion)
        if self.budget is not None:
            self._fit(self.budget, share, judge)
        self._held.take(share)
        return share

    async def again(self, share: Reserved, judge: Judge) -> None:
        """Room for one more request of a call whose last one came to nothing; waits as `reserve_later` does.

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

    def retake(self, share: Reserved, judge: Judge) -> None:
        """As `again`, without waiting."""
        if self.budget is not None and not share.open and not share.ended:
            self._fit(self.budget, share, judge)
        share.retake()

    def _fit(self, budget: Budget, share: Reserved, judge: Judge) -> None:
        if budget.usd is not None and share.price is None:
            raise PriceUnknown(judge)
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


# The budget of a part of one sample's work: what that part asks is counted, whoever pays for it.


Told: TypeAlias = "tuple[list[Choice], int, int]"  # with prompt and completion tokens; zeros: an estimate is booked


@dataclass(eq=False)
class _Asked:
    """A question's share, and how many ask it at this moment; one that was answered is asked again for nothing."""

    share: Reserved
    wanted: int = 0


@dataclass(eq=False)
class PartBudget:
    """What a part of the work may ask for one sample, and has asked.

    A reply from a ledger, or one that a neighbour pays for, counts like one that this part pays for: whether it has
    room for a call then hangs on nothing but what it asked before. For the same reason calls are made one after the
    other where tokens or USD are capped: what a call takes is known by its reply.

    A request that came to nothing counts too, in the part that it was sent for.

    Attributes:
        purse: its budget, with what was asked. parent: of the part that this one belongs to; both count each call.
    """

    purse: BudgetTracker
    parent: PartBudget | None = None
    _asked: dict[Hashable, _Asked] = field(default_factory=dict, repr=False)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    async def spend(self, judge: Judge, call: Call, question: Hashable, answer: Callable[[], Awaitable[Told]]) -> Told:
        """What `answer` gives, counted here and by the parts around this one.

        A call that fails counts as the requests that were sent for it, none where this part did not pay for it.

        Args:
            question: equal ones are one call.

        Raises:
            OverPartBudget: one of the parts has no room for it.
            ConfigError: as `BudgetTracker.reserve`; the run ends by it.
        """
        budget = self.purse.budget
        capped = budget is not None and (budget.tokens is not None or budget.usd is not None)
        async with self._turn if capped else nullcontext():
            asked = await self._reserve_for(judge, call, question)
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

    async def _reserve_for(self, judge: Judge, call: Call, question: Hashable) -> _Asked:
        """As `BudgetTracker.reserve_later`, but an equal question that is under way, or was answered, needs none."""
        while (asked := self._asked.get(question)) is None:
            try:
                asked = self._asked[question] = _Asked(self.purse.reserve(judge, call))
                break
            except OverBudget as error:
                if not error.later:
                    raise OverPartBudget(str(error)) from None
            await self.purse.next_release()
        asked.wanted += 1
        return asked

    def _settle(self, share: Reserved, choices: list[Choice], prompt: int, completion: int) -> None:
        if not share.settled:
            share.choices = len(choices) or 1  # some servers give fewer than they were asked for
            share.settle(prompt, completion)


part_budget: ContextVar[PartBudget | None] = ContextVar("judgegraph_part_budget", default=None)
shares: ContextVar[tuple[tuple[BudgetTracker, Reserved], ...]] = ContextVar("judgegraph_shares", default=())


# What each node of a graph asked for and paid: so that what one agent costs can be told apart from the rest.


@dataclass
class NodeUsage:
    """The calls of one node.

    Attributes:
        calls: paid for. found: asked for and not paid for: the ledger had the reply, or another sample was asking. Of
            samples that came to their end: who is judged again finds what it paid for before, and asked for it once.
        open: paid for by samples that have not come to their end; when they are judged again they find it.
        prompt_tokens, completion_tokens, usd: of the calls paid for. unpriced: of these, whose price is not known.
    """

    calls: int = 0
    found: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0
    open: int = 0

    def pay(self, prompt: int, completion: int, usd: float | None) -> None:
        """One more call was paid for."""
        self.calls += 1
        self.prompt_tokens += prompt
        self.completion_tokens += completion
        self.usd += usd or 0.0
        self.unpriced += usd is None


Asked: TypeAlias = dict[str, list[int]]  # node -> calls that a sample paid for, and that it found


@dataclass
class UsageByNode:
    """Node -> its bill, an inner node as "weigh/judge"; "" stands for what no node asked.

    Attributes:
        carried: node -> calls that samples paid for in earlier processes of the run, which did not end there.
    """

    of: dict[str, NodeUsage] = field(default_factory=dict)
    carried: dict[str, int] = field(default_factory=dict)

    def carry(self, earlier: Any) -> None:
        """What earlier processes left open, by a manifest's `by_node`."""
        for node, bill in earlier.items() if isinstance(earlier, Mapping) else ():
            left = bill.get("open") if isinstance(bill, Mapping) else None
            if isinstance(left, int) and left > 0:
                self.carried[str(node)] = left

    def paid(self, asked: Asked | None, prompt: int, completion: int, usd: float | None) -> None:
        """The node at work paid for a call, for a sample that `asked`, None where none waits for its end."""
        node = node_at_work()
        bill = self.of.setdefault(node, NodeUsage())
        bill.pay(prompt, completion, usd)
        if asked is not None:
            bill.open += 1
            asked.setdefault(node, [0, 0])[0] += 1

    def found(self, asked: Asked | None) -> None:
        """The node at work had a reply that it did not pay for."""
        node = node_at_work()
        if asked is None:
            self._find(node, 1)
        else:
            asked.setdefault(node, [0, 0])[1] += 1

    def ended(self, asked: Asked, *, again: bool = False) -> None:
        """A sample came to its end. again: it had come to one before, and what it finds now was counted then."""
        for node, (paid, found) in asked.items():
            self.of.setdefault(node, NodeUsage()).open -= paid
            if not again:
                self._find(node, found)

    def _find(self, node: str, count: int) -> None:
        """What is open from before is found by those who paid for it, when they are judged again."""
        bill, known = self.of.setdefault(node, NodeUsage()), min(count, self.carried.get(node, 0))
        if known:
            self.carried[node] -= known
            bill.open -= known
        bill.found += count - known

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """As JSON values."""
        return {node: dict(vars(bill)) for node, bill in self.of.items()}
