"""The run a model call belongs to, found in one ContextVar; without a run a call is just made.

Here is the seam for what a run will add to its calls: limits and budget.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass, field

from judgegraph.calls.ledger import Ledger


@dataclass
class CallContext:
    """What a run shares among its calls, and counts of them.

    Attributes:
        slots: at most so many requests in flight; a waiting retry holds none.
        ledger: where replies are kept and found again; None asks every time.
        requests: sent, retries included. replies: received. prompt_tokens, completion_tokens: as reported.
    """

    slots: asyncio.Semaphore | None = None
    ledger: Ledger | None = None
    requests: int = 0
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    models: dict[str, int] = field(default_factory=dict)

    def count(self, model: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Book one reply, once, however many choices it holds."""
        self.replies += 1
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        self.models[model] = self.models.get(model, 0) + 1


context: ContextVar[CallContext | None] = ContextVar("judgegraph_calls", default=None)
