"""The run and the sample a model call belongs to, found in ContextVars; without a run a call is just made."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import monotonic
from typing import Literal, TypeAlias

from judgegraph.calls.budget import Purse
from judgegraph.calls.exchange import Call, Choice
from judgegraph.calls.ledger import Ledger, Paid
from judgegraph.calls.limits import Limits
from judgegraph.calls.node_bill import Asked, NodeBills
from judgegraph.models.resolve import Judge

Doubted: TypeAlias = bool | Literal["first"] | None
ALIKE = 3  # samples that a judge refuses, and none that it answers: then it would refuse every other


@dataclass
class Refusals:
    """What judges refused in one run (HTTP 401, 403, 404): a sample's text, or all that we ask.

    A judge that answered one call of the run refuses a text. One that answered none refuses us, as soon as it refused
    so for several samples; until then they are put off.

    Attributes:
        last: no other sample is left to tell by.
    """

    last: bool = False
    _answered: set[tuple[str, str | None]] = field(default_factory=set)
    _refused: dict[tuple[str, str | None], list[UnitCalls]] = field(default_factory=dict)

    def answered(self, judge: Judge) -> None:
        """The judge answered a call."""
        self._answered.add((judge.name, judge.endpoint.base_url))

    def refused(self, judge: Judge, sample: UnitCalls) -> int:
        """How many samples it refused by now; 0 where it is this one's text that it refuses."""
        key = judge.name, judge.endpoint.base_url
        if key in self._answered:
            return 0
        before = self._refused.setdefault(key, [])
        if len(before) < ALIKE and not any(one is sample for one in before):
            before.append(sample)
        return len(before)


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
        bills: what each node paid. awaited: address -> who waits for that call.
    """

    width: int | None = None
    limits: Limits | None = None
    ledger: Ledger | None = None
    purse: Purse = field(default_factory=Purse)
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
    bills: NodeBills = field(default_factory=NodeBills)
    awaited: dict[bytes, Waiters] = field(default_factory=dict)
    _slots: dict[tuple[str, str | None], asyncio.Semaphore] = field(default_factory=dict)

    def holds(self, address: bytes) -> bool:
        """Whether there is a reply at an address, in the ledger or in the one that a plan looks into."""
        if self.kept is not None:
            return self.kept(address) is not None
        return self.ledger is not None and self.ledger.get(address) is not None

    def row(self, address: bytes) -> Paid | None:
        """The reply at an address with what it took, as `holds` finds it."""
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
        key = (judge.name, judge.endpoint.base_url)
        found = self._slots.get(key)
        if found is None:
            found = self._slots[key] = asyncio.Semaphore(self.width)
        return found

    def wait_for(self, address: bytes, sample: UnitCalls | None) -> Waiters:
        """A sample is now one of those that wait for the call at an address; `waited` takes it off again."""
        waiters = self.awaited.get(address)
        if waiters is None:
            waiters = self.awaited[address] = Waiters()
        waiters.join(sample)
        return waiters

    def waited(self, address: bytes, sample: UnitCalls | None) -> None:
        """It waits no longer."""
        if not self.awaited[address].leave(sample):
            del self.awaited[address]


@dataclass(eq=False)
class UnitCalls:
    """What became of the calls of one sample; its graph's nodes share it.

    Attributes:
        denied: why the budget refused one of them, "" if it refused none.
        progressed: called once, when its first reply that was not in the ledger has arrived; None when done.
        waits: called with 1 when one of them begins to wait for its reply, with -1 when it ends; None for nobody.
        asked: what its nodes asked for; None when done: what comes late is counted at once.
        clock: the sample's deadline; it stands while a call waits for its turn.
        asked_to_wait: seconds that a server named when it last asked this sample to wait, 0 where none did.
    """

    denied: str = ""
    progressed: Callable[[], None] | None = None
    waits: Callable[[int], None] | None = None
    asked: Asked | None = field(default_factory=dict)
    clock: asyncio.Timeout | None = None
    asked_to_wait: float = 0.0
    _standing: int = 0
    _left: float | None = None

    def stop_clock(self) -> None:
        """A call begins to wait for its turn; of several at once the first one counts."""
        self._standing += 1
        when = self.clock.when() if self.clock else None
        if self._standing == 1 and self.clock and when is not None and not self.clock.expired():
            self._left = when - asyncio.get_running_loop().time()
            with suppress(RuntimeError):  # the sample has ended
                self.clock.reschedule(None)

    def start_clock(self) -> None:
        """It waits no longer."""
        self._standing -= 1
        if self._standing == 0 and self.clock and self._left is not None and not self.clock.expired():
            with suppress(RuntimeError):
                self.clock.reschedule(asyncio.get_running_loop().time() + self._left)


class Waiters:
    """The samples that wait for one call, who pays for it among them: while it waits for its turn, all clocks stand.

    One of them may end, or another join, at any moment; whoever is left waits on.
    """

    __slots__ = ("_samples", "_standing")

    def __init__(self) -> None:
        self._samples: list[UnitCalls | None] = []
        self._standing = False

    def join(self, sample: UnitCalls | None) -> None:
        self._samples.append(sample)
        if self._standing and sample is not None:
            sample.stop_clock()

    def leave(self, sample: UnitCalls | None) -> int:
        """It waits no longer; gives how many still do."""
        self._samples.remove(sample)
        if self._standing and sample is not None:
            sample.start_clock()
        return len(self._samples)

    def asked_to_wait(self, seconds: float) -> None:
        """The server named so many seconds."""
        for sample in self._samples:
            if sample is not None:
                sample.asked_to_wait = seconds

    def stop(self) -> None:
        """The call begins to wait for its turn."""
        self._standing = True
        for sample in self._samples:
            if sample is not None:
                sample.stop_clock()

    def start(self) -> None:
        """It has its turn, or gave it up."""
        self._standing = False
        for sample in self._samples:
            if sample is not None:
                sample.start_clock()


context: ContextVar[CallContext | None] = ContextVar("judgegraph_calls", default=None)
unit: ContextVar[UnitCalls | None] = ContextVar("judgegraph_unit", default=None)
