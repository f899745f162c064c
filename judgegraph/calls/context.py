"""The run and the sample a model call belongs to, found in ContextVars; without a run a call is just made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from judgegraph.calls.budget import Purse
from judgegraph.calls.exchange import Call, Choice
from judgegraph.calls.ledger import Ledger
from judgegraph.models.resolve import Judge


@dataclass
class CallContext:
    """What a run shares among its calls, and counts of them.

    Attributes:
        width: requests in flight at most, for each judge; a waiting retry is in none of them. None is no limit.
        ledger: where replies are kept and found again; None asks every time.
        purse: what the run may spend, and has spent.
        anew: a reply found in the ledger that cannot be read is asked for once more, and replaced.
        stand_in: answers in place of every judge, in a plan; nothing is sent then.
        requests: sent, retries included. replies: received. models: judge -> replies.
    """

    width: int | None = None
    ledger: Ledger | None = None
    purse: Purse = field(default_factory=Purse)
    anew: bool = False
    stand_in: Callable[[Judge, Call], list[Choice]] | None = None
    requests: int = 0
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    models: dict[str, int] = field(default_factory=dict)
    _slots: dict[str, asyncio.Semaphore] = field(default_factory=dict)

    def count(self, model: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Book one reply, once, however many choices it holds."""
        self.replies += 1
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        self.models[model] = self.models.get(model, 0) + 1

    def slots(self, judge: str) -> asyncio.Semaphore | None:
        """A judge's own, so that one who is slow or held back keeps no other waiting."""
        if self.width is None:
            return None
        found = self._slots.get(judge)
        if found is None:
            found = self._slots[judge] = asyncio.Semaphore(self.width)
        return found


@dataclass
class UnitCalls:
    """What became of the calls of one sample; its graph's nodes share it.

    Attributes:
        denied: why the budget refused one of them, "" if it refused none.
        progressed: called once, when its first reply that was not in the ledger has arrived; None when done.
    """

    denied: str = ""
    progressed: Callable[[], None] | None = None


context: ContextVar[CallContext | None] = ContextVar("judgegraph_calls", default=None)
unit: ContextVar[UnitCalls | None] = ContextVar("judgegraph_unit", default=None)
