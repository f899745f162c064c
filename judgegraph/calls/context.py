"""The run and the sample a model call belongs to, found in ContextVars; without a run a call is just made.

It hides what calls of one run tell one another: refused keys, prompts sent before, who waits for whom.
"""

from __future__ import annotations

import asyncio
import json
from bisect import bisect_left
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import blake2b
from time import monotonic
from typing import Any, Literal, TypeAlias

from judgegraph.calls.budget import Asked, BudgetTracker, UsageByNode
from judgegraph.calls.ledger import Ledger, Paid
from judgegraph.calls.limits import Limits
from judgegraph.calls.types import Call, Choice, packed, unpacked
from judgegraph.models.judges import Judge

Doubted: TypeAlias = bool | Literal["first"] | None
ALIKE = 3  # samples that a judge refuses by HTTP 401 or 404, and none that it answers: it would refuse every other
TEXTS = 20  # the same of HTTP 403, which a firewall says of texts
Key: TypeAlias = tuple[str, str | None]


@dataclass
class Refusals:
    """What judges refused in one run (HTTP 401, 403, 404): a sample's text, or all that we ask.

    If a judge has answered one call of the run, it refuses a text. If it has answered none, has refused several samples
    and has nothing else under way, it refuses us; until that is known these samples are put off, as a firewall refuses
    faster than a model answers.

    Attributes:
        last: no other sample is left to tell by.
    """

    last: bool = False
    _answered: set[Key] = field(default_factory=set)
    _refused: dict[Key, list[UnitCalls]] = field(default_factory=dict)
    _sent: dict[Key, set[object]] = field(default_factory=dict)
    _awaited: dict[Key, set[object]] = field(default_factory=dict)
    _verdict: dict[Key, Exception] = field(default_factory=dict)
    _held: dict[Key, set[asyncio.Future[None]]] = field(default_factory=dict)

    def in_doubt(self, judge: Judge) -> bool:
        """Whether it may refuse us: nothing more is sent until what it was asked has ended."""
        key = _key(judge)
        return key in self._awaited and key not in self._answered and not self.last

    async def hold(self, judge: Judge) -> None:
        """Wait while that is in doubt.

        Raises:
            AuthError: it refuses us.
        """
        key = _key(judge)
        while self.in_doubt(judge) and key not in self._verdict and not self._all_ended(key):
            told: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._held.setdefault(key, set()).add(told)
            try:
                await told
            finally:
                self._held[key].discard(told)
        if self.in_doubt(judge) and (verdict := self._verdict.get(key)) is not None:
            raise verdict.with_traceback(None)

    def _all_ended(self, key: Key) -> bool:
        return self._awaited[key].isdisjoint(self._sent.get(key, ()))

    def _wake(self, key: Key) -> None:
        for told in self._held.get(key, ()):
            if not told.done():
                told.set_result(None)

    def sent(self, judge: Judge, request: object) -> None:
        """A request is under way, until it `ended`."""
        self._sent.setdefault(_key(judge), set()).add(request)

    def ended(self, judge: Judge, request: object) -> None:
        """An answer, a refusal or nothing came of it."""
        key = _key(judge)
        self._sent[key].discard(request)
        self._wake(key)

    def answered(self, judge: Judge) -> None:
        """The judge answered a call."""
        key = _key(judge)
        self._answered.add(key)
        self._wake(key)

    def refused(self, judge: Judge, sample: UnitCalls, most: int) -> tuple[list[str], bool]:
        """Samples that it refused by now, none where it is this one's text that it refuses; and whether that is sure.

        Args:
            most: samples from which on it is us that it refuses.
        """
        key = _key(judge)
        if key in self._answered:
            return [], True
        before = self._refused.setdefault(key, [])
        if len(before) < most and not any(one is sample for one in before):
            before.append(sample)
        sure = self.last
        if len(before) >= most:
            self._awaited.setdefault(key, set(self._sent.get(key, ())))
            sure = sure or self._all_ended(key)
        return list(dict.fromkeys([sample.sample, *(one.sample for one in before)])), sure

    def decided(self, judge: Judge, verdict: Exception) -> None:
        """It refuses us: who is held gets the same."""
        key = _key(judge)
        self._verdict[key] = verdict
        self._wake(key)


def _key(judge: Judge) -> Key:
    return judge.name, judge.endpoint.base_url


# Prompt prefixes: what a provider that caches prompts charges less for.


REMEMBERED = 4_000_000  # characters of prompts, for each judge; the oldest are forgotten first


@dataclass
class Prefixes:
    """How much of the prompts stands in a prefix that the same judge was sent before.

    Attributes:
        prompt: tokens of all prompts. shared: those that stand in such a prefix.
    """

    prompt: int = 0
    shared: int = 0
    _judges: dict[Hashable, _Remembered] = field(default_factory=dict, repr=False)

    @property
    def share(self) -> float | None:
        """0 to 1; None before any prompt."""
        return self.shared / self.prompt if self.prompt else None

    def add(self, judge: Hashable, call: Call, tokens: int) -> None:
        """Count one prompt.

        Args:
            judge: whoever caches it. tokens: of the prompt, as counted or as the provider says.
        """
        text = "\0".join(f"{message.type}\0{message.content}" for message in call.messages)
        seen = self._judges.get(judge)
        if seen is None:
            seen = self._judges[judge] = _Remembered()
        self.prompt += tokens
        self.shared += round(tokens * seen.add(text) / len(text)) if text else 0


@dataclass
class _Remembered:
    """Prompts in alphabetical order, where the one with the longest common prefix is a neighbour."""

    texts: list[str] = field(default_factory=list)
    order: deque[str] = field(default_factory=deque)
    size: int = 0
    usual: int = 0  # characters that the last two had in common: those of a method's prompts are often as many

    def add(self, text: str) -> int:
        """The characters that it has in common with the start of one before it."""
        place = bisect_left(self.texts, text)
        shared = 0
        for other in self.texts[max(0, place - 1) : place + 1]:
            self.usual = _common(text, other, self.usual)
            shared = max(shared, self.usual)
        if shared == len(text):
            return shared
        self.texts.insert(place, text)
        self.order.append(text)
        self.size += len(text)
        while self.size > REMEMBERED and len(self.order) > 1:
            oldest = self.order.popleft()
            del self.texts[bisect_left(self.texts, oldest)]
            self.size -= len(oldest)
        return shared


def _common(one: str, other: str, guess: int = 0) -> int:
    """The length of their common prefix; a right guess makes it short."""
    low, high = 0, min(len(one), len(other))
    if guess <= high and one[:guess] == other[:guess]:
        low = guess
        if guess < high and one[guess] != other[guess]:
            return guess
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass
class CallContext:
    """What a run shares among its calls, and counts of them.

    Attributes:
        width: requests in flight at most, for each judge; a waiting retry is in none of them. None is no limit.
        limits: of a judge whose endpoint names none of its own; None leaves what the process was told before.
        ledger: where replies are kept and found again; None asks every time.
        purse: what the run may spend, and has spent.
        anew: a reply found in the ledger that cannot be read is asked for once more, and replaced.
        renewed: addresses of replies that were paid for since, in such a run; none of them is asked for again.
        stand_in: answers in place of every judge, in a plan; nothing is sent then. kept: in a plan, what a ledger holds
            at an address, None for nothing. doubted: in a plan, whether a condition finds everything in doubt, the
            first criterion alone or nothing; None where it can look for itself as no reply was invented.
        told: keep what was asked beside the replies, where spans are recorded.
        begun: when, on the clock that limiters have. unreachable: what was waited for in vain, "" for nothing.
        refusals: what its judges refused.
        requests: sent, retries included. replies: received. models: judge -> replies.
        in_words: judge -> replies to forms that it was told in words, as it takes no schema.
        further: judge -> calls for choices that it did not give with the first one.
        unshown: prompt and field -> times that it had no place for what the sample has of it.
        blind: judge that sees no images -> prompts with images that it was not sent.
        prefixes: how much of the prompts was sent before.
        bills: what each node paid. awaited: address -> who waits for that call.
    """

    width: int | None = None
    limits: Limits | None = None
    ledger: Ledger | None = None
    purse: BudgetTracker = field(default_factory=BudgetTracker)
    anew: bool = False
    renewed: set[bytes] = field(default_factory=set)
    stand_in: Callable[[Judge, Call], list[Choice] | Awaitable[list[Choice]]] | None = None
    kept: Callable[[bytes], Paid | None] | None = None
    doubted: Callable[[], Doubted] | None = None
    told: bool = True
    begun: float = field(default_factory=monotonic)
    unreachable: str = ""
    refusals: Refusals = field(default_factory=Refusals)
    requests: int = 0
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    models: dict[str, int] = field(default_factory=dict)
    in_words: dict[str, int] = field(default_factory=dict)
    unshown: dict[str, int] = field(default_factory=dict)
    blind: dict[str, int] = field(default_factory=dict)
    further: dict[str, int] = field(default_factory=dict)
    prefixes: Prefixes = field(default_factory=Prefixes)
    bills: UsageByNode = field(default_factory=UsageByNode)
    awaited: dict[bytes, Waiters] = field(default_factory=dict)
    _slots: dict[Key, asyncio.Semaphore] = field(default_factory=dict)

    def row(self, address: bytes) -> Paid | None:
        """The reply at an address with what it took, in the ledger or in the one that a plan looks into."""
        if self.kept is not None:
            return self.kept(address)
        return self.ledger.row(address) if self.ledger is not None else None

    def count(self, model: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Book one reply, once, however many choices it holds."""
        self.replies += 1
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        self.models[model] = self.models.get(model, 0) + 1

    def slots(self, judge: Judge) -> asyncio.Semaphore | None:
        """A judge's own, so that one who is slow or held back keeps no other waiting."""
        if self.width is None:
            return None
        key = _key(judge)
        found = self._slots.get(key)
        if found is None:
            found = self._slots[key] = asyncio.Semaphore(self.width)
        return found

    def wait_for(self, address: bytes, waiting: Waiting | None) -> Waiters:
        """A sample, or a call, is now one of those that wait for the call at an address; `waited` takes it off."""
        waiters = self.awaited.get(address)
        if waiters is None:
            waiters = self.awaited[address] = Waiters()
        waiters.join(waiting)
        return waiters

    def waited(self, address: bytes, waiting: Waiting | None) -> None:
        """It waits no longer."""
        if not self.awaited[address].leave(waiting):
            del self.awaited[address]


@dataclass(slots=True)
class Pending:
    """Calls under way, and how many of them wait for our own limits."""

    calls: int = 0
    held: int = 0

    def add(self, calls: int, held: int) -> None:
        """So many more."""
        self.calls += calls
        self.held += held

    @property
    def all_held(self) -> bool:
        """None of them is at a server."""
        return 0 < self.held >= self.calls


@dataclass(eq=False)
class UnitCalls:
    """What became of the calls of one sample; its graph's nodes share it.

    Attributes:
        denied: why the budget refused one of them, "" if it refused none.
        progressed: called once, when its first reply that was not in the ledger has arrived; None when done.
        waits: called with 1 when one of them begins to wait for its reply, with -1 when it ends; None for nobody.
        asked: what its nodes asked for; None when done: what comes late is counted at once.
        clock: the sample's deadline; it stands while all its calls wait for our own limits.
        sample: its id. order: its place among the run's: earlier ones are asked about first.
        asked_to_wait: seconds that a server named when it last asked this sample to wait, 0 where none did.
    """

    denied: str = ""
    progressed: Callable[[], None] | None = None
    waits: Callable[[int], None] | None = None
    asked: Asked | None = field(default_factory=dict)
    clock: asyncio.Timeout | None = None
    sample: str = ""
    order: int = 0
    asked_to_wait: float = 0.0
    _pending: Pending = field(default_factory=Pending)
    _stands: bool = False
    _left: float | None = None

    def changed(self, calls: int, held: int) -> None:
        """So many more of its calls are under way, and so many more of them wait for our own limits."""
        self._pending.add(calls, held)
        if self._pending.all_held == self._stands:
            return
        self._stands = self._pending.all_held
        if self._stands:
            self._stop_clock()
        else:
            self._start_clock()

    def server_asked(self, seconds: float) -> None:
        """A server named so many seconds."""
        self.asked_to_wait = seconds

    def _stop_clock(self) -> None:
        when = self.clock.when() if self.clock else None
        if self.clock and when is not None and not self.clock.expired():
            self._left = when - asyncio.get_running_loop().time()
            with suppress(RuntimeError):  # the sample has ended
                self.clock.reschedule(None)

    def _start_clock(self) -> None:
        if self.clock and self._left is not None and not self.clock.expired():
            with suppress(RuntimeError):
                self.clock.reschedule(asyncio.get_running_loop().time() + self._left)


class Waiters:
    """Who waits for one call, who pays for it among them: samples, and calls that a judge answers by asking others.

    While it waits for our own limits it is held; so it is while all calls are that its judge makes to answer it. A
    sample's clock stands while all its calls are held. Who waits may end, or another join, at any moment; whoever is
    left waits on.
    """

    __slots__ = ("_inner", "_standing", "_told", "_waiting")

    def __init__(self) -> None:
        self._waiting: list[Waiting | None] = []
        self._inner = Pending()
        self._standing = self._told = False

    def join(self, waiting: Waiting | None) -> None:
        self._waiting.append(waiting)
        if waiting is not None:
            waiting.changed(1, int(self._told))

    def leave(self, waiting: Waiting | None) -> int:
        """It waits no longer; gives how many still do."""
        self._waiting.remove(waiting)
        if waiting is not None:
            waiting.changed(-1, -int(self._told))
        return len(self._waiting)

    def changed(self, calls: int, held: int) -> None:
        """So many more calls are under way that its judge made to answer it, and so many more of them are held."""
        self._inner.add(calls, held)
        self._tell()

    def server_asked(self, seconds: float) -> None:
        """The server named so many seconds."""
        for waiting in self._waiting:
            if waiting is not None:
                waiting.server_asked(seconds)

    def stop(self) -> None:
        """The call begins to wait for its turn."""
        self._standing = True
        self._tell()

    def start(self) -> None:
        """It has its turn, or gave it up."""
        self._standing = False
        self._tell()

    def _tell(self) -> None:
        held = self._standing or self._inner.all_held
        if held == self._told:
            return
        self._told = held
        for waiting in self._waiting:
            if waiting is not None:
                waiting.changed(0, 1 if held else -1)


Waiting: TypeAlias = UnitCalls | Waiters
context: ContextVar[CallContext | None] = ContextVar("judgegraph_calls", default=None)
unit: ContextVar[UnitCalls | None] = ContextVar("judgegraph_unit", default=None)
outer: ContextVar[Waiters | None] = ContextVar("judgegraph_outer", default=None)  # the call that a judge is answering


def waits_for_it() -> Waiting | None:
    """Who waits for a call that is made here: the call that its judge makes it for, else the sample."""
    made_for = outer.get()
    return unit.get() if made_for is None else made_for


# What models on this machine gave, kept in the run's ledger beside what was paid for.


VERSION = 1  # of how an address is made


async def computed(what: Mapping[str, Any], compute: Callable[[], Awaitable[Any]]) -> Any:
    """A value by all that it depends on: from the run's ledger, else computed and kept there; without a run computed.

    Args:
        what: model, its revision, settings and texts, as JSON values; any difference is another value.
        compute: gives a JSON value.

    Raises:
        whatever `compute` raises; LedgerError: it could not be kept.
    """
    run = context.get()
    if run is None or run.ledger is None:
        return await compute()

    async def body() -> bytes:
        return packed([Choice(json.dumps(await compute()))])

    key = json.dumps(["computed", VERSION, what], sort_keys=True, ensure_ascii=True)
    address = blake2b(key.encode(), digest_size=16).digest()
    return json.loads(unpacked(await run.ledger.computed(address, body))[0].text)
